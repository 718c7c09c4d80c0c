/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The context of a process, in a child that it has forked: the job's memory is no
 * longer there, and the driver ends the child. Every call of the API comes to the
 * driver, since it posts something, or waits or tests for it; so none of them has to
 * ask who it is.
 */
#include "libbcs/api/forked_context.h"

#include "libbcs/fabric/base/forked.h"

static const char any_call[] = "a BCS call";

static void refuse(struct nic_engine *engine, uint32_t reader)
{
    (void)engine;
    (void)reader;
    bcs_forked_refuse(any_call);
}

static bool refuse_progress(struct nic_engine *engine)
{
    refuse(engine, engine->port);
    return false;
}

static void refuse_room(struct nic_engine *engine, struct bcs_waiter *waiter,
                        uint32_t reader)
{
    (void)waiter;
    refuse(engine, reader);
}

static void refuse_wait(struct nic_engine *engine, struct bcs_waiter *waiter)
{
    (void)waiter;
    refuse(engine, engine->port);
}

static const struct nic_driver_ops driver = {
    .name = "forked",
    .kick = refuse,
    .leave = refuse,
    .progress = refuse_progress,
    .wait_for_room = refuse_room,
    .turn = refuse_wait,
    .stop = refuse_wait,
};

void bcs_context_take_away(void *context)
{
    struct bcs_context *self = context;

    bcs_meeting_take_away(&self->meeting);
    self->driver = &driver;
    self->collect = NULL; /* the parent's */
    nic_service_forked(self->service);
}
