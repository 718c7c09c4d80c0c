/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test-Event: polls an event of the caller's own node, or blocks in three steps.
 * Spinning catches a signal that is on its way; yielding lets the process run that will
 * send it, when there are more processes than cores; sleeping leaves the core to
 * others. Any thread may wait, and several may wait for one event.
 *
 * bcs_await_event is the last step alone. bcs_signal_event needs no transport: the
 * event is in the caller's own heap.
 */
#include <errno.h>

#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/patience.h"
#include "libbcs/fabric/base/system.h"
#include "libbcs/fabric/core/core.h"
#include "libbcs/fabric/transport/event_word.h"

/* About 1 us of spinning, many times what a transfer takes on one machine, then a few
 * turns of the scheduler; together less than the cost of being woken. Measured with a
 * signal that goes round 2, 4 and 8 processes on 2 cores: more spinning is no quicker
 * for 2 and twice as slow for the others. */
static const struct bcs_patience patience = {
    .n_first = 32,
    .n_a_halt = 1,
    .n_yields = 16,
};

/* Pairs with the signaller's increment of count (release), which follows its data. */
static uint64_t count_load(const struct bcs_event *event)
{
    return __atomic_load_n(&event->count, __ATOMIC_ACQUIRE);
}

static int event_poll(struct bcs_core *core, const struct bcs_event *event,
                      uint64_t target)
{
    int rc;

    if (count_load(event) >= target) {
        return 0;
    }
    rc = bcs_core_progress(core);
    if (rc < 0) {
        return rc;
    }
    return count_load(event) >= target ? 0 : BCS_E_PENDING;
}

static int event_check(const struct bcs_core *core, const char *caller,
                       uint64_t event_gva)
{
    if (event_gva == 0) {
        bcs_error("%s: no event given", caller);
        return -EINVAL;
    }
    return bcs_core_check_event(core, caller, "event", event_gva);
}

int bcs_test_event(struct bcs_core *core, uint64_t event_gva, uint64_t target,
                   bool wait)
{
    int rc = event_check(core, "bcs_test_event", event_gva);
    struct bcs_spell spell = {0};
    struct bcs_event *event;
    uint64_t seen = 0;

    if (rc < 0) {
        return rc;
    }
    event = bcs_core_address(core, event_gva);
    rc = event_poll(core, event, target);
    while (rc == BCS_E_PENDING && wait) {
        int failure = 0;

        switch (bcs_spell_next(&spell, &patience)) {
        case BCS_WAIT_YIELD:
            bcs_yield();
            break;
        case BCS_WAIT_SLEEP:
            failure = core->transport->ops->wait(core->transport, event, seen);
            seen = count_load(event); /* it sleeps again, if the next look is in vain */
            break;
        case BCS_WAIT_ANNOUNCE:
            seen = count_load(event);
            break;
        default:
            break;
        }
        rc = event_poll(core, event, target);
        rc = rc == BCS_E_PENDING && failure < 0 ? failure : rc;
    }
    return rc;
}

int bcs_await_event(struct bcs_core *core, uint64_t event_gva, uint64_t seen)
{
    int rc = event_check(core, "bcs_await_event", event_gva);

    return rc < 0 ? rc
                  : core->transport->ops->wait(core->transport,
                                               bcs_core_address(core, event_gva), seen);
}

int bcs_signal_event(struct bcs_core *core, uint64_t event_gva)
{
    int rc = event_check(core, "bcs_signal_event", event_gva);

    if (rc == 0) {
        struct bcs_event *event = bcs_core_address(core, event_gva);

        bcs_event_signal(event);
        bcs_event_wake(event);
    }
    return rc;
}
