/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands out in a run: what costs much of all ranks' time, which rank is to blame,
 * and where. Nothing is said of a run in which a rank has not ended, which may stand
 * anywhere, or of one rank.
 *
 * Parallel efficiency and what is lost by load imbalance, serialisation and transfer
 * are all of the ranks' time (efficiency.h). Each of the three is told if it has cost
 * 10 % of that and 10 ms a rank: less is in the noise of machines whose cores are
 * shared. A rank is told to be late if others have waited for it so long, and it was to
 * blame for two thirds of all waits (delay.h): if all come late by chance, none of them
 * does.
 *
 * Without events of all calls these times are those that each rank has recorded of its
 * own waits (split_read.h): a rank is to blame then for what others have waited for it,
 * whomever it waited for itself. Where slices are by the clock, waiting for them is
 * told apart from calls themselves. Lost events are counted. Of runs of earlier
 * versions, without events, load imbalance is told only.
 */
#ifndef MDS_TOOL_ANALYSIS_OUTSTANDING_H
#define MDS_TOOL_ANALYSIS_OUTSTANDING_H

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/analysis/waits.h"

/** Parts of all ranks' time below which nothing is told, and ns of one rank. */
#define OUTSTANDING_PART 0.1
#define OUTSTANDING_NS 10e6

/** The part of all waits that one rank is to blame for, at least. */
#define OUTSTANDING_BLAME (2.0 / 3)

/** Whether a run's waits are of all of its calls. */
bool outstanding_is_whole(const struct waits *waits);

/**
 * Tell what stands out: a sentence or two each, with texts of others in them.
 *
 * @param waits      of the same run
 * @param text_out one behind the other, each ended by a zero, and an empty one at the
 * end; for free
 * @return 0 or -ENOMEM
 */
int outstanding_of(const struct run *run, const struct waits *waits,
                   struct places *places, char **text_out);

#endif
