/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers that all members of a communicator must agree on: its context id and its
 * collective slot. Called by comm*.c in the application's threads.
 */
#ifndef MPI_SHIM_COMM_AGREE_H
#define MPI_SHIM_COMM_AGREE_H

#include "mpi_shim/comm/comm.h"

/** What the leader of a communicator, rank 0 of the whole, tells the other members. */
struct shim_agreement {
    uint64_t number; /* that this leader has never used */
    uint32_t slot;
    uint32_t is_valid : 1; /* 0: the leader has no slot left */
    /* The program does not see it: its context id has BCS_CONTEXT_HIDDEN. */
    uint32_t is_hidden : 1;
};

/** Leader: take a slot and a number; says so if there is no slot. What it proposes is
 *  not hidden. Called under the lock. */
struct shim_agreement shim_agreement_propose(void);

/**
 * Agree on a communicator that is not carried yet, by the real library. Collective over
 * it. Call without the lock.
 *
 * @param is_hidden  of the leader: whether it is one that the program does not see
 * @return whether there is a slot for it; if not, the leader has said so
 */
bool shim_agree(const struct shim_comm *comm, bool is_hidden,
                struct shim_agreement *agreement_out);

/** Number the groups of a communicator as agreed, and open its slot. Called under the
 *  lock. */
void shim_agreement_apply(struct shim_comm *comm,
                          const struct shim_agreement *agreement);

#endif
