/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of code that an address belongs to, and how far into it.
 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/real/shim_module.h"
#include "tests/unit/run_suite.h"

enum { PATH_BYTES = 512 };

extern char __executable_start; /* of the linker: where this program begins */

static char zeros[1 << 20]; /* which no file has */

START_TEST(the_program_has_its_path_and_counts_from_its_begin)
{
    const char *addresses[] = {(const char *)&zeros, zeros + sizeof(zeros) - 1};
    char path[PATH_BYTES], own[PATH_BYTES] = "";
    uint64_t offset;

    ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert(
            shim_module_find((uintptr_t)addresses[i], path, sizeof(path), &offset));
        ck_assert_str_eq(path, own);
        ck_assert_uint_eq(offset, (uint64_t)(addresses[i] - &__executable_start));
    }
}
END_TEST

START_TEST(a_library_has_its_path_and_counts_from_its_begin)
{
    void *symbol = dlsym(RTLD_DEFAULT, "qsort");
    char path[PATH_BYTES];
    uint64_t offset;
    Dl_info info;

    ck_assert_int_ne(dladdr(symbol, &info), 0);
    ck_assert(shim_module_find((uintptr_t)symbol, path, sizeof(path), &offset));
    ck_assert_str_eq(path, info.dli_fname);
    ck_assert_uint_eq(offset, (uintptr_t)symbol - (uintptr_t)info.dli_fbase);
}
END_TEST

START_TEST(an_address_of_no_file_has_no_path)
{
    char on_the_stack = 'x', path[PATH_BYTES];
    const uintptr_t addresses[] = {0, (uintptr_t)&on_the_stack};
    uint64_t offset;

    for (int i = 0; i < 2; i++) {
        strcpy(path, "before");
        offset = 7;
        ck_assert(!shim_module_find(addresses[i], path, sizeof(path), &offset));
        ck_assert_str_eq(path, "");
        ck_assert_uint_eq(offset, 0);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("shim_module");

    tcase_add_test(tests, the_program_has_its_path_and_counts_from_its_begin);
    tcase_add_test(tests, a_library_has_its_path_and_counts_from_its_begin);
    tcase_add_test(tests, an_address_of_no_file_has_no_path);
    return run_tcase("shim_module", tests);
}
