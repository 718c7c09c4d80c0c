/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows delays from rank to rank; see delay.h. Delays of a rank do not overlap, so
 * that what one comes to is cut into pieces, each of which is one rank's.
 */
#include "mds/tool/analysis/delay.h"

#include <errno.h>
#include <stdlib.h>

/* A chain of ranks is followed so far. Where clocks differ, or a wait is taken for
 * longer than it was, ranks may seem to wait for each other at the same time. */
enum { MOST_LINKS = 64 };

/** Delays by rank. */
struct chains {
    struct delay *delays;
    const size_t *first; /* [n_ranks + 1] number of the first one of each rank */
};

static int compare(const void *left, const void *right)
{
    const struct delay *a = left, *b = right;

    return a->waiting != b->waiting     ? (a->waiting < b->waiting ? -1 : 1)
           : a->begin_ns != b->begin_ns ? (a->begin_ns < b->begin_ns ? -1 : 1)
           : a->end_ns < b->end_ns      ? -1
                                        : a->end_ns > b->end_ns;
}

/** Put delays in order, so that those of a rank do not overlap. */
static void sort(struct delay *delays, size_t n)
{
    if (n > 0) {
        qsort(delays, n, sizeof(*delays), compare);
    }
    for (size_t i = 1; i < n; i++) {
        const struct delay *before = &delays[i - 1];
        struct delay *delay = &delays[i];

        if (delay->waiting == before->waiting && delay->begin_ns < before->end_ns) {
            delay->begin_ns = before->end_ns;
        }
        if (delay->end_ns < delay->begin_ns) {
            delay->end_ns = delay->begin_ns;
        }
    }
}

/** The first delay of a rank that ends after a time. */
static size_t find(const struct chains *chains, uint32_t rank, uint64_t begin_ns)
{
    size_t low = chains->first[rank], high = chains->first[rank + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (chains->delays[middle].end_ns <= begin_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** What a delay names was waited for from begin to end: blame that, or what it has
 *  waited for then. */
static void blame(const struct chains *chains, struct delay *delay, uint64_t begin_ns,
                  uint64_t end_ns, int n_links)
{
    size_t end = chains->first[delay->late + 1];
    size_t i = n_links < MOST_LINKS ? find(chains, delay->late, begin_ns) : end;

    for (; i < end && chains->delays[i].begin_ns < end_ns; i++) {
        struct delay *its = &chains->delays[i];
        uint64_t from = its->begin_ns > begin_ns ? its->begin_ns : begin_ns;
        uint64_t until = its->end_ns < end_ns ? its->end_ns : end_ns;

        if (from < until) {
            delay->root_ns += from - begin_ns;
            blame(chains, its, from, until, n_links + 1);
            begin_ns = until;
        }
    }
    delay->root_ns += end_ns - begin_ns;
}

/** Where the delays of each rank begin. @return [n_ranks + 1] for free; NULL: no
 *  memory */
static size_t *find_first(const struct delay *delays, size_t n, uint32_t n_ranks)
{
    size_t *first = calloc((size_t)n_ranks + 1, sizeof(*first));
    size_t i = 0;

    for (uint32_t rank = 0; first != NULL && rank <= n_ranks; rank++) {
        while (i < n && delays[i].waiting < rank) {
            i++;
        }
        first[rank] = i;
    }
    return first;
}

int delays_find_roots(struct delay *delays, size_t n, uint32_t n_ranks)
{
    struct chains chains = {.delays = delays};
    size_t *first;

    sort(delays, n);
    first = find_first(delays, n, n_ranks);
    if (first == NULL) {
        return -ENOMEM;
    }
    chains.first = first;
    for (size_t i = 0; i < n; i++) {
        blame(&chains, &delays[i], delays[i].begin_ns, delays[i].end_ns, 0);
    }
    free(first);
    return 0;
}
