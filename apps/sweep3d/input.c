/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the input file into struct input. A table names each value, the line that it
 * stands on and its range; what the ranges of one value cannot say is in input_check.c.
 * Runs on rank 0, once.
 */
#include "apps/sweep3d/input.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/message.h"

#define LAST_NEEDED_LINE 5
#define MAX_WORD 40
#define MAX_LINE 4096

enum field_kind { WHOLE_NUMBER, NUMBER };

struct field {
    const char *name;
    int line;
    enum field_kind kind;
    bool may_be_absent;
    size_t offset;
    double min, max;
    const char *allowed;
};

struct reader {
    const char *path;
    int line_number;
    struct input *input;
    char *message;
};

#define WHOLE(line, name, member, min, max, allowed)                                   \
    {                                                                                  \
        name, line, WHOLE_NUMBER, false, offsetof(struct input, member), min, max,     \
            allowed                                                                    \
    }
#define REAL(line, name, member, min, max, allowed)                                    \
    {                                                                                  \
        name, line, NUMBER, false, offsetof(struct input, member), min, max, allowed   \
    }
#define CELLS "1 to 10000"
#define WIDTH "1e-6 to 1e6"
#define CROSS_SECTION "0 to 1e6"

static const struct field fields[] = {
    WHOLE(1, "NPE_I", npe_i, 0, 1e6, "0 (chosen) to 1000000"),
    WHOLE(1, "NPE_J", npe_j, 0, 1e6, "0 (chosen) to 1000000"),
    WHOLE(1, "MK", mk, 1, 1e4, "1 to KT"),
    WHOLE(1, "MMI", mmi, 1, 10, "1 to MM, a divisor of MM"),
    WHOLE(2, "IT", it, 1, 1e4, CELLS),
    WHOLE(2, "JT", jt, 1, 1e4, CELLS),
    WHOLE(2, "KT", kt, 1, 1e4, CELLS),
    WHOLE(2, "MM", mm, 1, 10, "1, 3, 6 or 10"),
    WHOLE(2, "ISCT", isct, 0, 1, "0 or 1"),
    REAL(3, "DX", dx, 1e-6, 1e6, WIDTH),
    REAL(3, "DY", dy, 1e-6, 1e6, WIDTH),
    REAL(3, "DZ", dz, 1e-6, 1e6, WIDTH),
    REAL(3, "EPSI", epsi, -1e6, 1, INPUT_ALLOWED_EPSI),
    {"ITMX", 3, WHOLE_NUMBER, true, offsetof(struct input, itmx), 1, 1e6,
     "1 to 1000000"},
    WHOLE(4, "IBC", ibc, 0, 0, "0 (vacuum)"),
    WHOLE(4, "JBC", jbc, 0, 0, "0 (vacuum)"),
    WHOLE(4, "KBC", kbc, 0, 0, "0 (vacuum)"),
    WHOLE(5, "IPRINT", iprint, 0, 1, "0 or 1"),
    WHOLE(5, "IDSA", idsa, 0, 0, "0 (no acceleration)"),
    WHOLE(5, "IFIXUPS", ifixups, 0, 1, "0 or 1"),
    REAL(6, "SIGT", sigt, 0, 1e6, CROSS_SECTION),
    REAL(6, "SIGS", sigs, 0, 1e6, CROSS_SECTION),
    {"SIGS1", 6, NUMBER, true, offsetof(struct input, sigs1), -1e6, 1e6,
     INPUT_ALLOWED_SIGS1},
    REAL(7, "SRC", src, 1e-30, 1e30, "1e-30 to 1e30"),
    WHOLE(7, "I1", i1, 1, 1e4, "1 to IT"),
    WHOLE(7, "I2", i2, 1, 1e4, "I1 to IT"),
    WHOLE(7, "J1", j1, 1, 1e4, "1 to JT"),
    WHOLE(7, "J2", j2, 1, 1e4, "J1 to JT"),
    WHOLE(7, "K1", k1, 1, 1e4, "1 to KT"),
    WHOLE(7, "K2", k2, 1, 1e4, "K1 to KT"),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const char *const line_contents[INPUT_N_LINES + 1] = {
    "",
    "NPE_I NPE_J MK MMI",
    "IT JT KT MM ISCT",
    "DX DY DZ EPSI [ITMX]",
    "IBC JBC KBC",
    "IPRINT IDSA IFIXUPS",
    "SIGT SIGS [SIGS1]",
    "SRC I1 I2 J1 J2 K1 K2",
};

static const char *skip_separators(const char *text)
{
    return text + strspn(text, " \t\r\n,");
}

static bool is_end_of_values(const char *text)
{
    return *text == '\0' || *text == '#' || *text == '!';
}

/* Does the text begin as a number does? Anything else after the values is a remark. */
static bool is_like_number(const char *text)
{
    text += strspn(text, "+-");
    text += *text == '.';
    return *text >= '0' && *text <= '9';
}

/* Copy the next word off *text; false if it is longer than any number. */
static bool take_word(const char **text, char *word, size_t size)
{
    size_t length = strcspn(*text, " \t\r\n,#!");

    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), *text);
    *text += length;
    for (char *c = word; *c != '\0'; c++) {
        *c = (unsigned char)*c < 128 ? *c : '?';
    }
    return length < size;
}

/* Convert a word; Fortran's 1.5d-3 is a number as well. */
static bool is_number(const char *word, double *value_out)
{
    char number[MAX_WORD];
    char *end;

    snprintf(number, sizeof(number), "%s", word);
    if (number[strspn(number, "+-.0123456789eEdD")] != '\0') {
        return false;
    }
    end = strpbrk(number, "dD");
    if (end != NULL) {
        *end = 'e';
    }
    *value_out = strtod(number, &end);
    return end != number && *end == '\0' && isfinite(*value_out);
}

static void store(struct input *input, const struct field *field, double value)
{
    char *place = (char *)input + field->offset;

    if (field->kind == WHOLE_NUMBER) {
        int whole = (int)value;
        memcpy(place, &whole, sizeof(whole));
    } else {
        memcpy(place, &value, sizeof(value));
    }
}

static int read_field(struct reader *reader, const struct field *field,
                      const char **text)
{
    char word[MAX_WORD];
    double value = 0;

    if (!take_word(text, word, sizeof(word)) || !is_number(word, &value)) {
        message_set(reader->message, "%s:%d: %s is '%s', not a number; allowed: %s",
                    reader->path, reader->line_number, field->name, word,
                    field->allowed);
        return -EINVAL;
    }
    if (value < field->min || value > field->max ||
        (field->kind == WHOLE_NUMBER && value != floor(value))) {
        message_set(reader->message, "%s:%d: %s is %s; allowed: %s", reader->path,
                    reader->line_number, field->name, word, field->allowed);
        return -EINVAL;
    }
    store(reader->input, field, value);
    return 0;
}

static int read_line_of_values(struct reader *reader, int line, const char *text)
{
    for (size_t f = 0; f < N_FIELDS; f++) {
        if (fields[f].line != line) {
            continue;
        }
        text = skip_separators(text);
        if (fields[f].may_be_absent && !is_like_number(text)) {
            continue;
        }
        if (is_end_of_values(text)) {
            message_set(reader->message, "%s:%d: %s is missing; the line must hold %s",
                        reader->path, reader->line_number, fields[f].name,
                        line_contents[line]);
            return -EINVAL;
        }
        int result = read_field(reader, &fields[f], &text);
        if (result != 0) {
            return result;
        }
    }
    if (is_like_number(skip_separators(text))) {
        message_set(reader->message, "%s:%d: too many values; the line must hold %s",
                    reader->path, reader->line_number, line_contents[line]);
        return -EINVAL;
    }
    reader->input->line_at[line] = reader->line_number;
    return 0;
}

/* A line that fills the buffer without an end is no line of an input file. */
static int check_line(struct reader *reader, int line, const char text[MAX_LINE])
{
    if (text[MAX_LINE - 1] == '\0' && text[MAX_LINE - 2] != '\n') {
        message_set(reader->message,
                    "%s:%d: the line is too long; allowed: %d characters", reader->path,
                    reader->line_number, MAX_LINE - 2);
        return -EINVAL;
    }
    if (line > INPUT_N_LINES) {
        message_set(reader->message, "%s:%d: too many lines; allowed: %d with values",
                    reader->path, reader->line_number, INPUT_N_LINES);
        return -EINVAL;
    }
    return 0;
}

static int read_all_lines(struct reader *reader, FILE *file)
{
    char text[MAX_LINE];
    int line = 0;
    int result = 0;

    text[MAX_LINE - 1] = 'x';
    while (result == 0 && fgets(text, sizeof(text), file) != NULL) {
        bool is_empty = is_end_of_values(skip_separators(text));
        reader->line_number++;
        line += is_empty ? 0 : 1;
        result = check_line(reader, line, text);
        if (result == 0 && !is_empty) {
            result = read_line_of_values(reader, line, text);
        }
    }
    if (result == 0 && ferror(file)) {
        result = errno != 0 ? -errno : -EIO;
        message_set(reader->message, "%s: %s", reader->path, strerror(-result));
    } else if (result == 0 && line < LAST_NEEDED_LINE) {
        message_set(reader->message,
                    "%s:%d: the file ends before the line %s; "
                    "it must hold at least %d lines with values",
                    reader->path, reader->line_number, line_contents[line + 1],
                    LAST_NEEDED_LINE);
        result = -EINVAL;
    }
    return result;
}

/* What lines 6 and 7 say when they are absent: half is scattered, source inside. */
static void complete_with_defaults(struct input *input)
{
    if (input->line_at[6] == 0) {
        input->sigt = 1.0;
        input->sigs = 0.5;
        input->sigs1 = 0.1;
    }
    if (input->line_at[7] == 0) {
        input->src = 1.0;
        input->i1 = input->it / 4 + 1;
        input->j1 = input->jt / 4 + 1;
        input->k1 = input->kt / 4 + 1;
        input->i2 = input->it - input->it / 4;
        input->j2 = input->jt - input->jt / 4;
        input->k2 = input->kt - input->kt / 4;
    }
}

int input_read(const char *path, struct input *input_out, char *message)
{
    struct input input = {.itmx = 1000};
    struct reader reader = {.path = path, .input = &input, .message = message};
    FILE *file = fopen(path, "r");
    int result;

    if (file == NULL) {
        result = -errno;
        message_set(message, "%s: %s", path, strerror(-result));
        return result;
    }
    errno = 0;
    result = read_all_lines(&reader, file);
    fclose(file);
    if (result != 0) {
        return result;
    }
    complete_with_defaults(&input);
    *input_out = input;
    return 0;
}

bool input_is_fixed_count(const struct input *input)
{
    return input->epsi < 0;
}

int input_max_iterations(const struct input *input)
{
    return input_is_fixed_count(input) ? (int)-input->epsi : input->itmx;
}
