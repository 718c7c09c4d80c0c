/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks before the launch: the programs, mpirun and the preload library. Called by
 * bcsrun's main, once each.
 */
#include "apps/tools/launch/launch_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "apps/tools/launch/bcsrun_error.h"
#include "apps/tools/launch/elf_file.h"
#include "libbcs/fabric/base/environment.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define BUILD_FOLDER "/apps/tools/launch"
#define PRELOAD_IN_BUILD "../../../mpi_shim/libbcs_mpi.so"

static bool is_executable_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, X_OK) == 0;
}

/* Look for name in the folders of a PATH. An empty folder is the current one. */
static bool path_search(const char *folders, const char *name, char *path_out,
                        size_t n_path_bytes)
{
    for (;;) {
        size_t n_folder_bytes = strcspn(folders, ":");
        int n = snprintf(path_out, n_path_bytes, "%.*s/%s",
                         n_folder_bytes ? (int)n_folder_bytes : 1,
                         n_folder_bytes ? folders : ".", name);

        if (n > 0 && (size_t)n < n_path_bytes && is_executable_file(path_out)) {
            return true;
        }
        if (folders[n_folder_bytes] == '\0') {
            return false;
        }
        folders += n_folder_bytes + 1;
    }
}

static const char *search_path(void)
{
    const char *path = bcs_environment_get("PATH");

    return path != NULL ? path : DEFAULT_PATH;
}

/* Where mpirun will find the context's program. */
static int program_find(const struct launch_context *context, char *path_out,
                        size_t n_path_bytes)
{
    const char *program = context->program;
    const char *directory = context->directory;

    if (strchr(program, '/') == NULL) {
        if ((context->path != NULL &&
             path_search(context->path, program, path_out, n_path_bytes)) ||
            path_search(search_path(), program, path_out, n_path_bytes)) {
            return 0;
        }
        return bcsrun_error("%s: not found in PATH%s", program,
                            access(program, F_OK) == 0
                                ? " (for the one in this folder, put ./ in front)"
                                : "");
    }
    snprintf(path_out, n_path_bytes, "%s%s%s",
             directory && program[0] != '/' ? directory : "",
             directory && program[0] != '/' ? "/" : "", program);
    if (access(path_out, F_OK) != 0) {
        return bcsrun_error("%s: %s", path_out, strerror(errno));
    }
    if (!is_executable_file(path_out)) {
        return bcsrun_error("%s: not an executable file", path_out);
    }
    return 0;
}

/** What is looked for among the libraries that a program needs. */
struct needed {
    char foreign[NAME_MAX + 1]; /* another MPI library */
    char runtime[NAME_MAX + 1]; /* a sanitizer's that must be loaded first */
};

static bool starts_with_any(const char *name, const char *const prefixes[])
{
    for (size_t i = 0; prefixes[i] != NULL; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* An elf_needed_fn: looks for libraries of MPICH, of those that have its ABI, or of the
 * ABI of MPI 5; and for sanitizers that refuse to start behind a preload. */
static bool needed_look(void *arg, const char *library)
{
    static const char *const foreign[] = {"libmpich",      "libmpifort.so.",
                                          "libmpi.so.12",  "libmpicxx.so.",
                                          "libmpi_abi.so", NULL};
    static const char *const runtimes[] = {"libasan.so.", "libclang_rt.asan", NULL};
    struct needed *needed = arg;

    if (starts_with_any(library, foreign)) {
        snprintf(needed->foreign, sizeof needed->foreign, "%s", library);
        return false;
    }
    if (starts_with_any(library, runtimes)) {
        snprintf(needed->runtime, sizeof needed->runtime, "%s", library);
    }
    return true;
}

/* Whether the program gets rights that its user does not have, so that the dynamic
 * linker ignores LD_PRELOAD in it. */
static bool is_privileged(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return false;
    }
    return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
            status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Whether the preload can carry a program. runtime_out: what must come before it. */
static int program_check_preloadable(const char *path, char *runtime_out,
                                     size_t n_runtime_bytes)
{
    struct needed needed = {0};
    int kind = elf_file_read(path, needed_look, &needed);

    if (needed.foreign[0] != '\0') {
        return bcsrun_error(
            "%s is linked with %s, as MPICH builds programs; bcs carries those built "
            "with Open MPI: compile it with Open MPI's mpicc or mpifort",
            path, needed.foreign);
    }
    snprintf(runtime_out, n_runtime_bytes, "%s", needed.runtime);
    if (is_privileged(path)) {
        return bcsrun_error(
            "%s is set-user-ID or has capabilities, so that the dynamic linker ignores "
            "LD_PRELOAD; run a copy without, or use --native",
            path);
    }
    switch (kind) {
    case ELF_STATIC:
        return bcsrun_error(
            "%s is a static program, which cannot be preloaded; link it "
            "dynamically, or use --native",
            path);
    case ELF_FOREIGN:
        return bcsrun_error("%s is not a 64-bit program of this machine", path);
    case ELF_DAMAGED:
        return bcsrun_error("%s: damaged ELF file", path);
    default:
        return 0; /* one that cannot be read may still be executable */
    }
}

int launch_check_programs(struct launch_options *options)
{
    for (int i = 0; i < options->n_contexts; i++) {
        struct launch_context *context = &options->contexts[i];
        char path[PATH_MAX];
        int err;

        if (context->program == NULL) {
            return bcsrun_error(
                "no program given; usage: bcsrun [options] -n N program "
                "[arguments] (see bcsrun --help)");
        }
        if (options->names_hosts) {
            continue; /* only the other machines can tell */
        }
        err = program_find(context, path, sizeof path);
        if (!err && !options->is_native) {
            err = program_check_preloadable(path, context->runtime,
                                            sizeof context->runtime);
        }
        if (err) {
            return err;
        }
    }
    return 0;
}

/* Debian's mpirun is a link to that of the MPI library which the administrator chose.
 */
static bool is_mpich_launcher(const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = real != NULL ? strrchr(real, '/') : NULL;
    bool is_mpich = name != NULL &&
                    (strstr(name, "mpich") != NULL || strstr(name, "hydra") != NULL);

    free(real);
    return is_mpich;
}

int launch_find_mpirun(const struct launch_options *options, char *path_out,
                       size_t n_path_bytes)
{
    if (options->mpirun != NULL) {
        if (!is_executable_file(options->mpirun)) {
            return bcsrun_error("--mpirun %s: not an executable file", options->mpirun);
        }
        snprintf(path_out, n_path_bytes, "%s", options->mpirun);
        return 0;
    }
    if (path_search(search_path(), "mpirun", path_out, n_path_bytes) &&
        !is_mpich_launcher(path_out)) {
        return 0;
    }
    if (path_search(search_path(), "mpirun.openmpi", path_out, n_path_bytes)) {
        return 0;
    }
    return bcsrun_error("Open MPI's mpirun is not in PATH; install it (Debian: "
                        "apt-get install openmpi-bin) or name it with --mpirun");
}

/* The folder of this program, without a slash at the end. */
static int own_folder(char *folder_out, size_t n_folder_bytes)
{
    ssize_t n = readlink("/proc/self/exe", folder_out, n_folder_bytes - 1);
    char *slash;

    if (n < 0) {
        return bcsrun_error("cannot read /proc/self/exe: %s", strerror(errno));
    }
    folder_out[n] = '\0';
    slash = strrchr(folder_out, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n_text = strlen(text);
    size_t n_end = strlen(end);

    return n_text >= n_end && strcmp(text + n_text - n_end, end) == 0;
}

int launch_find_preload(char *path_out, size_t n_path_bytes)
{
    char folder[PATH_MAX];
    char place[2 * PATH_MAX];
    char *real;
    int err = own_folder(folder, sizeof folder);

    if (err) {
        return err;
    }
    if (BCS_INSTALLED_PRELOAD[0] == '/') {
        folder[0] = '\0'; /* installed apart from the programs, at a fixed place */
    }
    snprintf(place, sizeof place, "%s/%s", folder,
             ends_with(folder, BUILD_FOLDER) ? PRELOAD_IN_BUILD
                                             : BCS_INSTALLED_PRELOAD);
    real = realpath(place, NULL);
    if (real == NULL || access(real, R_OK) != 0) {
        free(real);
        return bcsrun_error("the preload library %s is missing; build or install bcs "
                            "again",
                            place);
    }
    if (strpbrk(real, " :") != NULL) {
        err = bcsrun_error("%s: LD_PRELOAD cannot name a file with a blank or colon in "
                           "its path; move bcs elsewhere",
                           real);
    } else if (strlen(real) >= n_path_bytes) {
        err = bcsrun_error("%s: the path is too long", real);
    } else {
        snprintf(path_out, n_path_bytes, "%s", real);
    }
    free(real);
    return err;
}

/* Find a program next to this one; see launch_find_top. */
static int tool_find(const char *in_build, const char *name, char *path_out,
                     size_t n_path_bytes)
{
    char folder[PATH_MAX];
    int err = own_folder(folder, sizeof folder);

    if (err) {
        return err;
    }
    snprintf(path_out, n_path_bytes, "%s/%s", folder,
             ends_with(folder, BUILD_FOLDER) ? in_build : name);
    return access(path_out, X_OK) == 0 ? 0 : -ENOENT;
}

int launch_find_top(char *path_out, size_t n_path_bytes)
{
    return tool_find("../top/bcs-top", "bcs-top", path_out, n_path_bytes);
}

int launch_find_mds(char *path_out, size_t n_path_bytes)
{
    return tool_find("../../../mds/tool/bcs-mds", "bcs-mds", path_out, n_path_bytes);
}
