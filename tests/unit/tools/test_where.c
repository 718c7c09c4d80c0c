/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcs-top reads of processes: who has started whom, and the files that the frames
 * of a thread are in.
 */
#include <check.h>
#include <dlfcn.h>
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

/** How far into its file that address is. */
static uint64_t offset_outside(void)
{
    Dl_info info;

    ck_assert_int_ne(dladdr(address_outside(), &info), 0);
    return (uint64_t)(uintptr_t)address_outside() - (uint64_t)(uintptr_t)info.dli_fbase;
}

/** A thread that is there, so many frames of it. */
static struct bcs_stand stand_outside(uint32_t n)
{
    struct bcs_stand stand = {0};
    uint64_t address = (uint64_t)(uintptr_t)address_outside();

    for (uint32_t i = 0; i < n; i++) {
        stand.frames[i] =
            (struct bcs_stand_frame){address + i, address - offset_outside()};
    }
    return stand;
}

/** Whether words tell an address of that file, so far behind the first one. */
static bool is_outside(const char *words, uint64_t behind)
{
    char expected[64];

    snprintf(expected, sizeof(expected), "0x%llx in libc",
             (unsigned long long)(offset_outside() + behind));
    return strncmp(words, expected, strlen(expected)) == 0 &&
           strstr(words, "changed") == NULL;
}

START_TEST(an_address_is_told_by_its_file)
{
    struct bcs_stand stand = stand_outside(1);
    struct where where = where_find(places, NULL, getpid(), &stand, BCS_STAND_FRAMES);

    ck_assert_uint_eq(where.n, 1);
    ck_assert(is_outside(where.words[0], 0));
    ck_assert(!where.lacks_lines); /* without libdw nobody knows */
    where_fini(&where);
    ck_assert_uint_eq(where.n, 0);
}
END_TEST

START_TEST(callers_follow_and_those_of_python_are_the_last)
{
    struct bcs_stand stand = stand_outside(2);
    struct where where;

    strcpy(stand.lines, "step, run.py:7\nmain, run.py:20");
    where = where_find(places, NULL, getpid(), &stand, BCS_STAND_FRAMES);
    ck_assert_uint_eq(where.n, 3);
    ck_assert(is_outside(where.words[0], 0) && is_outside(where.words[1], 1));
    ck_assert_str_eq(where.words[2], "step, run.py:7");
    where_fini(&where);
    where = where_find(places, NULL, getpid(), &stand, 1);
    ck_assert_uint_eq(where.n, 1);
    where_fini(&where);
    stand.frames[0].address = 0;
    where = where_find(places, NULL, getpid(), &stand, BCS_STAND_FRAMES);
    ck_assert_uint_eq(where.n, 2);
    ck_assert_str_eq(where.words[0], "step, run.py:7");
    ck_assert_str_eq(where.words[1], "main, run.py:20");
    where_fini(&where);
}
END_TEST

START_TEST(files_that_are_told_need_no_process)
{
    struct bcs_stand_files files = {{"/a/prog", ""}};
    struct bcs_stand stand = {.frames = {{0x1020, 0x1000}, {0x2030, 0x2000}}};
    struct where where = where_find(places, &files, 0, &stand, BCS_STAND_FRAMES);

    ck_assert_uint_eq(where.n, 2);
    ck_assert_str_eq(where.words[0], "0x20 in prog");
    ck_assert_str_eq(where.words[1], "0x30 in no file");
    where_fini(&where);
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
    const struct bcs_stand stand = {0};

    ck_assert_uint_eq(where_find(places, NULL, getpid(), &stand, 1).n, 0);
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
    tcase_add_test(tcase, callers_follow_and_those_of_python_are_the_last);
    tcase_add_test(tcase, files_that_are_told_need_no_process);
    tcase_add_test(tcase, a_path_is_told_by_its_last_part);
    tcase_add_test(tcase, no_address_is_nowhere);
    tcase_add_test(tcase, a_process_is_below_those_that_started_it);
    tcase_add_test(tcase, a_process_that_is_gone_is_below_nobody);
    return run_tcase("where", tcase);
}
