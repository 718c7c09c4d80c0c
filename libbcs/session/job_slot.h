/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a job comes to its slot among the jobs of its user on this machine
 * (libbcs/fabric/base/machine_jobs.h). The slots are a segment without a name in any
 * file system, which belongs to no job and lives as long as one of them has it mapped.
 * Each job has a sign, a socket whose name tells where its segment is. The kernel
 * removes signs with the processes that hold them, so that nothing is left behind.
 */
#ifndef BCS_SESSION_JOB_SLOT_H
#define BCS_SESSION_JOB_SLOT_H

#include <sched.h>

#include "libbcs/fabric/base/machine_jobs.h"
#include "libbcs/fabric/base/shm_segment.h"

/** A process's part in the slot of its job. Zeroed: none. */
struct bcs_session_slot {
    struct bcs_own_slot own;
    struct bcs_shm_segment segment;
    bool is_owner; /* this process has taken the slot, */
    int sign_fd;   /* and holds the sign; -1: not */
};

/** How the other processes of the job find it; plain data, may be sent. */
struct bcs_slot_handle {
    struct bcs_shm_handle segment; /* pid 0: the job has no slot */
    uint32_t number;
};

/** Find the slots, or make them, and take one for this process's job. If that fails,
 *  the job goes on without, and the user is told (BCS_NOTICE_NO_SLOT). */
void bcs_slot_find(struct bcs_session_slot *slot_out);

/** What to send to the other processes of the job. */
struct bcs_slot_handle bcs_slot_handle(const struct bcs_session_slot *slot);

/** Share the slot that the first process has found. */
void bcs_slot_share(struct bcs_session_slot *slot_out,
                    const struct bcs_slot_handle *handle);

/** Once all share it, by the first process: enter it, n_processes that may run on these
 *  processors. */
void bcs_slot_enter(struct bcs_session_slot *slot, const cpu_set_t *cpus,
                    uint32_t n_processes);

/** Leave: the first process frees the slot. Accepts a zeroed one. */
void bcs_slot_leave(struct bcs_session_slot *slot);

/** In a forked child: leave the slot to the parent. */
void bcs_slot_take_away(const struct bcs_session_slot *slot);

#endif
