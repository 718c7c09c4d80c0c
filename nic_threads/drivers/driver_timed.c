/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline` with timed strobes: the timekeeper, a thread of the job's first process,
 * wakes at every strobe and runs the slice of all nodes of the machine to its end. The
 * other processes only post and sleep; what completes is theirs at the next strobe.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/base/log.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/drivers/service_thread.h"
#include "nic_threads/drivers/strobe_timer.h"
#include "nic_threads/drivers/turn.h"

struct timekeeper {
    struct nic_engine *engine;
    pthread_t thread;
    _Atomic bool is_stopping; /* set before the parking is ended */
};

static void *run(void *argument)
{
    struct timekeeper *timekeeper = argument;
    struct nic_engine *engine = timekeeper->engine;
    struct nic_strobe_clock clock;

    nic_strobe_timer_start(&clock, &engine->views[0]);
    while (nic_strobe_timer_wait(&clock, &engine->views[0], &timekeeper->is_stopping)) {
        nic_engine_run_slice(engine);
    }
    return NULL;
}

static int timed_open(const struct nic_engine_params *params, void **service_out)
{
    struct nic_engine_params own = *params;
    struct timekeeper *timekeeper;
    int rc;

    *service_out = NULL;
    if (params->port != params->machine->first_port) {
        return 0;
    }
    timekeeper = calloc(1, sizeof(*timekeeper));
    if (timekeeper == NULL) {
        return -ENOMEM;
    }
    own.is_background = true;
    own.is_mover = params->is_direct;
    rc = nic_engine_create(&own, &timekeeper->engine);
    if (rc == 0) {
        rc = nic_service_thread_start(&timekeeper->thread, run, timekeeper, "bcs-time");
    }
    if (rc < 0) {
        bcs_error("no timekeeper: %s", strerror(-rc));
        nic_engine_destroy(timekeeper->engine);
        free(timekeeper);
        return rc;
    }
    *service_out = timekeeper;
    return 0;
}

static void timed_close(void *service)
{
    struct timekeeper *timekeeper = service;

    if (timekeeper == NULL) {
        return;
    }
    atomic_store_explicit(&timekeeper->is_stopping, true, memory_order_seq_cst);
    nic_strobe_timer_stop(&timekeeper->engine->views[0]);
    pthread_join(timekeeper->thread, NULL);
    nic_engine_destroy(timekeeper->engine);
    free(timekeeper);
}

static void timed_kick(struct nic_engine *engine)
{
    nic_strobe_timer_need(engine);
}

static void timed_leave(struct nic_engine *engine)
{
    (void)engine; /* the next strobe does it */
}

static bool timed_progress(struct nic_engine *engine)
{
    (void)engine;
    return false;
}

static void timed_wait_for_room(struct nic_engine *engine, struct nic_waiter *waiter)
{
    nic_waiter_rest(engine, waiter, timed_kick);
}

static void timed_turn(struct nic_engine *engine, struct nic_waiter *waiter)
{
    nic_waiter_turn(engine, waiter, timed_kick);
}

const struct nic_driver_ops nic_driver_timed = {
    .name = "inline",
    .open = timed_open,
    .close = timed_close,
    .kick = timed_kick,
    .leave = timed_leave,
    .progress = timed_progress,
    .wait_for_room = timed_wait_for_room,
    .turn = timed_turn,
    .stop = nic_waiter_stop,
};
