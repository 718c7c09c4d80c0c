/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timekeeper; a thread of the service.
 */
#include "nic_threads/service/timekeeper.h"

#include <errno.h>
#include <stdlib.h>

#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/service/strobe_timer.h"

struct timekeeper {
    struct nic_engine *engine;
    pthread_mutex_t *slice; /* held while one runs */
    struct nic_strobe_timer timer;
};

static void destroy(void *state)
{
    struct timekeeper *timekeeper = state;

    nic_engine_destroy(timekeeper->engine);
    free(timekeeper);
}

static int create(const struct nic_engine_params *params, void **state_out)
{
    struct timekeeper *timekeeper = calloc(1, sizeof(*timekeeper));
    struct nic_engine_params own = *params;
    int rc;

    if (timekeeper == NULL) {
        return -ENOMEM;
    }
    timekeeper->slice = params->slice;
    own.is_mover = params->is_direct;
    rc = nic_engine_create(&own, &timekeeper->engine);
    if (rc < 0) {
        destroy(timekeeper);
        return rc;
    }
    *state_out = timekeeper;
    return 0;
}

static struct nic_wakers wakers(void *state, uint32_t part)
{
    const struct timekeeper *timekeeper = state;

    (void)part;
    return (struct nic_wakers){.park = &timekeeper->engine->machine->strobe_park};
}

static void begin(void *state, uint32_t part)
{
    struct timekeeper *timekeeper = state;

    (void)part;
    nic_strobe_timer_start(&timekeeper->timer, nic_engine_node(timekeeper->engine, 0));
}

static struct nic_rest look(void *state, uint32_t part)
{
    struct timekeeper *timekeeper = state;
    struct nic_rest rest = nic_strobe_timer_look(
        &timekeeper->timer, nic_engine_node(timekeeper->engine, 0));

    (void)part;
    if (rest.kind == NIC_REST_NOT) {
        pthread_mutex_lock(timekeeper->slice); /* the referee locks desks, too */
        nic_engine_run_slice(timekeeper->engine);
        pthread_mutex_unlock(timekeeper->slice);
    }
    return rest;
}

const struct nic_worker_ops nic_timekeeper_worker = {
    .create = create,
    .destroy = destroy,
    .wakers = wakers,
    .begin = begin,
    .look = look,
};
