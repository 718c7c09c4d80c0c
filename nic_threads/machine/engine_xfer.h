/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine asks of the core primitives, as one of its nodes. Called by the
 * roles, under the desk's lock or on the one thread that they run on.
 */
#ifndef NIC_THREADS_MACHINE_ENGINE_XFER_H
#define NIC_THREADS_MACHINE_ENGINE_XFER_H

#include "nic_threads/node/views.h"

/**
 * Xfer-And-Signal as the view's node, of up to BCS_XFER_COPIED_BYTES, so that the
 * source may be used again at once; a transport error ends the process (logged).
 */
void nic_engine_xfer(struct nic_view *view, const struct bcs_xfer *xfer);

/** The same of any length; returns when the source may be used again. The local event
 *  is the engine's. */
void nic_engine_put_long(struct nic_view *view, const struct bcs_xfer *xfer);

/** The same by a process that acts as the view's node, with an event of its own that
 *  nobody else uses, and without a lock. */
void nic_engine_put_own(struct nic_view *view, uint64_t event_gva,
                        const struct bcs_xfer *xfer);

/** nic_engine_flush for who has put something. */
void nic_engine_flush_puts(struct nic_view *view);

/** Wait until all nodes have what was put as the view's node by this process: before
 *  others act as it, or are told of it by another way than the primitives. */
static inline void nic_engine_flush(struct nic_view *view)
{
    if (view->owes_flush) {
        nic_engine_flush_puts(view);
    }
}

/** See that all nodes get in time what was put as the view's node, though this thread
 *  goes away, or polls with the desk's lock. */
static inline void nic_engine_push(struct nic_view *view)
{
    if (view->must_push) {
        nic_engine_flush(view);
    }
}

/** Whether this process lets in what other machines send, as it waits: there is a
 *  network that delivers by itself, and sooner if it is asked. */
static inline bool nic_engine_has_network(const struct nic_engine *engine)
{
    const struct nic_view *own = nic_engine_own(engine);

    return nic_engine_has_far(engine) && own->is_late && !own->must_push;
}

/** Let it in; an error as above. @param looks  the caller holds the lock of its own
 *  desk, and looks next at all links there, so that nobody need be woken for them */
void nic_engine_progress(const struct nic_engine *engine, bool looks);

/** This process sleeps next. */
void nic_engine_leave(const struct nic_engine *engine);

/** Signal an event of the view's node at once; an error as above. */
void nic_engine_signal(struct nic_view *view, uint64_t event_gva);

/** Sleep until an event of the view's node may have left the count `seen`; an error as
 *  above. */
void nic_engine_await(struct nic_view *view, uint64_t event_gva, uint64_t seen);

/** Compare-And-Write as the view's node; a transport error ends the process
 *  (logged). */
bool nic_engine_compare(struct nic_view *view, const struct bcs_comparison *comparison);

#endif
