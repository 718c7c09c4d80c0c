/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of code that addresses belong to: each once, with its path and build id.
 * The id of this program is given to the linker, see meson.build.
 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mds/mds_module.h"
#include "tests/unit/run_suite.h"

static struct mds_modules modules;

static void set_up(void)
{
    modules.n_used = 0;
}

static uintptr_t own_address(void)
{
    return (uintptr_t)&set_up;
}

/* Of the C library. */
static uintptr_t other_address(void)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
}

START_TEST(the_program_has_its_path_and_its_id)
{
    static const uint8_t id[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    const struct mds_module *module = &modules.table[0];
    char path[MDS_MODULE_PATH_BYTES] = "";

    ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
    ck_assert_uint_eq(mds_modules_find(&modules, own_address()), 0);
    ck_assert_str_eq(module->path, path);
    ck_assert_uint_eq(module->n_id_bytes, sizeof(id));
    ck_assert_mem_eq(module->id, id, sizeof(id));
}
END_TEST

START_TEST(a_library_has_the_path_that_it_was_loaded_from)
{
    Dl_info info;

    ck_assert_int_ne(dladdr((void *)other_address(), &info), 0);
    ck_assert_uint_eq(mds_modules_find(&modules, other_address()), 0);
    ck_assert_str_eq(modules.table[0].path, info.dli_fname);
    ck_assert_uint_eq(modules.table[0].base, (uintptr_t)info.dli_fbase);
}
END_TEST

START_TEST(each_file_is_kept_once)
{
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(mds_modules_find(&modules, own_address() + i), 0);
        ck_assert_uint_eq(mds_modules_find(&modules, other_address() + i), 1);
    }
    ck_assert_uint_eq(modules.n_used, 2);
}
END_TEST

START_TEST(another_file_at_the_same_address_is_another_one)
{
    mds_modules_find(&modules, own_address());
    snprintf(modules.table[0].path, MDS_MODULE_PATH_BYTES, "unloaded.so");
    ck_assert_uint_eq(mds_modules_find(&modules, own_address()), 1);
    ck_assert_uint_eq(modules.n_used, 2);
}
END_TEST

START_TEST(without_room_no_more_are_kept)
{
    modules.n_used = MDS_MODULES - 1;
    ck_assert_uint_eq(mds_modules_find(&modules, own_address()), MDS_MODULES - 1);
    ck_assert_uint_eq(mds_modules_find(&modules, other_address()), MDS_MODULE_NONE);
    ck_assert_uint_eq(mds_modules_find(&modules, own_address()), MDS_MODULES - 1);
    ck_assert_uint_eq(modules.n_used, MDS_MODULES);
}
END_TEST

START_TEST(an_address_of_no_file_is_none)
{
    ck_assert_uint_eq(mds_modules_find(&modules, 8), MDS_MODULE_NONE);
    ck_assert_uint_eq(modules.n_used, 0);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("module");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, the_program_has_its_path_and_its_id);
    tcase_add_test(tcase, a_library_has_the_path_that_it_was_loaded_from);
    tcase_add_test(tcase, each_file_is_kept_once);
    tcase_add_test(tcase, another_file_at_the_same_address_is_another_one);
    tcase_add_test(tcase, without_room_no_more_are_kept);
    tcase_add_test(tcase, an_address_of_no_file_is_none);
    return run_tcase("module", tcase);
}
