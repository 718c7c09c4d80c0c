/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees of calls: which lines there are, which are left out of many, and what a model
 * says that looks through all paths for each line.
 */
#include "apps/tools/top/call_tree.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/tools/top/call_tree_print.h"
#include "tests/unit/caught_stdout.h"
#include "tests/unit/run_suite.h"

enum { MANY = 10000 };

/* ------------------------------------------------------------------ what is printed */

/** A path of up to four steps, ended by NULL if there are fewer. */
static struct call_path path_of(json_int_t rank, const char *const steps[])
{
    struct call_path path = {.rank = rank};

    while (path.n_steps < CALL_TREE_STEPS && steps[path.n_steps] != NULL) {
        path.steps[path.n_steps] = steps[path.n_steps];
        path.n_steps++;
    }
    return path;
}

#define PATH(rank, ...)                                                                \
    path_of((rank), (const char *const[CALL_TREE_STEPS + 1]){__VA_ARGS__})

static const char *printed(struct call_path *paths, size_t n)
{
    json_t *tree = call_tree_of(paths, n);
    const char *text;

    ck_assert_ptr_nonnull(tree);
    caught_stdout_begin();
    ck_assert_int_eq(call_tree_print(tree, 2), 0);
    text = caught_stdout_end();
    json_decref(tree);
    return text;
}

static int count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++) {
        n += *text == '\n';
    }
    return n;
}

static void expect_words(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "not there: %s\nin: %.2000s", words,
                  text);
}

START_TEST(of_nobody_nothing_is_printed)
{
    struct call_path none[1];

    ck_assert_str_eq(printed(none, 0), "");
}
END_TEST

START_TEST(one_rank_is_one_line)
{
    struct call_path paths[] = {PATH(0, "main", "step", "exchange", "MPI_Recv")};

    ck_assert_str_eq(printed(paths, 1), "  0: main > step > exchange > MPI_Recv\n");
}
END_TEST

START_TEST(paths_are_together_up_to_where_they_part)
{
    struct call_path paths[] = {
        PATH(0, "main", "step", "exchange", "MPI_Recv"),
        PATH(1, "main", "step", "exchange", "MPI_Send"),
        PATH(5, "main", "step", "exchange", "MPI_Recv"),
        PATH(2, "main", "MPI_Barrier"),
        PATH(4, "not in MPI"),
        PATH(3, "main", "step", "exchange", "MPI_Recv"),
    };

    ck_assert_str_eq(printed(paths, 6), "  4: not in MPI\n"
                                        "  0-3,5: main\n"
                                        "    2: MPI_Barrier\n"
                                        "    0-1,3,5: step > exchange\n"
                                        "      1: MPI_Send\n"
                                        "      0,3,5: MPI_Recv\n");
}
END_TEST

START_TEST(a_rank_with_two_threads_is_once_in_what_they_have_in_common)
{
    struct call_path paths[] = {PATH(0, "main", "MPI_Recv"),
                                PATH(0, "main", "MPI_Send"),
                                PATH(1, "main", "MPI_Send")};

    ck_assert_str_eq(printed(paths, 3), "  0-1: main\n"
                                        "    0: MPI_Recv\n"
                                        "    0-1: MPI_Send\n");
}
END_TEST

START_TEST(a_call_is_no_place_of_the_same_name)
{
    struct call_path paths[] = {PATH(0, "f"), PATH(1, "f", "g")};

    ck_assert_str_eq(printed(paths, 2), "  0: f\n"
                                        "  1: f > g\n");
}
END_TEST

START_TEST(all_the_same_way_is_a_path)
{
    struct call_path paths[] = {PATH(0, "main", "f"), PATH(1, "main", "f"),
                                PATH(2, "main", "g")};
    json_t *trees[] = {call_tree_of(paths, 0), call_tree_of(paths, 2),
                       call_tree_of(paths, 3)};

    ck_assert(call_tree_is_path(trees[0]));
    ck_assert(call_tree_is_path(trees[1]));
    ck_assert(!call_tree_is_path(trees[2]));
    for (int i = 0; i < 3; i++) {
        json_decref(trees[i]);
    }
}
END_TEST

/* ------------------------------------------------------------------------ too many */

/** Ranks below main, the first `n_odd` each in a call of its own, the others together.
 *  @return for free */
static struct call_path *crowd(size_t n, size_t n_odd, char (*calls)[16])
{
    struct call_path *paths = calloc(n, sizeof(*paths));

    for (size_t i = 0; i < n; i++) {
        snprintf(calls[i], sizeof(calls[i]), "MPI_X%05zu", i < n_odd ? i : n_odd);
        paths[i] = PATH((json_int_t)i, "main", calls[i]);
    }
    return paths;
}

START_TEST(a_screen_is_printed_whole)
{
    char calls[30][16];
    struct call_path *paths = crowd(30, 22, calls);
    const char *text = printed(paths, 30);

    ck_assert_int_eq(count_lines(text), CALL_TREE_LINES);
    expect_words(text, "  0-29: main\n    0: MPI_X00000\n");
    expect_words(text, "    21: MPI_X00021\n    22-29: MPI_X00022\n");
    free(paths);
}
END_TEST

START_TEST(of_more_than_a_screen_the_odd_and_the_many_are_kept)
{
    char calls[30][16];
    struct call_path *paths = crowd(30, 23, calls);
    const char *text = printed(paths, 30);

    ck_assert_int_eq(count_lines(text), CALL_TREE_LINES);
    expect_words(text, "    20: MPI_X00020\n    23-29: MPI_X00023\n"
                       "  and 2 more paths, of 2 ranks\n");
    free(paths);
}
END_TEST

START_TEST(ten_thousand_ways_are_a_screen)
{
    char(*calls)[16] = calloc(MANY, sizeof(*calls));
    struct call_path *paths = crowd(MANY, MANY, calls);
    const char *text = printed(paths, MANY);

    ck_assert_int_eq(count_lines(text), CALL_TREE_LINES);
    expect_words(text, "  0-9999: main\n    0: MPI_X00000\n");
    expect_words(text, "    20: MPI_X00020\n    9999: MPI_X09999\n"
                       "  and 9978 more paths, of 9978 ranks\n");
    free(paths);
    free(calls);
}
END_TEST

START_TEST(ten_thousand_ranks_are_few_lines)
{
    struct call_path *paths = calloc(MANY, sizeof(*paths));

    for (int i = 0; i < MANY; i++) {
        paths[i] = i == 4242 ? PATH(i, "main", "step", "MPI_Recv")
                             : PATH(i, "main", "step", "MPI_Barrier");
    }
    ck_assert_str_eq(printed(paths, MANY), "  0-9999: main > step\n"
                                           "    4242: MPI_Recv\n"
                                           "    0-4241,4243-9999: MPI_Barrier\n");
    free(paths);
}
END_TEST

START_TEST(a_rank_that_is_left_out_twice_counts_once)
{
    struct call_path paths[60];
    char calls[60][16];

    for (int i = 0; i < 60; i++) { /* the last three, each with twenty threads */
        snprintf(calls[i], sizeof(calls[i]), "MPI_X%02d", i);
        paths[i] = PATH(i / 20, calls[i]);
    }
    expect_words(printed(paths, 60), "  and 37 more paths, of 2 ranks\n");
}
END_TEST

/* ------------------------------------------------------------------------- a model */

enum { SOME_RANKS = 12, SOME_PATHS = 60, SOME_LINES = 400, WIDTH = 256 };

/** A line as it is to be. */
struct model_line {
    char text[WIDTH];
    bool ranks[SOME_RANKS];
    int n_ranks;
    bool is_end;
};

struct model {
    const struct call_path *paths;
    size_t n_paths;
    struct model_line lines[SOME_LINES];
    int n_lines;
};

/** What paths have in common. */
struct prefix {
    const char *steps[CALL_TREE_STEPS];
    size_t n;
    bool ends;
};

static bool has_prefix(const struct call_path *path, const struct prefix *prefix)
{
    if (path->n_steps < prefix->n || (path->n_steps == prefix->n) != prefix->ends) {
        return false;
    }
    for (size_t i = 0; i < prefix->n; i++) {
        if (strcmp(path->steps[i], prefix->steps[i]) != 0) {
            return false;
        }
    }
    return true;
}

static int model_ranks(const struct model *model, const struct prefix *prefix,
                       bool ranks_out[SOME_RANKS])
{
    int n = 0;

    memset(ranks_out, 0, SOME_RANKS * sizeof(bool));
    for (size_t i = 0; i < model->n_paths; i++) {
        if (has_prefix(&model->paths[i], prefix)) {
            ranks_out[model->paths[i].rank] = true;
        }
    }
    for (int i = 0; i < SOME_RANKS; i++) {
        n += ranks_out[i];
    }
    return n;
}

static int first_of(const bool ranks[SOME_RANKS])
{
    int i = 0;

    while (!ranks[i]) {
        i++;
    }
    return i;
}

/** Whether one prefix, longer by a step, stands before another one. */
static bool is_before(const struct model *model, const struct prefix *a,
                      const struct prefix *b)
{
    bool of_a[SOME_RANKS], of_b[SOME_RANKS];
    int n_a = model_ranks(model, a, of_a), n_b = model_ranks(model, b, of_b);
    int order = strcmp(a->steps[a->n - 1], b->steps[b->n - 1]);

    if (n_a != n_b) {
        return n_a < n_b;
    }
    if (first_of(of_a) != first_of(of_b)) {
        return first_of(of_a) < first_of(of_b);
    }
    return order != 0 ? order < 0 : a->ends && !b->ends;
}

static bool is_equal(const struct prefix *a, const struct prefix *b)
{
    return a->ends == b->ends && strcmp(a->steps[a->n - 1], b->steps[b->n - 1]) == 0;
}

/** The prefixes that are longer by a step, in their order. @return how many */
static int model_next(const struct model *model, const struct prefix *prefix,
                      struct prefix next_out[SOME_PATHS])
{
    int n = 0;

    for (size_t i = 0; i < model->n_paths; i++) {
        struct prefix one = *prefix;
        int at = 0;

        if (!has_prefix(&model->paths[i], prefix)) {
            continue;
        }
        one.steps[one.n] = model->paths[i].steps[one.n];
        one.n++;
        one.ends = one.n == model->paths[i].n_steps;
        while (at < n && !is_equal(&next_out[at], &one)) {
            at++;
        }
        if (at < n) {
            continue;
        }
        for (at = n++; at > 0 && is_before(model, &one, &next_out[at - 1]); at--) {
            next_out[at] = next_out[at - 1];
        }
        next_out[at] = one;
    }
    return n;
}

static void model_add(struct model *model, const struct prefix *prefix, int depth)
{
    struct prefix next[SOME_PATHS], here = *prefix;
    struct model_line *line = &model->lines[model->n_lines++];
    int n = snprintf(line->text, WIDTH, "%*s", 2 + 2 * depth, ""), n_next = 1;
    const char *comma = "";

    ck_assert_int_le(model->n_lines, SOME_LINES);
    line->n_ranks = model_ranks(model, prefix, line->ranks);
    for (int i = 0; i < SOME_RANKS; i++) {
        int last = i;

        while (line->ranks[i] && last + 1 < SOME_RANKS && line->ranks[last + 1]) {
            last++;
        }
        if (line->ranks[i]) {
            n += snprintf(line->text + n, WIDTH - (size_t)n,
                          last > i ? "%s%d-%d" : "%s%d", comma, i, last);
            comma = ",";
        }
        i = last;
    }
    n += snprintf(line->text + n, WIDTH - (size_t)n, ": %s", here.steps[here.n - 1]);
    while (!here.ends && (n_next = model_next(model, &here, next)) == 1) {
        here = next[0];
        n += snprintf(line->text + n, WIDTH - (size_t)n, " > %s",
                      here.steps[here.n - 1]);
    }
    line->is_end = here.ends;
    for (int i = 0; !here.ends && i < n_next; i++) {
        model_add(model, &next[i], depth + 1);
    }
}

static void model_make(struct model *model)
{
    struct prefix next[SOME_PATHS];
    int n = model_next(model, &(struct prefix){.n = 0}, next);

    for (int i = 0; i < n; i++) {
        model_add(model, &next[i], 0);
    }
}

/** Compare lines that are printed of a tree that is too large with those of its
 *  model. */
static void compare_part(const struct model *model, const char *text)
{
    bool left[SOME_RANKS] = {false};
    int n_left = 0, n_left_ranks = 0, most_shown = 0, next_shown = 0;
    int fewest_left = SOME_RANKS;
    char rest[WIDTH];

    for (int i = 0; i < model->n_lines; i++) {
        const struct model_line *line = &model->lines[i];
        size_t n = strlen(line->text);

        if (strncmp(text, line->text, n) == 0 && text[n] == '\n') {
            text += n + 1;
            if (line->is_end) {
                next_shown = line->n_ranks > most_shown   ? most_shown
                             : line->n_ranks > next_shown ? line->n_ranks
                                                          : next_shown;
                most_shown = line->n_ranks > most_shown ? line->n_ranks : most_shown;
            }
        } else if (line->is_end) {
            n_left++;
            fewest_left = line->n_ranks < fewest_left ? line->n_ranks : fewest_left;
            for (int j = 0; j < SOME_RANKS; j++) {
                left[j] |= line->ranks[j];
            }
        }
    }
    for (int j = 0; j < SOME_RANKS; j++) {
        n_left_ranks += left[j];
    }
    snprintf(rest, sizeof(rest), "  and %d more path%s, of %d rank%s\n", n_left,
             n_left > 1 ? "s" : "", n_left_ranks, n_left_ranks > 1 ? "s" : "");
    ck_assert_str_eq(text, rest);
    ck_assert_int_le(next_shown, fewest_left);
}

static void compare_with_model(const struct model *model, const char *text)
{
    ck_assert_int_le(count_lines(text), CALL_TREE_LINES);
    if (model->n_lines > CALL_TREE_LINES) {
        compare_part(model, text);
        return;
    }
    for (int i = 0; i < model->n_lines; i++) {
        size_t n = strlen(model->lines[i].text);

        ck_assert_msg(strncmp(text, model->lines[i].text, n) == 0 && text[n] == '\n',
                      "not %s, but %s", model->lines[i].text, text);
        text += n + 1;
    }
    ck_assert_str_eq(text, "");
}

START_TEST(random_trees_are_as_a_model_has_them)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static struct model model;
    struct call_path paths[SOME_PATHS];
    int n_large = 0;

    for (unsigned int seed = 1; seed <= 1000; seed++) {
        int n, n_names;

        srand(seed);
        n = rand() % (seed % 4 == 0 ? SOME_PATHS + 1 : SOME_RANKS);
        n_names = 1 + rand() % 4;
        for (int i = 0; i < n; i++) {
            paths[i] = (struct call_path){.rank = rand() % SOME_RANKS};
            paths[i].n_steps = 1 + (size_t)rand() % CALL_TREE_STEPS;
            for (size_t j = 0; j < paths[i].n_steps; j++) {
                paths[i].steps[j] = names[rand() % n_names];
            }
        }
        model = (struct model){.paths = paths, .n_paths = (size_t)n};
        model_make(&model);
        compare_with_model(&model, printed(paths, (size_t)n));
        n_large += model.n_lines > CALL_TREE_LINES;
    }
    ck_assert_int_gt(n_large, 50);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("call_tree");

    tcase_add_test(tcase, of_nobody_nothing_is_printed);
    tcase_add_test(tcase, one_rank_is_one_line);
    tcase_add_test(tcase, paths_are_together_up_to_where_they_part);
    tcase_add_test(tcase, a_rank_with_two_threads_is_once_in_what_they_have_in_common);
    tcase_add_test(tcase, a_call_is_no_place_of_the_same_name);
    tcase_add_test(tcase, all_the_same_way_is_a_path);
    tcase_add_test(tcase, a_screen_is_printed_whole);
    tcase_add_test(tcase, of_more_than_a_screen_the_odd_and_the_many_are_kept);
    tcase_add_test(tcase, ten_thousand_ways_are_a_screen);
    tcase_add_test(tcase, ten_thousand_ranks_are_few_lines);
    tcase_add_test(tcase, a_rank_that_is_left_out_twice_counts_once);
    tcase_add_test(tcase, random_trees_are_as_a_model_has_them);
    return run_tcase("call_tree", tcase);
}
