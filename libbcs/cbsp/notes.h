/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of messages and supersteps, beside the calls themselves
 * (cbsp_calls.c). In the thread that is in a function of <bcs/cbsp.h>.
 */
#ifndef CBSP_NOTES_H
#define CBSP_NOTES_H

#include "libbcs/cbsp/cbsp_job_state.h"
#include "mds/collect.h"

/* All messages and collectives of a job are of one communicator, the first that is
 * recorded. */
enum { CBSP_NOTE_COMM };

/** The tag of messages of a superstep. */
static inline int32_t cbsp_note_tag(uint64_t superstep)
{
    return (int32_t)(superstep & INT32_MAX);
}

/** A message of the program's in the superstep that it belongs to. */
static inline struct mds_message cbsp_note_message(uint32_t node, uint64_t superstep,
                                                   const struct cbsp_message *message)
{
    return (struct mds_message){node, cbsp_note_tag(superstep), CBSP_NOTE_COMM,
                                message->n_bytes};
}

/** A collective begins. */
static inline void cbsp_note_collective(struct cbsp *cbsp, uint64_t n_bytes)
{
    if (__builtin_expect(cbsp->collect != NULL, 0)) {
        mds_call_on(cbsp->collect, CBSP_NOTE_COMM);
        mds_collective(cbsp->collect, CBSP_NOTE_COMM, n_bytes);
    }
}

#endif
