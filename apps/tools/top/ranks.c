/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints lists of ranks; see ranks.h.
 */
#include "ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mds/tool/read/json_ranks.h"

enum { MOST_RANGES = 6 };

/** Add a range of the ranks that there are. */
static void add_range(json_t *ranks, json_int_t first, json_int_t last,
                      json_int_t n_ranks)
{
    for (; first <= last && first < n_ranks; first++) {
        json_array_append_new(ranks, json_integer(first));
    }
}

json_t *ranks_read(const char *list, json_int_t n_ranks)
{
    json_t *ranks = json_array();

    if (list == NULL) {
        add_range(ranks, 0, n_ranks - 1, n_ranks);
    }
    while (list != NULL && *list >= '0' && *list <= '9') {
        char *end;
        json_int_t first = strtoll(list, &end, 10), last = first;

        if (*end == '-') {
            last = strtoll(end + 1, &end, 10);
        }
        add_range(ranks, first, last, n_ranks);
        list = *end == ',' ? end + 1 : NULL;
    }
    return ranks;
}

bool ranks_include(const json_t *ranks, json_int_t rank)
{
    size_t from = 0, to = json_array_size(ranks);

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        json_int_t one = json_integer_value(json_array_get(ranks, middle));

        if (one == rank) {
            return true;
        }
        *(one < rank ? &from : &to) = one < rank ? middle + 1 : middle;
    }
    return false;
}

static int compare_ranks(const void *one, const void *other)
{
    json_int_t a = json_integer_value(*(json_t *const *)one);
    json_int_t b = json_integer_value(*(json_t *const *)other);

    return (a > b) - (a < b);
}

json_t *ranks_sorted(const json_t *ranks)
{
    size_t n = json_array_size(ranks);
    json_t **all = calloc(n + 1, sizeof(json_t *));
    json_t *sorted = all == NULL ? NULL : json_array();

    for (size_t i = 0; all != NULL && i < n; i++) {
        all[i] = json_array_get(ranks, i);
    }
    if (all != NULL) {
        qsort(all, n, sizeof(json_t *), compare_ranks);
    }
    for (size_t i = 0; sorted != NULL && i < n; i++) {
        if (i == 0 || compare_ranks(&all[i - 1], &all[i]) != 0) {
            json_array_append(sorted, all[i]);
        }
    }
    free(all);
    return sorted;
}

/* -------------------------------------------------------------- the smallest first */

/** A member of an object. */
struct member {
    const char *key;
    const json_t *value;
    size_t n;
    json_int_t first;
};

static struct member member_of(const char *key, const json_t *value)
{
    const json_t *ranks =
        json_is_array(value) ? value : json_object_get(value, "ranks");

    return (struct member){key, value, json_array_size(ranks),
                           json_integer_value(json_array_get(ranks, 0))};
}

static int compare(const void *one, const void *other)
{
    const struct member *a = one, *b = other;

    return a->n != b->n ? (a->n > b->n) - (a->n < b->n)
                        : (a->first > b->first) - (a->first < b->first);
}

size_t ranks_visit(const json_t *all, size_t n_most, ranks_visit_fn *visit, void *arg)
{
    size_t n = json_object_size(all), i = 0;
    struct member *members = calloc(n + 1, sizeof(*members));
    const char *key;
    json_t *value;

    if (members == NULL) {
        return n;
    }
    json_object_foreach((json_t *)(uintptr_t)all, key, value)
    {
        members[i++] = member_of(key, value);
    }
    qsort(members, n, sizeof(*members), compare);
    for (i = 0; i < n && i < n_most; i++) {
        const struct member *one = &members[n > n_most && i + 1 == n_most ? n - 1 : i];

        visit(one->key, one->value, arg);
    }
    free(members);
    return n > n_most ? n - n_most : 0;
}

void ranks_print(const json_t *ranks)
{
    json_ranks_print(stdout, ranks, MOST_RANGES);
}
