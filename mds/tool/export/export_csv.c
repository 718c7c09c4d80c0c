/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export --format csv: a line for each row of all tables. The first column
 * names the table, those that a table does not have are empty. One thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mds/tool/export/export.h"

enum { COLUMNS_MOST = EXPORT_TABLES * EXPORT_COLUMNS_MOST, NOWHERE = -1 };

/** Where lines go, and what all of them have. */
struct csv {
    FILE *file;
    const char *columns[COLUMNS_MOST]; /* those of all tables */
    size_t n_columns;
    size_t places
        [COLUMNS_MOST]; /* where the table that has begun has each; else NOWHERE */
};

static int result(const struct csv *csv)
{
    return ferror(csv->file) ? -errno : 0;
}

static bool has_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->n_columns; i++) {
        if (strcmp(csv->columns[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/** All columns of all tables, in the order in which they come up. */
static void find_columns(struct csv *csv)
{
    for (size_t i = 0; i < EXPORT_TABLES; i++) {
        const struct export_column *column = export_tables[i].columns;

        for (; column->name != NULL; column++) {
            if (!has_column(csv, column->name)) {
                csv->columns[csv->n_columns++] = column->name;
            }
        }
    }
}

/** A text in quotes, if it must have some; a quote in it is doubled. */
static void print_text(FILE *file, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}

static void print_value(FILE *file, enum export_kind kind,
                        const union export_value *value)
{
    switch (kind) {
    case EXPORT_TEXT:
        print_text(file, value->text);
        break;
    case EXPORT_NUMBER:
        fprintf(file, "%" PRIu64, value->number);
        break;
    case EXPORT_REAL:
        fprintf(file, "%.3f", value->real);
        break;
    }
}

static int begin(void *state, const struct export_table *table)
{
    struct csv *csv = state;

    for (size_t i = 0; i < csv->n_columns; i++) {
        csv->places[i] = (size_t)NOWHERE;
        for (size_t j = 0; table->columns[j].name != NULL; j++) {
            if (strcmp(table->columns[j].name, csv->columns[i]) == 0) {
                csv->places[i] = j;
            }
        }
    }
    return 0;
}

static int row(void *state, const struct export_table *table,
               const union export_value *values)
{
    const struct csv *csv = state;

    fputs(table->name, csv->file);
    for (size_t i = 0; i < csv->n_columns; i++) {
        size_t place = csv->places[i];

        fputc(',', csv->file);
        if (place != (size_t)NOWHERE) {
            print_value(csv->file, table->columns[place].kind, &values[place]);
        }
    }
    fputc('\n', csv->file);
    return result(csv);
}

static int end(void *state, const struct export_table *table)
{
    (void)table;
    return result(state);
}

int export_csv(const struct run *run, struct output *output,
               char error_out[DUMP_ERROR_BYTES])
{
    struct csv csv = {.file = output->file};
    const struct export_sink sink = {&csv, begin, row, end};
    int rc;

    find_columns(&csv);
    fputs("table", csv.file);
    for (size_t i = 0; i < csv.n_columns; i++) {
        fprintf(csv.file, ",%s", csv.columns[i]);
    }
    fputc('\n', csv.file);
    rc = export_run(run, &sink);
    return rc < 0 ? output_refuse(output, rc, error_out) : 0;
}
