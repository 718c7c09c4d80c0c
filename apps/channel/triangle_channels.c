/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sparse solve by channels, one from each process to each that needs values of it.
 * Each has room for all that goes through it in a solve, so that nobody waits for room:
 * who does while another waits for him could wait for ever.
 */
#include <bcs/channel.h>
#include <errno.h>

#include "apps/channel/agree.h"
#include "apps/channel/triangle.h"
#include "apps/common/message.h"

struct state {
    size_t *next;                /* as in triangle_messages.c */
    struct bcs_channel_out **to; /* [size] NULL: nothing goes there */
    struct bcs_channel_in **from;
};

static int make_state(struct triangle *triangle)
{
    size_t size = (size_t)triangle->share->size;
    struct state *state = calloc(1, sizeof(*state));

    triangle->state = state;
    if (state == NULL) {
        return -ENOMEM;
    }
    state->next = agree_array(size, sizeof(*state->next));
    state->to = agree_array(size, sizeof(*state->to));
    state->from = agree_array(size, sizeof(*state->from));
    return state->next == NULL || state->to == NULL || state->from == NULL ? -ENOMEM
                                                                           : 0;
}

/** Open what values go through between this process and another one. */
static int open_pair(const struct triangle *triangle, int process)
{
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;
    struct bcs_channel_params params = {
        .peer = process,
        .record_bytes = sizeof(double),
        .capacity = (uint32_t)needs->n_to[process],
    };
    int rc =
        params.capacity == 0 ? 0 : bcs_channel_open_out(&params, &state->to[process]);

    params.capacity = (uint32_t)(needs->begins[process + 1] - needs->begins[process]);
    return rc != 0 || params.capacity == 0
               ? rc
               : bcs_channel_open_in(&params, &state->from[process]);
}

/** Most values that go to one process, of all processes. Collective. */
static int64_t most_values(const struct triangle *triangle)
{
    int64_t most = 0;

    for (int process = 0; process < triangle->share->size; process++) {
        int64_t n = (int64_t)triangle->needs.n_to[process];

        most = n > most ? n : most;
    }
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int triangle_begin_channels(struct triangle *triangle)
{
    int64_t most;
    int rc = needs_find(triangle->share, &triangle->needs);

    rc = rc == 0 ? agree_least(make_state(triangle)) : rc;
    if (rc != 0) {
        return rc;
    }
    most = most_values(triangle);
    if (most > BCS_CHANNEL_CAPACITY_MOST) {
        message_set(triangle->message,
                    "%lld numbers go from one process to another, and a channel has "
                    "room for %d: take more processes or longer blocks",
                    (long long)most, BCS_CHANNEL_CAPACITY_MOST);
        return -EINVAL;
    }
    for (int process = 0; rc == 0 && process < triangle->share->size; process++) {
        rc = open_pair(triangle, process);
    }
    if (agree_least(rc) != 0) {
        message_set(triangle->message, "the channels cannot be opened");
        return -EINVAL;
    }
    return 0;
}

/** Receive all that has come from a process, the value of a place included. */
static inline int await(const struct triangle *triangle, size_t place)
{
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;
    int source = needs_source(needs, triangle->share, place);
    struct bcs_channel_in *from = state->from[source];
    size_t *next = &state->next[source];

    while (*next <= place) {
        size_t n = bcs_channel_try_receive_many(from, &needs->known[*next],
                                                needs->begins[source + 1] - *next,
                                                sizeof(double));
        int rc = n == 0 ? bcs_channel_wait_in(from) : 0;

        if (rc != 0) {
            return rc;
        }
        *next += n;
    }
    return 0;
}

int triangle_solve_channels(struct triangle *triangle)
{
    const struct share *share = triangle->share;
    const struct needs *needs = &triangle->needs;
    const struct state *state = triangle->state;
    int rc = 0;

    memcpy(state->next, needs->begins, (size_t)share->size * sizeof(*state->next));
    for (size_t k = 0; rc == 0 && k < share->n_rows; k++) {
        rc = triangle_row(triangle, k, await);
        for (size_t i = needs->send_begins[k]; rc == 0 && i < needs->send_begins[k + 1];
             i++) {
            rc = bcs_channel_send(state->to[needs->send_to[i]], &needs->known[k],
                                  sizeof(double), false);
        }
    }
    return rc;
}

int triangle_end_channels(struct triangle *triangle)
{
    struct state *state = triangle->state;
    bool is_open = state != NULL && state->to != NULL && state->from != NULL;
    int rc = 0;

    for (int process = 0; is_open && process < triangle->share->size; process++) {
        int closed = bcs_channel_close_out(state->to[process]);

        rc = rc != 0 ? rc : closed;
        closed = bcs_channel_close_in(state->from[process]);
        rc = rc != 0 ? rc : closed;
    }
    if (state != NULL) {
        free(state->next);
        free(state->to);
        free(state->from);
    }
    free(state);
    needs_fini(&triangle->needs);
    return rc;
}
