/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at desks; see desk_check.h.
 */
#include "nic_threads/referee/desk_check.h"

#include <string.h>

#include "nic_threads/machine/engine_lock.h"
#include "nic_threads/node/views.h"
#include "nic_threads/roles/guest.h"
#include "nic_threads/roles/unmatched.h"
#include "nic_threads/rules/deadlock.h"

void nic_ports_of_ranks(const struct nic_engine *engine, const uint64_t *ranks,
                        uint64_t *ports_out)
{
    uint32_t n_ports = engine->layout.shape.n_ports;

    memset(ports_out, 0, nic_deadlock_words(n_ports) * sizeof(uint64_t));
    for (uint32_t i = 0; i < nic_engine_n_ranks(engine); i++) {
        if (nic_deadlock_has(ranks, i)) {
            nic_mark(ports_out, nic_engine_port_of(engine, i));
        }
    }
}

/** The desk where it is seen. */
static struct nic_view *desk_of(const struct nic_engine *engine,
                                const struct nic_desk_check *check)
{
    return check->kind == NIC_CHECK_MISSING
               ? nic_engine_node(engine, nic_layout_node(&engine->layout, check->at))
               : nic_engine_view(engine, check->at);
}

/** Whether it is so, at the desk. */
static bool holds(const struct nic_view *view, const struct nic_desk_check *check)
{
    switch ((enum nic_desk_check_kind)check->kind) {
    case NIC_CHECK_SEND:
        return nic_is_send_unmatched(view, check->at, check->port, check->place);
    case NIC_CHECK_RECEIVE:
        return nic_is_receive_unmatched(view, check->port, check->place);
    default:
        return !nic_has_come_to(view, check->place, check->number, check->port);
    }
}

bool nic_desk_check(const struct nic_engine *engine, const uint64_t *writers,
                    const struct nic_desk_check *check, bool *owes_turn)
{
    struct nic_view *view = desk_of(engine, check);
    bool is_so;

    if (!nic_guest_lock(view)) {
        return false;
    }
    is_so = nic_has_read_all(view, writers) && holds(view, check);
    *owes_turn |= nic_engine_unlock(view);
    return is_so;
}

bool nic_desks_have_sent(const struct nic_engine *engine, const uint64_t *writers,
                         bool *owes_turn)
{
    bool have_sent = true;

    for (uint32_t i = 0; !nic_is_linked(engine) && have_sent && i < engine->n_near;
         i++) {
        struct nic_view *view = nic_engine_node(engine, engine->first_near + i);

        have_sent = nic_guest_lock(view);
        if (have_sent) {
            have_sent = nic_has_read_all(view, writers);
            *owes_turn |= nic_engine_unlock(view);
        }
    }
    return have_sent;
}

uint32_t nic_desk_unreceived(const struct nic_engine *engine, uint32_t port,
                             unsigned int kinds, struct nic_unreceived *list_out,
                             uint32_t n_most, bool *owes_turn)
{
    struct nic_view *view = nic_engine_view(engine, port);
    uint32_t n = 0;

    if (nic_guest_lock(view)) {
        n = nic_unmatched_sends(view, port, kinds, list_out, n_most);
        *owes_turn |= nic_engine_unlock(view);
    }
    return n;
}
