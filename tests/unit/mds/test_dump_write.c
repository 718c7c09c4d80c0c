/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing files of the MDS: the whole file or none, under its name; what is read back
 * is what was added.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mds/dump_write.h"
#include "tests/unit/run_suite.h"

enum { N_RECORDS = 1000 };

static char folder[64], path[128], part[160];

static void make_folder(void)
{
    strcpy(folder, "/tmp/bcs-dump-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
    snprintf(part, sizeof(part), "%s.part", path);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(part);
    unlink(part);
    ck_assert_int_eq(rmdir(folder), 0);
}

/** Write a file of N_RECORDS numbers, of which two thirds are kept. */
static int write_numbers(void)
{
    struct mds_dump dump = {.kind = MDS_DUMP_PROCESS};
    uint64_t *numbers = mds_dump_add(&dump, "numbers", sizeof(*numbers), N_RECORDS);
    int rc;

    for (uint64_t i = 0; i < N_RECORDS; i++) {
        numbers[i] = i * i;
    }
    mds_dump_cut(&dump, 2 * N_RECORDS / 3);
    ck_assert_uint_eq(mds_dump_name(&dump, "one"), 0);
    ck_assert_uint_eq(mds_dump_name(&dump, "two"), 4);
    rc = mds_dump_write(&dump, path);
    mds_dump_fini(&dump);
    return rc;
}

START_TEST(what_is_read_back_is_what_was_added)
{
    static char bytes[16384];
    struct mds_dump_header header;
    struct mds_dump_section sections[2];
    uint64_t number;
    FILE *file;
    size_t n_bytes;

    ck_assert_int_eq(write_numbers(), 0);
    ck_assert_int_ne(access(part, F_OK), 0);
    file = fopen(path, "r");
    n_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    memcpy(&header, bytes, sizeof(header));
    memcpy(sections, bytes + sizeof(header), sizeof(sections));
    ck_assert_mem_eq(header.magic, "BCS-MDS\n", 8);
    ck_assert_uint_eq(header.n_bytes, n_bytes);
    ck_assert_uint_eq(header.n_sections, 2);
    ck_assert_str_eq(sections[0].name, "numbers");
    ck_assert_uint_eq(sections[0].n_records, 2 * N_RECORDS / 3);
    ck_assert_uint_eq(sections[0].offset % 8, 0);
    ck_assert_uint_eq(sections[0].digest,
                      bcs_digest_add(BCS_DIGEST_OF_NOTHING, bytes + sections[0].offset,
                                     sections[0].n_bytes));
    memcpy(&number, bytes + sections[0].offset + 8 * 10, sizeof(number));
    ck_assert_uint_eq(number, 100);
    ck_assert_str_eq(bytes + sections[1].offset + 4, "two");
}
END_TEST

START_TEST(a_file_that_does_not_fit_is_not_there)
{
    const struct rlimit little = {1000, 1000};

    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    ck_assert_int_eq(write_numbers(), -EFBIG);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_ne(access(part, F_OK), 0);
}
END_TEST

START_TEST(the_file_before_stays_until_there_is_another)
{
    ck_assert_int_eq(mds_dump_write_text(path, "first"), 0);
    ck_assert_int_eq(mkdir(part, 0700), 0); /* nothing can be written under that name */
    ck_assert_int_eq(mds_dump_write_text(path, "second"), -EEXIST);
    ck_assert_int_eq(access(path, R_OK), 0);
}
END_TEST

START_TEST(no_link_is_written_through)
{
    struct stat status;

    ck_assert_int_eq(mds_dump_write_text(path, "precious"), 0);
    ck_assert_int_eq(symlink(path, part), 0);
    ck_assert_int_eq(mds_dump_write_text(path, "x"), -EEXIST);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, strlen("precious"));
}
END_TEST

START_TEST(too_many_sections_are_an_error)
{
    struct mds_dump dump = {.kind = MDS_DUMP_PROCESS};

    for (int i = 0; i < MDS_DUMP_SECTIONS_MOST; i++) {
        ck_assert_ptr_nonnull(mds_dump_add(&dump, "section", 1, 1));
    }
    ck_assert_ptr_null(mds_dump_add(&dump, "section", 1, 1));
    ck_assert_int_eq(mds_dump_write(&dump, path), -ENOSPC);
    ck_assert_int_ne(access(path, F_OK), 0);
    mds_dump_fini(&dump);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("dump_write");

    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, what_is_read_back_is_what_was_added);
    tcase_add_test(tcase, a_file_that_does_not_fit_is_not_there);
    tcase_add_test(tcase, the_file_before_stays_until_there_is_another);
    tcase_add_test(tcase, no_link_is_written_through);
    tcase_add_test(tcase, too_many_sections_are_an_error);
    return run_tcase("dump_write", tcase);
}
