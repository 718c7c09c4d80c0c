/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcsrun: starts an unmodified MPI program under BCS, by mpirun with the preload
 * library for the ranks. Checks first all that can be checked, gives the job a folder
 * for Open MPI's files and removes it afterwards. One process, one thread.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "libbcs/tools/bcsrun_error.h"
#include "libbcs/tools/launch_check.h"
#include "libbcs/tools/launch_command.h"
#include "libbcs/tools/launch_options.h"
#include "libbcs/tools/launch_run.h"
#include "libbcs/tools/scratch.h"
#include "libbcs/tools/variables.h"
#include "libbcs/tools/versus.h"

#define ERROR_BYTES 512

static const char help[] =
    "Usage: bcsrun [options] [mpirun's options] -n N program [arguments]\n"
    "\n"
    "Run an unmodified Open MPI program on N ranks under BCS.\n"
    "\n"
    "  --native       the same launch without BCS\n"
    "  --versus N     N alternating pairs of a native run and one under BCS; prints "
    "the\n"
    "                 wall seconds, their medians and the ratio\n"
    "  --mpirun PATH  the mpirun to use instead of the one in PATH\n"
    "  --help         print this text\n"
    "  --version      print the version\n"
    "\n"
    "All other options are mpirun's. More ranks than cores need no further option.\n"
    "BCS_* variables set how BCS works; \"bcs-info\" lists them.\n";

/** The command lines of a launch; the one that is not needed stays NULL. */
struct commands {
    char **native;
    char **bcs;
};

static int commands_make(const struct launch_options *options,
                         struct commands *commands)
{
    bool needs_native = options->is_native || options->n_pairs > 0;
    bool needs_bcs = !options->is_native || options->n_pairs > 0;
    char mpirun[PATH_MAX];
    char preload[PATH_MAX];
    int err = launch_find_mpirun(options, mpirun, sizeof mpirun);

    if (!err && needs_bcs) {
        err = launch_find_preload(preload, sizeof preload);
    }
    if (err) {
        return err;
    }
    if (needs_native) {
        commands->native = launch_command_make(options, mpirun, NULL);
    }
    if (needs_bcs) {
        commands->bcs = launch_command_make(options, mpirun, preload);
    }
    if ((needs_native && !commands->native) || (needs_bcs && !commands->bcs)) {
        return bcsrun_error("out of memory");
    }
    return 0;
}

static int commands_run(const struct launch_options *options,
                        const struct commands *commands)
{
    struct launch_result result;

    if (options->n_pairs > 0) {
        return versus_run(commands->native, commands->bcs, options->n_pairs);
    }
    if (launch_run(options->is_native ? commands->native : commands->bcs, -1,
                   &result)) {
        return EXIT_FAILURE;
    }
    return result.status;
}

/* Launch in a folder of the job's own, unless other machines take part. */
static int launch_in_scratch(const struct launch_options *options,
                             const struct commands *commands)
{
    struct scratch scratch;
    int status;

    if (launch_is_remote(options)) {
        launch_settings_apply(options, NULL);
        return commands_run(options, commands);
    }
    if (scratch_create(&scratch) < 0) {
        return EXIT_FAILURE;
    }
    launch_settings_apply(options, scratch.path);
    status = commands_run(options, commands);
    scratch_remove(&scratch);
    return status;
}

static int launch(const struct launch_options *options)
{
    struct commands commands = {0};
    char error[ERROR_BYTES];
    int status = EXIT_FAILURE;

    if (bcs_variables_check(error, sizeof error) < 0) {
        bcsrun_error("%s", error);
        return EXIT_FAILURE;
    }
    if (launch_check_programs(options) == 0 && commands_make(options, &commands) == 0) {
        status = launch_in_scratch(options, &commands);
    }
    launch_command_free(commands.native);
    launch_command_free(commands.bcs);
    return status;
}

int main(int argc, char **argv)
{
    struct launch_options options;
    int status = EXIT_SUCCESS;

    if (launch_options_parse(argc, argv, &options) < 0) {
        return EXIT_FAILURE;
    }
    if (options.wants_help) {
        fputs(help, stdout);
    } else if (options.wants_version) {
        printf("bcsrun %s\n", BCS_VERSION);
    } else {
        status = launch(&options);
    }
    launch_options_fini(&options);
    return status;
}
