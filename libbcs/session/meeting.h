/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the processes of a job meet: they introduce themselves, connect to the heaps of
 * all nodes, share a segment for what belongs to their machine, and find out whether
 * they may copy each other's memory. Called once by each process, from the thread that
 * attaches it.
 */
#ifndef BCS_SESSION_MEETING_H
#define BCS_SESSION_MEETING_H

#include <bcs/primitives.h>
#include <stdbool.h>

#include "libbcs/fabric/base/shm_segment.h"
#include "libbcs/fabric/ring/port_map.h"
#include "libbcs/session/bootstrap.h"
#include "libbcs/session/job_slot.h"
#include "nic_threads/nic_config.h"

/** What a process brings. */
struct bcs_meeting_params {
    uint64_t n_machine_bytes; /* of the machine's state; its first process's counts */
    uint64_t heap_bytes;      /* of a node */
    uint64_t
        window_bytes; /* of its parts but the first; see struct bcs_memory_params */
    uint64_t whole_bytes;
    uint32_t node_ranks; /* ports of a node: the process of the first makes its heap */
    const struct bcs_port_map *map; /* NULL: each rank is its own port, and a node; */
    struct bcs_node_range near;     /* then: those of this machine; n 0: all */
    int error; /* <0: this process cannot go on; ends it for all, rank 0's before
                  others' */
    const struct nic_config *config; /* the same in all processes */
};

/** What has come of it. End with bcs_part. */
struct bcs_meeting {
    struct bcs_memory *memory;      /* the heaps of all nodes */
    struct bcs_shm_segment machine; /* its state, and a little more */
    struct bcs_session_slot slot;   /* of the job among those on this machine */
    uint32_t n_nodes;
    uint32_t port; /* of this process */
    /* The first port of this machine. Its process does what one of them has to do. */
    uint32_t first;
    uint32_t n_processes; /* of this machine; their ports follow each other */
    uint32_t n_cpus;      /* that they may run on, together */
    /* So many whose ports follow each other share a last-level cache, a power of two;
     * only known to the first one, and 1 where they have fewer processors than they
     * are. */
    uint32_t n_sharing;
    bool is_direct; /* they may copy each other's memory, and shall */
};

/**
 * Meet. Collective over the bootstrap. From then on the processes share the counts of
 * what they have said (libbcs/fabric/base/notice.h), which lie behind the machine's
 * state.
 *
 * @return 0         met
 * @return -ENOTSUP  the job spans several machines; logged once
 * @return -EINVAL   the processes' settings differ; logged once
 * @return -EPERM    BCS_COPY=direct, but the kernel forbids it; logged once
 * @return <0        -errno, logged
 */
int bcs_meet(const struct bcs_bootstrap *bootstrap,
             const struct bcs_meeting_params *params, struct bcs_meeting *meeting_out);

/** Whether more processes than these processors are awake, of this job and of those
 *  beside it; n_processes of this one are. */
static inline bool bcs_meeting_is_crowded(const struct bcs_meeting *meeting,
                                          uint32_t n_processes)
{
    return n_processes + bcs_jobs_n_beside(&meeting->slot.own) > meeting->n_cpus;
}

/** End a meeting: let go of its memory. Accepts a zeroed one. */
void bcs_part(struct bcs_meeting *meeting);

/** In a forked child: replace all memory that the processes share by the child's
 *  own. */
void bcs_meeting_take_away(const struct bcs_meeting *meeting);

/** Wait for all processes, and agree. @return the error of the first that has one, or
 *  0 */
int bcs_meet_again(const struct bcs_bootstrap *bootstrap, int error);

#endif
