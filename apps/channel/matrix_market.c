/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of Matrix Market files. Run by rank 0. The file is read line by line,
 * entries are collected in the order of the file, and sorted at the end.
 */
#include "apps/channel/matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apps/common/message.h"

enum { LINE_MOST = 1024, ENTRIES_FIRST = 1024, N_WORDS = 5 };

enum field { REAL, INTEGER, PATTERN };

struct entry {
    uint32_t row, column; /* from 0 */
    double value;
};

/** A file on its way. */
struct reader {
    FILE *file;
    const char *name;
    char *message;
    char line[LINE_MOST + 2]; /* the last one, with its end */
    uint64_t n_lines;         /* so far */
    enum field field;
    bool is_symmetric;
    uint64_t n_rows, n_told; /* rows, and entries that the file says that it has */
    struct entry *entries;
    size_t n_entries, n_room;
};

/** Say what is wrong in the last line. @return -EINVAL */
static int refuse(const struct reader *reader, const char *what)
{
    message_set(reader->message, "%s:%llu: %s", reader->name,
                (unsigned long long)reader->n_lines, what);
    return -EINVAL;
}

static int no_memory(const struct reader *reader)
{
    message_set(reader->message, "%s: out of memory", reader->name);
    return -ENOMEM;
}

/** Read the next line. @return 1; 0: there is none; or negative */
static int next_line(struct reader *reader)
{
    size_t n = 0;
    int c = getc(reader->file);

    if (c == EOF && ferror(reader->file)) {
        message_set(reader->message, "%s: cannot be read", reader->name);
        return -EIO;
    }
    if (c == EOF) {
        return 0;
    }
    reader->n_lines++;
    for (; c != EOF && c != '\n'; c = getc(reader->file)) {
        if (n == LINE_MOST) {
            return refuse(reader, "a line of more than 1024 characters");
        }
        if (c == '\0') {
            return refuse(reader, "a byte that is 0; the file must be text");
        }
        reader->line[n++] = (char)c;
    }
    reader->line[n] = '\0';
    return 1;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r")] == '\0';
}

/** Read up to the next line that is neither blank nor a remark. @return as next_line */
static int next_filled(struct reader *reader)
{
    int rc;

    do {
        rc = next_line(reader);
    } while (rc == 1 && (reader->line[0] == '%' || is_blank(reader->line)));
    return rc;
}

/** Look a word up. @return its place in the list, which ends with NULL, or -1 */
static int place_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i] != NULL; i++) {
        if (strcasecmp(word, list[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/** The first line: %%MatrixMarket matrix coordinate FIELD SYMMETRY. */
static int read_banner(struct reader *reader)
{
    static const char *const fields[] = {"real", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", NULL};
    char *words[N_WORDS + 1], *rest;
    int n = 0, field, symmetry;
    int rc = next_line(reader);

    if (rc < 0) {
        return rc;
    }
    for (char *word = strtok_r(rc == 1 ? reader->line : "", " \t\r", &rest);
         word != NULL && n <= N_WORDS; word = strtok_r(NULL, " \t\r", &rest)) {
        words[n++] = word;
    }
    if (n != N_WORDS || strcmp(words[0], "%%MatrixMarket") != 0) {
        return refuse(reader,
                      "the first line must be '%%MatrixMarket matrix coordinate "
                      "FIELD SYMMETRY'");
    }
    field = place_of(words[3], fields);
    symmetry = place_of(words[4], symmetries);
    if (strcasecmp(words[1], "matrix") != 0 ||
        strcasecmp(words[2], "coordinate") != 0) {
        return refuse(reader, "allowed is a 'matrix' by 'coordinate'");
    }
    if (field < 0) {
        return refuse(reader, "allowed fields: real, integer or pattern");
    }
    if (symmetry < 0) {
        return refuse(reader, "allowed symmetries: general or symmetric");
    }
    reader->field = (enum field)field;
    reader->is_symmetric = symmetry == 1;
    return 0;
}

/** Take a whole number without a sign off the beginning of a text. @return whether
 *  there is one, up to most, and blank or the end behind it */
static bool take_number(const char **text, uint64_t most, uint64_t *number_out)
{
    const char *c = *text + strspn(*text, " \t");
    uint64_t number = 0;

    if (!isdigit((unsigned char)*c)) {
        return false;
    }
    for (; isdigit((unsigned char)*c); c++) {
        number = number * 10 + (uint64_t)(*c - '0');
        if (number > most) {
            return false;
        }
    }
    *text = c;
    *number_out = number;
    return *c == '\0' || strchr(" \t\r", *c) != NULL;
}

/** The line with the sizes: rows, columns, entries. */
static int read_sizes(struct reader *reader)
{
    const char *text = reader->line;
    uint64_t n_columns;
    int rc = next_filled(reader);

    if (rc <= 0) {
        return rc < 0 ? rc : refuse(reader, "no line of sizes: 'ROWS COLUMNS ENTRIES'");
    }
    if (!take_number(&text, SPARSE_ROWS_MOST, &reader->n_rows) ||
        !take_number(&text, SPARSE_ROWS_MOST, &n_columns) ||
        !take_number(&text, SPARSE_ENTRIES_MOST, &reader->n_told) || !is_blank(text)) {
        return refuse(reader,
                      "the sizes must be 'ROWS COLUMNS ENTRIES', up to 16777216 "
                      "rows and 268435456 entries");
    }
    if (reader->n_rows == 0 || reader->n_rows != n_columns) {
        return refuse(reader, "the matrix must be square, with a row at least");
    }
    if (reader->field != PATTERN && reader->n_told < reader->n_rows) {
        return refuse(reader,
                      "fewer entries than rows: each needs one on the diagonal");
    }
    if (reader->n_told > reader->n_rows * reader->n_rows) {
        return refuse(reader, "more entries than a matrix of so many rows has");
    }
    return 0;
}

/** Take a finite number, decimal, of a field's form, off the beginning of a text. */
static bool take_value(const char **text, enum field field, double *value_out)
{
    const char *c = *text + strspn(*text, " \t");
    const char *allowed = field == INTEGER ? "+-0123456789" : "+-.0123456789eE";
    size_t n = strspn(c, allowed);
    char *end;

    *value_out = strtod(c, &end);
    *text = end;
    return n > 0 && end == c + n && isfinite(*value_out) &&
           (*end == '\0' || strchr(" \t\r", *end) != NULL);
}

static int parse_entry(const struct reader *reader, struct entry *entry_out)
{
    const char *text = reader->line;
    uint64_t row = 0, column = 0;
    double value = -1;

    if (!take_number(&text, reader->n_rows, &row) ||
        !take_number(&text, reader->n_rows, &column) || row == 0 || column == 0) {
        return refuse(reader,
                      "an entry must begin with its row and its column, from 1 to "
                      "as many as there are");
    }
    if (reader->field != PATTERN && !take_value(&text, reader->field, &value)) {
        return refuse(reader, reader->field == INTEGER
                                  ? "the third word must be a whole number"
                                  : "the third word must be a finite decimal number");
    }
    if (!is_blank(text)) {
        return refuse(reader, "more in a line than an entry has");
    }
    if (reader->is_symmetric && column > row) {
        return refuse(reader, "of a symmetric matrix only entries on the diagonal and "
                              "below it are allowed");
    }
    *entry_out = (struct entry){(uint32_t)(row - 1), (uint32_t)(column - 1), value};
    return 0;
}

/** Make sure that another two entries have room. */
static int make_room(struct reader *reader)
{
    size_t n_room = reader->n_room == 0 ? ENTRIES_FIRST : 2 * reader->n_room;
    struct entry *entries;

    if (reader->n_entries + 2 <= reader->n_room) {
        return 0;
    }
    entries = realloc(reader->entries, n_room * sizeof(*entries));
    if (entries == NULL) {
        return no_memory(reader);
    }
    reader->entries = entries;
    reader->n_room = n_room;
    return 0;
}

static int read_entries(struct reader *reader)
{
    int rc;

    for (uint64_t i = 0; i < reader->n_told; i++) {
        struct entry entry;

        rc = next_filled(reader);
        if (rc == 0) {
            return refuse(reader, "the file ends before all its entries have come");
        }
        rc = rc < 0 ? rc : parse_entry(reader, &entry);
        rc = rc < 0 ? rc : make_room(reader);
        if (rc < 0) {
            return rc;
        }
        reader->entries[reader->n_entries++] = entry;
        if (reader->is_symmetric && entry.row != entry.column) {
            reader->entries[reader->n_entries++] =
                (struct entry){entry.column, entry.row, entry.value};
        }
    }
    rc = next_filled(reader);
    return rc <= 0 ? rc : refuse(reader, "more entries than the file says that it has");
}

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->column > y->column) - (x->column < y->column);
}

/** How many entries a row of the matrix gets. */
static size_t n_of_row(const struct reader *reader, size_t first, uint64_t row)
{
    size_t n = 0;

    while (first + n < reader->n_entries && reader->entries[first + n].row == row) {
        n++;
    }
    return n;
}

/** Put the n entries of a row, which are sorted, behind those of the row before; of a
 *  pattern with a diagonal entry in any case, and its value. */
static void put_row(const struct reader *reader, const struct entry *entries, size_t n,
                    struct sparse *matrix, size_t row)
{
    size_t at = matrix->starts[row], diagonal = SIZE_MAX;

    for (size_t i = 0; i < n; i++, at++) {
        if (reader->field == PATTERN && diagonal == SIZE_MAX &&
            entries[i].column >= row) {
            diagonal = at;
            matrix->columns[at] = (uint32_t)row;
            at += entries[i].column > row;
        }
        matrix->columns[at] = entries[i].column;
        matrix->values[at] = entries[i].value;
    }
    if (reader->field == PATTERN) {
        diagonal = diagonal == SIZE_MAX ? at++ : diagonal;
        matrix->columns[diagonal] = (uint32_t)row;
        matrix->values[diagonal] = (double)(at - matrix->starts[row]);
    }
    matrix->starts[row + 1] = at;
}

static int make_matrix(struct reader *reader, struct sparse *matrix_out)
{
    const struct entry *entries = reader->entries;
    size_t n_made = reader->field == PATTERN ? reader->n_rows : 0;
    size_t first = 0;

    if (reader->n_entries > 0) {
        qsort(reader->entries, reader->n_entries, sizeof(*entries), compare);
    }
    for (size_t i = 1; i < reader->n_entries; i++) {
        if (compare(&entries[i - 1], &entries[i]) == 0) {
            message_set(reader->message,
                        "%s: the entry of row %lu, column %lu is there "
                        "more than once",
                        reader->name, entries[i].row + 1UL, entries[i].column + 1UL);
            return -EINVAL;
        }
    }
    if (sparse_init(matrix_out, reader->n_rows, reader->n_entries + n_made) != 0) {
        return no_memory(reader);
    }
    for (size_t row = 0; row < reader->n_rows; row++) {
        size_t n = n_of_row(reader, first, row);

        put_row(reader, entries + first, n, matrix_out, row);
        first += n;
    }
    return 0;
}

int matrix_market_read(FILE *file, const char *name, struct sparse *matrix_out,
                       char *message)
{
    struct reader reader = {.file = file, .name = name, .message = message};
    int rc = read_banner(&reader);

    rc = rc == 0 ? read_sizes(&reader) : rc;
    rc = rc == 0 ? read_entries(&reader) : rc;
    rc = rc == 0 ? make_matrix(&reader, matrix_out) : rc;
    free(reader.entries);
    return rc;
}
