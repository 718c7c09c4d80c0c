/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two ends of a channel tell each other: that they are open, how, and that
 * they are closed. A door is put whole, its last word last, into the heap of the peer;
 * that it is closed is a word of it. Whoever puts either rings the peer's bell, as it
 * may wait for that.
 *
 * Openings are counted, so that an end which was closed and opened again is not taken
 * for the one before: opening n at one end belongs to opening n at the other. A door of
 * opening n + 1 has n as the one that was closed last, so whoever still uses opening n
 * finds it closed while the door is being written, too.
 *
 * A door is read whole before it is used, as the peer may close opening n and write the
 * door of n + 1 meanwhile: that opening n is open comes first, then the copy, then that
 * n is not closed. The copy has nothing older than opening n, as `opened` was put last.
 * And nothing newer: who puts the door of n + 1 has put before, in the one order of the
 * primitives, that n is closed, and so whoever has copied any of n + 1 finds that.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "libbcs/channel/channel_state.h"
#include "libbcs/fabric/base/log.h"
#include "libbcs/fabric/base/process.h"

/** Transfer, and see to it that it arrives: this process may do nothing more for
 *  long. */
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

int channel_door_transfer(const struct channel_end *end, struct bcs_xfer *xfer)
{
    return transfer(end, end->channels->layout.bell_gva, xfer);
}

/** Put words of the door of an end where its peer finds it, and ring. */
static int put(const struct channel_end *end, const struct channel_door *door,
               size_t from, size_t to)
{
    const struct channels *channels = end->channels;
    uint64_t gva = channel_door_gva(&channels->layout, channels->rank, end->side,
                                    end->params.number);

    return channel_door_transfer(end, &(struct bcs_xfer){
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
        .thread = (uint64_t)gettid(),
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

static int refuse(const struct channel_end *end, const struct channel_door *door)
{
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

    /* What has become of a far one the launcher knows. */
    if (end->is_far || !bcs_process_has_ended(pid) || is_closed(end)) {
        return false;
    }
    bcs_error("rank %" PRId32 ", process %" PRIu64 ", has ended while rank %" PRIu32
              " waits at channel %" PRIu32 " %s it",
              end->params.peer, pid, end->channels->rank, end->params.number,
              end->side == CHANNEL_OUT ? "to" : "from");
    return true;
}

/** Whether the peer has left the job and not opened its end, which it cannot do any
 *  more. */
static bool has_left_without(const struct channel_end *end)
{
    /* In this order: what it has opened was put before it left. */
    return remote_has_left(end->channels, (uint32_t)end->params.peer) && !is_open(end);
}

static bool is_alike(const struct channel_end *end, const struct channel_door *door)
{
    return door->record_bytes == end->params.record_bytes &&
           door->capacity == end->params.capacity;
}

/** Copy the peer's door of this opening. @return false: it is not open, or was closed;
 *  then nothing of the copy is to be used */
static bool copy_door(const struct channel_end *end, struct channel_door *door_out)
{
    const struct channel_door *door = end->peer_door;

    if (!is_open(end)) {
        return false;
    }
    /* All pair with the put of channel_door_open of a later opening; in acquire order,
     * so that the look at `closed` comes behind them. */
    door_out->place_gva = __atomic_load_n(&door->place_gva, __ATOMIC_ACQUIRE);
    door_out->n_blocks = __atomic_load_n(&door->n_blocks, __ATOMIC_ACQUIRE);
    door_out->record_bytes = __atomic_load_n(&door->record_bytes, __ATOMIC_ACQUIRE);
    door_out->capacity = __atomic_load_n(&door->capacity, __ATOMIC_ACQUIRE);
    return !is_closed(end);
}

bool channel_door_read(const struct channel_end *end, uint64_t *place_gva_out,
                       uint64_t *n_blocks_out)
{
    struct channel_door door;

    if (!copy_door(end, &door) || !is_alike(end, &door)) {
        return false;
    }
    *place_gva_out = door.place_gva;
    *n_blocks_out = door.n_blocks;
    return true;
}

int channel_door_look(const struct channel_end *end, bool is_long)
{
    struct channel_door door;

    if (is_closed(end)) {
        return BCS_E_CLOSED;
    }
    if (copy_door(end, &door) && !is_alike(end, &door)) {
        return refuse(end, &door);
    }
    if (!is_long) {
        return 0;
    }
    if (has_left_without(end)) {
        return BCS_E_CLOSED;
    }
    return is_dead(end) ? -EOWNERDEAD : 0;
}
