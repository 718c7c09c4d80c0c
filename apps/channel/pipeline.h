/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways in which a product gets from one process to the next in the pipelined solve,
 * those of the paper and one that it asks for. Each is a whole solve, opening and
 * closing included.
 */
#ifndef CHANNEL_PIPELINE_H
#define CHANNEL_PIPELINE_H

#include "apps/channel/banded.h"

/**
 * MPI_Send and MPI_Recv of one number each. Relies on a short standard send being
 * buffered, as the paper's does. [section 4: the NX/2 send and receive library]
 *
 * @return 0
 */
int pipeline_by_messages(const struct banded *banded);

/**
 * A channel is opened for each product and closed behind it. [section 4: the first
 * version with MX, of which "the bulk was the time to set up the channel"]
 *
 * @return 0, or another number if a call of the library has failed, which it has told
 */
int pipeline_by_reopening(const struct banded *banded);

/** The channels are opened once. [section 4: "opening the channel once at the start of
 *  the loop and leaving it open"] @return as pipeline_by_reopening */
int pipeline_by_open_channels(const struct banded *banded);

/**
 * A process asks its neighbour for each product, and a handler of the neighbour
 * answers, at once or when the product is there: "as if the communication pattern could
 * not be predetermined". Where the paper has an interrupt, a process that waits polls.
 * [section 4: the final test]
 *
 * @return as pipeline_by_reopening
 */
int pipeline_by_handlers(const struct banded *banded);

/** Fetches on condition: of the same kind, but nobody answers. [section 4.1: "the
 *  ability to fetch data from a processor once a specific condition has been met"]
 *  @return as pipeline_by_reopening */
int pipeline_by_fetches(const struct banded *banded);

#endif
