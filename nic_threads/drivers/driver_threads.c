/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `threads`, as the processes of the job see it: they post and sleep, and the
 * crew of their node (crew.c) does the rest. Whoever posts wakes the thread that must
 * know of it, if it sleeps: the strobe receiver, or with timed strobes the strobe
 * sender.
 */
#include "libbcs/fabric/base/system.h"
#include "nic_threads/drivers/driver.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/turn.h"
#include "nic_threads/service/strobe_timer.h"

static void threads_kick(struct nic_engine *engine, uint32_t reader)
{
    (void)reader;
    if (engine->is_timed) {
        nic_strobe_timer_need(engine);
    } else {
        nic_engine_ring_own(nic_engine_own(engine));
    }
}

static void threads_leave(struct nic_engine *engine, uint32_t reader)
{
    (void)reader;
    (void)engine; /* the crew never needs a rank's help to go on */
}

static bool threads_progress(struct nic_engine *engine)
{
    /* else a poller would wake the strobe receiver for nothing */
    if (engine->is_timed || nic_engine_has_work(nic_engine_own(engine))) {
        threads_kick(engine, engine->port);
    }
    return false;
}

static void threads_wait_for_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                                  uint32_t reader)
{
    if (engine->is_timed) {
        nic_waiter_rest(engine, waiter, threads_kick);
        return;
    }
    threads_kick(engine, reader);
    bcs_yield(); /* nobody is woken for room in a link */
}

static void threads_turn(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_waiter_turn(engine, waiter, threads_kick);
}

const struct nic_driver_ops nic_driver_threads = {
    .name = "threads",
    .serves = NIC_SERVES_ALWAYS | NIC_SERVES(NIC_SERVE_BS) | NIC_SERVES(NIC_SERVE_BR) |
              NIC_SERVES(NIC_SERVE_DH) | NIC_SERVES(NIC_SERVE_CH) |
              NIC_SERVES(NIC_SERVE_RH) | NIC_SERVES(NIC_SERVE_SR) |
              NIC_SERVES(NIC_SERVE_SS),
    .kick = threads_kick,
    .leave = threads_leave,
    .progress = threads_progress,
    .wait_for_room = threads_wait_for_room,
    .turn = threads_turn,
    .stop = nic_waiter_stop,
};
