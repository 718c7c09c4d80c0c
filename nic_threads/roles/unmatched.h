/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has not found a partner: whether an operation stands in a queue of the matching,
 * which nothing but a descriptor that is posted later can take it out of, or is a
 * message that a matched probe has taken, which only a receive that its receiver posts
 * later can get. The referee asks (nic_threads/referee/referee.c); each call needs the
 * desk's lock.
 */
#ifndef NIC_THREADS_ROLES_UNMATCHED_H
#define NIC_THREADS_ROLES_UNMATCHED_H

#include "nic_threads/machine/engine.h"

/**
 * Whether all has been carried out that some ports have posted so far and that is read
 * at a desk: its rings and links hold nothing of theirs, its batch is empty, and from
 * other nodes nothing has come or waits to go. Receives may lie in a ring for which no
 * message waits. What comes from a node by wires has come only after this has been so
 * there.
 *
 * @param writers  bits by port of the job
 */
bool nic_has_read_all(const struct nic_view *view, const uint64_t *writers);

/** Whether a receive or a probe that waits, of a port of the desk, has no message. */
bool nic_is_receive_unmatched(const struct nic_view *view, uint32_t port,
                              uint32_t cell);

/** Whether a send to a port of the desk has no receive, be it taken by a matched probe.
 *  @param sender,cell whose it is */
bool nic_is_send_unmatched(const struct nic_view *view, uint32_t port, uint32_t sender,
                           uint32_t cell);

/** List messages to a port of the desk that have no receive, the oldest first; last
 *  those that matched probes have taken. @param kinds bits, by enum nic_unmatched_kind
 *  @return how many, n_most at most */
uint32_t nic_unmatched_sends(const struct nic_view *view, uint32_t port,
                             unsigned int kinds, struct nic_unreceived *list_out,
                             uint32_t n_most);

/** At a node's desk: whether a port of the node has come to a collective of a slot, by
 *  its number. */
bool nic_has_come_to(const struct nic_view *view, uint32_t slot, uint64_t number,
                     uint32_t port);

#endif
