/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which communicators the shim carries, and what it knows about each: its group, with a
 * context id and a collective slot that all members agree on. Called by entry points
 * after shim_enter.
 *
 * An intercommunicator has two groups: messages go to the members of the other side, by
 * their ranks there; all else is done by the members of both.
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
    uint32_t recorded;  /* by the MDS: its number there and 1; 0: not yet */
    uint32_t n_staying; /* leader, after leaving: members not seen to leave yet */
    uint32_t n_in_collectives; /* threads, with MPI_THREAD_MULTIPLE; see crowd.h */
    bool has_crowd;            /* it has been told that they were several */
    uint32_t ports[];          /* of the whole */
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

/** The name of the communicator that a group of ours belongs to. */
void shim_comm_name_group(const struct bcs_group *group, char *name_out,
                          size_t n_name_bytes);

/** The same of a context id of a group of ours; "": of none. */
void shim_comm_name_context(uint64_t context_id, char *name_out, size_t n_name_bytes);

/** The slow part of shim_comm_find. */
struct shim_comm *shim_comm_search(MPI_Comm handle);

/** @return the communicator, or NULL: not ours (also when it is not valid at all) */
static inline struct shim_comm *shim_comm_find(MPI_Comm handle)
{
    struct shim_comm *comm = shim_state.last_comm;

    return __builtin_expect(comm != NULL && comm->handle == handle, 1)
               ? comm
               : shim_comm_search(handle);
}

/**
 * Begin to carry a communicator that the real library has just made. Collective over it;
 * MPI_COMM_NULL, or one with processes of another job, is left alone. Call without the
 * lock.
 *
 * @return MPI_SUCCESS, or the code that the error handler has been called with
 */
int shim_comm_add(MPI_Comm handle);

struct shim_agreement;

/** Begin to carry a communicator that all members have agreed on. Called under the lock.
 *  @return 0 or -ENOMEM */
int shim_comm_carry(MPI_Comm handle, const struct shim_agreement *agreement);

/** Keep the names of all communicators that were recorded: recording is about to end. */
void shim_comm_record_names(void);

/** Before a communicator is freed: leave it. Does not wait. */
void shim_comm_retire(MPI_Comm handle);

/** Begin to carry MPI_COMM_WORLD and MPI_COMM_SELF. @return 0 or -errno */
int shim_comm_setup(void);

/** Forget all communicators, after the real MPI_Finalize. */
void shim_comm_teardown(void);

#endif
