/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DMA helper's part of long messages between nodes; see chunk.c. Called by it only.
 */
#ifndef NIC_THREADS_ROLES_CHUNK_H
#define NIC_THREADS_ROLES_CHUNK_H

#include "nic_threads/node/node.h"

/** Tell a sender, wherever it is, that its synchronous send has been matched. @param
 *  stamp of the receive, where the job has stamps */
void nic_chunk_tell_matched(struct nic_view *view, uint32_t port, uint32_t cell,
                            uint64_t stamp);

/** Complete a long message's receive. */
void nic_chunk_complete_receive(struct nic_view *view, const struct nic_item *item);

/** Ask the sender's node for a chunk. */
void nic_chunk_grant(struct nic_view *view, const struct nic_share *share);

/** At the sender's node: a chunk is wanted, from the sender's memory or its block. */
void nic_chunk_wanted(struct nic_view *view, const struct bcs_descriptor *grant);

/** At the sender's node: a chunk is in a block of the sender; take it to the
 *  receiver. */
void nic_chunk_loaded(struct nic_view *view, const struct bcs_chunk *chunk,
                      uint64_t block);

/** At the receiver's node: a chunk has come. */
void nic_chunk_arrived(struct nic_view *view, const struct bcs_chunk *chunk);

/** At the receiver's node: nobody but the sender itself may copy a chunk. All chunks
 *  that were asked for after it come back, too, and before anything that is asked for
 *  from now on. */
void nic_chunk_refused(struct nic_view *view, const struct bcs_chunk *chunk);

/** At the receiver's node: the process has stored a chunk. */
void nic_chunk_stored(struct nic_view *view, const struct bcs_chunk *chunk);

#endif
