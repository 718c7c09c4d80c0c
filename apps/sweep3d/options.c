/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the command line. Every rank runs it once.
 */
#include "apps/sweep3d/options.h"

#include <errno.h>
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
    OPTION_BLOCKING = COMMAND_LINE_HELP + 1,
    OPTION_NONBLOCKING,
    OPTION_GRID,
    OPTION_FLUX,
};

static const struct option known[] = {
    {"blocking", no_argument, NULL, OPTION_BLOCKING},
    {"nonblocking", no_argument, NULL, OPTION_NONBLOCKING},
    {"grid", required_argument, NULL, OPTION_GRID},
    {"flux", required_argument, NULL, OPTION_FLUX},
    {"help", no_argument, NULL, COMMAND_LINE_HELP},
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

static int take(int id, void *options_out, char *message)
{
    struct options *options = options_out;

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
    default:
        return -EINVAL; /* not reached: options_line has no others */
    }
}

const struct command_line options_line = {
    .program = "sweep3d",
    .operand = "input file",
    .usage = "INPUT",
    .allowed = "--blocking, --nonblocking, --grid PxQ, --flux FILE",
    .options = known,
    .take = take,
};
