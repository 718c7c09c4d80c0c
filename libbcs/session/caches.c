/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads cpu<N>/cache/index<I>/level and shared_cpu_list; see caches.h.
 */
#include "libbcs/session/caches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_INDICES = 16, /* caches of a processor */
    N_PATH_BYTES = 256,
    N_LINE_BYTES = 4096
};

/** The line in a file of a processor's cache. @return whether there is one */
static bool read_line(const char *folder, int cpu, int index, const char *name,
                      char line_out[N_LINE_BYTES])
{
    char path[N_PATH_BYTES];
    FILE *file;
    bool is_read;

    snprintf(path, sizeof(path), "%s/cpu%d/cache/index%d/%s", folder, cpu, index, name);
    file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    is_read = fgets(line_out, N_LINE_BYTES, file) != NULL;
    fclose(file);
    return is_read;
}

/** The processors of a list such as 0-3,8. @return whether it is one */
static bool parse_list(const char *text, cpu_set_t *cpus_out)
{
    char *end;

    CPU_ZERO(cpus_out);
    do {
        unsigned long first = strtoul(text, &end, 10), last = first;

        if (end == text) {
            return false;
        }
        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        for (; first <= last && first < CPU_SETSIZE; first++) {
            CPU_SET((int)first, cpus_out);
        }
        text = end + 1;
    } while (*end == ',');
    return true;
}

static int lowest(const cpu_set_t *cpus)
{
    int cpu = 0;

    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, cpus)) {
        cpu++;
    }
    return cpu;
}

uint32_t bcs_caches_find(const char *folder, const cpu_set_t *cpus)
{
    char line[N_LINE_BYTES];
    int cpu = lowest(cpus), last_index = -1;
    long last_level = 0;
    cpu_set_t sharing, common;

    for (int i = 0; i < MOST_INDICES && read_line(folder, cpu, i, "level", line); i++) {
        long level = strtol(line, NULL, 10);

        if (level > last_level) {
            last_level = level;
            last_index = i;
        }
    }
    if (last_index < 0 ||
        !read_line(folder, cpu, last_index, "shared_cpu_list", line) ||
        !parse_list(line, &sharing)) {
        return BCS_CACHES_UNKNOWN;
    }
    CPU_AND(&common, &sharing, cpus);
    return CPU_EQUAL(&common, cpus) ? (uint32_t)lowest(&sharing) : BCS_CACHES_UNKNOWN;
}

/** Whether n_each processes that follow each other always share a cache. */
static bool do_share(const uint32_t caches[], uint32_t n, uint32_t n_each)
{
    for (uint32_t i = 0; i < n; i++) {
        if (caches[i] == BCS_CACHES_UNKNOWN || caches[i] != caches[i - i % n_each]) {
            return false;
        }
    }
    return true;
}

uint32_t bcs_caches_n_sharing(const uint32_t caches[], uint32_t n)
{
    uint32_t n_sharing = 1;

    while (n_sharing < n && do_share(caches, n, 2 * n_sharing)) {
        n_sharing *= 2;
    }
    return n_sharing;
}
