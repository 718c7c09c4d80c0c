/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of methods, in tables as modules of Python have them.
 */
#include "mpi_shim/real/python_method.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/unit/run_suite.h"

/* An entry of such a table, without what is behind it. */
struct method {
    const char *name;
    void (*function)(void);
    int flags;
    const char *words;
};

/* Each is other code, so that no two are put together. */
static volatile int n_calls;

static void send_it(void)
{
    n_calls = 1;
}

static void receive_it(void)
{
    n_calls = 2;
}

static void go_on(void)
{
    n_calls = 3;
}

static void stand_still(void)
{
    n_calls = 4;
}

/* Not constant, as a module's are not: the linker fills them in. */
static volatile struct method methods[] = {
    {"send", send_it, 3, "send an object"},
    {"receive_1", receive_it, 3, NULL},
    {"go on", go_on, 3, NULL},
    {"a_name_that_is_too_long_", stand_still, 3, NULL},
    {NULL, NULL, 0, NULL},
};

/* A pointer to a function without a name in front of it. */
static void (*volatile pointers[])(void) = {NULL, go_on};

static bool name_of(void (*function)(void), char name_out[SHIM_METHOD_BYTES])
{
    return shim_python_method_name((uintptr_t)function, name_out);
}

START_TEST(a_method_has_the_name_of_its_table)
{
    char name[SHIM_METHOD_BYTES];

    ck_assert_int_eq(methods[0].flags, 3);
    ck_assert(name_of(send_it, name));
    ck_assert_str_eq(name, "send");
    ck_assert(name_of(receive_it, name));
    ck_assert_str_eq(name, "receive_1");
}
END_TEST

START_TEST(what_is_no_name_is_none)
{
    char name[SHIM_METHOD_BYTES];

    ck_assert_ptr_nonnull(pointers[1]);
    ck_assert(!name_of(go_on, name));
    ck_assert(!name_of(stand_still, name));
    ck_assert(!name_of((void (*)(void))abort, name));
    ck_assert(!shim_python_method_name(1, name));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("python_method");

    tcase_add_test(tcase, a_method_has_the_name_of_its_table);
    tcase_add_test(tcase, what_is_no_name_is_none);
    return run_tcase("python_method", tcase);
}
