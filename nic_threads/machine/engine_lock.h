/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine lock of a desk: who holds it may run the roles there. See the argument in
 * engine_lock.c why no work is lost.
 */
#ifndef NIC_THREADS_MACHINE_ENGINE_LOCK_H
#define NIC_THREADS_MACHINE_ENGINE_LOCK_H

#include "nic_threads/machine/engine_xfer.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/node.h"

/** Try to lock the view's desk; who holds it is told. @return whether this process now
 *  holds it */
bool nic_engine_try_lock(struct nic_view *view);

/**
 * Tell whoever holds the desk's lock that there is work, published before (seq_cst), so
 * that it looks again after it has unlocked.
 *
 * @return false: nobody holds it
 */
bool nic_engine_tell_holder(struct nic_view *view);

/**
 * Unlock, then wake those for whom something was completed. seq_cst.
 *
 * @return whether the holder has been told of work: it must look whether there is any,
 *         and finds it with acquire loads
 */
static inline bool nic_engine_unlock(struct nic_view *view)
{
    uint32_t value;

    nic_engine_flush(view); /* what the next holder puts comes behind it */
    value = atomic_exchange_explicit(&view->desk->lock, 0, memory_order_seq_cst);
    nic_engine_wake(view);
    if (__builtin_expect((value & NIC_LOCK_IS_MISSED) != 0, 0)) {
        atomic_thread_fence(memory_order_seq_cst); /* see engine_lock.c */
    }
    return (value & NIC_LOCK_IS_MISSED) != 0;
}

#endif
