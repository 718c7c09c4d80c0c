/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of <bcs/channel.h> and <bcs/remote.h> that the MDS records, made
 * from channel_calls.def. They are called by programs only, in any thread: one test of
 * a pointer where nothing is recorded. A call within a call, as in a handler that
 * bcs_channels_poll runs, is part of the outer one.
 */
#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_record.h"

/** The call under way waits at an end of a channel. */
static void note_end(struct mds_collect *collect, const struct channel_end *end)
{
    mds_call_with(collect, end->params.peer, (int32_t)end->params.number,
                  CHANNEL_COMM_CHANNELS);
}

/** The call under way waits for a region, or at one. @param rank  -1: any */
static void note_region(struct mds_collect *collect, int32_t rank, uint32_t number)
{
    mds_call_with(collect, rank, (int32_t)number, CHANNEL_COMM_REGIONS);
}

/** The call under way waits for a word of a region. */
static void note_open(struct mds_collect *collect, const struct bcs_remote *remote)
{
    note_region(collect,
                remote->rank == collect->origin.rank ? -1 : (int32_t)remote->rank,
                remote->number);
}

/** The call under way waits for fetches: it stands at the first of them that has not
 *  ended. The queue is of the thread that has regions open. */
static void note_event(struct mds_collect *collect,
                       const struct bcs_remote_event *event)
{
    const struct remotes *remotes = &channels_self->remotes;
    const struct bcs_remote_fetch *fetch =
        remotes->thread == bcs_remote_thread() ? remotes->fetches : NULL;

    while (fetch != NULL && fetch->event != event) {
        fetch = fetch->next;
    }
    if (fetch != NULL) {
        note_open(collect, fetch->remote);
    }
}

static uint64_t
bytes_of_accumulation(const struct bcs_remote_accumulation *accumulation)
{
    bool is_short = accumulation->type == BCS_INT32 ||
                    accumulation->type == BCS_UINT32 || accumulation->type == BCS_FLOAT;

    return accumulation->count * (is_short ? sizeof(uint32_t) : sizeof(uint64_t));
}

/* What is recorded of a call beside its time; rc is what it has returned. */
#define CALL_NOTHING
#define CALL_SIZE(length)                                                              \
    if (rc == 0) {                                                                     \
        mds_size_add_outermost(length);                                                \
    }
#define CALL_AT_END(end) note_end(collect, end);
#define CALL_WAITED_AT_END(end, cause)                                                 \
    channel_note_waited((uint32_t)(end)->params.peer, cause);
#define CALL_AT_REGION(rank, number) note_region(collect, rank, number);
#define CALL_AT_OPEN(remote) note_open(collect, remote);
#define CALL_WAITED_AT_OPEN(remote, cause) channel_note_waited_at(remote, cause);
#define CALL_FOR_EVENT(event) note_event(collect, event);

/* The recorded way stands apart, so that the other one needs no registers. */
#define CHANNEL_CALL(timing, name, parameters, arguments, BEFORE, AFTER)               \
    static __attribute__((noinline, cold)) int recorded_##name parameters              \
    {                                                                                  \
        struct mds_collect *collect = channels_collect;                                \
        uint64_t began = mds_begin(collect, CHANNEL_CALL_##name, MDS_##timing);        \
        struct bcs_stamps stamps;                                                      \
        int rc;                                                                        \
                                                                                       \
        if (MDS_##timing == MDS_BLOCKING) {                                            \
            channel_note_begin(collect, began, &stamps);                               \
        }                                                                              \
        BEFORE                                                                         \
        rc = channels_call_##name arguments;                                           \
        AFTER                                                                          \
        mds_end(collect, CHANNEL_CALL_##name, MDS_##timing, began);                    \
        return rc;                                                                     \
    }                                                                                  \
    BCS_PUBLIC int bcs_##name parameters                                               \
    {                                                                                  \
        if (__builtin_expect(channels_collect != NULL, 0)) {                           \
            mds_call_from(__builtin_return_address(0));                                \
            return recorded_##name arguments;                                          \
        }                                                                              \
        return channels_call_##name arguments;                                         \
    }
#include "libbcs/channel/channel_calls.def"
