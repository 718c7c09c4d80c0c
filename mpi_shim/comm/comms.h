/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comm_table.c, comm_agree.c and slots.c remember between calls: shim_state.comms.
 * Nobody else includes this. Used under the lock.
 */
#ifndef MPI_SHIM_COMMS_H
#define MPI_SHIM_COMMS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHIM_COMM_BUCKETS = 256 };

/** The collective slots that this process leads; see slots.c. */
struct shim_slots {
    uint32_t n; /* slots */
    uint32_t cursor;
    struct shim_comm *oldest_left; /* which some members may not have left */
    struct shim_comm *newest_left;
    uint32_t n_counted; /* taken out of that list by threads that count their members */
};

/** All communicators that this process knows. */
struct shim_comms {
    struct shim_comm *buckets[SHIM_COMM_BUCKETS]; /* the table, by handle */
    uint32_t n_agreed; /* numbers that this process has given as a leader */
    struct shim_slots slots;
    bool is_slot_used[]; /* [slots.n] */
};

#endif
