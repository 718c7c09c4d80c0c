/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: parsing of each kind of value, the errors a user sees, and that a bad
 * value leaves the config struct alone. Run by "meson test", one process a test.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/config.h"
#include "tests/unit/run_suite.h"

struct sample_config {
    uint64_t count;
    uint64_t limit_bytes;
    uint64_t slice_ns;
    uint64_t copy;
    char folder[BCS_CONFIG_TEXT_BYTES];
};

static bool begins_with_a(const char *text)
{
    return text[0] == 'a';
}

static const char *const copies[] = {"auto", "direct", "pooled", NULL};

static const struct bcs_config_entry sample_entries[] = {
    {
        .name = "BCS_NODE_RANKS",
        .fallback = "0",
        .kind = BCS_CONFIG_COUNT,
        .offset = offsetof(struct sample_config, count),
        .maximum = 4096,
        .help = "Ranks of a node.",
    },
    {
        .name = "BCS_EAGER_LIMIT",
        .fallback = "4k",
        .kind = BCS_CONFIG_BYTES,
        .offset = offsetof(struct sample_config, limit_bytes),
        .minimum = 64,
        .maximum = 65536,
        .help = "Longest eager message.",
    },
    {
        .name = "BCS_SLICE",
        .fallback = "500us",
        .kind = BCS_CONFIG_DURATION_NS,
        .offset = offsetof(struct sample_config, slice_ns),
        .minimum = 1000,
        .maximum = 10000000000,
        .help = "Length of a slice.",
    },
    {
        .name = "BCS_COPY",
        .fallback = "auto",
        .kind = BCS_CONFIG_CHOICE,
        .offset = offsetof(struct sample_config, copy),
        .choices = copies,
        .help = "How data are copied.",
    },
    {
        .name = "BCS_MDS_DIR",
        .fallback = "a",
        .kind = BCS_CONFIG_TEXT,
        .offset = offsetof(struct sample_config, folder),
        .form = "what begins with a",
        .fits = begins_with_a,
        .help = "A folder.",
    },
};

static const struct bcs_config_table sample_table = {
    .module = "sample",
    .entries = sample_entries,
    .n_entries = sizeof sample_entries / sizeof sample_entries[0],
};

static const struct bcs_config_table *const sample_tables[] = {&sample_table};

/* Read the sample's table with one variable set; the error line goes to error. */
static int read_with(const char *name, const char *value, struct sample_config *config,
                     char error[256])
{
    int err;

    error[0] = '\0';
    setenv(name, value, 1);
    err = bcs_config_read(&sample_table, config, error, 256);
    unsetenv(name);
    return err;
}

START_TEST(an_empty_environment_gives_the_defaults)
{
    struct sample_config config;
    char error[256];

    ck_assert_int_eq(bcs_config_read(&sample_table, &config, error, sizeof error), 0);
    ck_assert_uint_eq(config.count, 0);
    ck_assert_uint_eq(config.limit_bytes, 4096);
    ck_assert_uint_eq(config.slice_ns, 500000);
    ck_assert_uint_eq(config.copy, 0);
    ck_assert_str_eq(config.folder, "a");
}
END_TEST

START_TEST(each_kind_of_value_is_parsed)
{
    struct sample_config config;
    char error[256];

    ck_assert_int_eq(read_with("BCS_NODE_RANKS", "4096", &config, error), 0);
    ck_assert_uint_eq(config.count, 4096);
    ck_assert_int_eq(read_with("BCS_EAGER_LIMIT", "64", &config, error), 0);
    ck_assert_uint_eq(config.limit_bytes, 64);
    ck_assert_int_eq(read_with("BCS_EAGER_LIMIT", "64K", &config, error), 0);
    ck_assert_uint_eq(config.limit_bytes, 65536);
    ck_assert_int_eq(read_with("BCS_SLICE", "1000ns", &config, error), 0);
    ck_assert_uint_eq(config.slice_ns, 1000);
    ck_assert_int_eq(read_with("BCS_SLICE", "2ms", &config, error), 0);
    ck_assert_uint_eq(config.slice_ns, 2000000);
    ck_assert_int_eq(read_with("BCS_SLICE", "10s", &config, error), 0);
    ck_assert_uint_eq(config.slice_ns, 10000000000);
    ck_assert_int_eq(read_with("BCS_COPY", "pooled", &config, error), 0);
    ck_assert_uint_eq(config.copy, 2);
    ck_assert_int_eq(read_with("BCS_MDS_DIR", "a/b c", &config, error), 0);
    ck_assert_str_eq(config.folder, "a/b c");
}
END_TEST

START_TEST(a_text_is_as_long_as_there_is_room)
{
    struct sample_config config = {.folder = "kept"};
    char text[BCS_CONFIG_TEXT_BYTES + 1], error[256];

    memset(text, 'a', sizeof(text));
    text[BCS_CONFIG_TEXT_BYTES] = '\0';
    ck_assert_int_eq(read_with("BCS_MDS_DIR", text, &config, error), -EINVAL);
    ck_assert_str_eq(config.folder, "kept");
    text[BCS_CONFIG_TEXT_BYTES - 1] = '\0';
    ck_assert_int_eq(read_with("BCS_MDS_DIR", text, &config, error), 0);
    ck_assert_str_eq(config.folder, text);
}
END_TEST

static const struct {
    const char *name, *value, *error;
} bad_values[] = {
    {"BCS_COPY", "x", "BCS_COPY=x: allowed are auto | direct | pooled"},
    {"BCS_COPY", "", "BCS_COPY=: allowed are auto | direct | pooled"},
    {"BCS_COPY", "a\nb", "BCS_COPY=a?b: allowed are auto | direct | pooled"},
    {"BCS_NODE_RANKS", "4097", "BCS_NODE_RANKS=4097: allowed are 0 to 4096"},
    {"BCS_NODE_RANKS", "-1", "BCS_NODE_RANKS=-1: allowed are 0 to 4096"},
    {"BCS_NODE_RANKS", "1k", "BCS_NODE_RANKS=1k: allowed are 0 to 4096"},
    {"BCS_NODE_RANKS", " 1", "BCS_NODE_RANKS= 1: allowed are 0 to 4096"},
    {"BCS_NODE_RANKS", "18446744073709551617",
     "BCS_NODE_RANKS=18446744073709551617: allowed are 0 to 4096"},
    {"BCS_EAGER_LIMIT", "63", "BCS_EAGER_LIMIT=63: allowed are 64 to 64k bytes"},
    {"BCS_EAGER_LIMIT", "17179869184g",
     "BCS_EAGER_LIMIT=17179869184g: allowed are 64 to 64k bytes"},
    {"BCS_EAGER_LIMIT", "4kb", "BCS_EAGER_LIMIT=4kb: allowed are 64 to 64k bytes"},
    {"BCS_SLICE", "500",
     "BCS_SLICE=500: allowed are 1us to 10s, with a unit ns, us, ms or s"},
    {"BCS_SLICE", "11s",
     "BCS_SLICE=11s: allowed are 1us to 10s, with a unit ns, us, ms or s"},
    {"BCS_MDS_DIR", "b",
     "BCS_MDS_DIR=b: allowed are what begins with a, up to 1023 bytes"},
    {"BCS_MDS_DIR", "a\tb",
     "BCS_MDS_DIR=a?b: allowed are what begins with a, up to 1023 bytes"},
};

START_TEST(a_bad_value_is_named_with_what_is_allowed)
{
    struct sample_config config = {.count = 77, .copy = 77};
    char error[256];

    ck_assert_int_eq(
        read_with(bad_values[_i].name, bad_values[_i].value, &config, error), -EINVAL);
    ck_assert_str_eq(error, bad_values[_i].error);
    ck_assert_uint_eq(config.count, 77);
    ck_assert_uint_eq(config.copy, 77);
}
END_TEST

START_TEST(a_long_bad_value_is_cut_off)
{
    struct sample_config config;
    char value[2000];
    char error[256];

    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    ck_assert_int_eq(read_with("BCS_COPY", value, &config, error), -EINVAL);
    ck_assert_uint_lt(strlen(error), 150);
    ck_assert_ptr_nonnull(strstr(error, "allowed are auto"));
}
END_TEST

START_TEST(values_are_checked_without_being_stored)
{
    char error[256];

    setenv("BCS_COPY", "direct", 1);
    ck_assert_int_eq(bcs_config_check_values(&sample_table, error, sizeof error), 0);
    setenv("BCS_COPY", "neither", 1);
    ck_assert_int_eq(bcs_config_check_values(&sample_table, error, sizeof error),
                     -EINVAL);
    ck_assert_str_eq(bcs_config_text(&sample_entries[3]), "neither");
    ck_assert_str_eq(bcs_config_text(&sample_entries[2]), "500us");
}
END_TEST

START_TEST(an_unknown_name_is_answered_with_the_nearest)
{
    char error[256] = "";

    setenv("BCS_COPPY", "direct", 1);
    ck_assert_int_eq(bcs_config_check_names(sample_tables, 1, error, sizeof error),
                     -EINVAL);
    ck_assert_str_eq(error,
                     "BCS_COPPY is not a variable of bcs; did you mean BCS_COPY? "
                     "(bcs-info lists all)");
    unsetenv("BCS_COPPY");
    setenv("BCS_SLICES", "1s", 1);
    bcs_config_check_names(sample_tables, 1, error, sizeof error);
    ck_assert_str_eq(error, "BCS_SLICES is not a variable of bcs; did you mean "
                            "BCS_SLICE? (bcs-info lists all)");
}
END_TEST

START_TEST(known_names_and_other_prefixes_are_no_error)
{
    char error[256];

    setenv("BCS_COPY", "bad value, good name", 1);
    setenv("XBCS_COPPY", "1", 1);
    setenv("BCSX", "1", 1);
    ck_assert_int_eq(bcs_config_check_names(sample_tables, 1, error, sizeof error), 0);
}
END_TEST

START_TEST(a_very_long_unknown_name_is_harmless)
{
    char name[3000] = "BCS_";
    char error[256];

    memset(name + 4, 'N', sizeof name - 5);
    name[sizeof name - 1] = '\0';
    setenv(name, "1", 1);
    ck_assert_int_eq(bcs_config_check_names(sample_tables, 1, error, sizeof error),
                     -EINVAL);
    ck_assert_uint_lt(strlen(error), 200);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("config");

    tcase_add_test(tests, an_empty_environment_gives_the_defaults);
    tcase_add_test(tests, each_kind_of_value_is_parsed);
    tcase_add_test(tests, a_text_is_as_long_as_there_is_room);
    tcase_add_loop_test(tests, a_bad_value_is_named_with_what_is_allowed, 0,
                        sizeof bad_values / sizeof bad_values[0]);
    tcase_add_test(tests, a_long_bad_value_is_cut_off);
    tcase_add_test(tests, values_are_checked_without_being_stored);
    tcase_add_test(tests, an_unknown_name_is_answered_with_the_nearest);
    tcase_add_test(tests, known_names_and_other_prefixes_are_no_error);
    tcase_add_test(tests, a_very_long_unknown_name_is_harmless);
    return run_tcase("config", tests);
}
