/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what goes where. Each process tells the owners which of their rows it needs, in
 * the order in which they solve them. Every rank runs it.
 */
#include "apps/channel/needs.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>

#include "apps/channel/agree.h"

/** A row of another process that is needed. */
struct wish {
    int owner;
    uint32_t turn, level;
};

/** The state of the search. */
struct search {
    const struct share *share;
    struct needs *needs;
    struct wish *wishes; /* sorted, each once */
    size_t n_wishes;
    int *n_out, *out_begins; /* [size], [size + 1] wishes by owner */
    int *n_in, *in_begins;   /* those of others */
    uint32_t *out, *in;      /* turns of rows that are wished */
};

static int compare(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->owner != y->owner) {
        return x->owner > y->owner ? 1 : -1;
    }
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static struct wish wish_of(const struct share *share, size_t entry)
{
    return (struct wish){
        .owner = share_owner(share, share->columns[entry]),
        .turn = share->turns[entry],
        .level = share->below[entry],
    };
}

/** Every other process's row that an entry names, once. */
static int collect_wishes(struct search *search)
{
    const struct share *share = search->share;
    size_t n_entries = share->starts[share->n_rows], n = 0;
    struct wish *wishes = agree_array(n_entries, sizeof(*wishes));

    search->wishes = wishes;
    if (wishes == NULL) {
        return -ENOMEM;
    }
    for (size_t e = 0; e < n_entries; e++) {
        wishes[n] = wish_of(share, e);
        n += wishes[n].owner != share->rank;
    }
    qsort(wishes, n, sizeof(*wishes), compare);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare(&wishes[i - 1], &wishes[i]) != 0) {
            wishes[search->n_wishes++] = wishes[i];
        }
    }
    return 0;
}

/** How many wishes go to each process, and come from each. Collective. */
static int count_wishes(struct search *search)
{
    int size = search->share->size;
    size_t n = (size_t)size + 1;
    int *counts = calloc(4 * n, sizeof(*counts));

    search->n_out = counts;
    if (agree_least(counts == NULL ? -ENOMEM : 0) != 0) {
        return -ENOMEM;
    }
    search->n_in = counts + n;
    search->out_begins = counts + 2 * n;
    search->in_begins = counts + 3 * n;
    for (size_t i = 0; i < search->n_wishes; i++) {
        search->n_out[search->wishes[i].owner]++;
    }
    MPI_Alltoall(search->n_out, 1, MPI_INT, search->n_in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int process = 0; process < size; process++) {
        search->out_begins[process + 1] =
            search->out_begins[process] + search->n_out[process];
        search->in_begins[process + 1] =
            search->in_begins[process] + search->n_in[process];
    }
    return 0;
}

/** Make room for what the search gives, and needs on its way. */
static int make_room(struct search *search)
{
    const struct share *share = search->share;
    struct needs *needs = search->needs;
    size_t n_all = share->n_rows + search->n_wishes;
    size_t n_in = (size_t)search->in_begins[share->size];

    needs->known = agree_array(n_all, sizeof(*needs->known));
    needs->levels = agree_array(n_all, sizeof(*needs->levels));
    needs->places = agree_array(share->starts[share->n_rows], sizeof(*needs->places));
    needs->begins = agree_array((size_t)share->size + 1, sizeof(*needs->begins));
    needs->n_to = agree_array((size_t)share->size, sizeof(*needs->n_to));
    needs->send_begins = calloc(share->n_rows + 2, sizeof(*needs->send_begins));
    needs->send_to = agree_array(n_in, sizeof(*needs->send_to));
    search->out = agree_array(search->n_wishes, sizeof(*search->out));
    search->in = agree_array(n_in, sizeof(*search->in));
    return needs->known == NULL || needs->levels == NULL || needs->places == NULL ||
                   needs->begins == NULL || needs->n_to == NULL ||
                   needs->send_begins == NULL || needs->send_to == NULL ||
                   search->out == NULL || search->in == NULL
               ? -ENOMEM
               : 0;
}

/** What this process knows of its values: where each is, and its level. */
static void find_places(struct search *search)
{
    const struct share *share = search->share;
    struct needs *needs = search->needs;
    size_t n_rows = share->n_rows;

    for (size_t k = 0; k < n_rows; k++) {
        needs->levels[k] = share->levels[k];
    }
    for (size_t i = 0; i < search->n_wishes; i++) {
        search->out[i] = search->wishes[i].turn;
        needs->levels[n_rows + i] = search->wishes[i].level;
    }
    for (size_t e = 0; e < share->starts[n_rows]; e++) {
        struct wish wish = wish_of(share, e);
        const struct wish *found;

        if (wish.owner == share->rank) {
            needs->places[e] = wish.turn;
            continue;
        }
        found = bsearch(&wish, search->wishes, search->n_wishes, sizeof(wish), compare);
        needs->places[e] = (uint32_t)(n_rows + (size_t)(found - search->wishes));
    }
    for (int process = 0; process <= share->size; process++) {
        needs->begins[process] = n_rows + (size_t)search->out_begins[process];
    }
}

/** Tell the owners what is needed, and make a list of who needs each own row.
 *  Collective. */
static void find_receivers(struct search *search)
{
    const struct share *share = search->share;
    struct needs *needs = search->needs;
    size_t *ends = needs->send_begins + 1; /* of the lists, as they grow */

    MPI_Alltoallv(search->out, search->n_out, search->out_begins, MPI_UINT32_T,
                  search->in, search->n_in, search->in_begins, MPI_UINT32_T,
                  MPI_COMM_WORLD);
    for (int i = 0; i < search->in_begins[share->size]; i++) {
        ends[search->in[i] + 1]++;
    }
    for (size_t k = 0; k < share->n_rows; k++) {
        ends[k + 1] += ends[k];
    }
    for (int process = 0; process < share->size; process++) {
        needs->n_to[process] = (size_t)search->n_in[process];
        for (int i = search->in_begins[process]; i < search->in_begins[process + 1];
             i++) {
            needs->send_to[ends[search->in[i]]++] = process;
        }
    }
}

int needs_find(const struct share *share, struct needs *needs_out)
{
    struct search search = {.share = share, .needs = needs_out};
    int rc;

    *needs_out = (struct needs){0};
    rc = agree_least(collect_wishes(&search));
    rc = rc == 0 ? count_wishes(&search) : rc;
    rc = rc == 0 ? agree_least(make_room(&search)) : rc;
    if (rc == 0) {
        find_places(&search);
        find_receivers(&search);
    }
    free(search.wishes);
    free(search.n_out);
    free(search.out);
    free(search.in);
    return rc;
}

void needs_fini(struct needs *needs)
{
    free(needs->known);
    free(needs->levels);
    free(needs->places);
    free(needs->begins);
    free(needs->n_to);
    free(needs->send_begins);
    free(needs->send_to);
    *needs = (struct needs){0};
}

void needs_clear(const struct needs *needs, const struct share *share)
{
    /* Of all bits. */
    memset(needs->known, 0xff, needs->begins[share->size] * sizeof(*needs->known));
}

int needs_source(const struct needs *needs, const struct share *share, size_t place)
{
    int process = 0;

    while (process < share->size - 1 && place >= needs->begins[process + 1]) {
        process++;
    }
    return process;
}
