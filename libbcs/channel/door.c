/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two ends of a channel tell each other: that they are open, how, and that they are
 * closed. A door is put whole, its last word last, into the heap of the peer; that it is closed
 * is a word of it. Whoever puts either rings the peer's bell, as it may wait for that.
 *
 * Openings are counted, so that an end which was closed and opened again is not taken for the
 * one before: opening n at one end belongs to opening n at the other. A door of opening n + 1
 * has n as the one that was closed last, so whoever still uses opening n finds it closed while
 * the door is being written, too.
 */
#include <errno.h>
#include <inttypes.h>

#include "libbcs/base/log.h"
#include "libbcs/base/process.h"
#include "libbcs/channel/channel.h"

/** Transfer, and see to it that it arrives: this process may do nothing more for long. */
static int transfer(const struct channel_end *end, uint64_t bell_gva,
                    struct bcs_xfer *xfer)
{
    struct bcs_core *core = end->channels->core;
    struct bcs_node_set peer = bcs_node_set_one((uint32_t)end->params.peer);
    int rc;

    xfer->dests = &peer;
    xfer->remote_event_gva = bell_gva;
    rc = bcs_xfer_and_signal_blocking(core, xfer);
    return rc == 0 && bcs_core_is_late(core) ? bcs_core_flush(core) : rc;
}

/** Put words of the door of an end where its peer finds it, and ring. */
static int put(const struct channel_end *end, const struct channel_door *door,
               size_t from, size_t to)
{
    const struct channels *channels = end->channels;
    uint64_t gva = channel_door_gva(&channels->layout, channels->rank, end->side,
                                    end->params.number);

    return transfer(end, channels->layout.bell_gva,
                    &(struct bcs_xfer){
                        .src = (const uint8_t *)door + from,
                        .n_bytes = to - from,
                        .dest_gva = gva + from,
                    });
}

int channel_door_open(const struct channel_end *end, uint64_t place_gva,
                      uint64_t n_blocks)
{
    const struct channel_door door = {
        .place_gva = place_gva,
        .n_blocks = n_blocks,
        .record_bytes = end->params.record_bytes,
        .capacity = end->params.capacity,
        .closed = end->opened - 1,
        .opened = end->opened,
    };

    return put(end, &door, 0, sizeof(door));
}

int channel_door_close(const struct channel_end *end)
{
    const struct channel_door door = {.closed = end->opened};

    return put(end, &door, offsetof(struct channel_door, closed),
               offsetof(struct channel_door, opened));
}

void channel_door_ring(const struct channel_end *end, uint64_t bell_gva)
{
    transfer(end, bell_gva, &(struct bcs_xfer){0});
}

static bool is_open(const struct channel_end *end)
{
    /* Pairs with the put of channel_door_open, whose last word it is. */
    return __atomic_load_n(&end->peer_door->opened, __ATOMIC_ACQUIRE) == end->opened;
}

static bool is_closed(const struct channel_end *end)
{
    /* Pairs with the put of channel_door_close: who sees it sees all that was sent. */
    return __atomic_load_n(&end->peer_door->closed, __ATOMIC_ACQUIRE) >= end->opened;
}

static int refuse(const struct channel_end *end)
{
    const struct channel_door *door = end->peer_door;

    bcs_error(
        "channel %" PRIu32 " from rank %" PRIu32 " to %" PRIu32 ": records of %" PRIu32
        " bytes and a capacity of %" PRIu32 " here, %" PRIu32 " and %" PRIu32
        " at the other end; both must be the same",
        end->params.number,
        end->side == CHANNEL_OUT ? end->channels->rank : (uint32_t)end->params.peer,
        end->side == CHANNEL_OUT ? (uint32_t)end->params.peer : end->channels->rank,
        end->params.record_bytes, end->params.capacity, door->record_bytes,
        door->capacity);
    return -EPROTO;
}

static bool is_dead(const struct channel_end *end)
{
    const uint64_t *pids =
        bcs_core_address(end->channels->core, end->channels->layout.pids_gva);
    uint64_t pid = pids[end->params.peer];

    if (!bcs_process_has_ended(pid) || is_closed(end)) {
        return false;
    }
    bcs_error("rank %" PRId32 ", process %" PRIu64 ", has ended while rank %" PRIu32
              " waits at channel %" PRIu32 " %s it",
              end->params.peer, pid, end->channels->rank, end->params.number,
              end->side == CHANNEL_OUT ? "to" : "from");
    return true;
}

static bool is_alike(const struct channel_end *end)
{
    return end->peer_door->record_bytes == end->params.record_bytes &&
           end->peer_door->capacity == end->params.capacity;
}

bool channel_door_fits(const struct channel_end *end)
{
    return is_open(end) && is_alike(end) && !is_closed(end);
}

int channel_door_look(const struct channel_end *end, bool is_long)
{
    if (is_closed(end)) {
        return BCS_E_CLOSED;
    }
    if (is_open(end) && !is_alike(end)) {
        return refuse(end);
    }
    return is_long && is_dead(end) ? -EOWNERDEAD : 0;
}
