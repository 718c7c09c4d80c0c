/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of C++ functions as their programs write them.
 */
#include <check.h>
#include <stdlib.h>

#include "mds/source/demangle.h"
#include "tests/unit/run_suite.h"

static void assert_name(const struct demangler *demangler, const char *name,
                        const char *expected)
{
    char *plain = demangle(demangler, name);

    ck_assert_str_eq(plain, expected);
    free(plain);
}

START_TEST(names_are_turned_back)
{
    struct demangler demangler = demangler_open();

    if (demangler.function != NULL) { /* else there is no C++ here */
        assert_name(&demangler, "_ZN4heat5solveEi", "heat::solve(int)");
    }
    assert_name(&demangler, "solve", "solve");
    assert_name(&demangler, "i", "i"); /* a function, and not the type int */
    assert_name(&demangler, "_Znonsense", "_Znonsense");
    assert_name(&demangler, "", "");
    ck_assert_ptr_null(demangle(&demangler, NULL));
}
END_TEST

START_TEST(without_the_library_names_stay)
{
    struct demangler none = {0};

    assert_name(&none, "_ZN4heat5solveEi", "_ZN4heat5solveEi");
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("demangle");

    tcase_add_test(tcase, names_are_turned_back);
    tcase_add_test(tcase, without_the_library_names_stay);
    return run_tcase("demangle", tcase);
}
