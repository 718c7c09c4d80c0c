/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress for what far nodes put at a node; see the header. A thread of the service,
 * in the first process of the node.
 *
 * No put is lost. Who puts from afar rings the bell of the node behind the put, in the
 * order of its handle. The thread remembers how often the bell has rung before it looks
 * (service_thread.c), and sleeps only if the bell has not rung since. What it completes
 * for a process that sleeps, it wakes it for, as any holder of a desk's lock does.
 */
#include "nic_threads/service/far_progress.h"

#include <errno.h>
#include <stdlib.h>

#include "nic_threads/roles/turn.h"

struct far_progress {
    struct nic_engine *engine;
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
    *state_out = progress;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct far_progress *progress = state;
    struct nic_engine *engine = progress->engine;

    (void)part;
    return (struct nic_wakers){.bell = nic_engine_node(engine, engine->home)};
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct far_progress *progress = state;

    (void)part;
    return (struct nic_rest){
        nic_engine_turn_all(progress->engine) ? NIC_REST_NOT : NIC_REST_BELL, 0};
}

const struct nic_worker_ops nic_far_progress_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .look = look,
};
