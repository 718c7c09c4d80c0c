/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for room and for what arrives, at the bell of the process, and waking who
 * does. Called by the thread that has opened the end. Why no wake-up is lost is told in
 * <bcs/channel_ring.h>; a bell that rings too often costs a look.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_end.h"
#include "libbcs/fabric/base/barrier.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/system.h"

/* The first looks take some microseconds, many times a line. */
enum { LOOKS_EARLY = 4096, SLEEPS_A_DOUBT = 64 };

/* A reader tries to fall behind once in so many blocks at least, and has if so many are
 * there. */
enum { STREAM_BLOCKS_MOST = 8192, BLOCKS_BEHIND = 3 };

/** A wait; zero it to start. */
struct channel_wait {
    struct bcs_bell_wait bell;
    uint32_t n_sleeps;
    bool is_told; /* circle.c */
};

typedef bool (*is_there_fn)(struct channel_end *end);

static bool has_room(struct channel_end *end)
{
    struct bcs_channel_out *out = &channel_out_of_end(end)->inlined;

    return bcs_channel_has_room(out, out->record_bytes);
}

static bool has_record(struct channel_end *end)
{
    struct bcs_channel_in *in = &channel_in_of_end(end)->inlined;

    return bcs_channel_has_record(in, in->record_bytes);
}

/** Say whether this end sleeps, or will. */
static void tell_sleep(struct channel_end *end, enum channel_sleeper sleeps)
{
    if (end->sleeper != NULL) {
        /* Pairs with the loads of bcs_channel_publish and bcs_channel_give_back, by the
         * barrier that follows where it is not 0. */
        __atomic_store_n(end->sleeper, (uint32_t)sleeps, __ATOMIC_RELAXED);
    }
}

static int go_to_sleep(struct channel_end *end, struct channel_wait *wait,
                       is_there_fn is_there)
{
    int rc = bcs_bell_sleep(&end->channels->bell, &wait->bell);
    /* In vain; or others ring so often that it never is. */
    bool is_long = rc == 0 || ++wait->n_sleeps % SLEEPS_A_DOUBT == 0;

    tell_sleep(end, CHANNEL_AWAKE);
    if (rc == 0) {
        wait->is_told = channel_circle_look(end, wait->is_told, is_there);
    }
    return rc < 0 ? rc : channel_door_look(end, is_long);
}

/** A look has found nothing. @return 0: look again; else as bcs_channel_wait_out */
static inline __attribute__((always_inline)) int
wait_step(struct channel_end *end, struct channel_wait *wait, is_there_fn is_there)
{
    switch (bcs_bell_step_early(&end->channels->bell, &wait->bell, LOOKS_EARLY)) {
    case BCS_WAIT_SLEEP:
        return go_to_sleep(end, wait, is_there);
    case BCS_WAIT_ANNOUNCE:
        tell_sleep(end, CHANNEL_OWNER_SLEEPS);
        bcs_barrier_all();
        return channel_door_look(end, false);
    case BCS_WAIT_YIELD:
        bcs_yield();
        return channel_door_look(end, false);
    case BCS_WAIT_HALT:
        return channel_door_look(end, false);
    default:
        return 0;
    }
}

/** Wait until it is there: what was sent before the other end was closed, or died,
 *  is. */
static inline __attribute__((always_inline)) int
wait_for(struct channel_end *end, is_there_fn is_there, const char *caller)
{
    struct channel_wait wait = {0};
    int rc = channel_end_check(end, caller);

    if (rc < 0) {
        return rc;
    }
    while (rc == 0 && !is_there(end)) {
        rc = wait_step(end, &wait, is_there);
    }
    if (wait.bell.spell.is_announced) {
        tell_sleep(end, CHANNEL_AWAKE);
    }
    if (__builtin_expect(wait.is_told, 0)) {
        channel_circle_leave(end);
    }
    return rc != 0 && is_there(end) ? 0 : rc;
}

int channels_call_channel_wait_out(struct bcs_channel_out *out)
{
    return wait_for(&channel_out_of(out)->end, has_room, "bcs_channel_wait_out");
}

/** Let the writer of a stream get ahead. A reader right behind it takes each line from
 *  it while it writes it: a block takes some trips of a line then, one after the other,
 *  where lines that are written already overlap on their way. Whether there is a stream
 *  shows afterwards; where the writer has not got ahead, as when it waits for an
 *  answer, it is tried half as often. */
static void fall_behind(struct channel_in *in)
{
    const struct channels *channels = in->end.channels;
    uint64_t n_read = in->inlined.n_freed_here + in->inlined.n_left, since;

    if (n_read < in->behind_at || bcs_bell_is_crowded(&channels->bell) ||
        in->inlined.n_blocks < 2 * BLOCKS_BEHIND) {
        return;
    }
    since = bcs_clock_ticks();
    while (bcs_clock_ticks() - since < channels->behind_ticks) {
        bcs_clock_pause();
    }
    if (bcs_channel_mark_ahead(&in->inlined, BLOCKS_BEHIND) != 0) {
        in->behind_interval = CHANNEL_STREAM_BLOCKS;
    } else if (in->behind_interval < STREAM_BLOCKS_MOST) {
        in->behind_interval *= 2;
    }
    in->behind_at = n_read + in->behind_interval;
}

int channels_call_channel_wait_in(struct bcs_channel_in *in)
{
    struct channel_in *state = channel_in_of(in);

    if (state->helped != NULL) {
        return channel_in_check(state, "bcs_channel_wait_in");
    }
    fall_behind(state);
    return wait_for(&state->end, has_record, "bcs_channel_wait_in");
}

/** Wake whoever has said that it sleeps. */
static void wake(struct channel_end *end, uint32_t *sleeper)
{
    const struct channel_layout *layout = &end->channels->layout;
    /* First this, then the bell: an announcement that this takes back unseen is
     * followed by the ring, which ends the sleep. Pairs with tell_sleep here and in
     * helper.c. */
    uint32_t sleeps = __atomic_exchange_n(sleeper, CHANNEL_AWAKE, __ATOMIC_RELAXED);

    if (sleeps != CHANNEL_AWAKE) {
        channel_door_ring(end, sleeps == CHANNEL_HELPER_SLEEPS ? layout->helper_bell_gva
                                                               : layout->bell_gva);
    }
}

void bcs_channel_wake_reader(struct bcs_channel_out *out)
{
    struct channel_out *state = channel_out_of(out);

    if (state->end.is_far) {
        channel_far_publish(state);
    } else {
        wake(&state->end, out->sleeper);
    }
}

void bcs_channel_wake_writer(struct bcs_channel_in *in)
{
    struct channel_in *state = channel_in_of(in);

    if (state->end.is_far) {
        channel_far_give_back(state);
    } else {
        wake(&state->end, in->sleeper);
    }
}

bool bcs_channel_find_reader(struct bcs_channel_out *out)
{
    struct channel_out *state = channel_out_of(out);
    struct channel_end *end = &state->end;
    struct channels *channels = end->channels;
    struct channel_place *place;
    uint64_t place_gva, n_blocks;

    if (!channel_door_read(end, &place_gva, &n_blocks)) {
        return false;
    }
    /* The reader may close it from here on: its place stays until this end is closed,
     * too. */
    place = end->is_far ? bcs_core_address(channels->core, state->room->gva)
                        : remote_place(channels, (uint32_t)end->params.peer, place_gva);
    state->there_gva = place_gva + sizeof(*place);
    out->first = (uint8_t *)(place + 1);
    out->end = out->first + n_blocks * out->block_bytes;
    out->block = out->end - out->block_bytes; /* so that the next is the first */
    out->n_freed = &place->n_freed;
    out->sleeper = &place->reader_sleeps;
    out->n_blocks = n_blocks;
    end->sleeper = &place->writer_sleeps;
    return true;
}
