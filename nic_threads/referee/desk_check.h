/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands in the desks of near nodes, for the proof of a deadlock: each function
 * locks a desk as a guest, and looks there. Called by the referee, or by its witness
 * (witness.c), with an engine of its own. Who calls ends with nic_guest_make_good if
 * *owes_turn has become true.
 */
#ifndef NIC_THREADS_REFEREE_DESK_CHECK_H
#define NIC_THREADS_REFEREE_DESK_CHECK_H

#include "nic_threads/machine/engine.h"

enum nic_desk_check_kind {
    NIC_CHECK_SEND,    /* a send has no partner */
    NIC_CHECK_RECEIVE, /* a receive or a probe has none */
    NIC_CHECK_MISSING, /* a port has not come to a collective of the engine */
};

/** Something that may be so. */
struct nic_desk_check {
    uint32_t kind;   /* enum nic_desk_check_kind */
    uint32_t port;   /* whose operation it is, or who is missing */
    uint32_t at;     /* the port at whose desk it is seen, or node */
    uint32_t place;  /* the operation's cell, or the collective's slot */
    uint64_t number; /* of the collective */
};

/** Find the ports of some ranks, bits. */
void nic_ports_of_ranks(const struct nic_engine *engine, const uint64_t *ranks,
                        uint64_t *ports_out);

/**
 * Whether it is so, and the desk has read all that some ports have posted.
 *
 * @param writers  bits by port
 * @return false: it is not, or the desk is locked
 */
bool nic_desk_check(const struct nic_engine *engine, const uint64_t *writers,
                    const struct nic_desk_check *check, bool *owes_turn);

/** Whether all near nodes have sent what these ports have posted for other ones: then
 *  it has come, and is seen there. Where ports have links to each other it goes
 *  directly. */
bool nic_desks_have_sent(const struct nic_engine *engine, const uint64_t *writers,
                         bool *owes_turn);

/** List messages to a port that nobody has received. @param kinds bits, by enum
 *  nic_unmatched_kind @return how many, n_most at most */
uint32_t nic_desk_unreceived(const struct nic_engine *engine, uint32_t port,
                             unsigned int kinds, struct nic_unreceived *list_out,
                             uint32_t n_most, bool *owes_turn);

#endif
