/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways to solve a sparse triangular system whose dependences are known only at run
 * time. Each has three functions: what it needs once, a solve, and the end. [Low
 * Latency Messages, section 4.1]
 *
 * All but one have the owner of a value send it to those who need it, which they find
 * out before the first solve. A process goes through its rows level by level, and waits
 * where a value has not come.
 */
#ifndef CHANNEL_TRIANGLE_H
#define CHANNEL_TRIANGLE_H

#include "apps/channel/needs.h"
#include "apps/channel/share.h"

/** A system that is being solved; share.y gets the solution. */
struct triangle {
    const struct share *share;
    struct needs needs; /* of the ways by which the owners send */
    uint64_t *words;    /* of fetches: the own values, of which 0 is none */
    size_t n_words;
    void *state;   /* the way's own */
    char *message; /* gets one line where begin refuses */
};

/**
 * Values by MPI_Isend and MPI_Recv, one in a message.
 *
 * Begin is collective, and leaves end what to free in any case; solve puts a value into
 * all of share.y.
 *
 * @return begin: 0; -EINVAL: the way cannot do this system, the message says why;
 *         -ENOMEM. Others: 0, or another number if a call of the library has failed,
 *         which it has told
 */
int triangle_begin_messages(struct triangle *triangle);
/** See triangle_begin_messages. */
int triangle_solve_messages(struct triangle *triangle);
/** See triangle_begin_messages. */
int triangle_end_messages(struct triangle *triangle);

/** Values by channels that are open from begin to end, as triangle_begin_messages. */
int triangle_begin_channels(struct triangle *triangle);
/** See triangle_begin_channels. */
int triangle_solve_channels(struct triangle *triangle);
/** See triangle_begin_channels. */
int triangle_end_channels(struct triangle *triangle);

/** Level by level, all values of a level for a process in one message of MPI, as
 *  triangle_begin_messages. [section 4.1: "a sequence of parallel loops"] */
int triangle_begin_levels(struct triangle *triangle);
/** See triangle_begin_levels. */
int triangle_solve_levels(struct triangle *triangle);
/** See triangle_begin_levels. */
int triangle_end_levels(struct triangle *triangle);

/** Values by fetches on condition, as triangle_begin_messages; nothing is found out
 *  before. [section 4.1: "to fetch data from a processor once a specific condition has
 *  been met"] */
int triangle_begin_fetches(struct triangle *triangle);
/** See triangle_begin_fetches. */
int triangle_solve_fetches(struct triangle *triangle);
/** See triangle_begin_fetches. */
int triangle_end_fetches(struct triangle *triangle);

/** Wait until the value of a place of needs.known has come. */
typedef int (*triangle_await_fn)(const struct triangle *triangle, size_t place);

/** Solve a row of the share, waiting for what it needs. */
static inline __attribute__((always_inline)) int
triangle_row(const struct triangle *triangle, size_t k, triangle_await_fn await)
{
    const struct share *share = triangle->share;
    const struct needs *needs = &triangle->needs;
    double y = share->rhs[k];

    for (size_t e = share->starts[k]; e < share->starts[k + 1]; e++) {
        size_t place = needs->places[e];

        if (needs_is_unknown(needs->known[place])) {
            int rc = await(triangle, place);

            if (rc != 0) {
                return rc;
            }
        }
        y -= share->values[e] * needs->known[place];
    }
    needs->known[k] = y;
    share->y[k] = y;
    return 0;
}

#endif
