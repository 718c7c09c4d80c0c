/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of Matrix Market files: what it reads, what it refuses and says, and that
 * damaged files give either a sound matrix or a message.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "apps/channel/matrix_market.h"
#include "apps/common/message.h"
#include "tests/unit/run_suite.h"

enum { N_DAMAGED = 40000, TEXT_MOST = 4096 };

#define REAL_GENERAL "%%MatrixMarket matrix coordinate real general\n"
#define REAL_SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define INTEGER_GENERAL "%%MatrixMarket matrix coordinate integer general\n"
#define PATTERN_GENERAL "%%MatrixMarket matrix coordinate pattern general\n"
#define PATTERN_SYMMETRIC "%%MatrixMarket matrix coordinate pattern symmetric\n"

static int read_bytes(const char *text, size_t n, struct sparse *matrix, char *message)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, n, "r");
    int rc;

    ck_assert_ptr_nonnull(file);
    message[0] = '\0';
    *matrix = (struct sparse){0};
    rc = matrix_market_read(file, "file.mtx", matrix, message);
    fclose(file);
    return rc;
}

/** The matrix, row by row: "column:value ..." with columns from 1, rows ended by
 *  "/". */
static void print(const struct sparse *matrix, char text[TEXT_MOST])
{
    char *end = text;

    *end = '\0';
    for (size_t row = 0; row < matrix->n_rows; row++) {
        for (size_t e = matrix->starts[row]; e < matrix->starts[row + 1]; e++) {
            end += sprintf(end, "%" PRIu32 ":%g ", matrix->columns[e] + 1,
                           matrix->values[e]);
        }
        end += sprintf(end, "/");
    }
}

static const struct {
    const char *text, *matrix;
} good[] = {
    {REAL_GENERAL "2 2 3\n1 1 1.5\n2 1 -2e1\n2 2 .25\n", "1:1.5 /1:-20 2:0.25 /"},
    {REAL_GENERAL "% a remark\n\n 2\t2 2 \r\n2 2 4\n%\n  1 1 3  ", "1:3 /2:4 /"},
    {REAL_GENERAL "2 2 2\n1 2 7\n2 1 1e-400\n", "2:7 /1:0 /"},
    {REAL_SYMMETRIC "3 3 4\n3 3 9\n3 1 2\n1 1 1\n2 2 5\n", "1:1 3:2 /2:5 /1:2 3:9 /"},
    {INTEGER_GENERAL "1 1 1\n1 1 +42", "1:42 /"},
    {PATTERN_GENERAL "3 3 3\n1 3\n2 2\n3 1\n", "1:2 3:-1 /2:1 /1:-1 3:2 /"},
    {PATTERN_SYMMETRIC "3 3 2\n2 1\n3 1\n", "1:3 2:-1 3:-1 /1:-1 2:2 /1:-1 3:2 /"},
    {PATTERN_GENERAL "2 2 0\n", "1:1 /2:1 /"},
    {"%%MatrixMarket MATRIX Coordinate Real General\n1 1 1\n1 1 2\n", "1:2 /"},
};

START_TEST(a_sound_file_is_read)
{
    char message[MESSAGE_BYTES], text[TEXT_MOST];
    struct sparse matrix;

    ck_assert_int_eq(read_bytes(good[_i].text, strlen(good[_i].text), &matrix, message),
                     0);
    print(&matrix, text);
    ck_assert_str_eq(text, good[_i].matrix);
    sparse_fini(&matrix);
}
END_TEST

static const struct {
    const char *text, *said;
} bad[] = {
    {"", "file.mtx:0: the first line must be '%%MatrixMarket matrix"},
    {"2 2 1\n1 1 1\n", "file.mtx:1: the first line must be"},
    {"%%MatrixMarket matrix coordinate real\n", ":1: the first line must be"},
    {"%%MatrixMarket matrix coordinate real general x\n", ":1: the first line must be"},
    {"%%matrixmarket matrix coordinate real general\n", ":1: the first line must be"},
    {"%%MatrixMarket vector coordinate real general\n", "'matrix' by 'coordinate'"},
    {"%%MatrixMarket matrix array real general\n", "'matrix' by 'coordinate'"},
    {"%%MatrixMarket matrix coordinate complex general\n", "real, integer or pattern"},
    {"%%MatrixMarket matrix coordinate real hermitian\n", "general or symmetric"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n", "general or symmetric"},
    {REAL_GENERAL, "no line of sizes"},
    {REAL_GENERAL "% 2 2 2\n", "no line of sizes"},
    {REAL_GENERAL "2 2\n", ":2: the sizes must be 'ROWS COLUMNS ENTRIES'"},
    {REAL_GENERAL "2 2 2 2\n", ":2: the sizes must be"},
    {REAL_GENERAL "2 2 -2\n", ":2: the sizes must be"},
    {REAL_GENERAL "2 2 2.0\n", ":2: the sizes must be"},
    {REAL_GENERAL "16777217 16777217 16777217\n", "up to 16777216 rows"},
    {REAL_GENERAL "99999999999999999999999 1 1\n", "up to 16777216 rows"},
    {REAL_GENERAL "20000 20000 268435457\n", "and 268435456 entries"},
    {REAL_GENERAL "2 3 2\n", "must be square"},
    {REAL_GENERAL "0 0 0\n", "must be square, with a row at least"},
    {REAL_GENERAL "2 2 1\n1 1 1\n", "fewer entries than rows"},
    {REAL_GENERAL "2 2 5\n", "more entries than a matrix of so many rows has"},
    {REAL_GENERAL "2 2 2\n1 1 1\n", ":3: the file ends before all its entries"},
    {REAL_GENERAL "1 1 1\n1 1 1\n1 1 2\n", ":4: more entries than the file says"},
    {REAL_GENERAL "2 2 2\n0 1 1\n2 2 1\n", ":3: an entry must begin with its row"},
    {REAL_GENERAL "2 2 2\n1 3 1\n2 2 1\n", ":3: an entry must begin with its row"},
    {REAL_GENERAL "2 2 2\n1 1 1\n-2 2 1\n", ":4: an entry must begin with its row"},
    {REAL_GENERAL "2 2 2\n1,1,1\n2 2 1\n", ":3: an entry must begin with its row"},
    {REAL_GENERAL "1 1 1\n1 1\n", ":3: the third word must be a finite decimal"},
    {REAL_GENERAL "1 1 1\n1 1 nan\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 -inf\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 1e999\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 0x10\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 1e\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 1.2.3\n", "a finite decimal number"},
    {REAL_GENERAL "1 1 1\n1 1 1 1\n", "more in a line than an entry has"},
    {INTEGER_GENERAL "1 1 1\n1 1 1.0\n", ":3: the third word must be a whole number"},
    {PATTERN_GENERAL "1 1 1\n1 1 1\n", ":3: more in a line than an entry has"},
    {REAL_SYMMETRIC "2 2 2\n1 1 1\n1 2 1\n", ":4: of a symmetric matrix only"},
    {REAL_GENERAL "2 2 3\n1 1 1\n2 2 1\n1 1 2\n", "row 1, column 1 is there more than"},
    {PATTERN_GENERAL "2 2 2\n2 2\n2 2\n", "row 2, column 2 is there more than once"},
};

START_TEST(a_bad_file_is_refused_with_a_message)
{
    char message[MESSAGE_BYTES];
    struct sparse matrix;

    ck_assert_int_eq(read_bytes(bad[_i].text, strlen(bad[_i].text), &matrix, message),
                     -EINVAL);
    ck_assert_msg(strstr(message, bad[_i].said) != NULL, "%s: said '%s', not '%s'",
                  bad[_i].text, message, bad[_i].said);
}
END_TEST

START_TEST(long_lines_and_bytes_that_are_no_text_are_refused)
{
    char message[MESSAGE_BYTES], text[TEXT_MOST];
    struct sparse matrix;

    memset(text, '%', sizeof(text));
    ck_assert_int_eq(read_bytes(text, sizeof(text), &matrix, message), -EINVAL);
    ck_assert_ptr_nonnull(strstr(message, "a line of more than 1024 characters"));
    ck_assert_int_eq(read_bytes(REAL_GENERAL "1 1 1\n1 1 1\0",
                                sizeof(REAL_GENERAL) + 12, &matrix, message),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(message, ":3: a byte that is 0"));
}
END_TEST

START_TEST(a_size_that_is_a_lie_takes_no_memory)
{
    char message[MESSAGE_BYTES];
    struct sparse matrix;
    const char text[] = REAL_GENERAL "16000000 16000000 268435456\n1 1 1\n";

    ck_assert_int_eq(read_bytes(text, strlen(text), &matrix, message), -EINVAL);
    ck_assert_ptr_nonnull(strstr(message, "the file ends before all its entries"));
}
END_TEST

/** A number that follows from the last one. */
static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

/** Change, leave out or repeat some bytes, seldom of the first line; or cut the end
 *  off. @return the new length */
static size_t damage(char *text, size_t n, uint64_t *seed)
{
    static const char bytes[] = "0123456789 \n%.-+eE\tx\r\377";

    for (uint32_t i = draw(seed) % 4 + 1; i > 0 && n > 1; i--) {
        size_t first = draw(seed) % 8 == 0 ? 0 : strcspn(text, "\n");
        size_t at = first < n ? first + draw(seed) % (n - first) : n - 1;
        char byte = bytes[draw(seed) % (sizeof(bytes) - 1)];

        switch (draw(seed) % 16) {
        case 0:
            n = at + 1;
            break;
        case 1:
        case 2:
            memmove(text + at, text + at + 1, --n - at);
            break;
        case 3:
        case 4:
            memmove(text + at + 1, text + at, n++ - at);
            text[at] = byte;
            break;
        default:
            text[at] = byte;
        }
        text[n] = '\0';
    }
    return n;
}

/** What every matrix must be. */
static void check_sound(const struct sparse *matrix)
{
    ck_assert_uint_ge(matrix->n_rows, 1);
    ck_assert_uint_eq(matrix->starts[0], 0);
    for (size_t row = 0; row < matrix->n_rows; row++) {
        ck_assert_uint_ge(matrix->starts[row + 1], matrix->starts[row]);
        for (size_t e = matrix->starts[row]; e < matrix->starts[row + 1]; e++) {
            ck_assert(isfinite(matrix->values[e]));
            ck_assert_uint_lt(matrix->columns[e], matrix->n_rows);
            ck_assert(e == matrix->starts[row] ||
                      matrix->columns[e - 1] < matrix->columns[e]);
        }
    }
}

START_TEST(a_damaged_file_gives_a_sound_matrix_or_a_message)
{
    char message[MESSAGE_BYTES], text[TEXT_MOST];
    uint64_t seed = 1;
    int n_good = 0, n_bad = 0;

    for (int i = 0; i < N_DAMAGED; i++) {
        const char *sound = good[i % (int)(sizeof(good) / sizeof(good[0]))].text;
        size_t n = strlen(sound);
        struct sparse matrix;
        int rc;

        memcpy(text, sound, n + 1);
        n = damage(text, n, &seed);
        rc = read_bytes(text, n, &matrix, message);
        if (rc == 0) {
            check_sound(&matrix);
            n_good++;
        } else {
            ck_assert_int_eq(rc, -EINVAL);
            ck_assert_ptr_nonnull(strstr(message, "file.mtx"));
            n_bad++;
        }
        sparse_fini(&matrix);
    }
    ck_assert_int_gt(n_good, N_DAMAGED / 20);
    ck_assert_int_gt(n_bad, N_DAMAGED / 20);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("matrix_market");

    tcase_add_loop_test(tcase, a_sound_file_is_read, 0, sizeof(good) / sizeof(good[0]));
    tcase_add_loop_test(tcase, a_bad_file_is_refused_with_a_message, 0,
                        sizeof(bad) / sizeof(bad[0]));
    tcase_add_test(tcase, long_lines_and_bytes_that_are_no_text_are_refused);
    tcase_add_test(tcase, a_size_that_is_a_lie_takes_no_memory);
    tcase_add_test(tcase, a_damaged_file_gives_a_sound_matrix_or_a_message);
    return run_tcase("matrix_market", tcase);
}
