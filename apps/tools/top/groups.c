/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups waits; see groups.h. A family is of waits that differ only in their
 * operations. It is gone through twice: what is counted first says in which groups it
 * falls apart.
 */
#include "groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "wait_print.h"

enum {
    FEW_KINDS = 8, /* so many in a family each have a group of their own, */
    BIG_PART = 4   /* and of more those who are this part of the family, or more */
};

/* What the waits of a family have in common. */
static const char *const common[] = {
    "call", "method",    "place",  "communicator", "collective",
    "root", "reduction", "number", "needs_all",
};
enum { N_COMMON = sizeof(common) / sizeof(common[0]) };

/* What else those of a group may have in common. */
static const char *const particular[] = {"peer", "tag", "bytes"};
enum { N_PARTICULAR = sizeof(particular) / sizeof(particular[0]) };

/** What is known while waits are grouped. */
struct sorting {
    const json_t *job;
    json_t *listed;   /* ranks that are to be grouped */
    json_t *families; /* by their keys: "n" waits, and "alike" and "offset", how many of
                         each */
    json_t *groups;
    json_t *acting;
    bool is_counted; /* the families are */
};

/** How far another rank is, all of them in a ring. @return -1: it is none */
static json_int_t offset_of(const struct sorting *sorting, json_int_t rank,
                            json_int_t peer)
{
    json_int_t n_ranks = wait_number(sorting->job, "n_ranks");

    return peer < 0 || n_ranks <= 0 ? -1 : (peer - rank + n_ranks) % n_ranks;
}

/** Add what is not particular to an operation. */
static void add_kind(json_t *parts, const json_t *operation)
{
    json_array_append(parts, json_object_get(operation, "kind"));
    json_array_append_new(parts, json_integer(wait_number(operation, "context") % 2));
}

/** Add what is, but with the offset in place of the partner if that is asked for. */
static void add_particular(json_t *parts, const struct sorting *sorting,
                           json_int_t rank, const json_t *operation, bool by_offset)
{
    json_int_t peer = wait_number(operation, "peer");

    json_array_append_new(
        parts, json_integer(by_offset ? offset_of(sorting, rank, peer) : peer));
    for (size_t i = 1; i < N_PARTICULAR; i++) {
        json_array_append(parts, json_object_get(operation, particular[i]));
    }
    json_array_append(parts, json_object_get(operation, "context"));
}

/** Of an array that is given up. @return for free; NULL: no memory */
static char *text_of(json_t *parts)
{
    char *text = json_dumps(parts, JSON_COMPACT);

    json_decref(parts);
    return text;
}

static char *family_key(const json_t *wait)
{
    json_t *parts = json_array();
    const json_t *operation;
    size_t i;

    for (i = 0; i < N_COMMON; i++) {
        json_array_append(parts, json_object_get(wait, common[i]));
    }
    json_array_append(parts, json_object_get(wait, "pending"));
    json_array_foreach(json_object_get(wait, "operations"), i, operation)
    {
        add_kind(parts, operation);
    }
    return text_of(parts);
}

static char *particular_key(const struct sorting *sorting, json_int_t rank,
                            const json_t *wait, bool by_offset)
{
    json_t *parts = json_array();
    const json_t *operation;
    size_t i;

    json_array_foreach(json_object_get(wait, "operations"), i, operation)
    {
        add_particular(parts, sorting, rank, operation, by_offset);
    }
    return text_of(parts);
}

/** One more of a key. @return 0 or -ENOMEM */
static int count(json_t *counts, const char *key)
{
    json_t *n = json_integer(wait_number(counts, key) + 1);

    return json_object_set_new(counts, key, n) < 0 ? -ENOMEM : 0;
}

/** The keys of one wait. */
struct keys {
    char *family, *alike, *offset;
};

static int count_wait(struct sorting *sorting, const struct keys *keys)
{
    json_t *family = json_object_get(sorting->families, keys->family);

    if (family == NULL) {
        family = json_pack("{s:i, s:{}, s:{}}", "n", 0, "alike", "offset");
        if (json_object_set_new(sorting->families, keys->family, family) < 0) {
            return -ENOMEM;
        }
    }
    return count(family, "n") < 0 ||
                   count(json_object_get(family, "alike"), keys->alike) < 0 ||
                   count(json_object_get(family, "offset"), keys->offset) < 0
               ? -ENOMEM
               : 0;
}

/** Whether those of a key are a big part of a family. */
static bool is_big(const json_t *family, const char *which, const char *key)
{
    return wait_number(json_object_get(family, which), key) * BIG_PART >=
           wait_number(family, "n");
}

static enum group_likeness likeness_of(const struct sorting *sorting,
                                       const struct keys *keys)
{
    const json_t *family = json_object_get(sorting->families, keys->family);

    if (json_object_size(json_object_get(family, "alike")) <= FEW_KINDS ||
        is_big(family, "alike", keys->alike)) {
        return GROUP_ALIKE;
    }
    return is_big(family, "offset", keys->offset) ? GROUP_OFFSET : GROUP_OTHERS;
}

/** @return the group of a wait; NULL: no memory */
static json_t *group_at(struct sorting *sorting, const struct keys *keys,
                        json_int_t rank, json_t *wait)
{
    enum group_likeness likeness = likeness_of(sorting, keys);
    json_t *key = json_sprintf("%d%s%s", (int)likeness, keys->family,
                               likeness == GROUP_ALIKE    ? keys->alike
                               : likeness == GROUP_OFFSET ? keys->offset
                                                          : "");
    json_t *group = json_object_get(sorting->groups, json_string_value(key));
    const json_t *first = json_array_get(json_object_get(wait, "operations"), 0);

    if (key != NULL && group == NULL) {
        group = json_pack(
            "{s:O, s:O, s:[], s:i, s:I, s:{}}", "wait", wait, "seconds",
            json_object_get(wait, "seconds"), "ranks", "likeness", (int)likeness,
            "offset", offset_of(sorting, rank, wait_number(first, "peer")), "differ");
        if (json_object_set_new(sorting->groups, json_string_value(key), group) < 0) {
            group = NULL;
        }
    }
    json_decref(key);
    return group;
}

/** Whether two values are equal, or neither is there. */
static bool are_equal(const json_t *one, const json_t *other)
{
    return one == other || json_equal(one, other);
}

/** Note what is not as in the first wait of a group. */
static void note_differences(json_t *group, const json_t *wait)
{
    const json_t *first = json_object_get(group, "wait");
    const json_t *of_first = json_object_get(first, "operations"),
                 *of_this = json_object_get(wait, "operations");

    if (!are_equal(json_object_get(first, "callers"),
                   json_object_get(wait, "callers"))) {
        json_object_set_new(json_object_get(group, "differ"), "callers", json_true());
    }
    for (size_t i = 0; i < N_PARTICULAR && json_array_size(of_this) > 0; i++) {
        if (!json_equal(json_object_get(json_array_get(of_first, 0), particular[i]),
                        json_object_get(json_array_get(of_this, 0), particular[i]))) {
            json_object_set_new(json_object_get(group, "differ"), particular[i],
                                json_true());
        }
    }
}

static int add_wait(struct sorting *sorting, const struct keys *keys, json_t *rank,
                    json_t *wait)
{
    json_t *group = group_at(sorting, keys, json_integer_value(rank), wait);
    json_t *ranks = json_object_get(group, "ranks");
    json_t *seconds = json_object_get(wait, "seconds");
    size_t n = json_array_size(ranks);

    if (group == NULL) {
        return -ENOMEM;
    }
    if (n == 0 || !json_equal(json_array_get(ranks, n - 1), rank)) { /* threads */
        json_array_append(ranks, rank);
    }
    note_differences(group, wait);
    if (json_real_value(seconds) < json_real_value(json_object_get(group, "seconds"))) {
        json_object_set(group, "seconds", seconds);
    }
    return 0;
}

static int visit_wait(struct sorting *sorting, json_t *rank, json_t *wait)
{
    json_int_t number = json_integer_value(rank);
    struct keys keys = {
        .family = family_key(wait),
        .alike = particular_key(sorting, number, wait, false),
        .offset = particular_key(sorting, number, wait, true),
    };
    int rc = -ENOMEM;

    if (keys.family != NULL && keys.alike != NULL && keys.offset != NULL) {
        rc = sorting->is_counted ? add_wait(sorting, &keys, rank, wait)
                                 : count_wait(sorting, &keys);
    }
    free(keys.family);
    free(keys.alike);
    free(keys.offset);
    return rc;
}

static int visit_all(struct sorting *sorting)
{
    const json_t *one;
    json_t *wait;
    size_t i, j;
    int rc = 0;

    json_array_foreach(json_object_get(sorting->job, "ranks"), i, one)
    {
        json_t *rank = json_object_get(one, "rank");
        json_t *waits = json_object_get(one, "waits");

        if (!ranks_include(sorting->listed, json_integer_value(rank))) {
            continue;
        }
        if (sorting->is_counted && json_array_size(waits) == 0) {
            json_array_append(sorting->acting, rank);
        }
        json_array_foreach(waits, j, wait)
        {
            rc = rc < 0 ? rc : visit_wait(sorting, rank, wait);
        }
    }
    return rc;
}

int groups_of(const json_t *job, const char *list, json_t **groups_out,
              json_t **acting_out)
{
    struct sorting sorting = {
        .job = job,
        .listed = ranks_read(list, wait_number(job, "n_ranks")),
        .families = json_object(),
        .groups = json_object(),
        .acting = json_array(),
    };
    int rc = visit_all(&sorting);

    sorting.is_counted = true;
    rc = rc < 0 ? rc : visit_all(&sorting);
    json_decref(sorting.listed);
    json_decref(sorting.families);
    if (rc < 0) {
        json_decref(sorting.groups);
        json_decref(sorting.acting);
        return rc;
    }
    *groups_out = sorting.groups;
    *acting_out = sorting.acting;
    return 0;
}
