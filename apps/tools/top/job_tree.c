/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the tree of a job, and judges whether a report needs it; see job_tree.h.
 */
#include "job_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "call_tree.h"
#include "call_tree_print.h"
#include "wait_print.h"

enum {
    FEW_LINES = 4, /* so many a person reads at a glance */
    INDENT = 4     /* below the line that says what it is */
};

#define ACTS "not in a waiting MPI call"

static void add_step(struct call_path *path, const char *step)
{
    if (path->n_steps < CALL_TREE_STEPS && *step != '\0') {
        path->steps[path->n_steps++] = step;
    }
}

/** The path of a rank. @param at  a wait or a look in vain; NULL: no place is known */
static struct call_path path_of(const json_t *rank, const json_t *at, const char *call)
{
    struct call_path path = {.rank = wait_number(rank, "rank")};
    const json_t *callers = json_object_get(at, "callers");

    for (size_t i = json_array_size(callers); i > 0; i--) {
        add_step(&path, json_string_value(json_array_get(callers, i - 1)));
    }
    add_step(&path, wait_text(at, "place"));
    add_step(&path, *call == '\0' ? "a call" : call);
    return path;
}

/** A text that lasts as long as others. */
static const char *keep(json_t *texts, json_t *text)
{
    const char *value = json_string_value(text);

    return json_array_append_new(texts, text) < 0 || value == NULL ? "" : value;
}

/** The path of a rank that does not wait. */
static struct call_path path_of_acting(const json_t *rank, json_t *texts)
{
    const json_t *poll = json_object_get(rank, "poll");
    const char *call = wait_text(poll, "call"), *place = wait_text(poll, "place");

    if (json_is_false(json_object_get(rank, "is_known"))) {
        return path_of(rank, NULL, "on another machine, has told nothing");
    }
    if (*call == '\0') {
        return path_of(rank, NULL, ACTS);
    }
    if (wait_polls(poll)) {
        return path_of(rank, poll, keep(texts, json_sprintf("polls by %s", call)));
    }
    return path_of(rank, NULL,
                   keep(texts, json_sprintf(ACTS ", has polled last by %s%s%s", call,
                                            *place == '\0' ? "" : " at ", place)));
}

/** The call of a wait as the program has it: the method that hides it, if one does. */
static const char *call_of(const json_t *wait)
{
    const char *method = wait_text(wait, "method");

    return *method == '\0' ? wait_text(wait, "call") : method;
}

static size_t n_waits_of(const json_t *rank)
{
    return json_array_size(json_object_get(rank, "waits"));
}

static size_t n_paths_of(const json_t *ranks)
{
    const json_t *rank;
    size_t n = 0, i;

    json_array_foreach(ranks, i, rank)
    {
        n += n_waits_of(rank) == 0 ? 1 : n_waits_of(rank);
    }
    return n;
}

json_t *job_tree_of(const json_t *ranks)
{
    struct call_path *paths = calloc(n_paths_of(ranks) + 1, sizeof(*paths));
    const json_t *rank, *wait;
    json_t *texts = json_array(), *tree = NULL;
    size_t n = 0, i, j;

    json_array_foreach(ranks, i, rank)
    {
        if (paths != NULL && n_waits_of(rank) == 0) {
            paths[n++] = path_of_acting(rank, texts);
        }
        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            if (paths != NULL) {
                paths[n++] = path_of(rank, wait, call_of(wait));
            }
        }
    }
    tree = paths == NULL ? NULL : call_tree_of(paths, n);
    json_decref(texts);
    free(paths);
    return tree;
}

/* --------------------------------------------------------------- whether it is more */

/** Note that some ranks are told. */
static void mark(bool *told, size_t n_ranks, const json_t *ranks)
{
    const json_t *rank;
    size_t i;

    json_array_foreach(ranks, i, rank)
    {
        size_t number = (size_t)json_integer_value(rank);

        if (number < n_ranks) {
            told[number] = true;
        }
    }
}

static bool has_call(const json_t *rank)
{
    return n_waits_of(rank) > 0 ||
           *wait_text(json_object_get(rank, "poll"), "call") != '\0';
}

/** Whether a line about a rank that polls lacks its callers. */
static bool lacks_callers(const json_t *rank)
{
    const json_t *poll = json_object_get(rank, "poll");

    return n_waits_of(rank) == 0 && wait_polls(poll) &&
           json_array_size(json_object_get(poll, "callers")) > 0;
}

/** Whether a rank, or a caller of one that polls, is left out. @param is_told  by
 *  rank */
static bool lacks_rank(const json_t *ranks, const struct job_tree_told *told,
                       const bool *is_told)
{
    const json_t *rank;
    size_t i;

    json_array_foreach(ranks, i, rank)
    {
        if (is_told[i] ? lacks_callers(rank) : !told->needs_call || has_call(rank)) {
            return true;
        }
    }
    return false;
}

/** Whether the tree of a job tells more than what was told. */
static bool is_more(const json_t *job, const struct job_tree_told *told)
{
    const json_t *ranks = json_object_get(job, "ranks");
    json_t *groups = (json_t *)(uintptr_t)told->groups, *group;
    size_t n_ranks = json_array_size(ranks);
    bool *is_told = calloc(n_ranks + 1, sizeof(*is_told));
    bool is = json_object_size(groups) > FEW_LINES &&
              !call_tree_is_path(json_object_get(job, "tree"));
    const char *key;

    if (is_told == NULL) {
        return true;
    }
    json_object_foreach(groups, key, group)
    {
        is |= json_object_get(json_object_get(group, "differ"), "callers") != NULL;
        mark(is_told, n_ranks, json_object_get(group, "ranks"));
    }
    mark(is_told, n_ranks, told->acting);
    is = is || lacks_rank(ranks, told, is_told);
    free(is_told);
    return is;
}

int job_tree_print_below(const json_t *job, const struct job_tree_told *told)
{
    const json_t *tree = json_object_get(job, "tree");

    if (json_array_size(tree) == 0 || !is_more(job, told)) {
        return 0;
    }
    printf("  all ranks by call path, the outermost call first:\n");
    return call_tree_print(tree, INDENT);
}
