/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the main function of a test program of Check ends with.
 */
#ifndef TEST_RUN_SUITE_H
#define TEST_RUN_SUITE_H

#include <check.h>
#include <stdlib.h>

/** A guard against hangs, unless the environment has one: a case takes seconds on a
 *  quiet machine, and minutes beside many others. Check's own one is 4 s. */
__attribute__((constructor)) static void guard_set(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "900", 0);
}

/** Run a suite, and free it. @return what main returns */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int n_failed;

    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* AddressSanitizer takes signals of bad memory for itself, needs memory without a
 * limit, and speaks of the stacks of children. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_ADDRESS_SANITIZER = 1 };
#else
enum { HAS_ADDRESS_SANITIZER = 0 };
#endif

/** Add a case to a suite, with what add_tests puts in. */
static inline void add_case(Suite *suite, const char *name, void (*setup)(void),
                            void (*teardown)(void), void (*add_tests)(TCase *tcase))
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, teardown);
    add_tests(tcase);
    suite_add_tcase(suite, tcase);
}

/** Run a suite of one case, by that name. @return what main returns */
static inline int run_tcase(const char *name, TCase *tcase)
{
    Suite *suite = suite_create(name);

    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}

#endif
