/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files are skipped to find a line of the program's own.
 */
#include "mpi_shim/calls/skip_list.h"

#include <check.h>
#include <string.h>

#include "nic_threads/nic_config.h"
#include "tests/unit/run_suite.h"

START_TEST(files_are_skipped_by_their_name)
{
    ck_assert(shim_skip_has("libhdf5*", "/usr/lib/libhdf5.so.103"));
    ck_assert(shim_skip_has("libx*,libhdf5*", "libhdf5_hl.so"));
    ck_assert(!shim_skip_has("libhdf5*", "/usr/lib/mylibhdf5.so"));
    ck_assert(!shim_skip_has("libhdf5*", "/a/libhdf5-test/prog"));
    ck_assert(!shim_skip_has("", "/usr/lib/libhdf5.so.103"));
    ck_assert(!shim_skip_has("libhdf5*", ""));
}
END_TEST

START_TEST(folders_are_skipped_wherever_they_are)
{
    ck_assert(shim_skip_has("/mpi4py/", "/usr/lib/mpi4py/MPI.so"));
    ck_assert(shim_skip_has("/mpi4py/", "mpi4py/futures/pool.py"));
    ck_assert(!shim_skip_has("/mpi4py/", "/a/mpi4py"));
    ck_assert(!shim_skip_has("/mpi4py/", "/a/mpi4py-test/run.py"));
    ck_assert(shim_skip_has("/mpi4py*/", "/a/mpi4py-test/run.py"));
}
END_TEST

START_TEST(parts_that_are_too_long_are_not_skipped)
{
    char path[400];

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert(!shim_skip_has("x*", path));
    path[255] = '/';
    ck_assert(shim_skip_has("/x*/", path));
}
END_TEST

START_TEST(what_is_usual_are_bindings_and_libraries_upon_mpi)
{
    static const char *const skipped[] = {
        "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
        "/usr/lib/libpetsc_real.so.3.18",
        "/usr/lib/libboost_mpi.so.1.74.0",
        "/usr/lib/libgomp.so.1",
        "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so",
    };

    for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
        ck_assert(shim_skip_has(NIC_PLACE_SKIP_USUAL, skipped[i]));
    }
    ck_assert(!shim_skip_has(NIC_PLACE_SKIP_USUAL, "/a/libhalo.so"));
    ck_assert(!shim_skip_has(NIC_PLACE_SKIP_USUAL, "/a/MPI.py"));
}
END_TEST

START_TEST(a_plus_adds_to_what_is_usual)
{
    char list[64];

    shim_skip_list("a*,b", "usual*", list, sizeof(list));
    ck_assert_str_eq(list, "a*,b");
    shim_skip_list("+a*,b", "usual*", list, sizeof(list));
    ck_assert_str_eq(list, "usual*,a*,b");
    shim_skip_list("", "usual*", list, sizeof(list));
    ck_assert_str_eq(list, "");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("skip_list");

    tcase_add_test(tests, files_are_skipped_by_their_name);
    tcase_add_test(tests, folders_are_skipped_wherever_they_are);
    tcase_add_test(tests, parts_that_are_too_long_are_not_skipped);
    tcase_add_test(tests, what_is_usual_are_bindings_and_libraries_upon_mpi);
    tcase_add_test(tests, a_plus_adds_to_what_is_usual);
    return run_tcase("skip_list", tests);
}
