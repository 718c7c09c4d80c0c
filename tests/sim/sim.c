/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates jobs of a few ranks and nodes in one thread, each made of a seed; a seed
 * that fails is shrunk to few units with which it still fails. No MPI, no time: two
 * runs of a seed are the same step by step.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/run.h"

/* A script fails in few of its orders: with fewer units their steps are others. */
enum { ORDERS_TO_TRY = 200 };

/** What a child tells: it may end by an assertion. */
struct report {
    uint64_t seed, order; /* that it runs */
    char problem[200];
};

static struct report *report;

/** Run a script in this process. @return whether all was as it must be, now and then
 *  also the second time */
static bool is_right(const struct sim_script *script)
{
    uint64_t first, second;
    const char *problem = sim_run(script, false, &first);

    if (problem == NULL && script->seed % 16 == 0) {
        problem = sim_run(script, false, &second);
        if (problem == NULL && first != second) {
            problem = "two runs differ";
        }
    }
    if (problem != NULL) {
        snprintf(report->problem, sizeof(report->problem), "%s", problem);
    }
    return problem == NULL;
}

/** Run fn in a child, which may die. @return whether it has returned true */
static bool survives(bool (*fn)(void *), void *arg)
{
    int status = -1;
    pid_t pid;

    fflush(NULL);
    report->problem[0] = '\0';
    pid = fork();
    if (pid == 0) {
        _exit(fn(arg) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) {
        snprintf(report->problem, sizeof(report->problem), "killed by signal %d",
                 WTERMSIG(status));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool run_orders(void *arg)
{
    struct sim_script *script = arg;

    if (freopen("/dev/null", "w", stderr) == NULL) { /* assertions, again and again */
        return true;
    }
    for (uint32_t i = 0; i < ORDERS_TO_TRY; i++) {
        report->order = script->order = i;
        if (!is_right(script)) {
            return false;
        }
    }
    return true;
}

/** Whether a script fails in some order, which it has then. */
static bool can_fail(struct sim_script *script)
{
    uint64_t order = script->order;
    bool fails = !survives(run_orders, script);

    script->order = fails ? report->order : order;
    return fails;
}

/** Leave out n units from the first on, if the others fail without them. @return
 *  whether so */
static bool leave_out(struct sim_script *script, uint32_t first, uint32_t n)
{
    struct sim_script less = *script;
    bool is_less = false;

    for (uint32_t i = first; i < first + n && i < less.n_units; i++) {
        is_less = is_less || !less.units[i].is_left_out;
        less.units[i].is_left_out = true;
    }
    if (!is_less || !can_fail(&less)) {
        return false;
    }
    *script = less;
    return true;
}

/** Leave out whatever is not needed to fail, first many units at a time. */
static void shrink(struct sim_script *script)
{
    bool has_shrunk = true;

    for (uint32_t n = SIM_MAX_UNITS / 2; n > 0 || has_shrunk; n /= 2) {
        n = n > 0 ? n : 1;
        has_shrunk = false;
        for (uint32_t first = 0; first < script->n_units; first += n) {
            has_shrunk = leave_out(script, first, n) || has_shrunk;
        }
    }
}

struct range {
    uint64_t first, n;
};

static struct range range = {1, 1000};

static bool run_range(void *arg)
{
    const struct range *seeds = arg;
    static struct sim_script script;

    for (uint64_t i = 0; i < seeds->n; i++) {
        report->seed = seeds->first + i;
        sim_script_make(&script, report->seed);
        if (!is_right(&script)) {
            return false;
        }
    }
    return true;
}

static bool trace(void *arg)
{
    const struct sim_script *script = arg;
    uint64_t digest;
    const char *problem = sim_run(script, true, &digest);

    if (problem != NULL) {
        snprintf(report->problem, sizeof(report->problem), "%s", problem);
    }
    fflush(stdout);
    return problem == NULL;
}

static void print_words(const struct sim_script *script)
{
    printf("sim --trace %" PRIu64 " %" PRIu64, script->seed, script->order);
    for (uint32_t i = 0; i < script->n_units; i++) {
        if (!script->units[i].is_left_out) {
            printf(" %" PRIu32, i);
        }
    }
    printf("\n");
}

static void tell_failure(uint64_t seed)
{
    static struct sim_script script;

    printf("seed %" PRIu64 " fails: %s\n", seed, report->problem);
    sim_script_make(&script, seed);
    shrink(&script);
    if (survives(trace, &script)) {
        printf(
            "and does not when it is run again: its steps depend on something else\n");
        return;
    }
    printf("Few of its units in some order fail, too: %s. Those steps again:\n",
           report->problem);
    print_words(&script);
    sim_script_print(&script);
}

static int usage(void)
{
    fprintf(stderr,
            "usage: sim [FIRST-SEED [SEEDS]]      usually 1 and 1000\n"
            "       sim --trace SEED ORDER [UNIT...]  print the steps of a seed, "
            "of all its units or of these\n");
    return 2;
}

static bool read_number(const char *text, uint64_t *number_out)
{
    char *end;

    *number_out = strtoull(text, &end, 10);
    return *text != '\0' && *end == '\0';
}

static struct sim_script traced;
static bool is_tracing;

/** Read what follows "--trace". */
static bool read_traced(int n, char **words)
{
    uint64_t seed, unit;

    if (n < 2 || !read_number(words[0], &seed)) {
        return false;
    }
    sim_script_make(&traced, seed);
    for (uint32_t i = 0; n > 2 && i < traced.n_units; i++) {
        traced.units[i].is_left_out = true;
    }
    for (int i = 2; i < n; i++) {
        if (!read_number(words[i], &unit) || unit >= traced.n_units) {
            return false;
        }
        traced.units[unit].is_left_out = false;
    }
    return read_number(words[1], &traced.order);
}

/* Check's assertions in the fixture want to be within a test. */
START_TEST(all_seeds_are_as_they_must_be)
{
    if (is_tracing) {
        if (!survives(trace, &traced)) {
            printf("%s\n", report->problem);
            exit(EXIT_FAILURE);
        }
    } else if (!survives(run_range, &range)) {
        tell_failure(report->seed);
        exit(EXIT_FAILURE);
    }
}
END_TEST

/** Run the test. @return exit status */
static int run_test(void)
{
    TCase *tcase = tcase_create("sim");
    Suite *suite = suite_create("sim");
    SRunner *runner;
    int n_failed;

    tcase_add_test(tcase, all_seeds_are_as_they_must_be);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    n_failed = srunner_ntests_failed(runner);
    if (n_failed > 0) { /* in a child: an assertion */
        TestResult **failures = srunner_failures(runner);

        snprintf(report->problem, sizeof(report->problem), "%s:%d: %s",
                 tr_lfile(failures[0]), tr_lno(failures[0]), tr_msg(failures[0]));
        free(failures);
    }
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    int status;

    is_tracing = argc > 1 && strcmp(argv[1], "--trace") == 0;
    if (is_tracing ? !read_traced(argc - 2, argv + 2)
                   : argc > 3 || (argc > 1 && !read_number(argv[1], &range.first)) ||
                         (argc > 2 && !read_number(argv[2], &range.n))) {
        return usage();
    }
    report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    status = run_test();
    if (status == EXIT_SUCCESS && !is_tracing) {
        printf("%" PRIu64 " seeds from %" PRIu64 " on: all as they must be\n", range.n,
               range.first);
    }
    return status;
}
