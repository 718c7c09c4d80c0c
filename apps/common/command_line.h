/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of an application: options, and one input file if it takes one.
 * Every rank parses it, with the same outcome; nothing is printed here.
 */
#ifndef COMMON_COMMAND_LINE_H
#define COMMON_COMMAND_LINE_H

#include <getopt.h>
#include <stdbool.h>

/* val of --help, which command_line_parse takes itself; others begin behind it. */
#define COMMAND_LINE_HELP 256

/** What an application's command line may hold. */
struct command_line {
    const char *program;
    const char *operand; /* what the one operand is: "input deck"; NULL: none */
    const char *usage;   /* its name in the usage: "DECK" */
    const char *allowed; /* all options, for who has given another one */
    const struct option *options;
    /**
     * Take an option; its value is in optarg. message gets one line if it is refused.
     *
     * @return 0 or -EINVAL
     */
    int (*take)(int id, void *options_out, char *message);
};

/**
 * Parse the command line.
 *
 * @param options_out  what take fills
 * @param operand_out points into argv, or to an empty text if there is none; NULL: only
 *                     the help is wanted
 * @param message      gets one line if the result is not 0; MESSAGE_BYTES long
 * @return 0 or -EINVAL
 */
int command_line_parse(const struct command_line *line, int argc, char **argv,
                       void *options_out, const char **operand_out, char *message);

#endif
