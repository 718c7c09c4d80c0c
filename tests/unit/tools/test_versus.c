/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What bcsrun --versus makes of the times of its runs. The runs are this file's and
 * take no time: launch_run puts on the clock what its command says.
 */
#include "apps/tools/launch/versus.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RUNS = 32 };

static struct timespec now;
static const char *runs[MAX_RUNS]; /* the names of what has been run */
static int n_runs;

/* A command has a name and the milliseconds that it takes. */
static char *native_job[] = {"native job", "3000", NULL};
static char *native_launcher[] = {"native launcher", "1000", NULL};
static char *bcs_job[] = {"bcs job", "2500", NULL};
static char *bcs_launcher[] = {"bcs launcher", "2000", NULL};

static const struct versus_commands native = {native_job, native_launcher};
static const struct versus_commands bcs = {bcs_job, bcs_launcher};

int clock_gettime(clockid_t clock, struct timespec *now_out)
{
    (void)clock;
    *now_out = now;
    return 0;
}

int launch_run(const struct launch_home *home, char *const *command, int output_fd,
               struct watch_result *result_out)
{
    long microseconds = lround(1000 * strtod(command[1], NULL));

    (void)home;
    (void)output_fd;
    ck_assert_int_lt(n_runs, MAX_RUNS);
    runs[n_runs++] = command[0];
    now.tv_sec += microseconds / 1000000;
    now.tv_nsec += microseconds % 1000000 * 1000;
    if (now.tv_nsec >= 1000000000) {
        now.tv_sec++;
        now.tv_nsec -= 1000000000;
    }
    *result_out = (struct watch_result){.status = 0};
    return 0;
}

/** What a comparison of n_pairs pairs prints. */
static const char *table(int n_pairs)
{
    static char text[4096];
    int saved = dup(STDOUT_FILENO), file = fileno(tmpfile());
    ssize_t n_bytes;

    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    ck_assert_int_eq(versus_run(NULL, &native, &bcs, n_pairs), 0);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    n_bytes = pread(file, text, sizeof(text) - 1, 0);
    ck_assert_int_gt(n_bytes, 0);
    text[n_bytes] = '\0';
    return text;
}

/** The three columns of a row: seconds natively and under BCS, and the ratio. */
static void expect_row(const char *text, const char *name, double native_s,
                       double bcs_s, double ratio)
{
    const char *line = strstr(text, name);
    double columns[3];

    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line + strlen(name), "%lf %lf %lf", &columns[0],
                            &columns[1], &columns[2]),
                     3);
    ck_assert_double_eq_tol(columns[0], native_s, 0.0005);
    ck_assert_double_eq_tol(columns[1], bcs_s, 0.0005);
    ck_assert_double_eq_tol(columns[2], ratio, 0.0005);
}

START_TEST(a_ratio_below_1_means_that_bcs_is_faster)
{
    const char *text = table(3);

    expect_row(text, "\n1", 3, 2.5, 0.833);
    expect_row(text, "\nmedian", 3, 2.5, 0.833);
    expect_row(text, "\nlauncher", 1, 2, 2);
}
END_TEST

START_TEST(the_launchers_time_is_subtracted_from_its_own_side)
{
    expect_row(table(2), "\nprogram", 2, 0.5, 0.25);
}
END_TEST

START_TEST(the_sides_take_turns_in_going_first)
{
    static const char *const expected[] = {
        "native job",      "bcs job",      "bcs job",      "native job",
        "native launcher", "bcs launcher", "bcs launcher", "native launcher",
    };

    table(2);
    ck_assert_int_eq(n_runs, sizeof(expected) / sizeof(expected[0]));
    for (int i = 0; i < n_runs; i++) {
        ck_assert_str_eq(runs[i], expected[i]);
    }
}
END_TEST

START_TEST(what_is_shown_as_nothing_has_no_ratio)
{
    char *longer = native_job[1];
    const char *row;

    native_job[1] = "1000.4"; /* of which the launcher takes 1000 */
    row = strstr(table(2), "\nprogram");
    native_job[1] = longer;
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_nonnull(strstr(row, " 0.000 "));
    ck_assert_ptr_nonnull(strstr(row, " -\n"));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("versus");

    tcase_add_test(tcase, a_ratio_below_1_means_that_bcs_is_faster);
    tcase_add_test(tcase, the_launchers_time_is_subtracted_from_its_own_side);
    tcase_add_test(tcase, the_sides_take_turns_in_going_first);
    tcase_add_test(tcase, what_is_shown_as_nothing_has_no_ratio);
    return run_tcase("versus", tcase);
}
