/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads, checks and describes BCS_* variables by the modules' tables: one parser for
 * each kind of value. Called at start by every process under BCS, by bcsrun before it
 * launches anything and by bcs-info, always by one thread.
 */
#include "libbcs/fabric/base/config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libbcs/fabric/base/build_options.h"
#include "libbcs/fabric/base/environment.h"
#include "libbcs/fabric/base/limits.h"

#define NAME_PREFIX "BCS_"
#define SHOWN_BYTES 64 /* of a user's text in an error line */
#define TEXT_BYTES 384

/** What a variable's text says. */
union value {
    uint64_t number;
    struct bcs_limits limits;
    char text[BCS_CONFIG_TEXT_BYTES];
};

/** A suffix of a number and what it multiplies by; tables run from small to large. */
struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit count_units[] = {{"", 1}, {NULL, 0}};
static const struct unit byte_units[] = {
    {"", 1}, {"k", 1u << 10}, {"m", 1u << 20}, {"g", 1u << 30}, {NULL, 0}};
static const struct unit duration_units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};

static const struct unit *units_of(enum bcs_config_kind kind)
{
    switch (kind) {
    case BCS_CONFIG_BYTES:
        return byte_units;
    case BCS_CONFIG_DURATION_NS:
        return duration_units;
    case BCS_CONFIG_COUNT:
    case BCS_CONFIG_CHOICE:
    case BCS_CONFIG_LIMITS:
    case BCS_CONFIG_TEXT:
        break;
    }
    return count_units;
}

/* Read the digits at text; false if there are none or the number does not fit. */
static bool parse_digits(const char **text, uint64_t *number_out)
{
    const char *next = *text;
    uint64_t number = 0;

    while (*next >= '0' && *next <= '9') {
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*next - '0'), &number)) {
            return false;
        }
        next++;
    }
    if (next == *text) {
        return false;
    }
    *text = next;
    *number_out = number;
    return true;
}

bool bcs_config_parse_number(const struct bcs_config_entry *entry, const char *text,
                             uint64_t *value_out)
{
    uint64_t value;

    if (!parse_digits(&text, &value)) {
        return false;
    }
    for (const struct unit *unit = units_of(entry->kind); unit->suffix; unit++) {
        if (strcasecmp(text, unit->suffix) != 0) {
            continue;
        }
        if (__builtin_mul_overflow(value, unit->factor, &value) ||
            value < entry->minimum || value > entry->maximum) {
            return false;
        }
        *value_out = value;
        return true;
    }
    return false;
}

static bool parse_choice(const struct bcs_config_entry *entry, const char *text,
                         uint64_t *value_out)
{
    for (uint64_t i = 0; entry->choices[i] != NULL; i++) {
        if (strcmp(entry->choices[i], text) == 0) {
            *value_out = i;
            return true;
        }
    }
    return false;
}

static bool parse_text(const struct bcs_config_entry *entry, const char *text,
                       char text_out[BCS_CONFIG_TEXT_BYTES])
{
    size_t n_bytes = strlen(text);

    for (size_t i = 0; i < n_bytes; i++) {
        if (iscntrl((unsigned char)text[i])) {
            return false;
        }
    }
    if (n_bytes >= BCS_CONFIG_TEXT_BYTES ||
        (entry->fits != NULL && !entry->fits(text))) {
        return false;
    }
    memcpy(text_out, text, n_bytes + 1);
    return true;
}

static bool parse_value(const struct bcs_config_entry *entry, const char *text,
                        union value *value_out)
{
    const char *bad;

    switch (entry->kind) {
    case BCS_CONFIG_CHOICE:
        return parse_choice(entry, text, &value_out->number);
    case BCS_CONFIG_LIMITS:
        return bcs_limits_parse(text, &value_out->limits, &bad);
    case BCS_CONFIG_TEXT:
        return parse_text(entry, text, value_out->text);
    default:
        return bcs_config_parse_number(entry, text, &value_out->number);
    }
}

static size_t value_bytes(const struct bcs_config_entry *entry)
{
    switch (entry->kind) {
    case BCS_CONFIG_LIMITS:
        return sizeof(struct bcs_limits);
    case BCS_CONFIG_TEXT:
        return BCS_CONFIG_TEXT_BYTES;
    default:
        return sizeof(uint64_t);
    }
}

/* A user's text made fit for one line: cut off and without control characters. */
static void make_printable(const char *text, size_t n_text_bytes, char *shown)
{
    size_t n_bytes = n_text_bytes < SHOWN_BYTES ? n_text_bytes : SHOWN_BYTES;

    for (size_t i = 0; i < n_bytes; i++) {
        shown[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
    }
    shown[n_bytes] = '\0';
}

bool bcs_config_exists(const struct bcs_config_entry *entry)
{
    return BCS_TESTS || !entry->is_for_tests;
}

const char *bcs_config_text(const struct bcs_config_entry *entry)
{
    const char *text =
        bcs_config_exists(entry) ? bcs_environment_get(entry->name) : NULL;

    return text != NULL ? text : entry->fallback;
}

static int entry_read(const struct bcs_config_entry *entry, union value *value_out,
                      char *error, size_t n_error_bytes)
{
    const char *text = bcs_config_text(entry);
    char shown[SHOWN_BYTES + 1];
    char allowed[TEXT_BYTES];

    if (parse_value(entry, text, value_out)) {
        return 0;
    }
    make_printable(text, strlen(text), shown);
    if (entry->kind == BCS_CONFIG_LIMITS) {
        const char *bad = text;

        bcs_limits_parse(text, &value_out->limits, &bad);
        bcs_limits_allowed(bad, allowed, sizeof allowed);
    } else {
        bcs_config_allowed(entry, allowed, sizeof allowed);
    }
    snprintf(error, n_error_bytes, "%s=%s: allowed are %s", entry->name, shown,
             allowed);
    return -EINVAL;
}

/* A number in the largest unit that divides it: 65536 -> "64k". */
static void number_print(uint64_t number, const struct unit *units, char *text,
                         size_t n_text_bytes)
{
    const struct unit *best = units;

    for (const struct unit *unit = units; unit->suffix; unit++) {
        if (number != 0 && number % unit->factor == 0) {
            best = unit;
        }
    }
    snprintf(text, n_text_bytes, "%" PRIu64 "%s", number / best->factor, best->suffix);
}

/* The entry of this name; NULL if name is. */
static const struct bcs_config_entry *entry_find(const struct bcs_config_table *table,
                                                 const char *name)
{
    for (size_t i = 0; name != NULL && i < table->n_entries; i++) {
        if (strcmp(table->entries[i].name, name) == 0) {
            return &table->entries[i];
        }
    }
    return NULL;
}

/* Check a value against that of another variable. Both can be read. */
static int check_at_least(const struct bcs_config_table *table,
                          const struct bcs_config_entry *entry, char *error,
                          size_t n_error_bytes)
{
    const struct bcs_config_entry *other = entry_find(table, entry->at_least);
    union value value;
    union value least;
    char maximum[32];

    if (other == NULL || !parse_value(entry, bcs_config_text(entry), &value) ||
        !parse_value(other, bcs_config_text(other), &least) || value.number == 0 ||
        value.number >= least.number) {
        return 0;
    }
    number_print(entry->maximum, units_of(entry->kind), maximum, sizeof maximum);
    snprintf(error, n_error_bytes, "%s=%s: allowed are 0 and, from %s on, %s to %s",
             entry->name, bcs_config_text(entry), other->name, bcs_config_text(other),
             maximum);
    return -EINVAL;
}

int bcs_config_check_values(const struct bcs_config_table *table, char *error,
                            size_t n_error_bytes)
{
    for (size_t i = 0; i < table->n_entries; i++) {
        union value value;
        int err = entry_read(&table->entries[i], &value, error, n_error_bytes);

        if (err) {
            return err;
        }
    }
    for (size_t i = 0; i < table->n_entries; i++) {
        int err = check_at_least(table, &table->entries[i], error, n_error_bytes);

        if (err) {
            return err;
        }
    }
    return 0;
}

int bcs_config_read(const struct bcs_config_table *table, void *config_out, char *error,
                    size_t n_error_bytes)
{
    int err = bcs_config_check_values(table, error, n_error_bytes);

    for (size_t i = 0; i < table->n_entries && !err; i++) {
        const struct bcs_config_entry *entry = &table->entries[i];
        union value value;

        err = entry_read(entry, &value, error, n_error_bytes);
        if (!err) {
            memcpy((char *)config_out + entry->offset, &value, value_bytes(entry));
        }
    }
    return err;
}

/* Levenshtein's distance between name (n_name_bytes of it) and known. */
static size_t name_distance(const char *name, size_t n_name_bytes, const char *known)
{
    size_t row[SHOWN_BYTES + 1];

    n_name_bytes = n_name_bytes < SHOWN_BYTES ? n_name_bytes : SHOWN_BYTES;
    for (size_t i = 0; i <= n_name_bytes; i++) {
        row[i] = i;
    }
    for (; *known != '\0'; known++) {
        size_t diagonal = row[0];

        row[0]++;
        for (size_t i = 1; i <= n_name_bytes; i++) {
            size_t best = diagonal + (name[i - 1] != *known);

            best = best < row[i] + 1 ? best : row[i] + 1;
            best = best < row[i - 1] + 1 ? best : row[i - 1] + 1;
            diagonal = row[i];
            row[i] = best;
        }
    }
    return row[n_name_bytes];
}

/* The known name that is nearest to name; its distance is 0 if it is the same. */
static const char *nearest_name(const struct bcs_config_table *const *tables,
                                size_t n_tables, const char *name, size_t n_name_bytes)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;

    for (size_t i = 0; i < n_tables; i++) {
        for (size_t j = 0; j < tables[i]->n_entries; j++) {
            const char *known = tables[i]->entries[j].name;
            size_t distance = name_distance(name, n_name_bytes, known);

            if (bcs_config_exists(&tables[i]->entries[j]) &&
                distance < nearest_distance) {
                nearest = known;
                nearest_distance = distance;
            }
        }
    }
    return nearest;
}

int bcs_config_check_names(const struct bcs_config_table *const *tables,
                           size_t n_tables, char *error, size_t n_error_bytes)
{
    size_t cursor = 0;
    const char *variable;

    while ((variable = bcs_environment_next(NAME_PREFIX, &cursor)) != NULL) {
        size_t n_name_bytes = strcspn(variable, "=");
        char shown[SHOWN_BYTES + 1];
        const char *nearest = nearest_name(tables, n_tables, variable, n_name_bytes);

        if (nearest == NULL) {
            nearest = "(none)";
        }
        if (strlen(nearest) == n_name_bytes &&
            memcmp(nearest, variable, n_name_bytes) == 0) {
            continue;
        }
        make_printable(variable, n_name_bytes, shown);
        snprintf(error, n_error_bytes,
                 "%s is not a variable of bcs; did you mean %s? (bcs-info lists all)",
                 shown, nearest);
        return -EINVAL;
    }
    return 0;
}

static void choices_print(const char *const *choices, char *text, size_t n_text_bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; choices[i] != NULL && used < n_text_bytes; i++) {
        int n = snprintf(text + used, n_text_bytes - used, "%s%s", i ? " | " : "",
                         choices[i]);

        used += n > 0 ? (size_t)n : 0;
    }
}

void bcs_config_allowed(const struct bcs_config_entry *entry, char *text_out,
                        size_t n_text_bytes)
{
    const struct unit *units = units_of(entry->kind);
    char minimum[32];
    char maximum[32];

    if (entry->kind == BCS_CONFIG_CHOICE) {
        choices_print(entry->choices, text_out, n_text_bytes);
        return;
    }
    if (entry->kind == BCS_CONFIG_LIMITS) {
        bcs_limits_allowed("", text_out, n_text_bytes);
        return;
    }
    if (entry->kind == BCS_CONFIG_TEXT) {
        snprintf(text_out, n_text_bytes, "%s, up to %d bytes", entry->form,
                 BCS_CONFIG_TEXT_BYTES - 1);
        return;
    }
    number_print(entry->minimum, units, minimum, sizeof minimum);
    number_print(entry->maximum, units, maximum, sizeof maximum);
    snprintf(text_out, n_text_bytes, "%s%s%s to %s%s", minimum,
             entry->at_least ? ", or " : "", entry->at_least ? entry->at_least : "",
             maximum,
             entry->kind == BCS_CONFIG_BYTES         ? " bytes"
             : entry->kind == BCS_CONFIG_DURATION_NS ? ", with a unit ns, us, ms or s"
                                                     : "");
}
