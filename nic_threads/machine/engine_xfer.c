/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine's transfers and queries; see the header. If one fails, the process ends.
 */
#include "nic_threads/machine/engine_xfer.h"

#include <assert.h>
#include <string.h>

#include "libbcs/fabric/base/fatal.h"

/** End the process if the transport has failed. */
static void check(const struct nic_view *view, int rc)
{
    if (rc < 0) {
        bcs_fatal("node %u: the transport failed: %s", view->index, strerror(-rc));
    }
}

static inline void start_own(struct nic_view *view, const struct bcs_xfer *xfer)
{
    check(view, bcs_xfer_and_signal_blocking(view->core, xfer));
    view->owes_flush |= view->must_push;
}

static inline void start(struct nic_view *view, const struct bcs_xfer *xfer)
{
    start_own(view, xfer);
    view->owes_flush = view->is_late;
}

void nic_engine_xfer(struct nic_view *view, const struct bcs_xfer *xfer)
{
    assert(xfer->n_bytes <= BCS_XFER_COPIED_BYTES); /* longer: nic_engine_put_long */
    start(view, xfer);
}

void nic_engine_put_long(struct nic_view *view, const struct bcs_xfer *xfer)
{
    struct bcs_xfer signalled = *xfer;

    if (view->is_late && xfer->n_bytes <= view->n_copied_bytes) {
        start(view, xfer);
        return;
    }
    signalled.local_event_gva = NIC_DESK_GVA(view, long_put_event);
    start(view, &signalled);
    check(view, bcs_test_event(view->core, signalled.local_event_gva,
                               ++view->desk->n_long_puts, true));
}

void nic_engine_put_own(struct nic_view *view, uint64_t event_gva,
                        const struct bcs_xfer *xfer)
{
    const struct bcs_event *event = nic_view_at(view, event_gva);
    struct bcs_xfer signalled = *xfer;
    uint64_t n_before;

    if (!view->is_late || xfer->n_bytes <= view->n_copied_bytes) {
        start_own(view, xfer);
        return;
    }
    signalled.local_event_gva = event_gva;
    /* relaxed: all that this process has put before is counted, and nothing more until
     * it starts; then the signal may come at once, from another thread */
    n_before = __atomic_load_n(&event->count, __ATOMIC_RELAXED);
    start_own(view, &signalled);
    check(view, bcs_test_event(view->core, event_gva, n_before + 1, true));
}

void nic_engine_flush_puts(struct nic_view *view)
{
    check(view, bcs_core_flush(view->core));
    view->owes_flush = false;
}

void nic_engine_progress(const struct nic_engine *engine, bool looks)
{
    const struct nic_layout *layout = &engine->layout;
    const struct nic_view *own = nic_engine_own(engine);
    const struct nic_region links =
        nic_layout_of_port(layout, &layout->links, engine->port);
    uint64_t n_bytes = looks ? (uint64_t)links.n_first * links.stride_bytes : 0;

    /* links beyond the first are elsewhere: for these others are woken */
    check(own, bcs_core_progress_and_look(own->core, links.first_gva, n_bytes));
}

void nic_engine_leave(const struct nic_engine *engine)
{
    bcs_core_leave(nic_engine_own(engine)->core);
}

void nic_engine_signal(struct nic_view *view, uint64_t event_gva)
{
    check(view, bcs_signal_event(view->core, event_gva));
}

void nic_engine_await(struct nic_view *view, uint64_t event_gva, uint64_t seen)
{
    check(view, bcs_await_event(view->core, event_gva, seen));
}

bool nic_engine_compare(struct nic_view *view, const struct bcs_comparison *comparison)
{
    bool is_true;

    check(view, bcs_compare_and_write(view->core, comparison, &is_true));
    return is_true;
}
