/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of one node's heap: a word of shared memory that holds who has it, so that a
 * holder's death is found out. Taken by every transfer to and every query of the node,
 * for the time of a copy; but not by signals alone.
 */
#ifndef LIBBCS_FABRIC_TRANSPORT_SHM_NODE_LOCK_H
#define LIBBCS_FABRIC_TRANSPORT_SHM_NODE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/** At the start of every heap; a word of zeros is a free lock. */
struct shm_node_lock {
    uint64_t owner; /* 0: free; else bcs_process_word of the holder, or NODE_BROKEN */
    uint64_t unused[7];
};

_Static_assert(sizeof(struct shm_node_lock) == 64, "a cache line of its own");

/**
 * Take the lock: spin, then yield, then sleep for short times and look after the
 * holder.
 *
 * @return 0             taken; give back with shm_node_lock_release
 * @return -EOWNERDEAD   the holder died with the lock, now or earlier; the node is
 *                       broken for good. Logged by the process that found out.
 */
int shm_node_lock_acquire(struct shm_node_lock *lock, uint64_t self, uint32_t node);

/** Give the lock back; what was stored under it is visible to the next holder. */
void shm_node_lock_release(struct shm_node_lock *lock);

/** Mark a node as broken, whose lock the caller has: what was to be written there will
 *  not come. */
void shm_node_lock_break(struct shm_node_lock *lock);

/** Whether the node is marked as broken. Does not look after the holder: no system
 *  call. */
bool shm_node_lock_is_marked(const struct shm_node_lock *lock);

/** Whether the holder of the lock has died; if so, the node is marked as broken. May
 *  make system calls. */
bool shm_node_lock_is_broken(struct shm_node_lock *lock, uint32_t node);

#endif
