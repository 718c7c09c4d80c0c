/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Test-Event: polls an event of the caller's own node, or blocks in three steps.
 * Spinning catches a signal that is on its way; yielding lets the process run that will
 * send it, when there are more processes than cores; sleeping leaves the core to
 * others. Any thread may wait, and several may wait for one event.
 *
 * bcs_await_event is the last step alone. bcs_signal_event needs no transport: the event is in
 * the caller's own heap.
 */
#include <errno.h>
#include <sched.h>

#include "libbcs/base/clock.h"
#include "libbcs/base/log.h"
#include "libbcs/core/core.h"
#include "libbcs/transport/event_word.h"

/* About 1 us of spinning, many times what a transfer takes on one machine, then a few
 * turns of the scheduler; together less than the cost of being woken. Measured with a
 * signal that goes round 2, 4 and 8 processes on 2 cores: more spinning is no quicker
 * for 2 and twice as slow for the others. */
#define N_SPINS 32
#define N_YIELDS 16

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

static int event_sleep(struct bcs_core *core, struct bcs_event *event, uint64_t target)
{
    uint64_t seen = count_load(event);
    int rc;

    if (seen >= target) {
        return 0;
    }
    rc = core->transport->ops->wait(core->transport, event, seen);
    if (count_load(event) >= target) {
        return 0;
    }
    return rc < 0 ? rc : BCS_E_PENDING;
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
    struct bcs_event *event = bcs_core_address(core, event_gva);
    uint32_t n_tries = 0;
    int rc;

    rc = event_check(core, "bcs_test_event", event_gva);
    if (rc < 0) {
        return rc;
    }
    rc = event_poll(core, event, target);
    while (rc == BCS_E_PENDING && wait) {
        if (n_tries < N_SPINS) {
            bcs_clock_pause();
        } else if (n_tries < N_SPINS + N_YIELDS) {
            sched_yield();
        } else {
            rc = event_sleep(core, event, target);
            if (rc != BCS_E_PENDING) {
                break;
            }
        }
        n_tries++;
        rc = event_poll(core, event, target);
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
    struct bcs_event *event = bcs_core_address(core, event_gva);
    int rc = event_check(core, "bcs_signal_event", event_gva);

    if (rc == 0) {
        bcs_event_signal(event);
        bcs_event_wake(event);
    }
    return rc;
}
