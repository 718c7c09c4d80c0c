/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said once: that it is said with all its parts, once for all who share their
 * counts, and counted. A process of its own stands for another rank.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libbcs/fabric/base/notice.h"
#include "tests/unit/caught_stderr.h"
#include "tests/unit/run_suite.h"

#define FIRST BCS_NOTICE_COPY_FORBIDDEN

static struct bcs_notices *shared;

static void set_up(void)
{
    caught_stderr_begin();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    bcs_log_setup(BCS_LOG_INFO, -1);
}

START_TEST(a_line_says_what_is_met_what_it_does_and_what_to_do)
{
    const struct bcs_notice_kind *kind = bcs_notice_kind(FIRST);
    char expected[2048];

    bcs_notice(FIRST, "rank %d of %s", 3, "here");
    snprintf(expected, sizeof(expected),
             "bcs: %s: rank 3 of here. %s. %s. (Said once.)\n", kind->key, kind->effect,
             kind->remedy);
    ck_assert_str_eq(caught_stderr_next(), expected);
}
END_TEST

START_TEST(it_is_said_once_and_counted_each_time)
{
    for (int i = 0; i < 3; i++) {
        bcs_notice(FIRST, "time %d", i);
    }
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "time 0"));
    ck_assert_str_eq(caught_stderr_next(), "");
    ck_assert_uint_eq(bcs_notice_count(FIRST), 3);
}
END_TEST

/* Another rank: meets it twice. */
static void run_other_rank(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        bcs_notice_share(shared);
        bcs_notice(FIRST, "other");
        bcs_notice(FIRST, "other");
        _exit(bcs_notice_count(FIRST) == 2 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

START_TEST(of_those_who_share_the_first_says_it_and_all_are_counted)
{
    run_other_rank();
    bcs_notice_share(shared);
    bcs_notice(FIRST, "mine");
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "other"));
    ck_assert_str_eq(caught_stderr_next(), "");
    ck_assert_uint_eq(bcs_notice_count(FIRST), 3);
}
END_TEST

START_TEST(what_was_met_before_sharing_and_during_it_is_kept)
{
    bcs_notice(FIRST, "before");
    bcs_notice_share(shared);
    bcs_notice(FIRST, "during");
    ck_assert_uint_eq(bcs_notice_count(FIRST), 2);
    bcs_notice_unshare(shared);
    munmap(shared, sizeof(*shared));
    bcs_notice(FIRST, "after");
    ck_assert_uint_eq(bcs_notice_count(FIRST), 3);
    ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "before"));
    ck_assert_str_eq(caught_stderr_next(), "");
}
END_TEST

START_TEST(who_leaves_one_of_two_jobs_counts_in_the_other)
{
    struct bcs_notices other = {0};

    bcs_notice_share(shared);
    bcs_notice(FIRST, "in the first job");
    bcs_notice_share(&other);
    bcs_notice_unshare(shared);
    munmap(shared, sizeof(*shared));
    bcs_notice(FIRST, "in the second job");
    ck_assert_uint_eq(other.n[FIRST], 1);
    bcs_notice_unshare(&other);
    ck_assert_uint_eq(bcs_notice_count(FIRST), 1);
}
END_TEST

START_TEST(every_entry_fits_a_line_and_is_complete)
{
    for (enum bcs_notice i = 0; i < BCS_N_NOTICES; i++) {
        const struct bcs_notice_kind *kind = bcs_notice_kind(i);

        ck_assert(kind->level == BCS_LOG_WARN || kind->level == BCS_LOG_INFO);
        bcs_notice(i, "%0100d", 1);
        ck_assert_ptr_nonnull(strstr(caught_stderr_next(), "(Said once.)\n"));
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("notice");

    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, a_line_says_what_is_met_what_it_does_and_what_to_do);
    tcase_add_test(tests, it_is_said_once_and_counted_each_time);
    tcase_add_test(tests, of_those_who_share_the_first_says_it_and_all_are_counted);
    tcase_add_test(tests, what_was_met_before_sharing_and_during_it_is_kept);
    tcase_add_test(tests, who_leaves_one_of_two_jobs_counts_in_the_other);
    tcase_add_test(tests, every_entry_fits_a_line_and_is_complete);
    return run_tcase("notice", tests);
}
