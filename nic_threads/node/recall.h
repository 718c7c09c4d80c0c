/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send that its sender wants back (MPI_Cancel): how it is known wherever it may lie,
 * from the ring that it was posted to until a receive has got it; and where a node is
 * asked for it from afar. Pure.
 */
#ifndef NIC_THREADS_NODE_RECALL_H
#define NIC_THREADS_NODE_RECALL_H

#include <stdbool.h>

#include "libbcs/fabric/ring/descriptor.h"

/** What comes of it. */
enum nic_withdrawn {
    NIC_WITHDRAWN,          /* nobody gets it; recall->block_gva is set */
    NIC_WITHDRAWN_TOO_LATE, /* a receive or a matched probe has it */
    NIC_WITHDRAWN_NOT_YET   /* it is not known: try again, after a turn of a wait */
};

/** Which send, and what was found. */
struct nic_recall {
    uint32_t sender, receiver; /* ports, numbers in the job */
    uint32_t cell;             /* of the sender, or a mark; as in the descriptor */
    /* Set when it has been found: a block of the sender's that its payload is in, which
     * is the caller's again; 0: none. */
    uint64_t block_gva;
    uint64_t number; /* of the question to a far node; 0: none was asked */
};

/** Where far processes ask a node for a send that they want back, one at a time; see
 *  nic_threads/roles/far_recall.c. All global. */
struct nic_recall_box {
    uint64_t asker; /* 1 + the port that asks; 0: nobody */
    struct nic_recall_question {
        uint32_t receiver, cell; /* as in struct nic_recall */
        uint64_t number;         /* the last word that is put; 0: none */
    } question;
};

/** Whether a descriptor, posted by a port, is the send. */
static inline bool nic_recall_means(const struct nic_recall *recall,
                                    const struct bcs_descriptor *descriptor,
                                    uint32_t port)
{
    return descriptor->kind == BCS_SEND && port == recall->sender &&
           descriptor->cell == recall->cell && descriptor->port == recall->receiver;
}

/** It is this one: note what comes back with it. */
static inline void nic_recall_note(struct nic_recall *recall,
                                   const struct bcs_descriptor *send)
{
    recall->block_gva = (send->flags & (BCS_DATA_BLOCK | BCS_LANDED)) == BCS_DATA_BLOCK
                            ? send->address
                            : 0;
}

#endif
