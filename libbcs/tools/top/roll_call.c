/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups ranks by what their waits have in common; see roll_call.h. Of a collective it tells who has
 * not come: whom its members wait for, but for those that stand there, too.
 */
#include "roll_call.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/manifest.h"
#include "misuse.h"
#include "near_miss.h"
#include "ranks.h"
#include "wait.h"

enum { MOST_LINES = 60, MOST_IN_CIRCLE = 20 };

/* What ranks of one line have in common. */
static const char *const common[] = {"call",       "place",      "communicator",
                                     "collective", "root",       "reduction",
                                     "number",     "operations", "needs_all"};
enum { N_COMMON = sizeof(common) / sizeof(common[0]) };

static void print_text(const char *text)
{
    manifest_print(stdout, text, strlen(text));
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

static json_int_t number_in(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/** An operation that is not a collective, as "receive from rank 2, tag 7". */
static void print_operation(const json_t *operation)
{
    const char *kind = text_in(operation, "kind");
    json_int_t peer = number_in(operation, "peer"), tag = number_in(operation, "tag");

    if (strcmp(kind, "send") == 0) {
        printf("send to");
    } else if (strcmp(kind, "receive") == 0 || strcmp(kind, "probe") == 0) {
        printf("%s from", kind);
    } else {
        printf("something %s",
               strcmp(kind, "foreign") == 0 ? "of the MPI library" : "else");
        return;
    }
    printf(peer < 0 ? " any rank" : " rank %lld", (long long)peer);
    if (number_in(operation, "context") % 2 ==
        0) { /* else it is one of a collective's */
        printf(tag < 0 ? ", any tag" : ", tag %lld", (long long)tag);
    }
}

/** What a wait is about, but for collectives. */
static void print_operations(const json_t *wait)
{
    const json_t *operations = json_object_get(wait, "operations");
    json_int_t n_more = number_in(wait, "pending") - 1;

    if (json_array_size(operations) == 0 || *text_in(wait, "collective") != '\0') {
        return;
    }
    printf(", ");
    print_operation(json_array_get(operations, 0));
    if (n_more > 0) {
        printf(", %s %lld more",
               json_is_true(json_object_get(wait, "needs_all")) ? "and" : "or",
               (long long)n_more);
    }
}

/** How much a collective is about: if members go different ways by it, that tells them apart. */
static void print_length(const json_t *wait)
{
    const json_t *operation = json_array_get(json_object_get(wait, "operations"), 0);
    const char *collective = text_in(wait, "collective");
    long long n_bytes = number_in(operation, "bytes");

    if (*wait_collective(wait) == '\0' || n_bytes == 0) {
        return;
    }
    if (strcmp(text_in(operation, "kind"), "collective") != 0) {
        printf(", by messages, %lld bytes", n_bytes);
    } else if (strcmp(collective, "allgather") == 0 ||
               strcmp(collective, "alltoall") == 0) {
        printf(", %lld bytes in all", n_bytes);
    } else {
        printf(", %lld bytes", n_bytes);
    }
}

static bool has_rank(const json_t *ranks, json_int_t rank)
{
    const json_t *one;
    size_t i;

    json_array_foreach(ranks, i, one)
    {
        if (json_integer_value(one) == rank) {
            return true;
        }
    }
    return false;
}

/** Of a collective: who has not come, as far as the waiting ranks know. */
static void print_missing(const json_t *wait, const json_t *ranks)
{
    json_t *missing = json_array();
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(wait, "waits_for"), i, one)
    {
        if (*text_in(wait, "collective") != '\0' &&
            !has_rank(ranks, json_integer_value(one))) {
            json_array_append(missing, one);
        }
    }
    if (json_array_size(missing) > 0) {
        printf(", without rank%s ", json_array_size(missing) > 1 ? "s" : "");
        ranks_print(missing);
    }
    json_decref(missing);
}

/** A line for ranks that wait alike. */
static void print_group(const json_t *group)
{
    const json_t *wait = json_object_get(group, "wait");
    const json_t *ranks = json_object_get(group, "ranks");
    const char *call = text_in(wait, "call"), *comm = text_in(wait, "communicator");
    const char *place = text_in(wait, "place");

    printf("  ");
    ranks_print(ranks);
    printf(": ");
    print_text(*call == '\0' ? "a call" : call);
    print_operations(wait);
    print_length(wait);
    print_missing(wait, ranks);
    if (*comm != '\0') {
        printf(", on ");
        print_text(comm);
    }
    if (*place != '\0') {
        printf(", at ");
        print_text(place);
    }
    printf(", for %.1f s\n", json_real_value(json_object_get(group, "seconds")));
}

/** What a wait has in common with others, for free. */
static char *key_of(const json_t *wait)
{
    json_t *parts = json_array();
    char *key;

    for (size_t i = 0; i < N_COMMON; i++) {
        json_array_append(parts, json_object_get(wait, common[i]));
    }
    key = json_dumps(parts, JSON_COMPACT);
    json_decref(parts);
    return key;
}

/** Add a rank's wait to its group. @return 0 or -ENOMEM */
static int add_wait(json_t *groups, json_t *rank, json_t *wait)
{
    char *key = key_of(wait);
    json_t *group = key == NULL ? NULL : json_object_get(groups, key);
    json_t *seconds = json_object_get(wait, "seconds");
    int rc = key == NULL ? -ENOMEM : 0;

    if (rc == 0 && group == NULL) {
        group =
            json_pack("{s:O, s:O, s:[]}", "wait", wait, "seconds", seconds, "ranks");
        rc = json_object_set_new(groups, key, group) < 0 ? -ENOMEM : 0;
    }
    if (rc == 0) {
        json_array_append(json_object_get(group, "ranks"), rank);
        if (json_real_value(seconds) <
            json_real_value(json_object_get(group, "seconds"))) {
            json_object_set(group, "seconds", seconds);
        }
    }
    free(key);
    return rc;
}

/** Whether a list as "0-3,7" has a rank. @param list  NULL: all */
static bool is_listed(const char *list, json_int_t rank)
{
    long long first, last;
    int n = 0;

    while (list != NULL && sscanf(list, "%lld%n", &first, &n) == 1) {
        list += n;
        last = first;
        if (*list == '-' && sscanf(list + 1, "%lld%n", &last, &n) == 1) {
            list += 1 + n;
        }
        if (rank >= first && rank <= last) {
            return true;
        }
        if (*list++ != ',') {
            return false;
        }
    }
    return list == NULL;
}

/** Sort the ranks of a job that are listed by what they do. @return 0 or -ENOMEM */
static int sort_ranks(const json_t *job, const char *list, json_t *groups,
                      json_t *acting)
{
    const json_t *one;
    json_t *wait;
    size_t i, j;
    int rc = 0;

    json_array_foreach(json_object_get(job, "ranks"), i, one)
    {
        json_t *rank = json_object_get(one, "rank");
        json_t *waits = json_object_get(one, "waits");

        if (!is_listed(list, json_integer_value(rank))) {
            continue;
        }
        if (json_array_size(waits) == 0) {
            json_array_append(acting, rank);
        }
        json_array_foreach(waits, j, wait)
        {
            rc = rc < 0 ? rc : add_wait(groups, rank, wait);
        }
    }
    return rc;
}

/** The rank of a list that another one waits for first. @return -1: it waits for none of them */
static json_int_t next_of(const json_t *job, const char *list, json_int_t rank)
{
    const json_t *one = json_array_get(json_object_get(job, "ranks"), (size_t)rank);
    const json_t *wait, *other;
    size_t i, j;

    json_array_foreach(json_object_get(one, "waits"), i, wait)
    {
        json_array_foreach(json_object_get(wait, "waits_for"), j, other)
        {
            if (is_listed(list, json_integer_value(other))) {
                return json_integer_value(other);
            }
        }
    }
    return -1;
}

/** Follow the waits of deadlocked ranks until one comes twice, and print those from there on. */
static void print_circle(const json_t *job, const char *list)
{
    json_int_t n_ranks = number_in(job, "n_ranks"), rank = 0, start;

    while (rank < n_ranks && (!is_listed(list, rank) || next_of(job, list, rank) < 0)) {
        rank++;
    }
    /* After as many steps as there are ranks it is within the circle. */
    for (json_int_t i = 0; i < n_ranks && rank >= 0; i++) {
        rank = next_of(job, list, rank);
    }
    start = rank;
    if (start < 0) { /* somebody has gone on, so it is none */
        return;
    }
    printf("  each waits for the next one: %lld", (long long)start);
    for (int n = 1; n < MOST_IN_CIRCLE; n++) {
        rank = next_of(job, list, rank);
        printf(", %lld", (long long)rank);
        if (rank == start) {
            break;
        }
    }
    printf(rank == start ? "\n" : ", ...\n");
}

static void print_groups(const json_t *groups)
{
    size_t n_lines = 0;
    const char *key;
    json_t *group;

    json_object_foreach((json_t *)(uintptr_t)groups, key, group)
    {
        if (n_lines++ < MOST_LINES) {
            print_group(group);
        }
    }
    if (n_lines > MOST_LINES) {
        printf("  and %zu places more\n", n_lines - MOST_LINES);
    }
}

bool roll_call_is_complete(const json_t *job, const char *list)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(job, "ranks"), i, one)
    {
        if (is_listed(list, number_in(one, "rank")) &&
            json_array_size(json_object_get(one, "waits")) == 0) {
            return false;
        }
    }
    return true;
}

int roll_call_print_at(const json_t *job, const char *list)
{
    json_t *groups = json_object(), *acting = json_array();
    int rc = groups == NULL || acting == NULL ? -ENOMEM
                                              : sort_ranks(job, list, groups, acting);

    print_groups(groups);
    json_decref(groups);
    json_decref(acting);
    return rc;
}

int roll_call_print(const json_t *job, const char *stuck)
{
    json_t *groups = json_object(), *acting = json_array();
    int rc = groups == NULL || acting == NULL ? -ENOMEM
                                              : sort_ranks(job, stuck, groups, acting);

    if (stuck == NULL) {
        printf("Job of process %lld, %lld ranks:\n", (long long)number_in(job, "pid"),
               (long long)number_in(job, "n_ranks"));
    }
    print_groups(groups);
    if (json_array_size(acting) > 0) {
        printf("  ");
        ranks_print(acting);
        printf(": do not wait\n");
    }
    if (stuck != NULL) {
        print_circle(job, stuck);
        misuse_print(job);
        near_miss_print(job);
    }
    json_decref(groups);
    json_decref(acting);
    return rc;
}
