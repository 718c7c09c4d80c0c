/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Driver `inline` with timed strobes: the timekeeper (timekeeper.c) wakes at every
 * strobe and runs the slice of all nodes of the machine to its end. The processes of
 * the job only post and sleep; what completes is theirs at the next strobe.
 */
#include "nic_threads/drivers/driver.h"
#include "nic_threads/service/strobe_timer.h"

static void timed_kick(struct nic_engine *engine, uint32_t reader)
{
    (void)reader;
    nic_strobe_timer_need(engine);
}

static void timed_leave(struct nic_engine *engine, uint32_t reader)
{
    (void)reader;
    (void)engine; /* the next strobe does it */
}

static bool timed_progress(struct nic_engine *engine)
{
    (void)engine;
    return false;
}

static void timed_wait_for_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                                uint32_t reader)
{
    (void)reader;
    nic_waiter_rest(engine, waiter, timed_kick);
}

static void timed_turn(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    nic_waiter_turn(engine, waiter, timed_kick);
}

const struct nic_driver_ops nic_driver_timed = {
    .name = "inline",
    .serves = NIC_SERVES(NIC_SERVE_TIME) | NIC_SERVES_ALWAYS,
    .kick = timed_kick,
    .leave = timed_leave,
    .progress = timed_progress,
    .wait_for_room = timed_wait_for_room,
    .turn = timed_turn,
    .stop = nic_waiter_stop,
};
