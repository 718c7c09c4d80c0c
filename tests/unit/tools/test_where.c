/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs-top reads of processes: who has started whom, and the file that an address
 * is in.
 */
#include <check.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tools/top/kin.h"
#include "apps/tools/top/where.h"
#include "tests/unit/run_suite.h"

static struct places *places;

static void set_up(void)
{
    places = place_open(PLACE_HASTY_NS);
}

static void tear_down(void)
{
    place_close(places);
}

/* A function of the C library, which is another file than this program, and of no other
 * one, which a sanitizer would have. */
static void *address_outside(void)
{
    return dlsym(RTLD_DEFAULT, "lsearch");
}

START_TEST(an_address_is_told_by_its_file)
{
    Dl_info info;
    char expected[64];
    char *words;
    uint64_t address = (uint64_t)(uintptr_t)address_outside(), base;

    ck_assert_int_ne(dladdr(address_outside(), &info), 0);
    base = (uint64_t)(uintptr_t)info.dli_fbase;
    words = where_words(places, NULL, getpid(), address, base);
    ck_assert_ptr_nonnull(words);
    snprintf(expected, sizeof(expected), "0x%llx",
             (unsigned long long)(address - base));
    ck_assert_ptr_nonnull(strstr(words, "libc"));
    ck_assert_ptr_nonnull(strstr(words, expected));
    ck_assert_ptr_null(strstr(words, "changed"));
    free(words);
}
END_TEST

START_TEST(a_path_is_told_by_its_last_part)
{
    ck_assert_str_eq(place_last_part("/a/b"), "b");
    ck_assert_str_eq(place_last_part("b"), "b");
    ck_assert_str_eq(place_last_part("/a/"), "/a/");
}
END_TEST

START_TEST(no_address_is_nowhere)
{
    ck_assert_ptr_null(where_words(places, NULL, getpid(), 0, 0));
}
END_TEST

START_TEST(a_process_is_below_those_that_started_it)
{
    int status;
    pid_t self = getpid(), child = fork();

    if (child == 0) {
        _exit(kin_is_below(getpid(), getpid()) && kin_is_below(getpid(), self) &&
                      kin_is_below(getpid(), getppid()) && kin_is_below(getpid(), 1) &&
                      !kin_is_below(self, getpid())
                  ? 0
                  : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_process_that_is_gone_is_below_nobody)
{
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!kin_is_below(child, getpid()));
    ck_assert(!kin_is_below(getpid(), 0));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("where");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, an_address_is_told_by_its_file);
    tcase_add_test(tcase, a_path_is_told_by_its_last_part);
    tcase_add_test(tcase, no_address_is_nowhere);
    tcase_add_test(tcase, a_process_is_below_those_that_started_it);
    tcase_add_test(tcase, a_process_that_is_gone_is_below_nobody);
    return run_tcase("where", tcase);
}
