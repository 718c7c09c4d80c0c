/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for places, whatever files do. Files are this test's own, by their names,
 * in place of those that place_file.h opens: some hang, some have a child die.
 */
#include "mds/source/place.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mds/source/place_file.h"
#include "tests/unit/run_suite.h"

#define LONG_NS (UINT64_C(3600) * 1000000000)
#define SHORT_NS PLACE_HASTY_NS

enum { N_AROUND = 3 };

/** What a file does when it is opened, asked for a function, and for a line. */
struct place_file {
    const char *path;
    void (*open)(void), (*function)(void), (*line)(void);
    bool has_function, has_line;
};

static void nothing(void)
{
}

static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void die(void)
{
    raise(SIGKILL);
}

/** As for a child that must not be asked twice. */
static void die_at_the_second_time(void)
{
    static int n;

    if (n++ > 0) {
        die();
    }
}

static struct place_file files[] = {
    {"/a/good", nothing, nothing, nothing, true, true},
    {"/a/stripped", nothing, nothing, nothing, true, false},
    {"/a/bare", nothing, nothing, nothing, false, false},
    {"/a/slow-to-open", hang, nothing, nothing, true, true},
    {"/a/slow-functions", nothing, hang, nothing, true, true},
    {"/a/slow-lines", nothing, nothing, hang, true, true},
    {"/a/deadly-later", nothing, nothing, die_at_the_second_time, true, true},
    {"/a/deadly-lines", nothing, nothing, die, true, true},
    {"/a/deadly", die, die, die, true, true},
};

struct place_file *place_file_open(const char *path)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (strcmp(files[i].path, path) == 0) {
            files[i].open();
            return &files[i];
        }
    }
    return NULL;
}

bool place_file_is(const struct place_file *file, const uint8_t *id,
                   uint32_t n_id_bytes)
{
    (void)file;
    return n_id_bytes == 0 || id[0] == 1;
}

bool place_file_function(const struct place_file *file, uint64_t address,
                         struct place *place_out)
{
    file->function();
    if (file->has_function) {
        place_out->function = "sum";
        place_out->offset = address % 256;
    }
    return file->has_function;
}

/* Two functions are put into the one that the symbols tell. */
bool place_file_line(struct place_file *file, uint64_t address, uint32_t depth,
                     struct place *place)
{
    static const char *const names[] = {"sum", "step", "main"};

    file->line();
    if (depth >= N_AROUND || (depth > 0 && !file->has_line)) {
        return false;
    }
    if (file->has_line) {
        place->function = names[depth];
        place->file = "/src/sum.c";
        place->line = (int)address + 100 * (int)depth;
    }
    return file->has_function || file->has_line;
}

static struct places *places;

/** Whether a place has those words. */
static bool is_told(const char *path, uint64_t address, const char *words)
{
    const struct place_module module = {.path = path};
    char *text = place_describe(places, &module, address, NULL);
    bool is = text != NULL && strcmp(text, words) == 0;

    ck_assert_ptr_nonnull(text);
    if (!is) {
        printf("%s: %s, not %s\n", path, text, words);
    }
    free(text);
    return is;
}

static void begin(uint64_t patience_ns)
{
    places = place_open(patience_ns);
    ck_assert_ptr_nonnull(places);
}

static void end(void)
{
    place_close(places);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

START_TEST(words_say_what_is_known)
{
    begin(LONG_NS);
    ck_assert(is_told("/a/good", 12, "sum, sum.c:12"));
    ck_assert(is_told("/a/stripped", 0x1c, "sum+0x1c, stripped"));
    ck_assert(is_told("/a/bare", 0x4c1d, "0x4c1d in bare"));
    ck_assert(is_told("/a/missing", 0x4c1d, "0x4c1d in missing"));
    ck_assert(is_told(NULL, 0x4c1d, "0x4c1d in no file"));
    ck_assert(is_told("/a/good", 0, "elsewhere"));
    end();
}
END_TEST

START_TEST(functions_further_out_are_told)
{
    static const char *const words[N_AROUND] = {"sum, sum.c:12", "step, sum.c:112",
                                                "main, sum.c:212"};
    const struct place_module good = {.path = "/a/good"},
                              bare = {.path = "/a/stripped"};
    struct place place;

    begin(LONG_NS);
    for (int i = 0; i < 3 * N_AROUND; i++) {
        uint8_t depth = (uint8_t)(i % N_AROUND);
        char *text = place_describe_around(places, &good, 12, depth, &place);

        ck_assert_str_eq(text, words[depth]);
        ck_assert(!place.lacks_lines);
        free(text);
        ck_assert_ptr_null(place_describe_around(places, &good, 12, N_AROUND, &place));
    }
    ck_assert_ptr_null(place_describe_around(places, &bare, 12, 1, &place));
    ck_assert_ptr_null(place_describe_around(
        places, &(struct place_module){.path = "/a/missing"}, 12, 1, &place));
    end();
}
END_TEST

START_TEST(a_file_without_lines_is_told_from_one_that_was_not_read)
{
    static const struct {
        const char *path;
        bool lacks_lines;
    } cases[] = {{"/a/good", false},
                 {"/a/stripped", true},
                 {"/a/missing", false},
                 {"/a/deadly-lines", false}};

    begin(LONG_NS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct place place;

        free(place_describe(places, &(struct place_module){.path = cases[i].path}, 12,
                            &place));
        ck_assert_int_eq(place.lacks_lines, cases[i].lacks_lines);
    }
    end();
}
END_TEST

START_TEST(parts_of_a_place_stay_until_the_end)
{
    const struct place_module module = {.path = "/a/good"};
    struct place places_of[100];

    begin(LONG_NS);
    for (int i = 0; i < 100; i++) {
        free(place_describe(places, &module, (uint64_t)i % 50 + 1, &places_of[i]));
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_str_eq(places_of[i].function, "sum");
        ck_assert_str_eq(places_of[i].file, "/src/sum.c");
        ck_assert_int_eq(places_of[i].line, i % 50 + 1);
    }
    free(place_describe(places, &(struct place_module){.path = "/a/bare"}, 1,
                        &places_of[0]));
    ck_assert_ptr_null(places_of[0].function);
    ck_assert_ptr_null(places_of[0].file);
    ck_assert_int_eq(places_of[0].line, 0);
    end();
}
END_TEST

/* The addresses share a slot: the second one has the child asked again. */
START_TEST(a_place_is_asked_for_once)
{
    begin(LONG_NS);
    for (int i = 0; i < 3; i++) {
        ck_assert(is_told("/a/deadly-later", 12, "sum, sum.c:12"));
    }
    ck_assert(is_told("/a/deadly-later", 12 + 127, "sum+0x8b, deadly-later"));
    end();
}
END_TEST

START_TEST(another_file_than_the_one_that_ran_is_told)
{
    static const uint8_t ids[2][3] = {{1, 2, 3}, {4, 5, 6}};
    struct place_module module = {.path = "/a/good", .id = ids[0], .n_id_bytes = 3};
    char *text;

    begin(LONG_NS);
    for (int i = 0; i < 2; i++) {
        module.id = ids[i];
        text = place_describe(places, &module, 0x1c, NULL);
        ck_assert_ptr_nonnull(text);
        ck_assert_int_eq(strstr(text, "0x1c in good, which has changed since") != NULL,
                         i == 1);
        free(text);
    }
    end();
}
END_TEST

START_TEST(a_file_that_hangs_is_told_without_its_line)
{
    begin(SHORT_NS);
    ck_assert(is_told("/a/slow-lines", 0x1c, "sum+0x1c, slow-lines"));
    /* The time for lines is over: a new child gives functions, of other files, too. */
    for (int i = 0; i < 3; i++) {
        ck_assert(is_told("/a/slow-lines", 0x2c, "sum+0x2c, slow-lines"));
    }
    end();
}
END_TEST

START_TEST(a_file_that_does_not_even_open_is_told_by_address)
{
    begin(SHORT_NS);
    for (int i = 0; i < 3; i++) {
        ck_assert(is_told("/a/slow-to-open", 0x1c, "0x1c in slow-to-open"));
        ck_assert(is_told("/a/slow-functions", 0x1c, "0x1c in slow-functions"));
    }
    end();
}
END_TEST

START_TEST(a_file_that_has_the_child_die_is_told_as_far_as_it_came)
{
    begin(LONG_NS);
    for (int i = 0; i < 3; i++) {
        ck_assert(is_told("/a/deadly-lines", 0x1c, "sum+0x1c, deadly-lines"));
        ck_assert(is_told("/a/deadly", 0x1c, "0x1c in deadly"));
        ck_assert(is_told("/a/good", 12, "sum, sum.c:12"));
    }
    end();
}
END_TEST

START_TEST(a_new_report_has_time_for_lines_again)
{
    begin(SHORT_NS);
    ck_assert(is_told("/a/slow-lines", 0x1c, "sum+0x1c, slow-lines"));
    /* With a short time a busy machine may give none: ask until there is one. */
    do {
        place_renew(places);
    } while (!is_told("/a/good", 12, "sum, sum.c:12"));
    end();
}
END_TEST

START_TEST(more_files_than_are_kept_are_read)
{
    begin(LONG_NS);
    for (int i = 0; i < 20; i++) {
        char path[32];

        snprintf(path, sizeof(path), "/a/missing-%d", i);
        free(place_describe(places, &(struct place_module){.path = path}, 1, NULL));
        ck_assert(is_told("/a/stripped", 0x1c, "sum+0x1c, stripped"));
    }
    end();
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("place");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, words_say_what_is_known);
    tcase_add_test(tcase, functions_further_out_are_told);
    tcase_add_test(tcase, a_file_without_lines_is_told_from_one_that_was_not_read);
    tcase_add_test(tcase, parts_of_a_place_stay_until_the_end);
    tcase_add_test(tcase, a_place_is_asked_for_once);
    tcase_add_test(tcase, another_file_than_the_one_that_ran_is_told);
    tcase_add_test(tcase, a_file_that_hangs_is_told_without_its_line);
    tcase_add_test(tcase, a_file_that_does_not_even_open_is_told_by_address);
    tcase_add_test(tcase, a_file_that_has_the_child_die_is_told_as_far_as_it_came);
    tcase_add_test(tcase, a_new_report_has_time_for_lines_again);
    tcase_add_test(tcase, more_files_than_are_kept_are_read);
    return run_tcase("place", tcase);
}
