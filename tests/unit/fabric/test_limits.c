/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of sizes: what it may hold, and how a text sets it.
 */
#include "libbcs/fabric/base/limits.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static uint32_t value_of(const struct bcs_limits *limits, const struct bcs_limit *limit)
{
    uint32_t value;

    memcpy(&value, (const char *)limits + limit->offset, sizeof(value));
    return value;
}

static struct bcs_limits parsed(const char *text)
{
    struct bcs_limits limits;
    const char *bad = NULL;

    ck_assert_msg(bcs_limits_parse(text, &limits, &bad), "%s: refused at %s", text,
                  bad);
    return limits;
}

START_TEST(every_size_has_a_field_and_is_within_its_bounds)
{
    const struct bcs_limit *limit = &bcs_limits[_i];

    ck_assert_uint_eq(limit->offset, (size_t)_i * sizeof(uint32_t));
    ck_assert_uint_le(limit->least, limit->usual);
    ck_assert_uint_le(limit->usual, limit->most);
    if (limit->is_power) {
        ck_assert_uint_eq(limit->usual & (limit->usual - 1), 0);
        ck_assert_uint_eq(limit->least & (limit->least - 1), 0);
    }
}
END_TEST

START_TEST(usual_and_least_set_all)
{
    const struct bcs_limit *limit = &bcs_limits[_i];
    struct bcs_limits usual = parsed("usual"), least = parsed("least");
    struct bcs_limits undone = parsed("least,usual");

    ck_assert_uint_eq(value_of(&usual, limit), limit->usual);
    ck_assert_uint_eq(value_of(&undone, limit), limit->usual);
    ck_assert_uint_eq(value_of(&least, limit),
                      limit->is_bound ? limit->usual : limit->least);
}
END_TEST

START_TEST(each_size_is_set_by_its_name_alone)
{
    const struct bcs_limit *limit = &bcs_limits[_i];
    struct bcs_limits limits;
    char text[64];

    snprintf(text, sizeof(text), "%s=%u", limit->name, limit->least);
    limits = parsed(text);
    for (int i = 0; i < (int)bcs_n_limits; i++) {
        ck_assert_uint_eq(value_of(&limits, &bcs_limits[i]),
                          i == _i ? limit->least : bcs_limits[i].usual);
    }
}
END_TEST

START_TEST(later_words_go_on_from_those_before)
{
    struct bcs_limits limits = parsed("least,ring=4,batch=2,ring=8");

    ck_assert_uint_eq(limits.ring, 8);
    ck_assert_uint_eq(limits.batch, 2);
    ck_assert_uint_eq(limits.wire, 1);
}
END_TEST

static const struct {
    const char *text, *bad, *allowed;
} wrong[] = {
    {"", "", "usual | least | name=number, with commas: ring link "},
    {"tiny", "tiny", "usual | least | name=number, with commas: ring link "},
    {"least,", "", "usual | least | name=number"},
    {"leastring=4", "leastring=4", "usual | least"},
    {"least,rings=4", "rings=4", "usual | least"},
    {"ring", "ring", "ring=1 to 256, a power of two"},
    {"ring=", "ring=", "ring=1 to 256, a power of two"},
    {"batch=2,ring=0", "ring=0", "ring=1 to 256, a power of two"},
    {"ring=3,batch=2", "ring=3,batch=2", "ring=1 to 256, a power of two"},
    {"ring=512", "ring=512", "ring=1 to 256, a power of two"},
    {"ring=-1", "ring=-1", "ring=1 to 256, a power of two"},
    {"ring= 4", "ring= 4", "ring=1 to 256, a power of two"},
    {"ring=4x", "ring=4x", "ring=1 to 256, a power of two"},
    {"ring=99999999999999999999", "ring=99999999999999999999", "ring=1 to 256"},
    {"batch=65", "batch=65", "batch=1 to 64"},
};

START_TEST(a_wrong_word_is_found_and_answered)
{
    struct bcs_limits limits = {.ring = 77};
    const char *bad = NULL;
    char allowed[400];

    ck_assert(!bcs_limits_parse(wrong[_i].text, &limits, &bad));
    ck_assert_str_eq(bad, wrong[_i].bad);
    ck_assert_uint_eq(limits.ring, 77);
    bcs_limits_allowed(bad, allowed, sizeof(allowed));
    ck_assert_msg(strncmp(allowed, wrong[_i].allowed, strlen(wrong[_i].allowed)) == 0,
                  "%s", allowed);
    ck_assert_uint_lt(strlen(allowed) + 1, sizeof(allowed));
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("limits");
    int n_limits = (int)bcs_n_limits;

    tcase_add_loop_test(tcase, every_size_has_a_field_and_is_within_its_bounds, 0,
                        n_limits);
    tcase_add_loop_test(tcase, usual_and_least_set_all, 0, n_limits);
    tcase_add_loop_test(tcase, each_size_is_set_by_its_name_alone, 0, n_limits);
    tcase_add_test(tcase, later_words_go_on_from_those_before);
    tcase_add_loop_test(tcase, a_wrong_word_is_found_and_answered, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    return run_tcase("limits", tcase);
}
