/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a sweep. In each step a process receives the angular flux on its two
 * inflow sides, sweeps a block of planes and angles, and sends what leaves on the other
 * two sides: four messages, two pairs.
 */
#ifndef SWEEP3D_EXCHANGE_H
#define SWEEP3D_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

struct exchange;

/* Partners and lengths of one step; MPI_PROC_NULL stands for the outer boundary. */
struct exchange_step {
    int from_i, to_i;
    int from_j, to_j;
    /* Numbers of doubles on an i face and on a j face. */
    int n_i_values, n_j_values;
};

/* Inflow of a step; the sweep replaces it by the outflow in the same place. */
struct exchange_faces {
    double *i;
    double *j;
};

/**
 * Create the buffers.
 *
 * @param max_i_values, max_j_values  the largest faces, in doubles
 * @param is_nonblocking  MPI_Irecv one step ahead, MPI_Isend and MPI_Waitall,
 *                        instead of MPI_Recv and MPI_Send
 * @return NULL if there is no memory
 */
struct exchange *exchange_create(size_t max_i_values, size_t max_j_values,
                                 bool is_nonblocking);

/** Free all; NULL is allowed. No message may be under way. */
void exchange_destroy(struct exchange *exchange);

/** Begin a series of steps. Non-blocking: post the receives of its first step. */
void exchange_start(struct exchange *exchange, const struct exchange_step *first);

/**
 * Get the inflow of a step; zeros where it comes from outside.
 *
 * @param next  the step after this one, NULL if this is the last of the series.
 *              Non-blocking: its receives are posted before the call returns
 * @return the faces, valid until exchange_send
 */
struct exchange_faces exchange_receive(struct exchange *exchange,
                                       const struct exchange_step *step,
                                       const struct exchange_step *next);

/** Send the faces of the step, which now hold the outflow. */
void exchange_send(struct exchange *exchange, const struct exchange_step *step);

/** End a series: wait until all its messages have gone. */
void exchange_finish(struct exchange *exchange);

#endif
