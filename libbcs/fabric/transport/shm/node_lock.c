/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of one node's heap, taken by any thread of any process of the machine.
 *
 * Uncontended it is one compare-and-swap and one store. A waiter first spins, as the
 * holder is most often in the middle of a copy of a few bytes on another core; then
 * yields, as the holder may have lost its core; and when that has gone on for longer
 * than any copy, it sleeps between looks and reads what became of the holder in /proc.
 * A stopped holder is waited for. A dead one, zombie or gone, may have left a block
 * half written: its lock is set to NODE_BROKEN and is never free again, so that all
 * others get an error and nobody sees that block through the primitives.
 */
#include "libbcs/fabric/transport/shm/node_lock.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/types.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/park.h"
#include "libbcs/fabric/base/process.h"
#include "libbcs/fabric/base/system.h"

#define NODE_BROKEN UINT64_MAX

#define N_SPINS 128
#define N_YIELDS 2048 /* 1 ms and more */
#define N_LOOKS 64    /* sleeps from one check of the holder to the next */
#define LOOK_NS 100000

static bool try_acquire(struct shm_node_lock *lock, uint64_t self)
{
    uint64_t free_word = 0;

    /* Acquire pairs with the release in shm_node_lock_release. */
    return __atomic_compare_exchange_n(&lock->owner, &free_word, self, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

bool shm_node_lock_is_marked(const struct shm_node_lock *lock)
{
    /* Relaxed: the mark never goes; no data are read through it. */
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == NODE_BROKEN;
}

bool shm_node_lock_is_broken(struct shm_node_lock *lock, uint32_t node)
{
    /* Relaxed: an owner's word is only a name; no data are read through it. */
    uint64_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

    if (owner == 0 || owner == NODE_BROKEN || !bcs_process_word_has_ended(owner)) {
        return owner == NODE_BROKEN;
    }
    /* Only one process changes the dead one's word, and that one logs. */
    if (__atomic_compare_exchange_n(&lock->owner, &owner, NODE_BROKEN, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        bcs_error("process %d died while it was writing to the memory of node %" PRIu32
                  ", which can no longer be used",
                  (int)(pid_t)(uint32_t)owner, node);
        return true;
    }
    return owner == NODE_BROKEN;
}

static void back_off(uint32_t n_tries)
{
    if (n_tries < N_SPINS) {
        bcs_clock_pause();
    } else if (n_tries < N_SPINS + N_YIELDS) {
        bcs_yield();
    } else {
        bcs_rest(LOOK_NS);
    }
}

static int acquire_slowly(struct shm_node_lock *lock, uint64_t self, uint32_t node)
{
    for (uint32_t n_tries = 0;; n_tries++) {
        /* Relaxed: only a hint whether to try. */
        uint64_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

        if (owner == 0 && try_acquire(lock, self)) {
            return 0;
        }
        if (owner == NODE_BROKEN) {
            return -EOWNERDEAD;
        }
        back_off(n_tries);
        if (n_tries >= N_SPINS + N_YIELDS && n_tries % N_LOOKS == 0 &&
            shm_node_lock_is_broken(lock, node)) {
            return -EOWNERDEAD;
        }
    }
}

int shm_node_lock_acquire(struct shm_node_lock *lock, uint64_t self, uint32_t node)
{
    return try_acquire(lock, self) ? 0 : acquire_slowly(lock, self, node);
}

void shm_node_lock_break(struct shm_node_lock *lock)
{
    /* Relaxed: see shm_node_lock_is_marked. */
    __atomic_store_n(&lock->owner, NODE_BROKEN, __ATOMIC_RELAXED);
}

void shm_node_lock_release(struct shm_node_lock *lock)
{
    /* Pairs with the acquire in try_acquire. */
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}
