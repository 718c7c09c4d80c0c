/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Withdrawing a send; see the header. Two desks are locked one after the other, and
 * neither is waited for with the other in hand for long: who does not get both gives
 * the first one back.
 */
#include "nic_threads/drivers/withdraw.h"

#include "nic_threads/drivers/waiting.h"
#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/far_recall.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/roles/take_back.h"

/** Lock both desks, or the one. @return whether they are locked; *owes_out as of
 *  nic_engine_unlock */
static bool lock_both(struct nic_view *from, struct nic_view *to, bool *owes_out)
{
    if (!nic_guest_lock(to)) {
        return false;
    }
    if (from == NULL || nic_guest_lock(from)) {
        return true;
    }
    *owes_out |= nic_engine_unlock(to);
    return false;
}

static enum nic_withdrawn withdraw_near(struct nic_engine *engine, struct nic_view *to,
                                        struct nic_recall *recall)
{
    enum nic_withdrawn outcome = NIC_WITHDRAWN_NOT_YET;
    struct nic_view *from = NULL;
    bool has_work = false;

    if (!nic_is_linked(engine) && to != nic_engine_own(engine)) {
        from = nic_engine_own(engine); /* and from there by a wire */
    }
    if (lock_both(from, to, &has_work)) {
        outcome = nic_take_back(to, recall);
        if (outcome == NIC_WITHDRAWN_TOO_LATE && from != NULL &&
            nic_take_back_unsent(from, recall)) {
            outcome = NIC_WITHDRAWN;
        }
        has_work |= from != NULL && nic_engine_unlock(from);
        has_work |= nic_engine_unlock(to);
    }
    if (has_work) {
        nic_guest_make_good(engine);
    }
    return outcome;
}

/** By a wire, it may not have left this node. */
static enum nic_withdrawn withdraw_far(struct nic_engine *engine,
                                       struct nic_recall *recall)
{
    struct nic_view *own = nic_engine_own(engine);
    bool is_here;

    if (nic_is_linked(engine) || recall->number != 0) {
        return nic_far_recall(engine, recall);
    }
    if (!nic_guest_lock(own)) {
        return NIC_WITHDRAWN_NOT_YET;
    }
    is_here = nic_take_back_unsent(own, recall);
    if (nic_engine_unlock(own)) {
        nic_guest_make_good(engine);
    }
    return is_here ? NIC_WITHDRAWN : nic_far_recall(engine, recall);
}

enum nic_withdrawn nic_withdraw(struct nic_engine *engine, struct nic_recall *recall)
{
    uint32_t desk = nic_layout_desk(&engine->layout, recall->receiver);

    if (engine->poller != NULL) {
        nic_waiter_let_go(engine, engine->poller);
    }
    return nic_engine_is_near_desk(engine, desk)
               ? withdraw_near(engine, nic_engine_desk(engine, desk), recall)
               : withdraw_far(engine, recall);
}
