/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files and folders that bcs-mds makes: whole or not at all, and without touching what
 * stands where it would write meanwhile.
 */
#include "mds/tool/read/output.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"

static char folder[] = "/tmp/output-test.XXXXXX";

static void make_folder(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(found, sizeof(found), file));
    fclose(file);
    ck_assert_str_eq(found, text);
}

/** The name that this process would use first. */
static const char *first_part(const char *name)
{
    static char part[64];

    snprintf(part, sizeof(part), "%s.%ld.0.part", name, (long)getpid());
    return part;
}

START_TEST(a_file_of_the_name_beside_stays)
{
    char error[DUMP_ERROR_BYTES];
    struct output output;

    put(first_part("out"), "precious");
    put("out", "before");
    ck_assert_int_eq(output_begin("out", &output, error), 0);
    fputs("after", output.file);
    assert_holds("out", "before");
    ck_assert_int_eq(output_end(&output, error), 0);
    assert_holds("out", "after");
    assert_holds(first_part("out"), "precious");
}
END_TEST

START_TEST(so_it_does_when_a_file_is_given_up)
{
    char error[DUMP_ERROR_BYTES];
    struct output output;

    put(first_part("out"), "precious");
    ck_assert_int_eq(output_begin("out", &output, error), 0);
    output_abandon(&output);
    ck_assert_int_ne(access("out", F_OK), 0);
    assert_holds(first_part("out"), "precious");
}
END_TEST

START_TEST(a_folder_of_the_name_beside_stays)
{
    char error[DUMP_ERROR_BYTES], path[128];
    struct output output;

    ck_assert_int_eq(mkdir(first_part("out"), 0700), 0);
    snprintf(path, sizeof(path), "%s/data", first_part("out"));
    put(path, "precious");
    ck_assert_int_eq(output_begin_folder("out", &output, error), 0);
    ck_assert_int_eq(output_end(&output, error), 0);
    ck_assert_int_eq(output_begin_folder("other", &output, error), 0);
    output_abandon(&output);
    ck_assert_int_eq(access("out", F_OK), 0);
    ck_assert_int_ne(access("other", F_OK), 0);
    assert_holds(path, "precious");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("output");

    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, a_file_of_the_name_beside_stays);
    tcase_add_test(tcase, so_it_does_when_a_file_is_given_up);
    tcase_add_test(tcase, a_folder_of_the_name_beside_stays);
    return run_tcase("output", tcase);
}
