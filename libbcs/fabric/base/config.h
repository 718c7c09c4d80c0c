/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration from BCS_* environment variables. Each module describes its variables
 * in one table; a process reads all tables once, at start, before anything of them is
 * applied. This folder is the only one that calls getenv.
 */
#ifndef LIBBCS_FABRIC_BASE_CONFIG_H
#define LIBBCS_FABRIC_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How the text of a variable is read. A value is stored in a uint64_t field, unless it
 *  says otherwise. */
enum bcs_config_kind {
    BCS_CONFIG_COUNT,       /* a whole number: "4" */
    BCS_CONFIG_BYTES,       /* "4096", "64k", "1m", "2g" (powers of two) */
    BCS_CONFIG_DURATION_NS, /* "500us", "2ms", "1s", "100ns"; a unit is required */
    BCS_CONFIG_CHOICE,      /* one of the words in choices; stored as its index */
    BCS_CONFIG_LIMITS,      /* as bcs_limits_parse reads it; a struct bcs_limits */
    BCS_CONFIG_TEXT,        /* printable; a char[BCS_CONFIG_TEXT_BYTES], ended by 0 */
};

/** Room for the text of a BCS_CONFIG_TEXT. */
enum { BCS_CONFIG_TEXT_BYTES = 1024 };

/** One variable, and the field at offset in the module's config struct. */
struct bcs_config_entry {
    const char *name;     /* "BCS_EAGER_LIMIT" */
    const char *fallback; /* default, as text, read by the same parser */
    enum bcs_config_kind kind;
    size_t offset;
    uint64_t minimum, maximum; /* inclusive; of numbers */
    const char
        *at_least; /* of numbers: name of a variable of this table, whose value is the
                           * least besides 0; NULL: none */
    const char *const *choices;     /* NULL-terminated, for BCS_CONFIG_CHOICE */
    const char *form;               /* of texts: what is allowed, in words, */
    bool (*fits)(const char *text); /* and whether one is; NULL: any */
    bool is_for_tests;              /* exists in builds with tests only, see below */
    const char *help;               /* one or two sentences */
};

/** The variables of one module. */
struct bcs_config_table {
    const char *module;
    const struct bcs_config_entry *entries;
    size_t n_entries;
};

/**
 * Read one module's variables from the environment into its config struct.
 *
 * All values are checked before any is stored: on an error config_out is untouched.
 *
 * @param error  receives one line that names the variable and what is allowed
 * @return 0        read
 * @return -EINVAL  a bad value; error says which
 */
int bcs_config_read(const struct bcs_config_table *table, void *config_out, char *error,
                    size_t n_error_bytes);

/**
 * Check one module's values in the environment without storing them.
 *
 * @param error  receives one line that names the variable and what is allowed
 * @return 0        all good
 * @return -EINVAL  a bad value; error says which
 */
int bcs_config_check_values(const struct bcs_config_table *table, char *error,
                            size_t n_error_bytes);

/**
 * Read a number as the values of a table are read, from elsewhere: an option of a
 * program, say.
 *
 * @param entry  of its kind (COUNT, BYTES or DURATION_NS), minimum and maximum are used
 * @return whether it is one and fits; only then *value_out is set
 */
bool bcs_config_parse_number(const struct bcs_config_entry *entry, const char *text,
                             uint64_t *value_out);

/** Whether this build has the variable. In one that has not, its field gets the
 *  default. */
bool bcs_config_exists(const struct bcs_config_entry *entry);

/** An entry's text as it stands: the environment's, else the default. Not owned. */
const char *bcs_config_text(const struct bcs_config_entry *entry);

/**
 * Check that every BCS_* name of the environment is in one of the tables.
 *
 * @param error  receives one line that names the unknown variable and the nearest known
 * @return 0        all known
 * @return -EINVAL  an unknown name
 */
int bcs_config_check_names(const struct bcs_config_table *const *tables,
                           size_t n_tables, char *error, size_t n_error_bytes);

/**
 * Write an entry's allowed values as text, as used in errors and by bcs-info:
 * "demand | timed", "0 to 4096", "64 to 64k bytes".
 */
void bcs_config_allowed(const struct bcs_config_entry *entry, char *text_out,
                        size_t n_text_bytes);

#endif
