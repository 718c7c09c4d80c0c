/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export --format sqlite: a data base with a table for each of ours. It is made
 * in memory, where the run is, too, and written as any other output. One thread.
 */
#include <errno.h>
#include <sqlite3.h>

#include "mds/tool/export/export.h"

enum { STATEMENT_BYTES = 1024 };

/** A data base that is being made. */
struct base {
    sqlite3 *handle;
    sqlite3_stmt *insert; /* into the table that has begun */
};

static int run_statement(struct base *base, const char *text)
{
    return sqlite3_exec(base->handle, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

/** The statement that makes a table, and that which puts a row into it. */
static void print_statements(const struct export_table *table,
                             char create_out[STATEMENT_BYTES],
                             char insert_out[STATEMENT_BYTES])
{
    static const char *const types[] = {
        [EXPORT_TEXT] = "TEXT", [EXPORT_NUMBER] = "INTEGER", [EXPORT_REAL] = "REAL"};
    int n_create =
        snprintf(create_out, STATEMENT_BYTES, "CREATE TABLE %s (", table->name);
    int n_insert =
        snprintf(insert_out, STATEMENT_BYTES, "INSERT INTO %s VALUES (", table->name);

    for (const struct export_column *column = table->columns; column->name != NULL;
         column++) {
        bool is_last = column[1].name == NULL;

        n_create +=
            snprintf(create_out + n_create, (size_t)(STATEMENT_BYTES - n_create),
                     "\"%s\" %s NOT NULL%s", column->name, types[column->kind],
                     is_last ? ")" : ", ");
        n_insert +=
            snprintf(insert_out + n_insert, (size_t)(STATEMENT_BYTES - n_insert), "?%s",
                     is_last ? ")" : ", ");
    }
}

static int begin(void *state, const struct export_table *table)
{
    char create[STATEMENT_BYTES], insert[STATEMENT_BYTES];
    struct base *base = state;

    print_statements(table, create, insert);
    if (run_statement(base, create) < 0 ||
        sqlite3_prepare_v2(base->handle, insert, -1, &base->insert, NULL) !=
            SQLITE_OK) {
        return -EIO;
    }
    return 0;
}

/** Give a value to the row's statement; numbers that SQLite has no integer for become
 *  real. */
static int bind(struct base *base, int at, enum export_kind kind,
                const union export_value *value)
{
    switch (kind) {
    case EXPORT_TEXT:
        return sqlite3_bind_text(base->insert, at, value->text, -1, SQLITE_STATIC);
    case EXPORT_NUMBER:
        return value->number <= INT64_MAX
                   ? sqlite3_bind_int64(base->insert, at, (int64_t)value->number)
                   : sqlite3_bind_double(base->insert, at, (double)value->number);
    case EXPORT_REAL:
        return sqlite3_bind_double(base->insert, at, value->real);
    }
    return SQLITE_ERROR;
}

static int row(void *state, const struct export_table *table,
               const union export_value *values)
{
    struct base *base = state;

    for (int i = 0; table->columns[i].name != NULL; i++) {
        if (bind(base, i + 1, table->columns[i].kind, &values[i]) != SQLITE_OK) {
            return -EIO;
        }
    }
    if (sqlite3_step(base->insert) != SQLITE_DONE) {
        return -EIO;
    }
    return sqlite3_reset(base->insert) == SQLITE_OK ? 0 : -EIO;
}

static int end(void *state, const struct export_table *table)
{
    struct base *base = state;
    int status = sqlite3_finalize(base->insert);

    (void)table;
    base->insert = NULL;
    return status == SQLITE_OK ? 0 : -EIO;
}

static int fill(struct base *base, const struct run *run)
{
    const struct export_sink sink = {base, begin, row, end};
    int rc = run_statement(base, "PRAGMA user_version = 1; BEGIN");

    if (rc == 0) {
        rc = export_run(run, &sink);
    }
    if (rc == 0) {
        rc = run_statement(base, "COMMIT");
    }
    return rc;
}

/** Write what a file of the data base would have. @return 0 or -errno */
static int save(const struct base *base, FILE *file)
{
    sqlite3_int64 n_bytes = 0;
    unsigned char *bytes = sqlite3_serialize(base->handle, "main", &n_bytes, 0);
    int rc = 0;

    if (bytes == NULL) {
        return -ENOMEM;
    }
    if (fwrite(bytes, 1, (size_t)n_bytes, file) != (size_t)n_bytes) {
        rc = -errno;
    }
    sqlite3_free(bytes);
    return rc;
}

int export_sqlite(const struct run *run, struct output *output,
                  char error_out[DUMP_ERROR_BYTES])
{
    struct base base = {0};
    int rc = -EIO;

    if (sqlite3_open(":memory:", &base.handle) == SQLITE_OK) {
        rc = fill(&base, run);
    }
    if (rc == -EIO) {
        dump_refuse(error_out, "cannot make the data base: %s",
                    sqlite3_errmsg(base.handle));
    } else if (rc < 0 || (rc = save(&base, output->file)) < 0) {
        output_refuse(output, rc, error_out);
    }
    sqlite3_finalize(base.insert);
    sqlite3_close(base.handle);
    return rc;
}
