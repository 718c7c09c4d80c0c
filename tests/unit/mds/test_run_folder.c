/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folders of runs, and how a manifest is told that its run has ended.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mds/run_folder.h"
#include "tests/unit/run_suite.h"

static char parent[] = "/tmp/bcs-run-folder-XXXXXX";

static void make_parent(void)
{
    ck_assert_ptr_nonnull(mkdtemp(parent));
}

static void remove_parent(void)
{
    rmdir(parent);
}

static void path_of_manifest(const char *folder, char path_out[MDS_PATH_BYTES])
{
    int n = snprintf(path_out, MDS_PATH_BYTES, "%s/" MDS_MANIFEST_NAME, folder);

    ck_assert_int_lt(n, MDS_PATH_BYTES);
}

static void write_text(const char *folder, const char *text)
{
    char path[MDS_PATH_BYTES];
    FILE *file;

    path_of_manifest(folder, path);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

static void read_text(const char *folder, char text_out[1000])
{
    char path[MDS_PATH_BYTES];
    FILE *file;

    path_of_manifest(folder, path);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text_out[fread(text_out, 1, 999, file)] = '\0';
    fclose(file);
}

START_TEST(a_run_ends_in_the_words_of_who_has_begun_it)
{
    char folder[MDS_PATH_BYTES], text[1000];

    ck_assert_int_eq(mds_run_folder_make(parent, folder), 0);
    write_text(folder, "format: bcs-mds 1\nstate: running\nwritten: then\n"
                       "program: of rank 0\nargument: state: running\n");
    ck_assert_int_eq(mds_manifest_end(folder), 0);
    read_text(folder, text);
    ck_assert_ptr_nonnull(strstr(text, "format: bcs-mds 1\nstate: ended\nwritten: 2"));
    ck_assert_ptr_null(strstr(text, "then"));
    ck_assert_ptr_nonnull(
        strstr(text, "Z\nprogram: of rank 0\nargument: state: running\n"));
    mds_run_folder_remove(folder);
}
END_TEST

START_TEST(what_is_no_manifest_stays_as_it_is)
{
    char folder[MDS_PATH_BYTES], text[1000];

    ck_assert_int_eq(mds_run_folder_make(parent, folder), 0);
    ck_assert_int_eq(mds_manifest_end(folder), -ENOENT);
    write_text(folder, "something else\n");
    ck_assert_int_eq(mds_manifest_end(folder), -EINVAL);
    read_text(folder, text);
    ck_assert_str_eq(text, "something else\n");
    mds_run_folder_remove(folder);
}
END_TEST

START_TEST(folders_that_are_made_at_once_are_several)
{
    enum { N = 9 };
    char folders[N][MDS_PATH_BYTES];

    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(mds_run_folder_make(parent, folders[i]), 0);
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(folders[i], folders[j]);
        }
    }
    for (int i = 0; i < N; i++) {
        mds_run_folder_remove(folders[i]);
        ck_assert_int_ne(access(folders[i], F_OK), 0);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("run_folder");

    tcase_add_checked_fixture(tcase, make_parent, remove_parent);
    tcase_add_test(tcase, a_run_ends_in_the_words_of_who_has_begun_it);
    tcase_add_test(tcase, what_is_no_manifest_stays_as_it_is);
    tcase_add_test(tcase, folders_that_are_made_at_once_are_several);
    return run_tcase("run_folder", tcase);
}
