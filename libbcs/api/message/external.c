/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calling the processes that sleep in us to work that is not ours; see external.h.
 */
#include "libbcs/api/message/external.h"

#include "libbcs/api/context/context.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/ring/sleep.h"
#include "nic_threads/machine/waking.h"

enum {
    LEAST_NS = 10000,
    MOST_NS = 10000000,
    PATIENCE_PARTS = 8,
    ATTENTION_NS = 100000,
};

/** How long to wait after the last call before the next one. */
static uint64_t pause_ns(uint64_t waited_ns)
{
    uint64_t part_ns = waited_ns / PATIENCE_PARTS;

    if (part_ns < LEAST_NS) {
        return LEAST_NS;
    }
    return part_ns > MOST_NS ? MOST_NS : part_ns;
}

void bcs_external_call(const struct bcs_context *context, uint64_t *since_ns)
{
    struct bcs_machine *machine = context->engine->machine;
    uint64_t now_ns = bcs_clock_now_ns();
    uint64_t last_ns = atomic_load_explicit(&machine->called_ns, memory_order_relaxed);

    if (*since_ns == 0) {
        *since_ns = now_ns;
    }
    if (last_ns < *since_ns) {
        last_ns = *since_ns;
    }
    if (now_ns < last_ns + pause_ns(now_ns - *since_ns)) {
        return;
    }
    nic_engine_call_near(context->engine, now_ns);
    if (nic_engine_has_far(context->engine)) {
        nic_engine_call_far(context->engine, now_ns);
    }
}

bool bcs_external_is_needed(const struct bcs_context *context)
{
    return context->is_called || context->n_short_sleeps > 0;
}

bool bcs_external_listen(struct bcs_context *context)
{
    /* seq_cst: partner of the store in bcs_external_call */
    uint64_t called_ns = atomic_load_explicit(&context->engine->machine->called_ns,
                                              memory_order_seq_cst);

    context->is_called =
        called_ns != context->heard_ns ||
        (called_ns != 0 && bcs_clock_now_ns() < called_ns + ATTENTION_NS);
    context->heard_ns = called_ns;
    return context->is_called;
}
