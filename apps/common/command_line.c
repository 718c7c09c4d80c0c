/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses the command line of an application. Every rank runs it once.
 */
#include "apps/common/command_line.h"

#include <errno.h>
#include <stddef.h>

#include "apps/common/message.h"

static int take(const struct command_line *line, int id, const char *word,
                void *options_out, char *message)
{
    switch (id) {
    case ':':
        message_set(message, "option '%s' needs a value (see --help)", word);
        return -EINVAL;
    case '?':
        message_set(message, "'%s' is not an option; allowed: %s, --help", word,
                    line->allowed);
        return -EINVAL;
    default:
        return line->take(id, options_out, message);
    }
}

int command_line_parse(const struct command_line *line, int argc, char **argv,
                       void *options_out, const char **operand_out, char *message)
{
    bool help = false;
    int id;

    opterr = 0;
    while ((id = getopt_long(argc, argv, ":", line->options, NULL)) != -1) {
        const char short_option[] = {'-', (char)optopt, '\0'};
        bool is_short = id == '?' && optopt > 0 && optopt < COMMAND_LINE_HELP;
        const char *word = is_short ? short_option : argv[optind - 1];

        if (id == COMMAND_LINE_HELP) {
            help = true;
        } else if (take(line, id, word, options_out, message) != 0) {
            return -EINVAL;
        }
    }
    if (!help && line->operand == NULL && argc > optind) {
        message_set(message, "'%s' is not an option; allowed: %s, --help", argv[optind],
                    line->allowed);
        return -EINVAL;
    }
    if (!help && line->operand != NULL && argc - optind != 1) {
        bool is_none = argc == optind;

        message_set(message, "%s %s is %snamed; usage: %s [OPTION]... %s (see --help)",
                    is_none ? "the" : "more than one", line->operand,
                    is_none ? "not " : "", line->program, line->usage);
        return -EINVAL;
    }
    *operand_out = help ? NULL : line->operand == NULL ? "" : argv[optind];
    return 0;
}
