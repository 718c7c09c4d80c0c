/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export --format json: an object with an array for each table, of an object
 * for each row, which Jansson writes. One row is in memory at a time. One thread.
 */
#include <errno.h>
#include <jansson.h>

#include "mds/tool/export/export.h"

/** Where rows go. */
struct writer {
    FILE *file;
    bool has_row; /* the table has had one */
};

/** A value; numbers that Jansson has no integer for become real. */
static json_t *value_of(enum export_kind kind, const union export_value *value)
{
    switch (kind) {
    case EXPORT_TEXT:
        return json_string(value->text);
    case EXPORT_NUMBER:
        return value->number <= INT64_MAX ? json_integer((json_int_t)value->number)
                                          : json_real((double)value->number);
    case EXPORT_REAL:
        return json_real(value->real);
    }
    return NULL;
}

static int begin(void *state, const struct export_table *table)
{
    struct writer *writer = state;

    fprintf(writer->file, ",\n\"%s\": [", table->name);
    writer->has_row = false;
    return ferror(writer->file) ? -errno : 0;
}

static int print_row(struct writer *writer, const json_t *object)
{
    int status;

    errno = 0;
    fputs(writer->has_row ? ",\n " : "\n ", writer->file);
    writer->has_row = true;
    status = json_dumpf(object, writer->file, JSON_COMPACT);
    if (status < 0 || ferror(writer->file)) { /* it does not tell of all that fails */
        return errno != 0 ? -errno : -EIO;
    }
    return 0;
}

static int row(void *state, const struct export_table *table,
               const union export_value *values)
{
    struct writer *writer = state;
    json_t *object = json_object();
    int rc = object == NULL ? -ENOMEM : 0;

    for (size_t i = 0; table->columns[i].name != NULL && rc == 0; i++) {
        if (json_object_set_new(object, table->columns[i].name,
                                value_of(table->columns[i].kind, &values[i])) < 0) {
            rc = -ENOMEM;
        }
    }
    if (rc == 0) {
        rc = print_row(writer, object);
    }
    json_decref(object);
    return rc;
}

static int end(void *state, const struct export_table *table)
{
    struct writer *writer = state;

    (void)table;
    fputs("]", writer->file);
    return ferror(writer->file) ? -errno : 0;
}

int export_json(const struct run *run, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    struct writer writer = {.file = output->file};
    const struct export_sink sink = {&writer, begin, row, end};
    int rc;

    fputs("{\"format\": \"bcs-mds-export 1\"", writer.file);
    rc = export_run(run, &sink);
    if (rc == 0 && fputs("\n}\n", writer.file) < 0) {
        rc = -errno;
    }
    return rc < 0 ? output_refuse(output, rc, error_out) : 0;
}
