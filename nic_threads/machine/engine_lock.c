/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine locks. Called by whoever runs the engine.
 *
 * No work is lost. Work for a desk is published (a ring entry, a wire entry, a strobe)
 * with a sequentially consistent store, or before such an operation, and its publisher
 * then tries the desk's lock. If it fails, it has marked the lock as missed, or found
 * it marked. The holder's unlocking exchange comes later in the one order of
 * sequentially consistent operations; it finds the mark, and the holder checks for work
 * after it, also if its own step found nothing to do. So it sees the work, or another
 * process that locked in between does, and a process that fails to lock may go away at
 * once.
 *
 * How the holder sees it. Who has marked the lock has written the word that the
 * exchange reads, so that all it did before is seen. Who has found the mark of another
 * one has only read the word: that its load comes before the exchange orders nothing
 * that the holder reads with acquire, since such a load may be carried out before the
 * store of the exchange is seen. So there is a fence between the two if the mark was
 * set: the publication comes before the publisher's load in the one order, that before
 * the exchange, and that before the fence, and what is read after the fence is no
 * older. Where the mark was not set nobody has relied on the holder.
 */
#include "nic_threads/machine/engine_lock.h"

bool nic_engine_tell_holder(struct nic_view *view)
{
    _Atomic uint32_t *lock = &view->desk->lock;
    uint32_t value = atomic_load_explicit(lock, memory_order_seq_cst);

    while (value != 0) {
        /* seq_cst: partner of the exchange in nic_engine_unlock, which comes later */
        if ((value & NIC_LOCK_IS_MISSED) != 0 ||
            atomic_compare_exchange_strong_explicit(
                lock, &value, value | NIC_LOCK_IS_MISSED, memory_order_seq_cst,
                memory_order_seq_cst)) {
            return true;
        }
    }
    return false;
}

bool nic_engine_try_lock(struct nic_view *view)
{
    struct nic_desk *desk = view->desk;
    uint32_t free;

    do { /* look first: that spares the cache line of a holder that keeps polling */
        if (nic_engine_tell_holder(view)) {
            return false;
        }
        free = 0;
    } while (!atomic_compare_exchange_strong_explicit(
        &desk->lock, &free, view->engine->port + 1, memory_order_seq_cst,
        memory_order_relaxed));
    return true;
}
