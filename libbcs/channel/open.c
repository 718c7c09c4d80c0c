/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing ends: all checks that channels have. [Low Latency Messages,
 * section 5: security is the virtual network's]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"

static const char *const callers[CHANNEL_N_SIDES] = {
    [CHANNEL_OUT] = "bcs_channel_open_out",
    [CHANNEL_IN] = "bcs_channel_open_in",
};

static int check_ranges(const struct channels *channels, const char *caller,
                        const struct bcs_channel_params *params)
{
    if (params->peer < 0 || (uint32_t)params->peer >= channels->size) {
        bcs_error("%s: no rank %" PRId32 " in a job of %" PRIu32, caller, params->peer,
                  channels->size);
    } else if (params->number >= BCS_CHANNEL_NUMBERS) {
        bcs_error("%s: channel %" PRIu32 "; allowed are 0 to %d", caller,
                  params->number, BCS_CHANNEL_NUMBERS - 1);
    } else if (params->record_bytes == 0 ||
               params->record_bytes > BCS_CHANNEL_RECORD_MOST) {
        bcs_error("%s: records of %" PRIu32 " bytes; allowed are 1 to %d", caller,
                  params->record_bytes, BCS_CHANNEL_RECORD_MOST);
    } else if (params->capacity == 0 || params->capacity > BCS_CHANNEL_CAPACITY_MOST) {
        bcs_error("%s: a capacity of %" PRIu32 " records; allowed are 1 to %d", caller,
                  params->capacity, BCS_CHANNEL_CAPACITY_MOST);
    } else if (params->reserved[0] != 0 || params->reserved[1] != 0) {
        bcs_error("%s: a reserved member is not 0", caller);
    } else {
        return 0;
    }
    return -EINVAL;
}

/** Check what is known before anything is done. Under the lock. */
static int check(struct channels *channels, enum channel_side side,
                 const struct bcs_channel_params *params)
{
    const struct channel_end *end = channels->ends;
    int rc = check_ranges(channels, callers[side], params);

    if (rc < 0) {
        return rc;
    }
    while (end != NULL && (end->side != side || end->params.peer != params->peer ||
                           end->params.number != params->number)) {
        end = end->next;
    }
    if (end != NULL) {
        bcs_error("%s: channel %" PRIu32 " %s rank %" PRId32 " is open", callers[side],
                  params->number, side == CHANNEL_OUT ? "to" : "from", params->peer);
        return -EEXIST;
    }
    return 0;
}

/** How often an end was opened. @return NULL: out of memory */
static uint64_t *n_opened_of(struct channels *channels, enum channel_side side,
                             const struct bcs_channel_params *params)
{
    uint64_t **counts = &channels->n_opened[params->peer];

    if (*counts == NULL) {
        *counts =
            calloc((size_t)CHANNEL_N_SIDES * BCS_CHANNEL_NUMBERS, sizeof(**counts));
    }
    return *counts == NULL
               ? NULL
               : *counts + (size_t)side * BCS_CHANNEL_NUMBERS + params->number;
}

static int no_memory(enum channel_side side)
{
    bcs_error("%s: out of memory", callers[side]);
    return -ENOMEM;
}

/** Fill in what both kinds of ends have, tell the peer, and count the opening. */
static int end_open(struct channels *channels, struct channel_end *end,
                    uint64_t place_gva, uint64_t n_blocks)
{
    uint64_t *n_opened = n_opened_of(channels, end->side, &end->params);
    int rc;

    if (n_opened == NULL) {
        return no_memory(end->side);
    }
    end->channels = channels;
    end->opened = *n_opened + 1;
    end->owner = pthread_self();
    end->peer_door = bcs_core_address(
        channels->core,
        channel_door_gva(&channels->layout, (uint32_t)end->params.peer,
                         end->side == CHANNEL_OUT ? CHANNEL_IN : CHANNEL_OUT,
                         end->params.number));
    rc = channel_door_open(end, place_gva, n_blocks);
    if (rc < 0) {
        return rc;
    }
    ++*n_opened;
    end->next = channels->ends;
    channels->ends = end;
    return 0;
}

/** The blocks of a ring; its batches. */
static void set_size(struct bcs_channel_in *in, const struct bcs_channel_params *params)
{
    uint32_t n_per_block = (uint32_t)bcs_channel_per_block(params->record_bytes);
    uint32_t n_blocks = (params->capacity - 1) / n_per_block + 1;

    in->record_bytes = params->record_bytes;
    in->block_bytes = (uint32_t)bcs_channel_block_bytes(params->record_bytes);
    in->n_batch = n_blocks < 8 ? 1 : n_blocks / 4;
    in->n_blocks = n_blocks + in->n_batch + 1;
}

/** Clear memory for a place with all its blocks. @return NULL: there is none; logged */
static struct channel_place *take_place(struct channels *channels,
                                        enum channel_side side,
                                        const struct bcs_channel_in *size,
                                        struct channel_room **room_out)
{
    uint64_t n_bytes =
        sizeof(struct channel_place) + (uint64_t)size->n_blocks * size->block_bytes;
    struct channel_place *place;
    bool was_used;

    *room_out = channel_pool_take(&channels->pool, n_bytes, &was_used);
    if (*room_out == NULL) {
        bcs_error("%s: %" PRIu64 " bytes for the records, rounded up to %" PRIu64
                  "; of the %" PRIu64
                  " bytes of a process for channels and regions not so many are left",
                  callers[side], n_bytes, channel_pool_room_bytes(n_bytes),
                  CHANNEL_POOL_BYTES);
        return NULL;
    }
    place = bcs_core_address(channels->core, (*room_out)->gva);
    if (was_used) {
        memset(place, 0, n_bytes);
    }
    return place;
}

/** The place of a writer whose reader is far: as large as the reader's. */
static int take_own_place(struct channels *channels, struct channel_out *out)
{
    struct bcs_channel_in size;
    struct channel_place *place;

    set_size(&size, &out->end.params);
    place = take_place(channels, CHANNEL_OUT, &size, &out->room);
    if (place == NULL) {
        return -ENOMEM;
    }
    place->reader_sleeps = CHANNEL_IS_FAR;
    return 0;
}

static int open_out(struct channels *channels, const struct bcs_channel_params *params,
                    struct bcs_channel_out **out_out)
{
    struct channel_out *out = calloc(1, sizeof(*out));
    int rc = 0;

    if (out == NULL) {
        return no_memory(CHANNEL_OUT);
    }
    out->end.params = *params;
    out->end.side = CHANNEL_OUT;
    out->end.is_far = !channels_is_near(channels, (uint32_t)params->peer);
    out->inlined.record_bytes = params->record_bytes;
    out->inlined.block_bytes = (uint32_t)bcs_channel_block_bytes(params->record_bytes);
    /* A block that is full: to send begins the next one, which looks for the reader. */
    out->inlined.mark = bcs_channel_per_block(params->record_bytes);
    if (out->end.is_far) {
        rc = take_own_place(channels, out);
    }
    if (rc == 0) {
        rc = end_open(channels, &out->end, out->room == NULL ? 0 : out->room->gva, 0);
    }
    if (rc < 0) {
        free(out->room);
        free(out);
        return rc;
    }
    *out_out = &out->inlined;
    return 0;
}

/** Begin to read at a place whose blocks are clear. */
static void set_place(struct channel_in *in, struct channel_place *place)
{
    struct bcs_channel_in *inlined = &in->inlined;

    inlined->first = (const uint8_t *)(place + 1);
    inlined->end = inlined->first + (size_t)inlined->n_blocks * inlined->block_bytes;
    inlined->block = inlined->first;
    inlined->lap = BCS_CHANNEL_LAP;
    inlined->was_end = 1;
    inlined->n_freed = &place->n_freed;
    inlined->sleeper = &place->writer_sleeps;
    in->end.sleeper = &place->reader_sleeps;
}

static int open_in(struct channels *channels, const struct bcs_channel_params *params,
                   struct bcs_channel_in **in_out)
{
    struct channel_in *in = calloc(1, sizeof(*in));
    struct channel_place *place;
    int rc;

    if (in == NULL) {
        return no_memory(CHANNEL_IN);
    }
    in->end.params = *params;
    in->end.side = CHANNEL_IN;
    in->end.is_far = !channels_is_near(channels, (uint32_t)params->peer);
    set_size(&in->inlined, params);
    in->behind_at = CHANNEL_STREAM_BLOCKS;
    in->behind_interval = CHANNEL_STREAM_BLOCKS;
    place = take_place(channels, CHANNEL_IN, &in->inlined, &in->room);
    if (place == NULL) {
        free(in);
        return -ENOMEM;
    }
    if (in->end.is_far) {
        place->writer_sleeps = CHANNEL_IS_FAR;
    }
    set_place(in, place);
    rc = end_open(channels, &in->end, in->room->gva, in->inlined.n_blocks);
    if (rc < 0) {
        free(in->room);
        free(in);
        return rc;
    }
    *in_out = &in->inlined;
    return 0;
}

/** What every opening begins with; takes the lock. */
static int begin(struct channels *channels, enum channel_side side,
                 const struct bcs_channel_params *params)
{
    int rc;

    if (channels_is_in_handler(channels)) {
        bcs_error("%s: called in a handler", callers[side]);
        return -EDEADLK;
    }
    pthread_mutex_lock(&channels->lock);
    rc = check(channels, side, params);
    if (rc < 0) {
        pthread_mutex_unlock(&channels->lock);
    }
    return rc;
}

int channels_open_out(struct channels *channels,
                      const struct bcs_channel_params *params,
                      struct bcs_channel_out **out_out)
{
    int rc = begin(channels, CHANNEL_OUT, params);

    if (rc == 0) {
        rc = open_out(channels, params, out_out);
        pthread_mutex_unlock(&channels->lock);
    }
    return rc;
}

int channels_open_in(struct channels *channels, const struct bcs_channel_params *params,
                     struct bcs_channel_in **in_out)
{
    int rc = begin(channels, CHANNEL_IN, params);

    if (rc == 0) {
        rc = open_in(channels, params, in_out);
        pthread_mutex_unlock(&channels->lock);
    }
    return rc;
}

/** Close an end, and free it. Under the lock. */
static int end_close(struct channel_end *end)
{
    struct channels *channels = end->channels;
    struct channel_end **at = &channels->ends;
    int rc = channel_door_close(end);

    while (*at != end) {
        at = &(*at)->next;
    }
    *at = end->next;
    if (end->side == CHANNEL_OUT) {
        channel_pool_give(&channels->pool, channel_out_of_end(end)->room,
                          end->peer_door, end->opened);
        free(channel_out_of_end(end));
    } else {
        channel_pool_give(&channels->pool, channel_in_of_end(end)->room, end->peer_door,
                          end->opened);
        free(channel_in_of_end(end));
    }
    return rc;
}

static int close_checked(struct channel_end *end, const char *caller)
{
    pthread_mutex_t *lock = &end->channels->lock;
    int rc = channel_end_check(end, caller);

    if (rc == 0) {
        pthread_mutex_lock(lock);
        rc = end_close(end);
        pthread_mutex_unlock(lock);
    }
    return rc;
}

int channels_call_channel_close_out(struct bcs_channel_out *out)
{
    return out == NULL
               ? 0
               : close_checked(&channel_out_of(out)->end, "bcs_channel_close_out");
}

int channels_call_channel_close_in(struct bcs_channel_in *in)
{
    struct channel_in *state;
    int rc;

    if (in == NULL) {
        return 0;
    }
    state = channel_in_of(in);
    rc = channel_end_check(&state->end, "bcs_channel_close_in");
    rc = rc < 0 ? rc : channel_helper_take_back(state);
    return rc < 0 ? rc : close_checked(&state->end, "bcs_channel_close_in");
}

int channels_close_all(struct channels *channels)
{
    int rc = 0;

    for (struct channel_end *end = channels->ends; end != NULL; end = end->next) {
        if (end->side == CHANNEL_IN) {
            (void)channel_helper_take_back(channel_in_of_end(end)); /* not a child */
        }
    }
    while (channels->ends != NULL) {
        int closed = end_close(channels->ends);

        rc = rc < 0 ? rc : closed;
    }
    return rc;
}
