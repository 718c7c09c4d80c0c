/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the shim knows about a communicator that it carries: its group, with a context
 * id and a collective slot that all members agree on. Used by entry points after
 * shim_enter.
 *
 * An intercommunicator has two groups: messages go to the members of the other side,
 * by their ranks there; all else is done by the members of both.
 */
#ifndef MPI_SHIM_COMM_H
#define MPI_SHIM_COMM_H

#include <stdlib.h>

#include "libbcs/api/collective/collective_across.h"
#include "mpi_shim/real/state.h"

/** A communicator that we carry: made by a function we interpose, of processes of this
 *  job. */
struct shim_comm {
    MPI_Comm handle;
    struct bcs_group group;  /* where messages go: its members, or the other side's */
    struct bcs_group *whole; /* all its members: group, or sides.both */
    struct bcs_sides sides;  /* of an intercommunicator */
    uint32_t n_users;        /* the handle, and requests that outlast it */
    struct shim_comm *next;  /* in the table, or among those that the leader has left */
    struct bcs_neighbors *neighbors; /* see comm_neighbors.h; NULL: not asked for yet */
    struct shim_numbers *numbers;    /* see numbers.h; NULL: none was taken yet */
    /* Of one that the program does not see: the context id of the one that it was made
     * from. Else 0. */
    uint64_t hidden_of;
    uint32_t recorded;  /* by the MDS: its number there and 1; 0: not yet */
    uint32_t n_staying; /* leader, after leaving: members not seen to leave yet */
    uint32_t n_in_collectives; /* threads, with MPI_THREAD_MULTIPLE; see crowd.h */
    bool has_crowd;            /* it has been told that they were several */
    /* Of the whole: the ranks in the job of all members; then their ports, unless each
     * rank is its own port. */
    uint32_t members[];
};

static inline bool shim_comm_is_inter(const struct shim_comm *comm)
{
    return comm->whole != &comm->group;
}

/** What MPI_Comm_size says. */
static inline int32_t shim_comm_own_size(const struct shim_comm *comm)
{
    return shim_comm_is_inter(comm) ? comm->sides.mine.size : comm->group.size;
}

/** One user less; the last one frees it. */
static inline void shim_comm_release(struct shim_comm *comm)
{
    if (--comm->n_users == 0) {
        free(comm->neighbors);
        free(comm->numbers);
        free(comm);
    }
}

#endif
