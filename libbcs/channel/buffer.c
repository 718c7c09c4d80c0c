/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers in a region, to which any process appends and from which the owner takes.
 * [Low Latency Messages, section 5: "appending data to a buffer"]
 *
 * Places are counted from the beginning, and never start anew. Who appends moves `next`
 * on by a compare and swap, by which the room is his, writes the record, and last its
 * mark, before which the owner does not look at it. So many append at once, and nobody
 * waits for another; the owner takes records in the order of their room, and so waits
 * for one whose writer is slow. What is taken is cleared before it is given back, so
 * that where a mark will be there is 0.
 *
 * A record lies in one piece: if it does not fit before the end, a mark says so, and it
 * begins anew at the start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "libbcs/channel/buffer.h"
#include "libbcs/channel/channel_calls.h"
#include "libbcs/channel/channel_record.h"
#include "libbcs/channel/channel_state.h"
#include "libbcs/channel/far_command.h"
#include "libbcs/fabric/base/align.h"
#include "libbcs/fabric/base/log.h"

/** The head of a buffer, before its records. */
struct remote_buffer {
    _Alignas(64) uint64_t magic;
    uint64_t capacity;           /* bytes of records; not 0 */
    _Alignas(64) uint64_t next;  /* where the next record will be; by who appends */
    _Alignas(64) uint64_t freed; /* up to where records were taken; by the owner */
    _Alignas(64) uint64_t unused[8];
};

_Static_assert(sizeof(struct remote_buffer) == BCS_REMOTE_BUFFER_BYTES, "as is told");

#define MAGIC UINT64_C(0x7265666675625343) /* "CSbuffer" */
#define MARK_BYTES sizeof(uint64_t)

/** Wait for a word as bcs_remote_wait does, in a call that is recorded as a whole. */
static int wait_for_word(const struct bcs_remote *remote, uint64_t offset,
                         uint64_t at_least, enum bcs_stamp_cause cause)
{
    int rc = bcs_remote_check(remote, offset, sizeof(uint64_t), sizeof(uint64_t));

    if (rc == 0) {
        bcs_remote_before_read(remote);
    }
    if (rc == 0 || rc == BCS_REMOTE_IS_FAR) {
        rc = channels_call_remote_wait_long(remote, offset, at_least);
        channel_note_waited_at(remote, cause);
    }
    return rc;
}

/** A mark: the length of a record, or of what is passed over, and which of them it
 *  is. */
enum { RECORD = 1, GAP = 2, KINDS = 3, LENGTH_SHIFT = 2 };

/** Bytes that a record takes. */
static uint64_t taken_by(uint64_t n_bytes)
{
    return MARK_BYTES + bcs_align_up(n_bytes, MARK_BYTES);
}

static struct remote_buffer *buffer_at(const struct bcs_remote *remote, uint64_t offset)
{
    return (struct remote_buffer *)(void *)(remote->memory + offset);
}

/** A place among the records. */
static uint8_t *place_of(struct remote_buffer *buffer, uint64_t capacity,
                         uint64_t place)
{
    return (uint8_t *)(buffer + 1) + place % capacity;
}

static uint64_t *mark_at(uint8_t *place)
{
    return (uint64_t *)(void *)place;
}

static int overwritten(const struct bcs_remote *remote, uint64_t offset)
{
    bcs_error("remote command: the buffer at offset %" PRIu64 " of region %" PRIu32
              " of rank %" PRIu32 " was overwritten",
              offset, remote->number, remote->rank);
    return -EPROTO;
}

/** Find a buffer, whose head anybody might have overwritten.
 *  @param capacity_out  of it; within the region */
static int find(const struct bcs_remote *remote, uint64_t offset,
                uint64_t *capacity_out)
{
    int rc = bcs_remote_check(remote, offset, sizeof(struct remote_buffer), 64);
    struct remote_buffer *buffer;
    uint64_t capacity;

    if (rc != 0) {
        return rc;
    }
    bcs_remote_before_read(remote);
    buffer = buffer_at(remote, offset);
    /* Pairs with the stores of bcs_remote_make_buffer. */
    if (__atomic_load_n(&buffer->magic, __ATOMIC_ACQUIRE) != MAGIC) {
        bcs_error("remote command: there is no buffer at offset %" PRIu64
                  " of region %" PRIu32 " of rank %" PRIu32,
                  offset, remote->number, remote->rank);
        return -EINVAL;
    }
    capacity = __atomic_load_n(&buffer->capacity, __ATOMIC_RELAXED);
    if (capacity == 0 || capacity % MARK_BYTES != 0 ||
        capacity > remote->n_bytes - offset - sizeof(*buffer)) {
        return overwritten(remote, offset);
    }
    *capacity_out = capacity;
    return 0;
}

static int check_own(const struct bcs_remote *own)
{
    if (own->thread != NULL && own->rank != own->inside->channels->rank) {
        bcs_error("remote command: region %" PRIu32 " of rank %" PRIu32
                  "; its buffers are for rank %" PRIu32 " to make, and to take from",
                  own->number, own->rank, own->rank);
        return -EPERM;
    }
    return 0;
}

int channels_call_remote_make_buffer(const struct bcs_remote *own, uint64_t offset,
                                     uint64_t n_bytes)
{
    int rc = bcs_remote_check(own, offset, n_bytes, 64);
    struct remote_buffer *buffer;

    rc = rc == 0 || rc == BCS_REMOTE_IS_FAR ? check_own(own) : rc;
    if (rc != 0) {
        return rc;
    }
    if (n_bytes < sizeof(*buffer) + 2 * MARK_BYTES || n_bytes % MARK_BYTES != 0) {
        bcs_error("bcs_remote_make_buffer: %" PRIu64
                  " bytes; allowed are multiples of %zu from %zu on",
                  n_bytes, MARK_BYTES, sizeof(*buffer) + 2 * MARK_BYTES);
        return -EINVAL;
    }
    buffer = buffer_at(own, offset);
    for (uint64_t i = 0; i < n_bytes; i += sizeof(uint64_t)) {
        __atomic_store_n(mark_at(own->memory + offset + i), 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&buffer->capacity, n_bytes - sizeof(*buffer), __ATOMIC_RELAXED);
    /* Pairs with the load of find. */
    __atomic_store_n(&buffer->magic, MAGIC, __ATOMIC_RELEASE);
    *own->is_unsettled = 1;
    return bcs_remote_after_change(own);
}

/* ------------------------------------------------------------------ appending */

/** Room of one's own. */
struct room {
    uint64_t place, n_gap; /* the gap comes first */
    uint64_t wanted;       /* if there is none: how far must be freed */
};

/** Take room for so many bytes. @return 0, BCS_E_FULL, or -EPROTO: it was
 *  overwritten */
static int take_room(struct remote_buffer *buffer, uint64_t capacity, uint64_t n_bytes,
                     struct room *room_out)
{
    /* The exchange pairs with those of others; the load is its guess. */
    uint64_t next = __atomic_load_n(&buffer->next, __ATOMIC_RELAXED), end;

    do {
        uint64_t n_left = capacity - next % capacity;

        if (next % MARK_BYTES != 0) {
            return -EPROTO;
        }
        room_out->place = next;
        room_out->n_gap = n_left < n_bytes ? n_left : 0;
        end = next + room_out->n_gap + n_bytes;
        room_out->wanted = end > capacity ? end - capacity : 0;
        /* Pairs with the store of free_up_to: what is there was cleared. */
        if (__atomic_load_n(&buffer->freed, __ATOMIC_ACQUIRE) < room_out->wanted) {
            return BCS_E_FULL;
        }
    } while (!__atomic_compare_exchange_n(&buffer->next, &next, end, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return 0;
}

/** Set a mark, for the owner to see, and with it all that was written before. */
static void set_mark(uint8_t *place, uint64_t n_bytes, uint64_t kind)
{
    /* Pairs with the load of next_record. */
    __atomic_store_n(mark_at(place), n_bytes << LENGTH_SHIFT | kind, __ATOMIC_RELEASE);
}

int remote_append(const struct bcs_remote *remote, uint64_t offset, const void *record,
                  size_t n_bytes, uint64_t *wanted_out)
{
    struct remote_buffer *buffer;
    struct room room;
    uint64_t capacity = 0;
    int rc = find(remote, offset, &capacity);
    uint8_t *place;

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? remote_far_append(remote, offset, record, n_bytes, wanted_out)
                   : rc;
    }
    if (n_bytes > capacity || taken_by(n_bytes) > capacity / 2) {
        bcs_error(
            "bcs_remote_append: a record of %zu bytes to the buffer at offset %" PRIu64
            " of region %" PRIu32 " of rank %" PRIu32 "; allowed are up to %" PRIu64,
            n_bytes, offset, remote->number, remote->rank,
            capacity / 2 / MARK_BYTES * MARK_BYTES - MARK_BYTES);
        return -EINVAL;
    }
    buffer = buffer_at(remote, offset);
    rc = take_room(buffer, capacity, taken_by(n_bytes), &room);
    if (rc < 0) {
        return overwritten(remote, offset);
    }
    if (rc == BCS_E_FULL) {
        int closed = bcs_remote_after_read(remote);

        *wanted_out = room.wanted;
        return closed != 0 ? closed : rc;
    }
    place = place_of(buffer, capacity, room.place);
    if (room.n_gap > 0) {
        set_mark(place, room.n_gap, GAP);
        place = (uint8_t *)(buffer + 1);
    }
    remote_store(place + MARK_BYTES, record, n_bytes);
    set_mark(place, n_bytes, RECORD);
    *remote->is_unsettled = 1;
    return bcs_remote_after_change(remote);
}

int channels_call_remote_append(const struct bcs_remote *remote, uint64_t offset,
                                const void *record, size_t n_bytes)
{
    uint64_t wanted;

    return remote_append(remote, offset, record, n_bytes, &wanted);
}

int channels_call_remote_append_wait(const struct bcs_remote *remote, uint64_t offset,
                                     const void *record, size_t n_bytes)
{
    uint64_t wanted = 0;
    int rc = remote_append(remote, offset, record, n_bytes, &wanted);

    while (rc == BCS_E_FULL) {
        rc = wait_for_word(remote, offset + offsetof(struct remote_buffer, freed),
                           wanted, BCS_STAMP_CAUSE_RECEIVER);
        rc = rc != 0 ? rc : remote_append(remote, offset, record, n_bytes, &wanted);
    }
    return rc;
}

/* ------------------------------------------------------------------ taking */

/** Clear what was taken, and give it back. */
static int free_up_to(const struct bcs_remote *own, struct remote_buffer *buffer,
                      uint8_t *place, uint64_t n_bytes, uint64_t n_cleared)
{
    uint64_t freed = __atomic_load_n(&buffer->freed, __ATOMIC_RELAXED); /* own */

    for (uint64_t i = 0; i < n_cleared; i += MARK_BYTES) {
        __atomic_store_n(mark_at(place + i), 0, __ATOMIC_RELAXED);
    }
    /* Pairs with the load of take_room, and with those of who waits for room. */
    __atomic_store_n(&buffer->freed, freed + n_bytes, __ATOMIC_RELEASE);
    *own->is_unsettled = 1;
    return bcs_remote_after_change(own);
}

/**
 * Find the next record, behind a gap, if there is one.
 *
 * @param wanted_out  where its mark will be, as an offset of the region
 * @return 0, BCS_E_PENDING, or -EPROTO: the buffer was overwritten; logged
 */
static int next_record(const struct bcs_remote *own, uint64_t offset, uint64_t capacity,
                       uint8_t **place_out, uint64_t *n_bytes_out, uint64_t *wanted_out)
{
    struct remote_buffer *buffer = buffer_at(own, offset);

    for (;;) {
        uint64_t freed = __atomic_load_n(&buffer->freed, __ATOMIC_RELAXED); /* own */
        uint8_t *place = place_of(buffer, capacity, freed);
        uint64_t n_left = capacity - freed % capacity, mark, length;

        if (freed % MARK_BYTES != 0) {
            return overwritten(own, offset);
        }
        *wanted_out = (uint64_t)(place - own->memory);
        /* Pairs with the store of set_mark: the record is there. */
        mark = __atomic_load_n(mark_at(place), __ATOMIC_ACQUIRE);
        length = mark >> LENGTH_SHIFT;
        if (mark == 0) {
            return BCS_E_PENDING;
        }
        if ((mark & KINDS) == GAP && length == n_left) {
            (void)free_up_to(own, buffer, place, length, MARK_BYTES);
            continue;
        }
        if ((mark & KINDS) != RECORD || length > n_left - MARK_BYTES) {
            return overwritten(own, offset);
        }
        *place_out = place;
        *n_bytes_out = length;
        return 0;
    }
}

static int take(const struct bcs_remote *own, uint64_t offset, void *record_out,
                size_t n_most, size_t *n_bytes_out, uint64_t *wanted_out)
{
    uint64_t capacity = 0, length = 0;
    int rc = find(own, offset, &capacity);
    uint8_t *place = NULL;

    rc = rc == 0 || rc == BCS_REMOTE_IS_FAR ? check_own(own) : rc;
    rc = rc == 0 ? next_record(own, offset, capacity, &place, &length, wanted_out) : rc;
    if (rc != 0) {
        return rc;
    }
    *n_bytes_out = length;
    if (length > n_most) {
        return BCS_E_TRUNCATED;
    }
    remote_load(record_out, place + MARK_BYTES, length);
    return free_up_to(own, buffer_at(own, offset), place, taken_by(length),
                      taken_by(length));
}

int channels_call_remote_take(const struct bcs_remote *own, uint64_t offset,
                              void *record_out, size_t n_most, size_t *n_bytes_out)
{
    uint64_t wanted;

    return take(own, offset, record_out, n_most, n_bytes_out, &wanted);
}

int channels_call_remote_take_wait(const struct bcs_remote *own, uint64_t offset,
                                   void *record_out, size_t n_most, size_t *n_bytes_out)
{
    uint64_t wanted = 0;
    int rc = take(own, offset, record_out, n_most, n_bytes_out, &wanted);

    while (rc == BCS_E_PENDING) {
        rc = wait_for_word(own, wanted, 1, BCS_STAMP_CAUSE_SENDER);
        rc = rc != 0 ? rc : take(own, offset, record_out, n_most, n_bytes_out, &wanted);
    }
    return rc;
}
