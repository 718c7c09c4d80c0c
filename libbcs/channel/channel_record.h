/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the MDS records of channels and remote commands: numbers of calls, from
 * channel_calls.def, when recording starts and ends, and what those that wait have
 * waited for. Calls are recorded in the threads that make them.
 *
 * Each thread has stamps of its own, those of the one call that it is in: whoever waits
 * knows for whom, and that it is for nothing else. A call with no such wait was held up
 * by nobody.
 */
#ifndef LIBBCS_CHANNEL_CHANNEL_RECORD_H
#define LIBBCS_CHANNEL_CHANNEL_RECORD_H

#include "libbcs/channel/channel_state.h"
#include "mds/collect.h"

/** Numbers of what is recorded. */
enum channel_call {
#define CHANNEL_CALL(timing, name, parameters, arguments, BEFORE, AFTER)               \
    CHANNEL_CALL_##name,
#include "libbcs/channel/channel_calls.def"
    CHANNEL_CALL_handler, /* a handler that the helper thread runs */
    CHANNEL_N_CALLS
};

/** All that is waited for is of one of these, the first two communicators that are
 *  recorded. What a channel or region is numbered stands for the tag. */
enum channel_comm { CHANNEL_COMM_CHANNELS, CHANNEL_COMM_REGIONS };

#pragma GCC visibility push(hidden)

/** Where the process that is channels_self records its calls; NULL: it does not. */
extern struct mds_collect *channels_collect;

#pragma GCC visibility pop

/** Start recording a process that has joined, as the settings ask for. Collective. */
void channels_record(struct channels *channels);

/** End it, as the process leaves: write what was recorded. Waits for nobody. No call
 *  may be under way, and no handler. */
void channels_record_end(struct channels *channels);

/** Call the handler of an end, in the helper thread. */
void channels_record_handler(struct channel_in *in);

/** A call that may wait begins. @param stamps_out until it ends; of the outermost call
 *  alone */
static inline void channel_note_begin(struct mds_collect *collect, uint64_t began,
                                      struct bcs_stamps *stamps_out)
{
    if (mds_call.depth == 1) {
        *stamps_out = (struct bcs_stamps){.rank = collect->origin.rank};
        bcs_stamps_note(stamps_out, bcs_stamp_make(began, stamps_out->rank),
                        BCS_STAMP_CAUSE_NONE);
        mds_call.stamps = stamps_out;
    }
}

/** The call under way has waited for a rank, until now. Nothing is done if it is not
 *  recorded. */
static inline void channel_note_waited(uint32_t rank, enum bcs_stamp_cause cause)
{
    if (__builtin_expect(mds_call.stamps != NULL, 0)) {
        bcs_stamps_note(mds_call.stamps, bcs_stamp_make(bcs_clock_ticks(), rank),
                        cause);
    }
}

/** It has waited, and nobody knows for whom. */
static inline void channel_note_waited_for_any(void)
{
    if (__builtin_expect(mds_call.stamps != NULL, 0)) {
        bcs_stamps_note(mds_call.stamps, BCS_STAMP_NONE, BCS_STAMP_CAUSE_NONE);
    }
}

/** It has waited for a word of a region: one's own is for any process to change, that
 *  of another one is taken to be for its owner. */
static inline void channel_note_waited_at(const struct bcs_remote *remote,
                                          enum bcs_stamp_cause cause)
{
    if (remote->thread == NULL || remote->rank == remote->inside->channels->rank) {
        channel_note_waited_for_any();
    } else {
        channel_note_waited(remote->rank, cause);
    }
}

#endif
