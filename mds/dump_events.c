/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the ring of events, the oldest first; see dump_events.h. The messages of a
 * call stand in front of it in the ring; where several threads call they may be
 * anybody's, and are left out.
 */
#include "mds/dump_events.h"

#include "libbcs/fabric/base/clock.h"

/** What the sections are made from. */
struct state {
    struct mds_collect *collect;
    const uint32_t *calls, *sites; /* numbers of records */
    double ns_per_tick;
    struct mds_dump_event *events;
    struct mds_dump_message *messages;
    uint32_t n_events, n_messages;
    uint32_t n_settled; /* messages whose calls have come */
};

/** Since the begin of recording. Cores' counters may differ by some ticks. */
static uint64_t ns_of(const struct state *state, uint64_t ticks)
{
    uint64_t start = state->collect->start_ticks;
    uint64_t since = ticks > start ? ticks - start : 0;

    return bcs_clock_in_ns(since, state->ns_per_tick);
}

/** Whether the numbers of an entry are those of something, as in what a process has
 *  left behind they need not be. */
static bool is_sound(const struct state *state, const struct mds_event *event)
{
    bool has_peer = (event->kind & MDS_EVENT_MESSAGE) != 0 || event->n_messages > 0;

    return event->comm <= state->collect->comms.n_used &&
           event->end_ticks >= event->begin_ticks &&
           event->slice >= event->first_slice &&
           event->slice - event->first_slice <= UINT32_MAX &&
           (!has_peer || (uint32_t)event->peer < state->collect->shape.n_ranks);
}

static uint32_t comm_of(const struct mds_event *event)
{
    return event->comm > 0 ? event->comm - 1 : MDS_DUMP_NONE;
}

static void add_message(struct state *state, const struct mds_event *event)
{
    state->messages[state->n_messages++] = (struct mds_dump_message){
        .n_bytes = event->n_bytes,
        .event = state->n_events,
        .comm = comm_of(event),
        .peer = event->peer,
        .tag = event->tag,
        .kind = event->kind & (MDS_EVENT_SENT | MDS_EVENT_RECEIVED),
    };
}

static void add_call(struct state *state, const struct mds_event *event)
{
    uint32_t site = event->site % MDS_SITES;

    if (state->sites[site] == MDS_DUMP_NONE) {
        state->n_messages = state->n_settled;
        return;
    }
    state->events[state->n_events++] = (struct mds_dump_event){
        .begin = ns_of(state, event->begin_ticks),
        .end = ns_of(state, event->end_ticks),
        .n_bytes = event->n_bytes,
        .call = state->calls[state->collect->sites.table[site].primitive],
        .site = state->sites[site],
        .comm = comm_of(event),
        .n_messages = event->n_messages,
        .first_bytes = event->first_bytes,
        .peer = event->peer,
        .tag = event->tag,
        .kind = event->kind & ~(uint32_t)MDS_EVENT_MESSAGE,
        .n_slices = (uint32_t)(event->slice - event->first_slice),
        .slice = event->slice,
    };
    state->n_settled = state->n_messages;
}

/** Go through the ring. */
static void add_all(struct state *state, uint64_t first)
{
    struct mds_collect *collect = state->collect;

    for (uint64_t i = first; i < collect->n_events; i++) {
        const struct mds_event *event =
            &mds_events(collect)[i % collect->shape.n_events];

        if (!is_sound(state, event)) {
            continue;
        }
        if ((event->kind & MDS_EVENT_MESSAGE) == 0) {
            add_call(state, event);
        } else if (!collect->is_shared) {
            add_message(state, event);
        }
    }
}

void mds_dump_events(struct mds_dump *dump, struct mds_collect *collect,
                     const uint32_t *calls, const uint32_t *sites, double ns_per_tick)
{
    uint32_t n_most = collect->shape.n_events;
    uint64_t first = collect->n_events > n_most ? collect->n_events - n_most : 0;
    uint32_t n_entries = (uint32_t)(collect->n_events - first);
    struct state state = {
        .collect = collect,
        .calls = calls,
        .sites = sites,
        .ns_per_tick = ns_per_tick,
    };

    if (n_most == 0) {
        return;
    }
    state.events = mds_dump_add(dump, "events", sizeof(*state.events), n_entries);
    state.messages = mds_dump_add(dump, "messages", sizeof(*state.messages), n_entries);
    if (state.messages != NULL) {
        add_all(&state, first);
        mds_dump_cut(dump, state.n_settled);
        mds_dump_cut_before(dump, 1, state.n_events);
    }
}
