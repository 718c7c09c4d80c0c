/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line; does not print. Every rank runs it once.
 */
#include "apps/sage/options.h"

#include <errno.h>
#include <getopt.h>
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

enum option_id { OPTION_SET = 256, OPTION_CELLS, OPTION_HELP };

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPTION_SET},
    {"cells", required_argument, NULL, OPTION_CELLS},
    {"help", no_argument, NULL, OPTION_HELP},
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

static int parse_option(int id, const char *word, struct options *options,
                        char *message)
{
    switch (id) {
    case OPTION_SET:
        return add_setting(options, message);
    case OPTION_CELLS:
        options->cells_path = optarg;
        return 0;
    case OPTION_HELP:
        options->help = true;
        return 0;
    case ':':
        message_set(message, "option '%s' needs a value (see --help)", word);
        return -EINVAL;
    default:
        message_set(message,
                    "'%s' is not an option; allowed: --set KEY=VALUE, --cells FILE, "
                    "--help",
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
        bool is_short = id == '?' && optopt > 0 && optopt < OPTION_SET;
        const char *word = is_short ? short_option : argv[optind - 1];
        int result = parse_option(id, word, &options, message);
        if (result != 0) {
            return result;
        }
    }
    if (!options.help && argc - optind != 1) {
        message_set(message, "%s; usage: sage [OPTION]... DECK (see --help)",
                    argc == optind ? "the input deck is not named"
                                   : "more than one input deck is named");
        return -EINVAL;
    }
    options.input_path = argv[optind];
    *options_out = options;
    return 0;
}
