/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sparse solve by MPI, a message for each value and each process that needs it. A
 * send must not wait, as its receiver may be waiting for another process: MPI_Isend.
 */
#include <errno.h>
#include <mpi.h>

#include "apps/channel/agree.h"
#include "apps/channel/triangle.h"

struct state {
    size_t *next; /* [size] where the next value of a process goes in known */
    MPI_Request *requests;
};

int triangle_begin_messages(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    struct state *state = calloc(1, sizeof(*state));
    int rc = needs_find(share, &triangle->needs);

    triangle->state = state;
    if (rc == 0 && state != NULL) {
        state->next = agree_array((size_t)share->size, sizeof(*state->next));
        state->requests = agree_array(triangle->needs.send_begins[share->n_rows],
                                      sizeof(MPI_Request));
    }
    return agree_least(rc != 0 || state == NULL || state->next == NULL ||
                               state->requests == NULL
                           ? -ENOMEM
                           : 0);
}

/** The values of a process come in their order. */
static inline int await(const struct triangle *triangle, size_t place)
{
    const struct state *state = triangle->state;
    int source = needs_source(&triangle->needs, triangle->share, place);

    while (state->next[source] <= place) {
        MPI_Recv(&triangle->needs.known[state->next[source]++], 1, MPI_DOUBLE, source,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return 0;
}

int triangle_solve_messages(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;

    memcpy(state->next, needs->begins, (size_t)share->size * sizeof(*state->next));
    for (size_t k = 0; k < share->n_rows; k++) {
        triangle_row(triangle, k, await);
        for (size_t i = needs->send_begins[k]; i < needs->send_begins[k + 1]; i++) {
            MPI_Isend(&needs->known[k], 1, MPI_DOUBLE, needs->send_to[i], 0,
                      MPI_COMM_WORLD, &state->requests[i]);
        }
    }
    MPI_Waitall((int)needs->send_begins[share->n_rows], state->requests,
                MPI_STATUSES_IGNORE);
    return 0;
}

int triangle_end_messages(struct triangle *triangle)
{
    struct state *state = triangle->state;

    if (state != NULL) {
        free(state->next);
        free(state->requests);
    }
    free(state);
    needs_fini(&triangle->needs);
    return 0;
}
