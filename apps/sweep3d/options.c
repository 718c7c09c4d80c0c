/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line; does not print. Every rank runs it once.
 */
#include "apps/sweep3d/options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>

#include "apps/common/message.h"

#define MAX_GRID 1000000

const char options_help[] =
    "Usage: mpirun -n N sweep3d [OPTION]... INPUT\n"
    "Solve a discrete-ordinates transport problem by sweeps over a process grid.\n"
    "\n"
    "  --blocking     MPI_Send and MPI_Recv, as the original does (default)\n"
    "  --nonblocking  MPI_Isend, MPI_Irecv one step ahead, and MPI_Waitall\n"
    "  --grid PxQ     process grid, instead of NPE_I and NPE_J of the input file\n"
    "  --flux FILE    write the scalar flux of every cell to FILE\n"
    "  --help         print this text\n"
    "\n"
    "Exit status: 0 all checks passed, 1 a check failed, 2 wrong command line,\n"
    "input file or process grid, or no memory.\n";

enum option_id {
    OPTION_BLOCKING = 256,
    OPTION_NONBLOCKING,
    OPTION_GRID,
    OPTION_FLUX,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"blocking", no_argument, NULL, OPTION_BLOCKING},
    {"nonblocking", no_argument, NULL, OPTION_NONBLOCKING},
    {"grid", required_argument, NULL, OPTION_GRID},
    {"flux", required_argument, NULL, OPTION_FLUX},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static bool take_grid_size(const char **text, int *size_out)
{
    char *end;
    long size;

    if (**text < '0' || **text > '9') {
        return false;
    }
    size = strtol(*text, &end, 10);
    *text = end;
    *size_out = (int)size;
    return size >= 1 && size <= MAX_GRID;
}

static int parse_grid(const char *text, struct options *options, char *message)
{
    const char *rest = text;

    if (take_grid_size(&rest, &options->npe_i) && *rest++ == 'x' &&
        take_grid_size(&rest, &options->npe_j) && *rest == '\0') {
        return 0;
    }
    message_set(message, "--grid is '%s'; allowed: PxQ with P and Q from 1 to %d", text,
                MAX_GRID);
    return -EINVAL;
}

static int parse_option(int id, const char *word, struct options *options,
                        char *message)
{
    switch (id) {
    case OPTION_BLOCKING:
        options->nonblocking = false;
        return 0;
    case OPTION_NONBLOCKING:
        options->nonblocking = true;
        return 0;
    case OPTION_GRID:
        return parse_grid(optarg, options, message);
    case OPTION_FLUX:
        options->flux_path = optarg;
        return 0;
    case OPTION_HELP:
        options->help = true;
        return 0;
    case ':':
        message_set(message, "option '%s' needs a value (see --help)", word);
        return -EINVAL;
    default:
        message_set(message,
                    "'%s' is not an option; allowed: --blocking, --nonblocking, "
                    "--grid PxQ, --flux FILE, --help",
                    word);
        return -EINVAL;
    }
}

int options_parse(int argc, char **argv, struct options *options_out, char *message)
{
    struct options options = {0};
    int id;

    opterr = 0;
    while ((id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        const char short_option[] = {'-', (char)optopt, '\0'};
        bool is_short = id == '?' && optopt > 0 && optopt < OPTION_BLOCKING;
        const char *word = is_short ? short_option : argv[optind - 1];
        int result = parse_option(id, word, &options, message);
        if (result != 0) {
            return result;
        }
    }
    if (!options.help && argc - optind != 1) {
        message_set(message, "%s; usage: sweep3d [OPTION]... INPUT (see --help)",
                    argc == optind ? "the input file is not named"
                                   : "more than one input file is named");
        return -EINVAL;
    }
    options.input_path = argv[optind];
    *options_out = options;
    return 0;
}
