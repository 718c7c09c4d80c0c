/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of the command line. Every rank runs it once.
 */
#include "apps/sage/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "apps/common/message.h"

const char options_help[] =
    "Usage: mpirun -n N sage [OPTION]... DECK\n"
    "Solve the Euler equations on an adaptive mesh that is shared out in slabs.\n"
    "\n"
    "  --set KEY=VALUE  use VALUE for a key of the deck; may be repeated\n"
    "  --cells FILE     write the state of every cell to FILE at the end\n"
    "  --help           print this text\n"
    "\n"
    "Exit status: 0 all checks passed, 1 a check failed, 2 wrong command line,\n"
    "deck or number of ranks, or no memory.\n";

enum option_id { OPTION_SET = COMMAND_LINE_HELP + 1, OPTION_CELLS };

static const struct option known[] = {
    {"set", required_argument, NULL, OPTION_SET},
    {"cells", required_argument, NULL, OPTION_CELLS},
    {"help", no_argument, NULL, COMMAND_LINE_HELP},
    {NULL, 0, NULL, 0},
};

static int add_setting(struct options *options, char *message)
{
    if (options->n_settings == OPTIONS_MAX_SETTINGS) {
        message_set(message, "too many options --set; allowed: %d",
                    OPTIONS_MAX_SETTINGS);
        return -EINVAL;
    }
    options->settings[options->n_settings++] = optarg;
    return 0;
}

static int take(int id, void *options_out, char *message)
{
    struct options *options = options_out;

    switch (id) {
    case OPTION_SET:
        return add_setting(options, message);
    case OPTION_CELLS:
        options->cells_path = optarg;
        return 0;
    default:
        return -EINVAL; /* not reached: options_line has no others */
    }
}

const struct command_line options_line = {
    .program = "sage",
    .operand = "input deck",
    .usage = "DECK",
    .allowed = "--set KEY=VALUE, --cells FILE",
    .options = known,
    .take = take,
};
