/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives faces, in two ways that carry the same messages in the same order.
 *
 * Blocking: receive i, receive j, sweep, send i, send j, as SWEEP3D does. Within a step
 * data flow away from one corner of the process grid only, so no cycle can form.
 *
 * Non-blocking: three buffers take turns. In step s, one MPI_Waitall completes the
 * receives of s and the sends of s - 2, whose buffer then takes the receives of s + 1,
 * posted before the sweep of s.
 *
 * Called by sweep.c on every rank.
 */
#include "apps/sweep3d/exchange.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define N_BUFFERS 3
#define TAG_I 1
#define TAG_J 2

struct buffer {
    struct exchange_faces faces;
    MPI_Request sends[2];
};

struct exchange {
    bool is_nonblocking;
    int turn;
    MPI_Request receives[2];
    struct buffer buffers[N_BUFFERS];
};

struct exchange *exchange_create(size_t max_i_values, size_t max_j_values,
                                 bool is_nonblocking)
{
    struct exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        return NULL;
    }
    exchange->is_nonblocking = is_nonblocking;
    exchange->receives[0] = exchange->receives[1] = MPI_REQUEST_NULL;
    for (int b = 0; b < (is_nonblocking ? N_BUFFERS : 1); b++) {
        struct buffer *buffer = &exchange->buffers[b];
        buffer->sends[0] = buffer->sends[1] = MPI_REQUEST_NULL;
        buffer->faces.i = malloc(max_i_values * sizeof(double));
        buffer->faces.j = malloc(max_j_values * sizeof(double));
        if (buffer->faces.i == NULL || buffer->faces.j == NULL) {
            exchange_destroy(exchange);
            return NULL;
        }
    }
    return exchange;
}

void exchange_destroy(struct exchange *exchange)
{
    if (exchange == NULL) {
        return;
    }
    for (int b = 0; b < N_BUFFERS; b++) {
        free(exchange->buffers[b].faces.i);
        free(exchange->buffers[b].faces.j);
    }
    free(exchange);
}

static void post_receives(struct exchange *exchange, const struct buffer *buffer,
                          const struct exchange_step *step)
{
    if (step->from_i != MPI_PROC_NULL) {
        MPI_Irecv(buffer->faces.i, step->n_i_values, MPI_DOUBLE, step->from_i, TAG_I,
                  MPI_COMM_WORLD, &exchange->receives[0]);
    }
    if (step->from_j != MPI_PROC_NULL) {
        MPI_Irecv(buffer->faces.j, step->n_j_values, MPI_DOUBLE, step->from_j, TAG_J,
                  MPI_COMM_WORLD, &exchange->receives[1]);
    }
}

/* Complete the receives under way and the sends of `sender`, in one call. */
static void wait_for_messages(struct exchange *exchange, struct buffer *sender)
{
    MPI_Request requests[4] = {exchange->receives[0], exchange->receives[1],
                               sender->sends[0], sender->sends[1]};

    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    exchange->receives[0] = exchange->receives[1] = MPI_REQUEST_NULL;
    sender->sends[0] = sender->sends[1] = MPI_REQUEST_NULL;
}

static void receive_blocking(const struct buffer *buffer,
                             const struct exchange_step *step)
{
    if (step->from_i != MPI_PROC_NULL) {
        MPI_Recv(buffer->faces.i, step->n_i_values, MPI_DOUBLE, step->from_i, TAG_I,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (step->from_j != MPI_PROC_NULL) {
        MPI_Recv(buffer->faces.j, step->n_j_values, MPI_DOUBLE, step->from_j, TAG_J,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void receive_nonblocking(struct exchange *exchange,
                                const struct exchange_step *next)
{
    struct buffer *next_buffer = &exchange->buffers[(exchange->turn + 1) % N_BUFFERS];

    wait_for_messages(exchange, next_buffer);
    if (next != NULL) {
        post_receives(exchange, next_buffer, next);
    }
}

void exchange_start(struct exchange *exchange, const struct exchange_step *first)
{
    exchange->turn = 0;
    if (exchange->is_nonblocking) {
        post_receives(exchange, &exchange->buffers[0], first);
    }
}

struct exchange_faces exchange_receive(struct exchange *exchange,
                                       const struct exchange_step *step,
                                       const struct exchange_step *next)
{
    struct buffer *buffer = &exchange->buffers[exchange->turn];

    if (exchange->is_nonblocking) {
        receive_nonblocking(exchange, next);
    } else {
        receive_blocking(buffer, step);
    }
    if (step->from_i == MPI_PROC_NULL) {
        memset(buffer->faces.i, 0, step->n_i_values * sizeof(double));
    }
    if (step->from_j == MPI_PROC_NULL) {
        memset(buffer->faces.j, 0, step->n_j_values * sizeof(double));
    }
    return buffer->faces;
}

static void send_blocking(const struct buffer *buffer, const struct exchange_step *step)
{
    if (step->to_i != MPI_PROC_NULL) {
        MPI_Send(buffer->faces.i, step->n_i_values, MPI_DOUBLE, step->to_i, TAG_I,
                 MPI_COMM_WORLD);
    }
    if (step->to_j != MPI_PROC_NULL) {
        MPI_Send(buffer->faces.j, step->n_j_values, MPI_DOUBLE, step->to_j, TAG_J,
                 MPI_COMM_WORLD);
    }
}

static void send_nonblocking(struct buffer *buffer, const struct exchange_step *step)
{
    if (step->to_i != MPI_PROC_NULL) {
        MPI_Isend(buffer->faces.i, step->n_i_values, MPI_DOUBLE, step->to_i, TAG_I,
                  MPI_COMM_WORLD, &buffer->sends[0]);
    }
    if (step->to_j != MPI_PROC_NULL) {
        MPI_Isend(buffer->faces.j, step->n_j_values, MPI_DOUBLE, step->to_j, TAG_J,
                  MPI_COMM_WORLD, &buffer->sends[1]);
    }
}

void exchange_send(struct exchange *exchange, const struct exchange_step *step)
{
    struct buffer *buffer = &exchange->buffers[exchange->turn];

    if (exchange->is_nonblocking) {
        send_nonblocking(buffer, step);
        exchange->turn = (exchange->turn + 1) % N_BUFFERS;
    } else {
        send_blocking(buffer, step);
    }
}

void exchange_finish(struct exchange *exchange)
{
    if (exchange->is_nonblocking) {
        for (int b = 0; b < N_BUFFERS; b++) {
            wait_for_messages(exchange, &exchange->buffers[b]);
        }
    }
}
