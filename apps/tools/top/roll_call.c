/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints groups of ranks (groups.h), the smallest first; see roll_call.h. Of a
 * collective it tells who has not come: whom its members wait for, but for those that
 * stand there, too.
 */
#include "roll_call.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree_print.h"
#include "groups.h"
#include "job_tree.h"
#include "mds/tool/read/manifest.h"
#include "misuse_print.h"
#include "near_miss.h"
#include "ranks.h"
#include "wait_print.h"

enum { MOST_LINES = 30, MOST_IN_CIRCLE = 20, INDENT = 2 };

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

/** Whether the first operations of a group differ in something. */
static bool do_differ(const json_t *group, const char *in)
{
    return json_object_get(json_object_get(group, "differ"), in) != NULL;
}

/** Whom an operation is about, as "rank 2", of all ranks of its group. */
static void print_peer(const json_t *group, json_int_t peer, json_int_t n_ranks)
{
    json_int_t offset = wait_number(group, "offset");

    if (!do_differ(group, "peer")) {
        printf(peer < 0 ? " any rank" : " rank %lld", (long long)peer);
    } else if (wait_number(group, "likeness") != GROUP_OFFSET) {
        printf(" one each");
    } else if (offset == 1 || offset == n_ranks - 1) {
        printf(" the %s rank each", offset == 1 ? "next" : "previous");
    } else if (2 * offset <= n_ranks) {
        printf(" the rank %lld after each", (long long)offset);
    } else {
        printf(" the rank %lld before each", (long long)(n_ranks - offset));
    }
}

/** An operation that is not a collective, as "receive from rank 2, tag 7". */
static void print_operation(const json_t *group, const json_t *operation,
                            json_int_t n_ranks)
{
    const char *kind = wait_text(operation, "kind");
    json_int_t tag = wait_number(operation, "tag");

    if (strcmp(kind, "send") == 0) {
        printf("send to");
    } else if (strcmp(kind, "receive") == 0 || strcmp(kind, "probe") == 0) {
        printf("%s from", kind);
    } else {
        printf("something %s",
               strcmp(kind, "foreign") == 0 ? "of the MPI library" : "else");
        return;
    }
    print_peer(group, wait_number(operation, "peer"), n_ranks);
    if (wait_number(operation, "context") % 2 != 0 || /* one of a collective's */
        wait_is_hidden(wait_number(operation, "context"))) {
        return;
    }
    if (do_differ(group, "tag")) {
        printf(", several tags");
    } else {
        printf(tag < 0 ? ", any tag" : ", tag %lld", (long long)tag);
    }
}

/** What a wait is about, but for collectives. */
static void print_operations(const json_t *group, json_int_t n_ranks)
{
    const json_t *wait = json_object_get(group, "wait");
    const json_t *operations = json_object_get(wait, "operations");
    json_int_t n_more = wait_number(wait, "pending") - 1;

    if (json_array_size(operations) == 0 || *wait_text(wait, "collective") != '\0') {
        return;
    }
    printf(", ");
    print_operation(group, json_array_get(operations, 0), n_ranks);
    if (n_more > 0) {
        printf(", %s %lld more",
               json_is_true(json_object_get(wait, "needs_all")) ? "and" : "or",
               (long long)n_more);
    }
}

/** How much a collective is about: if members go different ways by it, that tells them
 *  apart. */
static void print_length(const json_t *group)
{
    const json_t *wait = json_object_get(group, "wait");
    const json_t *operation = json_array_get(json_object_get(wait, "operations"), 0);
    const char *collective = wait_text(wait, "collective");
    long long n_bytes = wait_number(operation, "bytes");

    if (*wait_collective(wait) == '\0' || n_bytes == 0 || do_differ(group, "bytes")) {
        return;
    }
    if (strcmp(wait_text(operation, "kind"), "collective") != 0) {
        printf(", by messages, %lld bytes", n_bytes);
    } else if (strcmp(collective, "allgather") == 0 ||
               strcmp(collective, "alltoall") == 0) {
        printf(", %lld bytes in all", n_bytes);
    } else {
        printf(", %lld bytes", n_bytes);
    }
}

/** Of a collective: who has not come, as far as the waiting ranks know. */
static void print_missing(const json_t *wait, const json_t *ranks)
{
    json_t *missing = json_array();
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(wait, "waits_for"), i, one)
    {
        if (*wait_text(wait, "collective") != '\0' &&
            !ranks_include(ranks, json_integer_value(one))) {
            json_array_append(missing, one);
        }
    }
    if (json_array_size(missing) > 0) {
        printf(", without rank%s ", json_array_size(missing) > 1 ? "s" : "");
        ranks_print(missing);
    }
    json_decref(missing);
}

/** Who has called the function that waits. */
static void print_callers(const json_t *group)
{
    const json_t *callers = json_object_get(json_object_get(group, "wait"), "callers");
    const json_t *one;
    size_t i;

    if (do_differ(group, "callers")) {
        printf(", called from several places");
        return;
    }
    json_array_foreach(callers, i, one)
    {
        printf(i == 0 ? ", called from " : ", ");
        print_text(json_string_value(one));
    }
}

/** Where a wait is, in the program. */
static void print_place(const json_t *group)
{
    const json_t *wait = json_object_get(group, "wait");
    const char *place = wait_text(wait, "place");

    if (*place == '\0') {
        return;
    }
    printf(", at ");
    print_text(place);
    if (json_is_true(json_object_get(wait, "lacks_lines"))) {
        printf(" (compile with -g for lines)");
    }
    print_callers(group);
}

/** Whether a call fails: it tells where it stands, and waits for nothing. */
static bool is_failing(const json_t *wait)
{
    return wait_number(wait, "pending") == 0;
}

/** A line for ranks that wait alike. */
static void print_group(const char *key, const json_t *group, void *arg)
{
    const json_t *job = arg;
    const json_t *wait = json_object_get(group, "wait");
    const json_t *ranks = json_object_get(group, "ranks");
    const char *comm = wait_text(wait, "communicator");

    (void)key;
    printf("  ");
    ranks_print(ranks);
    printf(": ");
    wait_print_call(wait);
    print_operations(group, wait_number(job, "n_ranks"));
    print_length(group);
    print_missing(wait, ranks);
    if (*comm != '\0') {
        printf(", on ");
        print_text(comm);
    }
    print_place(group);
    if (!is_failing(wait)) {
        printf(", for %.1f s", json_real_value(json_object_get(group, "seconds")));
    }
    putchar('\n');
}

/** The rank of some that another one waits for first. @return -1: it waits for none of
 *  them */
static json_int_t next_of(const json_t *job, const json_t *stuck, json_int_t rank)
{
    const json_t *one = json_array_get(json_object_get(job, "ranks"), (size_t)rank);
    const json_t *wait, *other;
    size_t i, j;

    json_array_foreach(json_object_get(one, "waits"), i, wait)
    {
        json_array_foreach(json_object_get(wait, "waits_for"), j, other)
        {
            if (ranks_include(stuck, json_integer_value(other))) {
                return json_integer_value(other);
            }
        }
    }
    return -1;
}

/** Follow the waits of deadlocked ranks until one comes twice, and print those from
 *  there on. */
static void print_circle(const json_t *job, const json_t *stuck)
{
    json_int_t n_ranks = wait_number(job, "n_ranks"), rank = 0, start;

    while (rank < n_ranks &&
           (!ranks_include(stuck, rank) || next_of(job, stuck, rank) < 0)) {
        rank++;
    }
    /* After as many steps as there are ranks it is within the circle. */
    for (json_int_t i = 0; i < n_ranks && rank >= 0; i++) {
        rank = next_of(job, stuck, rank);
    }
    start = rank;
    if (start < 0) { /* somebody has gone on, so it is none */
        return;
    }
    printf("  each waits for the next one: %lld", (long long)start);
    for (int n = 1; n < MOST_IN_CIRCLE; n++) {
        rank = next_of(job, stuck, rank);
        printf(", %lld", (long long)rank);
        if (rank == start) {
            break;
        }
    }
    printf(rank == start ? "\n" : ", ...\n");
}

static void print_groups(const json_t *job, const json_t *groups)
{
    size_t n_more =
        ranks_visit(groups, MOST_LINES, print_group, (void *)(uintptr_t)job);

    if (n_more > 0) {
        printf("  and %zu places more\n", n_more);
    }
}

bool roll_call_is_complete(const json_t *job, const char *list)
{
    json_t *ranks = ranks_read(list, wait_number(job, "n_ranks"));
    bool is_complete = true;
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(job, "ranks"), i, one)
    {
        if (ranks_include(ranks, wait_number(one, "rank")) &&
            json_array_size(json_object_get(one, "waits")) == 0) {
            is_complete = false;
        }
    }
    json_decref(ranks);
    return is_complete;
}

/** A job with its calls that fail, without those that go on. @return for json_decref */
static json_t *failing_of(const json_t *job)
{
    json_t *failing = json_copy((json_t *)(uintptr_t)job), *ranks = json_array();
    json_t *rank, *wait;
    size_t i, j;

    json_array_foreach(json_object_get(job, "ranks"), i, rank)
    {
        json_t *copy = json_copy(rank), *waits = json_array();

        json_array_foreach(json_object_get(rank, "waits"), j, wait)
        {
            if (is_failing(wait)) {
                json_array_append(waits, wait);
            }
        }
        json_object_set_new(copy, "waits", waits);
        json_array_append_new(ranks, copy);
    }
    json_object_set_new(failing, "ranks", ranks);
    return failing;
}

int roll_call_print_at(const json_t *job, const struct roll_call_at *at)
{
    json_t *failing = at->are_failing ? failing_of(job) : NULL;
    json_t *groups = NULL, *acting = NULL;
    int rc = groups_of(failing == NULL ? job : failing, at->ranks, &groups, &acting);
    const struct job_tree_told told = {.groups = groups, .needs_call = true};

    fputs(at->before, stdout);
    if (rc == 0) {
        print_groups(job, groups);
    }
    /* What ends the job stands last. */
    fputs(at->are_failing ? "" : at->after, stdout);
    rc = rc < 0 ? rc : job_tree_print_below(job, &told);
    fputs(at->are_failing ? at->after : "", stdout);
    json_decref(failing);
    json_decref(groups);
    json_decref(acting);
    return rc;
}

/** Print a line about ranks, if there are any. */
static void print_some(const json_t *ranks, const char *words)
{
    if (json_array_size(ranks) > 0) {
        printf("  ");
        ranks_print(ranks);
        printf(": ");
        print_text(words);
        putchar('\n');
    }
}

/** What is known of a rank that polls. @return NULL: it has not for long */
static json_t *words_of_poll(const json_t *poll)
{
    double seconds = json_real_value(json_object_get(poll, "seconds"));
    const char *call = wait_text(poll, "call"), *place = wait_text(poll, "place");
    const char *at = *place == '\0' ? "" : ", at ";

    if (*call == '\0') {
        return NULL;
    }
    return wait_polls(poll) ? json_sprintf("polls, by %s%s%s", call, at, place)
                            : json_sprintf("has polled last %.0f s ago, by %s%s%s",
                                           seconds, call, at, place);
}

/** Print ranks that poll, those together of whom the same is known, and return the
 *  others. */
static json_t *print_polling(const json_t *all, const json_t *acting)
{
    json_t *groups = json_object(), *others = json_array(), *number, *ranks;
    const char *words;
    size_t i;

    json_array_foreach(acting, i, number)
    {
        const json_t *rank = json_array_get(all, (size_t)json_integer_value(number));
        json_t *text = words_of_poll(json_object_get(rank, "poll"));

        if (text == NULL) {
            json_array_append(others, number);
            continue;
        }
        ranks = json_object_get(groups, json_string_value(text));
        if (ranks == NULL) {
            ranks = json_array();
            json_object_set_new(groups, json_string_value(text), ranks);
        }
        json_array_append(ranks, number);
        json_decref(text);
    }
    json_object_foreach(groups, words, ranks)
    {
        print_some(ranks, words);
    }
    json_decref(groups);
    return others;
}

/** Print which ranks do not wait, as far as that is known. */
static void print_acting(const json_t *job, const json_t *acting)
{
    json_t *known = json_array(), *unknown = json_array(), *others;
    const json_t *all = json_object_get(job, "ranks"), *number;
    size_t i;

    json_array_foreach(acting, i, number)
    {
        const json_t *rank = json_array_get(all, (size_t)json_integer_value(number));

        json_array_append(json_is_false(json_object_get(rank, "is_known")) ? unknown
                                                                           : known,
                          (json_t *)(uintptr_t)number);
    }
    others = print_polling(all, known);
    print_some(others, "not in a waiting MPI call (computing, polling, or in a call "
                       "of Open MPI)");
    print_some(unknown, "are on other machines, and have told nothing");
    json_decref(others);
    json_decref(known);
    json_decref(unknown);
}

static void print_title(const json_t *job)
{
    printf("Job of process %lld, %lld ranks:\n", (long long)wait_number(job, "pid"),
           (long long)wait_number(job, "n_ranks"));
}

int roll_call_print_tree(const json_t *job)
{
    print_title(job);
    return call_tree_print(json_object_get(job, "tree"), INDENT);
}

int roll_call_print(const json_t *job, const char *stuck)
{
    json_t *groups, *acting, *ranks;
    int rc = groups_of(job, stuck, &groups, &acting);

    if (rc < 0) {
        return rc;
    }
    ranks = ranks_read(stuck, wait_number(job, "n_ranks"));
    if (stuck == NULL) {
        print_title(job);
    }
    print_groups(job, groups);
    print_acting(job, acting);
    if (stuck != NULL) {
        print_circle(job, ranks);
        misuse_print(job);
        near_miss_print(job);
    }
    rc = job_tree_print_below(
        job, &(struct job_tree_told){.groups = groups, .acting = acting});
    json_decref(ranks);
    json_decref(groups);
    json_decref(acting);
    return rc;
}
