/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has gone on in a job between two looks: messages and bytes from rank to rank, by
 * how far the rings have been read; collectives; slices. The job does nothing for it.
 * One thread.
 */
#ifndef APPS_TOOLS_LOOK_TRAFFIC_H
#define APPS_TOOLS_LOOK_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/tools/look/flow.h"
#include "apps/tools/look/look.h"

/** A count that only grows, by the name of who counts. */
struct bcs_count {
    uint64_t id;
    uint64_t value;
    double mean_bytes; /* of a ring: of its messages; negative: not known */
};

/** Counts, by ascending id. */
struct bcs_counts {
    struct bcs_count *counts;
    uint64_t n, n_room;
};

/** What is remembered from look to look, and what the last look has found. Zeroed at
 *  first. */
struct bcs_traffic {
    bool has_looked;
    bool has_moved;          /* anything at all, of what is counted here */
    struct bcs_flows flows;  /* since the look before; none by the first look */
    double n_collectives;    /* since then, */
    uint64_t n_slices;       /* and of the desk that has had the most */
    struct bcs_counts rings; /* how far each was read, by port and writer */
    struct bcs_counts groups, desks;
    uint64_t n_moved; /* rings, at the last look */
};

/**
 * Look.
 *
 * @return 0, -ENOMEM or another -errno: the job has ended, say
 */
int bcs_traffic_look(const struct bcs_look *look, struct bcs_traffic *traffic);

/** Free what it remembers. */
void bcs_traffic_fini(struct bcs_traffic *traffic);

#endif
