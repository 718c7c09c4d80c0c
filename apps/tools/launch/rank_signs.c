/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/PID/maps and /proc/PID/environ; see rank_signs.h. The dynamic linker maps
 * what LD_PRELOAD names before all libraries of the program. So a process that has the
 * MPI library mapped has libbcs_mpi.so mapped as well, or never will.
 */
#include "apps/tools/launch/rank_signs.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD_FILE "libbcs_mpi.so"
#define PRELOAD_NAME "LD_PRELOAD="

/** A file that is mapped, by the first characters of its name, and what it tells. */
struct sign {
    const char *name;
    size_t offset; /* of a bool in struct rank_signs */
};

static const struct sign known_signs[] = {
    {"libmpi.so", offsetof(struct rank_signs, has_mpi)},
    {PRELOAD_FILE, offsetof(struct rank_signs, has_preload)},
    {"ld-linux", offsetof(struct rank_signs, has_linker)},
    {"ld-2.", offsetof(struct rank_signs, has_linker)},
    /* Of Open MPI 4, of Open MPI 5, and of UCX. mpirun has none of them. */
    {"vader_segment", offsetof(struct rank_signs, has_begun)},
    {"sm_segment", offsetof(struct rank_signs, has_begun)},
    {"ucx_shm_", offsetof(struct rank_signs, has_begun)},
    /* bcs_shm_mark, and the segments of a job. */
    {"memfd:bcs", offsetof(struct rank_signs, has_called)},
};

static void file_note(const char *path, struct rank_signs *signs)
{
    const char *name = strrchr(path, '/') + 1;

    for (size_t i = 0; i < sizeof(known_signs) / sizeof(known_signs[0]); i++) {
        if (strncmp(name, known_signs[i].name, strlen(known_signs[i].name)) == 0) {
            *(bool *)((char *)signs + known_signs[i].offset) = true;
        }
    }
}

void rank_signs_read(FILE *maps, struct rank_signs *signs_out)
{
    struct rank_signs signs = {0};
    size_t n_line_bytes = 0;
    char *line = NULL;

    while (getline(&line, &n_line_bytes, maps) > 0) {
        const char *path = strchr(line, '/');

        if (path != NULL) {
            file_note(path, &signs);
        }
    }
    free(line);
    *signs_out = signs;
}

bool rank_preload_read(FILE *environment, char preload_out[RANK_PRELOAD_BYTES])
{
    size_t n_variable_bytes = 0;
    char *variable = NULL;
    bool is_named = false;

    preload_out[0] = '\0';
    while (getdelim(&variable, &n_variable_bytes, '\0', environment) > 0) {
        const char *value = variable + strlen(PRELOAD_NAME);

        if (strncmp(variable, PRELOAD_NAME, strlen(PRELOAD_NAME)) == 0) {
            is_named = strstr(value, PRELOAD_FILE) != NULL;
            snprintf(preload_out, RANK_PRELOAD_BYTES, "%s", value);
            break;
        }
    }
    for (char *c = preload_out; *c != '\0'; c++) {
        *c = isprint((unsigned char)*c) ? *c : '?';
    }
    free(variable);
    return is_named;
}

enum rank_absence rank_absence_of(const struct rank_signs *signs, bool is_named)
{
    if (signs->has_called) {
        return RANK_NOT_ABSENT;
    }
    if (signs->has_preload) {
        return signs->has_begun ? RANK_PASSED_BY : RANK_NOT_ABSENT;
    }
    if (!signs->has_linker) {
        return signs->has_begun ? RANK_STATIC : RANK_NOT_ABSENT;
    }
    return is_named ? RANK_NOT_LOADED : RANK_NOT_PRELOADED;
}

/** Open a file of a process. */
static FILE *proc_open(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "re");
}

bool rank_look(pid_t pid, struct rank_signs *signs_out,
               char preload_out[RANK_PRELOAD_BYTES], enum rank_absence *absence_out)
{
    FILE *maps = proc_open(pid, "maps"), *environment = NULL;
    bool is_named;

    if (maps == NULL) {
        return false;
    }
    rank_signs_read(maps, signs_out);
    fclose(maps);
    if (signs_out->has_mpi || signs_out->has_begun || signs_out->has_called) {
        environment = proc_open(pid, "environ");
    }
    if (environment == NULL) {
        return false; /* no MPI process, or it has just ended */
    }
    is_named = rank_preload_read(environment, preload_out);
    fclose(environment);
    *absence_out = rank_absence_of(signs_out, is_named);
    return true;
}
