/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of C++, Fortran and Rust functions as their programs write them.
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

START_TEST(procedures_of_fortran_are_those_of_their_modules)
{
    struct demangler none = {0};

    assert_name(&none, "__halo_MOD_swap", "halo::swap");
    assert_name(&none, "__a_mod_MOD_b", "a_mod::b");
    assert_name(&none, "swap_", "swap_");
    assert_name(&none, "MY_MOD_swap", "MY_MOD_swap");
    ck_assert(demangle_is_needed("__halo_MOD_swap") && !demangle_is_needed("swap_"));
}
END_TEST

START_TEST(names_of_rust_lose_what_tells_them_apart)
{
    struct demangler demangler = demangler_open(), none = {0};

    if (demangler.function != NULL) {
        assert_name(&demangler, "_ZN4halo4swap17h0123456789abcdefE", "halo::swap");
        assert_name(&demangler, "_ZN4halo4swap17h0123456789abcdegE",
                    "halo::swap::h0123456789abcdeg");
    }
    assert_name(&none, "_RNvCs4Hf_4halo4swap", "halo::swap");
    assert_name(&none, "_RNvNtCs4Hf_4halo4edge4swap", "halo::edge::swap");
    assert_name(&none, "_RNvNtC4halo4edges0_5_1swap", "halo::edge::1swap");
    assert_name(&none, "_RNCNvCs4Hf_4halo4main0", "halo::main::{closure}");
    ck_assert(demangle_is_needed("_RNvCs4Hf_4halo4swap"));
}
END_TEST

START_TEST(names_of_rust_that_are_not_read_stay)
{
    static const char *const names[] = {
        "_R",
        "_RN",
        "_RNv",
        "_RNvC4halo",
        "_RNvC4halo5swap",
        "_RNvC4halo99999swap",
        "_RNvCs4Hf4halo4swap",
        "_RINvC4halo4swaplE",
        "_RNvC4halou4swap",
        "_RNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNv",
    };
    struct demangler none = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_name(&none, names[i], names[i]);
    }
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
    tcase_add_test(tcase, procedures_of_fortran_are_those_of_their_modules);
    tcase_add_test(tcase, names_of_rust_lose_what_tells_them_apart);
    tcase_add_test(tcase, names_of_rust_that_are_not_read_stay);
    tcase_add_test(tcase, without_the_library_names_stay);
    return run_tcase("demangle", tcase);
}
