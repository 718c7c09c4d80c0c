/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress for what far nodes put at a node; see the header. A thread of the service,
 * in the first process of the node.
 *
 * No put is lost. Who puts from afar rings the bell of the node behind the put, in the
 * order of its handle. The thread remembers how often the bell has rung before it looks
 * (service_thread.c), and sleeps only if the bell has not rung since. What it completes
 * for a process that sleeps, it wakes it for, as any holder of a desk's lock does.
 *
 * Desks that others turn it leaves to them: a crew, and with timed strobes the
 * timekeeper on the machine of node 0. Then it only serves the calls of processes that
 * wait outside of us (libbcs/api/message/external.h), those that want a send back
 * (nic_threads/roles/far_recall.h), and what the referee and its witnesses tell each
 * other, for which it wakes them.
 */
#include "nic_threads/service/far_progress.h"

#include <errno.h>
#include <stdlib.h>

#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/system.h"
#include "nic_threads/machine/waking.h"
#include "nic_threads/node/referee_wake.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/far_recall.h"
#include "nic_threads/roles/turn.h"

struct far_progress {
    struct nic_engine *engine;
    struct nic_view *view; /* of the node */
    uint64_t called;       /* the last call that was seen, */
    uint64_t questioned;   /* the last question to the witness, */
    uint64_t roused;       /* and the last time that the referee was to look */
    bool turns;            /* the desks of the machine */
};

static void destroy(void *state)
{
    struct far_progress *progress = state;

    nic_engine_destroy(progress->engine);
    free(progress);
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct far_progress *progress = calloc(1, sizeof(*progress));
    struct nic_engine_params own = *params;
    int rc;

    if (progress == NULL) {
        return -ENOMEM;
    }
    /* with timed strobes it carries out slices, as the timekeeper does */
    own.is_mover = params->is_direct && params->config->strobe == NIC_STROBE_TIMED;
    rc = nic_engine_create(&own, &progress->engine);
    if (rc < 0) {
        destroy(progress);
        return rc;
    }
    progress->view = nic_engine_node(progress->engine, progress->engine->home);
    progress->turns =
        !nic_engine_has_crews(progress->engine) &&
        !(progress->engine->is_timed && nic_engine_is_near(progress->engine, 0));
    *state_out = progress;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct far_progress *progress = state;

    (void)part;
    return (struct nic_wakers){.bell = progress->view};
}

/** Call the processes of this machine if a far one has called. */
static void serve_call(struct far_progress *progress)
{
    /* acquire: pairs with the put of who has called; its bell has rung since */
    uint64_t called = __atomic_load_n(&progress->view->node->called, __ATOMIC_ACQUIRE);

    if (called != progress->called) {
        progress->called = called;
        nic_engine_call_near(progress->engine, bcs_clock_now_ns());
    }
}

/** Wake the referee, or the witness, if the other one has put something for it. */
static void serve_referee(struct far_progress *progress)
{
    const struct nic_node *node = progress->view->node;
    struct bcs_machine *machine = progress->engine->machine;
    /* acquire, both: pair with the puts in far_side.c and witness.c; the bell has rung
     * since */
    uint64_t questioned = __atomic_load_n(&node->question.number, __ATOMIC_ACQUIRE);
    uint64_t roused = __atomic_load_n(&node->roused.count, __ATOMIC_ACQUIRE);

    if (questioned != progress->questioned) {
        progress->questioned = questioned;
        atomic_thread_fence(memory_order_seq_cst); /* partner: bcs_park_announce */
        bcs_park_wake(&machine->referee_park);
    }
    if (roused != progress->roused) {
        progress->roused = roused;
        nic_rouse_referee(machine);
    }
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct far_progress *progress = state;
    bool goes_on = false;

    (void)part;
    serve_call(progress);
    serve_referee(progress);
    if (!nic_far_recall_serve(progress->view)) {
        bcs_yield(); /* to who has what it needs */
        goes_on = true;
    }
    goes_on |= progress->turns && nic_engine_turn_all(progress->engine);
    return (struct nic_rest){goes_on ? NIC_REST_NOT : NIC_REST_BELL, 0};
}

const struct nic_worker_ops nic_far_progress_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .look = look,
};
