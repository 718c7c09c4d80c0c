/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of an application, and what is said of a wrong one.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/command_line.h"
#include "apps/common/message.h"
#include "tests/unit/run_suite.h"

enum { STEPS = COMMAND_LINE_HELP + 1 };

static const struct option options[] = {
    {"help", no_argument, NULL, COMMAND_LINE_HELP},
    {"steps", required_argument, NULL, STEPS},
    {NULL, 0, NULL, 0},
};

static char message[MESSAGE_BYTES];
static const char *operand;
static int steps;

static int take(int id, void *options_out, char *text)
{
    ck_assert_int_eq(id, STEPS);
    *(int *)options_out = atoi(optarg);
    if (steps < 0) {
        message_set(text, "--steps is %s", optarg);
        return -EINVAL;
    }
    return 0;
}

/* Parse a command line that is given as one text with blanks. */
static int parse(const char *text, const char *operand_name)
{
    const struct command_line line = {"prog",      operand_name, "DECK",
                                      "--steps N", options,      take};
    static char words[256];
    char *argv[16] = {(char *)"prog"};
    int argc = 1;

    snprintf(words, sizeof(words), "%s", text);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    optind = 0; /* begin anew */
    message[0] = '\0';
    operand = "?";
    steps = 0;
    return command_line_parse(&line, argc, argv, &steps, &operand, message);
}

static void is_refused(const char *text, const char *operand_name, const char *what)
{
    ck_assert_int_eq(parse(text, operand_name), -EINVAL);
    ck_assert_str_eq(message, what);
    ck_assert_str_eq(operand, "?");
}

START_TEST(options_and_the_operand_are_taken)
{
    ck_assert_int_eq(parse("--steps 3 deck", "input deck"), 0);
    ck_assert_str_eq(operand, "deck");
    ck_assert_int_eq(steps, 3);
    ck_assert_int_eq(parse("deck --steps=4", "input deck"), 0);
    ck_assert_str_eq(operand, "deck");
    ck_assert_int_eq(steps, 4);
    ck_assert_int_eq(parse("", NULL), 0);
    ck_assert_str_eq(operand, "");
}
END_TEST

START_TEST(help_needs_nothing_else)
{
    ck_assert_int_eq(parse("--help", "input deck"), 0);
    ck_assert_ptr_null(operand);
    ck_assert_int_eq(parse("a b --help", NULL), 0);
    ck_assert_ptr_null(operand);
}
END_TEST

START_TEST(what_is_wrong_is_named)
{
    is_refused("--speed", NULL,
               "'--speed' is not an option; allowed: --steps N, --help");
    is_refused("-q", NULL, "'-q' is not an option; allowed: --steps N, --help");
    is_refused("-qr", NULL, "'-q' is not an option; allowed: --steps N, --help");
    is_refused("deck", NULL, "'deck' is not an option; allowed: --steps N, --help");
    is_refused("--steps", NULL, "option '--steps' needs a value (see --help)");
    is_refused("--steps -2 deck", "input deck", "--steps is -2");
    is_refused(
        "", "input deck",
        "the input deck is not named; usage: prog [OPTION]... DECK (see --help)");
    is_refused("a b", "input deck",
               "more than one input deck is named; usage: prog [OPTION]... DECK (see "
               "--help)");
}
END_TEST

START_TEST(a_message_is_one_harmless_line)
{
    message_set(message, "a%cb%cc%c%s", 27, '\n', 127, "\xc3\xa4 ~");
    ck_assert_str_eq(message, "a?b?c?\xc3\xa4 ~");
    message_set(message, "%*d", 2 * MESSAGE_BYTES, 1);
    ck_assert_uint_eq(strlen(message), MESSAGE_BYTES - 1);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("command_line");

    tcase_add_test(tcase, options_and_the_operand_are_taken);
    tcase_add_test(tcase, help_needs_nothing_else);
    tcase_add_test(tcase, what_is_wrong_is_named);
    tcase_add_test(tcase, a_message_is_one_harmless_line);
    return run_tcase("command_line", tcase);
}
