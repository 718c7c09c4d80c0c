/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of messages and sizes, beside the calls themselves (symbols.c):
 * a test of one pointer where it is off. Called by the application's threads, inside of
 * entry points.
 */
#ifndef MPI_SHIM_COMM_COMM_RECORD_H
#define MPI_SHIM_COMM_COMM_RECORD_H

#include <stdio.h>

#include "mds/collect.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/real/handles.h"
#include "mpi_shim/real/state.h"

/** The call under way has a length, or has so much more. */
static inline void shim_record_size(uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        mds_size_add(n_bytes);
    }
}

/** Keep the name of a communicator that was recorded: when it is first used, before it
 *  is freed, and when recording ends. */
static inline void shim_record_name(const struct shim_comm *comm)
{
    if (__builtin_expect(shim_state.collect != NULL, 0) && comm->recorded != 0 &&
        comm->recorded < MDS_COMMS) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length;

        shim_real.Comm_get_name(comm->handle, name, &length);
        snprintf(shim_state.collect->comms.table[comm->recorded - 1].name,
                 MDS_COMM_NAME_BYTES, "%s", name);
    }
}

/** A communicator's number for the MDS. Called while something is recorded. */
static inline uint32_t shim_record_comm(struct shim_comm *comm)
{
    if (comm->recorded == 0) {
        comm->recorded =
            1 + mds_comm_number(shim_state.collect, comm->whole->context_id,
                                (uint32_t)comm->whole->size);
        if (comm->handle != shim_handles.comm_null) { /* it is in the table */
            shim_record_name(comm);
        }
    }
    return comm->recorded - 1;
}

/** The call under way is about messages with a rank of a communicator, or waits for
 *  one. Negative ranks and tags are wildcards. */
static inline void shim_record_target(struct shim_comm *comm, int peer, int tag)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        mds_call_with(shim_state.collect,
                      peer < 0 ? -1 : (int32_t)comm->group.ranks[peer],
                      tag < 0 ? -1 : tag, shim_record_comm(comm));
    }
}

/** The program sends a message to a rank of a communicator. */
static inline void shim_record_sent(struct shim_comm *comm, int peer, int tag,
                                    uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        const struct mds_message message = {comm->group.ranks[peer], tag,
                                            shim_record_comm(comm), n_bytes};

        mds_size_add(n_bytes);
        mds_sent(shim_state.collect, &message);
    }
}

/** It has taken one back. */
static inline void shim_record_taken_back(struct shim_comm *comm, int peer, int tag,
                                          uint64_t n_bytes)
{
    if (shim_state.collect != NULL) {
        const struct mds_message message = {comm->group.ranks[peer], tag,
                                            shim_record_comm(comm), n_bytes};

        mds_taken_back(shim_state.collect, &message);
    }
}

/** It has received one. */
static inline void shim_record_received(struct shim_comm *comm, int peer, int tag,
                                        uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        const struct mds_message message = {comm->group.ranks[peer], tag,
                                            shim_record_comm(comm), n_bytes};

        mds_received(shim_state.collect, &message);
    }
}

/** It starts a collective, with so many bytes of its own. */
static inline void shim_record_collective(struct shim_comm *comm, uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        uint32_t number = shim_record_comm(comm);

        mds_call_on(shim_state.collect, number);
        mds_collective(shim_state.collect, number, n_bytes);
    }
}

#endif
