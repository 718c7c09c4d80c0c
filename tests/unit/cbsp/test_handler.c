/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of handlers, which mean the same in all processes of a program.
 */
#include <check.h>
#include <string.h>

#include "libbcs/cbsp/handler.h"
#include "tests/unit/run_suite.h"

static struct cbsp_handlers handlers;
static int data;

static void one(int from, void *address, int n_bytes)
{
    (void)address;
    data += from + n_bytes;
}

static void other(int from, void *address, int n_bytes)
{
    (void)address;
    data -= from + n_bytes;
}

START_TEST(a_name_leads_to_its_function)
{
    uint64_t name = cbsp_handler_name(&handlers, one);

    ck_assert_uint_ne(name, 0);
    ck_assert_uint_ne(name, cbsp_handler_name(&handlers, other));
    for (int i = 0; i < 2; i++) { /* then it is known already */
        ck_assert(cbsp_handler_find(&handlers, name) == one);
        ck_assert_uint_eq(cbsp_handler_name(&handlers, one), name);
    }
}
END_TEST

START_TEST(what_else_is_known_is_not_taken_for_it)
{
    uint64_t name = cbsp_handler_name(&handlers, one);

    for (int i = 0; i < CBSP_HANDLER_CACHE; i++) {
        handlers.named[i].function = other;
        handlers.named[i].name = name + 1;
        handlers.found[i].function = other;
        handlers.found[i].name = name + 1;
    }
    ck_assert(cbsp_handler_find(&handlers, name) == one);
    ck_assert_uint_eq(cbsp_handler_name(&handlers, one), name);
}
END_TEST

START_TEST(what_is_no_code_has_no_name)
{
    const void *address = &data;
    cBSP_handler_fn function;

    memcpy(&function, &address, sizeof(function));
    ck_assert_uint_eq(cbsp_handler_name(&handlers, function), 0);
}
END_TEST

START_TEST(a_name_of_another_program_leads_nowhere)
{
    uint64_t name = cbsp_handler_name(&handlers, one);

    ck_assert(cbsp_handler_find(&handlers, name ^ UINT64_C(1) << 63) == NULL);
    ck_assert(cbsp_handler_find(&handlers, name | 0xfffffffff) == NULL);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("handler");

    tcase_add_test(tests, a_name_leads_to_its_function);
    tcase_add_test(tests, what_else_is_known_is_not_taken_for_it);
    tcase_add_test(tests, what_is_no_code_has_no_name);
    tcase_add_test(tests, a_name_of_another_program_leads_nowhere);
    return run_tcase("handler", tests);
}
