/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folders of runs.
 */
#include <check.h>
#include <stdlib.h>
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
    tcase_add_test(tcase, folders_that_are_made_at_once_are_several);
    return run_tcase("run_folder", tcase);
}
