/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the records of ranks said when they were read (libbcs/fabric/ring/stand.h). Used
 * by the referee's thread, for all ranks of the job, and by its witness on another
 * machine (witness.c), for those of that machine; each with its engine. Of a rank of
 * another machine the referee reads the copy that the witness has put there.
 */
#ifndef NIC_THREADS_REFEREE_SNAPSHOT_H
#define NIC_THREADS_REFEREE_SNAPSHOT_H

#include "libbcs/fabric/ring/stand.h"
#include "nic_threads/node/node.h"

struct nic_snapshot;

/** Whether a rank is on this machine. */
static inline bool nic_engine_is_near_rank(const struct nic_engine *engine,
                                           uint32_t rank)
{
    uint32_t port = nic_engine_port_of(engine, rank);

    return nic_engine_is_near(engine, nic_layout_node(&engine->layout, port));
}

/** Make room for them. @param of_machine  only ranks of this machine are read @return 0
 *  or -ENOMEM; end with nic_snapshot_destroy */
int nic_snapshot_create(struct nic_engine *engine, bool of_machine,
                        struct nic_snapshot **snapshot_out);

/** Accepts NULL. */
void nic_snapshot_destroy(struct nic_snapshot *snapshot);

/** Read the records of all ranks. */
void nic_snapshot_read(struct nic_snapshot *snapshot);

/** The sequence of a thread's record when it was read. */
uint64_t nic_snapshot_sequence(const struct nic_snapshot *snapshot, uint32_t rank,
                               uint32_t thread);

/** What a thread of a rank waited for when that was read; NULL: it did not wait. */
const struct bcs_stand *nic_snapshot_stand(const struct nic_snapshot *snapshot,
                                           uint32_t rank, uint32_t thread);

/** Read the records of some ranks, bits, anew. @return whether they are in the waits
 *  that were read before, be they told by other pages */
bool nic_snapshot_turn(struct nic_snapshot *snapshot, const uint64_t *ranks);

/** Whether a rank had told of a wait for each of its threads, as far as it is known how
 *  many it has. */
bool nic_snapshot_have(const struct nic_snapshot *snapshot, uint32_t rank);

/** Whether a wait of some ranks, bits, is not what it was when it was read. */
bool nic_snapshot_have_changed(const struct nic_snapshot *snapshot,
                               const uint64_t *ranks);

/** Whether a rank has answered a question by now, for each of the waits that it had
 *  told of. */
bool nic_snapshot_have_answer(const struct nic_snapshot *snapshot, uint32_t rank,
                              uint64_t asked);

/** A number that is another one, as good as always, once a wait of some ranks, bits, is
 *  another one than the one of which it was read. */
uint64_t nic_snapshot_waits(const struct nic_snapshot *snapshot, const uint64_t *ranks);

/** A number that is another one, as good as always, once some rank of this machine has
 *  begun a wait, or ended one, or told of another one. */
uint64_t nic_snapshot_changes(const struct nic_snapshot *snapshot);

#endif
