/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of messages and sizes, beside the calls themselves (symbols.c): a test of
 * one pointer where it is off. Called by the application's threads, inside of entry points.
 */
#ifndef SHIM_RECORD_H
#define SHIM_RECORD_H

#include "mds/collect.h"
#include "mpi_shim/comm/comm.h"
#include "mpi_shim/real/state.h"

/** The call under way has a length, or has so much more. */
static inline void shim_record_size(uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        mds_size_add(n_bytes);
    }
}

/** The program sends a message to a rank of a communicator. */
static inline void shim_record_sent(const struct shim_comm *comm, int peer,
                                    uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        mds_size_add(n_bytes);
        mds_sent(shim_state.collect, comm->group.ports[peer], n_bytes);
    }
}

/** It has received one. */
static inline void shim_record_received(const struct shim_comm *comm, int peer,
                                        uint64_t n_bytes)
{
    if (__builtin_expect(shim_state.collect != NULL, 0)) {
        mds_received(shim_state.collect, comm->group.ports[peer], n_bytes);
    }
}

#endif
