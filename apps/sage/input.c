/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the input deck into struct input. A table names each key, its range and what it
 * is without being set; what the range of one key cannot say is in input_check.c. Runs
 * on rank 0, once.
 */
#include "apps/sage/input.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "apps/common/message.h"

#define MAX_WORD 64
#define MAX_LINE 4096
#define MAX_PLACE 400

enum field_kind { WHOLE_NUMBER, NUMBER, WORD };

struct field {
    const char *name;
    enum field_kind kind;
    /* NAN: the deck must say it. */
    double fallback;
    size_t offset;
    double min, max;
    const char *allowed;
    const char *const *words; /* max + 1 of them, if one of them is the value */
};

#define WHOLE(name, member, fallback, min, max, allowed)                               \
    {                                                                                  \
        name, WHOLE_NUMBER, fallback, offsetof(struct input, member), min, max,        \
            allowed, NULL                                                              \
    }
#define REAL(name, member, fallback, min, max, allowed)                                \
    {                                                                                  \
        name, NUMBER, fallback, offsetof(struct input, member), min, max, allowed,     \
            NULL                                                                       \
    }
#define ONE_OF(name, member, fallback, words, allowed)                                 \
    {                                                                                  \
        name, WORD, fallback, offsetof(struct input, member), 0,                       \
            sizeof(words) / sizeof((words)[0]) - 1, allowed, words                     \
    }
#define CELLS "1 to 4096"
#define FRACTION "0 to 1 (of the domain)"
#define POSITIVE "1e-9 to 1e9"

static const char *const problem_words[] = {
    [PROBLEM_BLAST] = "blast",
    [PROBLEM_SHOCK_TUBE] = "shock_tube",
};

static const char *const reductions_words[] = {
    [REDUCTIONS_COMBINED] = "combined",
    [REDUCTIONS_SINGLE] = "single",
};

static const struct field fields[] = {
    ONE_OF("problem", problem, NAN, problem_words, "blast, shock_tube"),
    WHOLE("cells_x", cells[0], NAN, 1, 4096, CELLS),
    WHOLE("cells_y", cells[1], NAN, 1, 4096, CELLS),
    WHOLE("cells_z", cells[2], NAN, 1, 4096, CELLS),
    REAL("cell_width", cell_width, NAN, 1e-6, 1e6, "1e-6 to 1e6"),
    WHOLE("max_level", max_level, NAN, 0, 8, "0 to 8"),
    REAL("gamma", gamma, 1.4, 1.01, 5, "1.01 to 5"),
    REAL("inner_density", inner_density, 1, 1e-9, 1e9, POSITIVE),
    REAL("inner_pressure", inner_pressure, 1, 1e-9, 1e9, POSITIVE),
    REAL("outer_density", outer_density, 0.125, 1e-9, 1e9, POSITIVE),
    REAL("outer_pressure", outer_pressure, 0.1, 1e-9, 1e9, POSITIVE),
    REAL("interface", interface, NAN, 1e-6, 1e9, "1e-6 to 1e9"),
    REAL("center_x", center[0], 0.5, 0, 1, FRACTION),
    REAL("center_y", center[1], 0.5, 0, 1, FRACTION),
    REAL("center_z", center[2], 0.5, 0, 1, FRACTION),
    REAL("cfl", cfl, 0.5, 0.01, 0.9, "0.01 to 0.9"),
    WHOLE("cycles", cycles, NAN, 1, 1e8, "1 to 100000000"),
    REAL("end_time", end_time, 0, 0, 1e9, "0 (no end) to 1e9"),
    REAL("conductivity", conductivity, 0, 0, 1e9, "0 (no conduction) to 1e9"),
    REAL("cg_tolerance", cg_tolerance, 1e-8, 1e-14, 0.1, "1e-14 to 0.1"),
    WHOLE("cg_iterations", cg_iterations, 500, 1, 1e6, "1 to 1000000"),
    WHOLE("adapt_every", adapt_every, 10, 0, 1e6, "0 (never) to 1000000"),
    WHOLE("buffer", buffer, 2, 0, 16, "0 to 16"),
    REAL("refine_above", refine_above, 0.05, 1e-6, 1, "1e-6 to 1"),
    REAL("coarsen_below", coarsen_below, 0.01, 0, 1, "0 to refine_above"),
    REAL("imbalance", imbalance, 1, 1, 1e6, "1 to 1000000"),
    ONE_OF("reductions", reductions, REDUCTIONS_COMBINED, reductions_words,
           "combined, single"),
    WHOLE("print_every", print_every, 0, 0, 1e6, "0 (nothing) to 1000000"),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Where the reader is, for messages, and what it has seen. */
struct reader {
    char place[MAX_PLACE];
    struct input *input;
    bool is_set[N_FIELDS];
    char *message;
};

/* Copy text without the blanks around it; false if it does not fit. */
static bool copy_trimmed(char word[MAX_WORD], const char *text, size_t length)
{
    while (length > 0 && strchr(" \t\r\n", *text) != NULL) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        length--;
    }
    snprintf(word, MAX_WORD, "%.*s", (int)(length < MAX_WORD ? length : MAX_WORD - 1),
             text);
    for (char *c = word; *c != '\0'; c++) {
        *c = (unsigned char)*c < 128 ? *c : '?';
    }
    return length < MAX_WORD;
}

static int unknown_key(struct reader *reader, const char *name)
{
    char allowed[MESSAGE_BYTES / 2] = "";
    size_t length = 0;

    for (size_t f = 0; f < N_FIELDS; f++) {
        length += (size_t)snprintf(allowed + length, sizeof(allowed) - length, "%s%s",
                                   f > 0 ? ", " : "", fields[f].name);
    }
    message_set(reader->message, "%s: '%s' is not a key; allowed: %s", reader->place,
                name, allowed);
    return -EINVAL;
}

static bool is_number(const char *word, double *value_out)
{
    char *end;

    if (word[strspn(word, "+-.0123456789eE")] != '\0') {
        return false;
    }
    *value_out = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value_out);
}

static bool is_value(const struct field *field, const char *word, double *value_out)
{
    if (field->kind == WORD) {
        for (int w = 0; w <= (int)field->max; w++) {
            if (strcmp(word, field->words[w]) == 0) {
                *value_out = w;
                return true;
            }
        }
        return false;
    }
    return is_number(word, value_out) && *value_out >= field->min &&
           *value_out <= field->max &&
           (field->kind == NUMBER || *value_out == floor(*value_out));
}

static void store(struct input *input, const struct field *field, double value)
{
    char *place = (char *)input + field->offset;

    if (field->kind == NUMBER) {
        memcpy(place, &value, sizeof(value));
    } else {
        int whole = (int)value;
        memcpy(place, &whole, sizeof(whole));
    }
}

/* Take KEY = VALUE. A key may not be set twice in a deck. */
static int read_assignment(struct reader *reader, const char *text, bool may_repeat)
{
    const char *sign = strchr(text, '=');
    char name[MAX_WORD], word[MAX_WORD];
    double value = 0;
    size_t f = 0;

    if (sign == NULL) {
        copy_trimmed(name, text, strlen(text));
        message_set(reader->message, "%s: '%s' is not KEY = VALUE", reader->place,
                    name);
        return -EINVAL;
    }
    copy_trimmed(name, text, (size_t)(sign - text));
    while (f < N_FIELDS && strcmp(name, fields[f].name) != 0) {
        f++;
    }
    if (f == N_FIELDS) {
        return unknown_key(reader, name);
    }
    if (reader->is_set[f] && !may_repeat) {
        message_set(reader->message, "%s: %s is set twice; allowed: once",
                    reader->place, name);
        return -EINVAL;
    }
    if (!copy_trimmed(word, sign + 1, strlen(sign + 1)) ||
        !is_value(&fields[f], word, &value)) {
        message_set(reader->message, "%s: %s is '%s'; allowed: %s%s", reader->place,
                    name, word, fields[f].allowed,
                    fields[f].kind == WHOLE_NUMBER ? ", whole" : "");
        return -EINVAL;
    }
    store(reader->input, &fields[f], value);
    reader->is_set[f] = true;
    return 0;
}

static int read_line(struct reader *reader, char *text, size_t length)
{
    if (length > MAX_LINE) {
        message_set(reader->message, "%s: the line is too long; allowed: %d characters",
                    reader->place, MAX_LINE);
        return -EINVAL;
    }
    if (strlen(text) != length) {
        message_set(reader->message, "%s: the line holds a byte 0; allowed: text",
                    reader->place);
        return -EINVAL;
    }
    text[strcspn(text, "#!")] = '\0';
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return 0;
    }
    return read_assignment(reader, text, false);
}

static int read_all_lines(struct reader *reader, const char *path, FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    int line_number = 0;
    int result = 0;
    ssize_t length;

    while (result == 0 && (length = getline(&text, &size, file)) >= 0) {
        line_number++;
        snprintf(reader->place, sizeof(reader->place), "%.300s:%d", path, line_number);
        result = read_line(reader, text, (size_t)length);
    }
    if (result == 0 && ferror(file)) {
        result = errno != 0 ? -errno : -EIO;
        message_set(reader->message, "%s: %s", path, strerror(-result));
    }
    free(text);
    return result;
}

static int read_deck(struct reader *reader, const char *path)
{
    FILE *file = fopen(path, "r");
    int result;

    if (file == NULL) {
        result = -errno;
        message_set(reader->message, "%s: %s", path, strerror(-result));
        return result;
    }
    errno = 0;
    result = read_all_lines(reader, path, file);
    fclose(file);
    return result;
}

static int complete_with_defaults(struct reader *reader, const char *path)
{
    for (size_t f = 0; f < N_FIELDS; f++) {
        if (reader->is_set[f]) {
            continue;
        }
        if (isnan(fields[f].fallback)) {
            message_set(reader->message, "%s: %s is not set; allowed: %s", path,
                        fields[f].name, fields[f].allowed);
            return -EINVAL;
        }
        store(reader->input, &fields[f], fields[f].fallback);
    }
    return 0;
}

int input_read(const char *path, const char *const *settings, int n_settings,
               struct input *input_out, char *message)
{
    struct input input = {0};
    struct reader reader = {.input = &input, .message = message};
    int result = read_deck(&reader, path);

    snprintf(reader.place, sizeof(reader.place), "--set");
    for (int s = 0; s < n_settings && result == 0; s++) {
        result = read_assignment(&reader, settings[s], true);
    }
    if (result == 0) {
        result = complete_with_defaults(&reader, path);
    }
    if (result == 0) {
        *input_out = input;
    }
    return result;
}
