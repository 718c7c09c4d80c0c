/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of an engine test do; each is a rank_fn, and verifies all data.
 */
#ifndef TESTS_ENGINE_PATTERNS_H
#define TESTS_ENGINE_PATTERNS_H

#include "tests/engine/job.h"

/** Ranks 0 and 1 send messages of all kinds of lengths to and fro. */
void pattern_ping_pong(struct rank *me);

/** Ranks that wait are called by rank 0, which waits outside of us, and all hear it. Of
 *  processes. */
void pattern_calls(struct rank *me);

/** A put from another machine rings the bell of the node; nothing else does, but for
 *  a crew. */
void pattern_bells(struct rank *me);

/** All send to rank 0, which receives from any source and finds each sender's in order.
 */
void pattern_many_to_one(struct rank *me);

/** Messages of random lengths between random ranks, several in progress at once. */
void pattern_random(struct rank *me);

/** More short messages than the rings hold, before the receiver looks at any. */
void pattern_flood(struct rank *me);

/** Rank 0 sends only when all others sleep. */
void pattern_wake_sleepers(struct rank *me);

/** A long message whose ends do something else until it has been copied. */
void pattern_busy_ends(struct rank *me);

/** A long message between two nodes with threads, in far fewer slices than blocks. */
void pattern_long_between_nodes(struct rank *me);

/** Receives that are too short, taken back, or of a message that a probe has found. */
void pattern_odd_receives(struct rank *me);

/** All send to the next rank and take that back, and nothing is left of it. */
void pattern_taken_back(struct rank *me);

/** All send to all and find what comes by polling alone: probes, matched probes,
 *  tests. */
void pattern_polling(struct rank *me);

/** Rank 0's standard sends to rank 1 are done when the job's buffering says so. */
void pattern_standard_sends(struct rank *me);

/** All send to their neighbour by buffered sends before anybody receives. */
void pattern_buffered_sends(struct rank *me);

/** Standard sends to oneself, before and after the receive. */
void pattern_sends_to_self(struct rank *me);

/** As many receives as there are descriptors pend when the first message is sent. */
void pattern_full_cells(struct rank *me);

/** Barriers, with a counter that shows whether somebody left one too early. */
void pattern_barriers(struct rank *me);

/** Broadcasts and reductions, short and long, with every root. */
void pattern_reductions(struct rank *me);

/** Gather, scatter, allgather and alltoall. */
void pattern_exchanges(struct rank *me);

/** Non-blocking barriers and exchanges, more at a time than the rings have room for. */
void pattern_pending_collectives(struct rank *me);

/** Every call posts as many descriptors as <bcs/bcs.h> says. */
void pattern_costs(struct rank *me);

/** A reduction that the others have begun before rank 0 opens the group. */
void pattern_late_opening(struct rank *me);

/** The last rank is in another collective than the others, or means another one. */
void pattern_disagreements(struct rank *me);

/** Collectives by messages for which the last rank has twice the length. */
void pattern_unequal_lengths(struct rank *me);

#endif
