/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that ranks of a job can never go on (nic_threads/rules/deadlock.h), by what
 * they have told, and by what stands in the desks. Used by the referee's thread, with
 * its engine. Desks of other machines are looked at by their witnesses (far_side.h).
 */
#ifndef NIC_THREADS_REFEREE_PROOF_H
#define NIC_THREADS_REFEREE_PROOF_H

#include "nic_threads/machine/engine.h"
#include "nic_threads/referee/far_side.h"
#include "nic_threads/referee/snapshot.h"

struct nic_proof;

/** Make an empty proof. @param snapshot what the ranks wait for @param far  the other
 *  machines; both must outlive the proof
 *  @return 0 or -ENOMEM; end with nic_proof_destroy */
int nic_proof_create(struct nic_engine *engine, const struct nic_snapshot *snapshot,
                     struct nic_far_side *far, struct nic_proof **proof_out);

/** Accepts NULL. */
void nic_proof_destroy(struct nic_proof *proof);

/**
 * Find who cannot go on if all operations are pending that records tell of, on whatever
 * page, and nobody has come to a collective that is known not to be there: no rank
 * beside them is deadlocked.
 *
 * @param but_agents as if nothing could act but what waits (bcs_stand.agent): no proof
 * comes of that
 * @return how many of them wait; 0: nobody is suspected, or there is no memory
 */
uint32_t nic_proof_suspect(struct nic_proof *proof, bool but_agents);

/** How many pages the records of those have at most. */
uint32_t nic_proof_n_pages(const struct nic_proof *proof);

/**
 * Find who of those cannot go on by what stands in the desks: what they have posted has
 * been read, and what they wait for has no partner. What a wait is about is looked for
 * on the page that was read last, and kept for the next pages. Takes the locks of
 * desks, one after the other.
 *
 * @param slice     held while the desks of this machine are looked at
 * @param is_first  it is the first page: nothing is kept from before
 * @return how many of them wait
 */
uint32_t nic_proof_convict(struct nic_proof *proof, pthread_mutex_t *slice,
                           bool is_first);

/** Who is suspected, bits by rank. */
const uint64_t *nic_proof_suspected(const struct nic_proof *proof);

/** Who cannot go on, as above. */
const uint64_t *nic_proof_stuck(const struct nic_proof *proof);

/**
 * List messages to a port that nobody has received, of those that its desk has read.
 *
 * @param engine  of any process
 * @param kinds   bits, by enum nic_unmatched_kind
 * @return how many, n_most at most
 */
uint32_t nic_proof_left(struct nic_engine *engine, uint32_t port, unsigned int kinds,
                        struct nic_unreceived *list_out, uint32_t n_most);

/** List messages that nobody has received: to those that cannot go on all, to others
 *  parts of collectives.
 *  @return how many, n_most at most */
uint32_t nic_proof_unreceived(struct nic_proof *proof, struct nic_unreceived *list_out,
                              uint32_t n_most);

#endif
