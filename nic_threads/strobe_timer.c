/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The strobe timer: the grid of strobe_clock.h against CLOCK_MONOTONIC.
 */
#include "nic_threads/strobe_timer.h"

#include "libbcs/base/clock.h"
#include "nic_threads/service_thread.h"

void nic_strobe_timer_start(struct nic_strobe_clock *clock, const struct nic_view *view)
{
    view->node->strobes.is_prompt = nic_service_thread_be_prompt();
    nic_strobe_clock_start(clock, bcs_clock_now_ns(), view->engine->config->slice_ns,
                           &view->node->strobes);
}

bool nic_strobe_timer_wait(struct nic_strobe_clock *clock, _Atomic uint32_t *nap,
                           const _Atomic bool *is_stopping)
{
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t due_ns = nic_strobe_clock_due_ns(clock, now_ns);

    while (now_ns < due_ns) {
        uint32_t announced = bcs_nap_announce(nap);

        if (!atomic_load_explicit(is_stopping, memory_order_seq_cst)) {
            bcs_nap_sleep(nap, announced, due_ns);
        }
        bcs_nap_end(nap);
        if (atomic_load_explicit(is_stopping, memory_order_seq_cst)) {
            return false;
        }
        now_ns = bcs_clock_now_ns();
    }
    nic_strobe_clock_sent(clock, due_ns, now_ns);
    return true;
}
