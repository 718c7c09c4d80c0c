/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sparse solve level by level: all rows of a level, then the exchange of what
 * others need of them. Processes that exchange nothing do not wait for each other.
 */
#include <errno.h>
#include <mpi.h>

#include "apps/channel/agree.h"
#include "apps/channel/triangle.h"

struct state {
    size_t *next;      /* [size] where the values of the next level go in known */
    size_t *out_begin; /* [size + 1] where those for a process begin in out */
    size_t *out_next;  /* [size] what of them is sent, and ... */
    size_t *out_end;   /* ... what is there */
    double *out;
    MPI_Request *requests; /* [2 size] */
};

static int make_state(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    size_t size = (size_t)share->size;
    struct state *state = calloc(1, sizeof(*state));

    triangle->state = state;
    if (state == NULL) {
        return -ENOMEM;
    }
    state->next = agree_array(size, sizeof(*state->next));
    state->out_begin = agree_array(size + 1, sizeof(*state->out_begin));
    state->out_next = agree_array(size, sizeof(*state->out_next));
    state->out_end = agree_array(size, sizeof(*state->out_end));
    state->out =
        agree_array(triangle->needs.send_begins[share->n_rows], sizeof(*state->out));
    state->requests = agree_array(2 * size, sizeof(*state->requests));
    if (state->next == NULL || state->out_begin == NULL || state->out_next == NULL ||
        state->out_end == NULL || state->out == NULL || state->requests == NULL) {
        return -ENOMEM;
    }
    for (size_t process = 0; process < size; process++) {
        state->out_begin[process + 1] =
            state->out_begin[process] + triangle->needs.n_to[process];
    }
    return 0;
}

int triangle_begin_levels(struct triangle *triangle)
{
    int rc = needs_find(triangle->share, &triangle->needs);

    return rc == 0 ? agree_least(make_state(triangle)) : rc;
}

/** Not reached: a level before has brought all. */
static inline int await(const struct triangle *triangle, size_t place)
{
    (void)triangle;
    (void)place;
    return -EPROTO;
}

/** Solve the rows of a level from row *k on. */
static int solve_level(const struct triangle *triangle, uint32_t level, size_t *k)
{
    const struct share *share = triangle->share;
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;

    for (; *k < share->n_rows && share->levels[*k] == level; ++*k) {
        int rc = triangle_row(triangle, *k, await);

        if (rc != 0) {
            return rc;
        }
        for (size_t i = needs->send_begins[*k]; i < needs->send_begins[*k + 1]; i++) {
            state->out[state->out_end[needs->send_to[i]]++] = needs->known[*k];
        }
    }
    return 0;
}

/** Exchange what a level has given with one process. @return how many requests were
 *  made */
static int exchange(const struct triangle *triangle, uint32_t level, int process,
                    MPI_Request *requests)
{
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;
    size_t begin = state->next[process], end = begin;
    size_t out = state->out_next[process];
    int n = 0;

    while (end < needs->begins[process + 1] && needs->levels[end] == level) {
        end++;
    }
    if (end > begin) {
        MPI_Irecv(&needs->known[begin], (int)(end - begin), MPI_DOUBLE, process, 0,
                  MPI_COMM_WORLD, &requests[n++]);
        state->next[process] = end;
    }
    if (state->out_end[process] > out) {
        MPI_Isend(&state->out[out], (int)(state->out_end[process] - out), MPI_DOUBLE,
                  process, 0, MPI_COMM_WORLD, &requests[n++]);
        state->out_next[process] = state->out_end[process];
    }
    return n;
}

int triangle_solve_levels(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    const struct state *state = triangle->state;
    size_t n_bytes = (size_t)share->size * sizeof(size_t), k = 0;

    memcpy(state->next, triangle->needs.begins, n_bytes);
    memcpy(state->out_next, state->out_begin, n_bytes);
    memcpy(state->out_end, state->out_begin, n_bytes);
    for (uint32_t level = 0; level < share->n_levels; level++) {
        int n = 0, rc = solve_level(triangle, level, &k);

        if (rc != 0) {
            return rc;
        }
        for (int process = 0; process < share->size; process++) {
            n += exchange(triangle, level, process, state->requests + n);
        }
        MPI_Waitall(n, state->requests, MPI_STATUSES_IGNORE);
    }
    return 0;
}

int triangle_end_levels(struct triangle *triangle)
{
    struct state *state = triangle->state;

    if (state != NULL) {
        free(state->next);
        free(state->out_begin);
        free(state->out_next);
        free(state->out_end);
        free(state->out);
        free(state->requests);
    }
    free(state);
    needs_fini(&triangle->needs);
    return 0;
}
