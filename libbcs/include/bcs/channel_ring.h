/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of an open channel: marks, credits and sleepers. Part of <bcs/channel.h>,
 * which programs include; they use nothing of this. Each end is used by one thread.
 *
 * How a mark works. Every bit of a word may be data, so a mark cannot be in it. Records
 * lie in blocks of one line (two, if they are longer than 56 bytes), and the last word
 * of a block is the mark of all its records:
 *
 *   record 0 | record 1 | ... | lap << 16 | ends << 8 | how many records
 *
 * The lap says how often the ring of blocks has been gone through, from 1 on, and has
 * 48 bits: a mark of an earlier lap, or none, is never taken for one of this lap, so
 * that nothing is ever cleared. Bit i of `ends` says that record i is the end of a
 * message. The writer stores the record, then the mark with release order; the reader
 * loads the mark with acquire order, then the record: on x86-64 both are plain moves,
 * which the processor keeps in order; on aarch64 stlr and ldar. A reader that sees the
 * mark sees the record. Both are in one line, which goes to the reader once. (One store
 * of 16 bytes with a mark beside each word is whole on neither by the letter of the
 * instruction sets, but for newer processors; and only four words fit a line then.)
 *
 * Credits. The writer may write blocks up to n_blocks beyond those that the reader has
 * freed. It counts them down, and looks at the reader's count when it has none left;
 * the reader adds to it once a batch, a quarter of the blocks. So while there is room,
 * nobody looks at anything. Blocks beyond the capacity, one batch and one more, make
 * sure that what the reader has read but not freed takes no room.
 *
 * Sleepers. Who goes to sleep says so in a word that its partner looks at after each
 * mark or credit. That load must not come before the store. The partner has no fence
 * for it, which would cost as much as a line: the sleeper has one for both
 * (membarrier), between its saying so and its last look. Either the partner's store
 * comes before that barrier, and the last look finds it, or the partner's load comes
 * after it and finds the sleeper.
 *
 * The members of these structs are for these two headers and the library.
 */
#ifndef BCS_CHANNEL_RING_H
#define BCS_CHANNEL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bcs/public.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BCS_CHANNEL_LAP (UINT64_C(1) << 16)
#define BCS_CHANNEL_COUNT UINT64_C(0xff)

/** The end of a writer. */
struct bcs_channel_out {
    uint8_t *block;          /* being written */
    uint64_t mark;           /* of it */
    uint64_t n_ahead;        /* blocks behind it that may be written */
    uint32_t *sleeper;       /* not 0: the reader sleeps */
    uint64_t lap;            /* of the block, as in its mark */
    uint8_t *first, *end;    /* of the ring of blocks */
    const uint64_t *n_freed; /* blocks that the reader has freed, in all */
    uint64_t n_begun;        /* blocks that were begun, in all */
    uint64_t n_blocks;       /* 0: the other end is not known yet */
    uint32_t record_bytes, block_bytes;
};

/** The end of a reader. */
struct bcs_channel_in {
    const uint8_t *block; /* being read */
    uint64_t n_read;      /* records of it */
    uint64_t n_seen;      /* records of it that are known to be there */
    uint64_t mark;        /* as last seen */
    uint64_t lap;         /* of the block, as in its mark */
    const uint8_t *first, *end;
    uint64_t *n_freed;     /* told to the writer */
    uint32_t *sleeper;     /* not 0: the writer sleeps */
    uint64_t n_freed_here; /* the same number */
    uint32_t n_left;       /* blocks read since then */
    uint32_t n_batch;      /* blocks that are freed at a time */
    uint32_t was_end;      /* whether the last block ended a message */
    uint32_t n_blocks;
    uint32_t record_bytes, block_bytes;
};

/** Wake the reader, which sleeps. Only for the functions below. */
BCS_PUBLIC void bcs_channel_wake_reader(struct bcs_channel_out *out);

/** Wake the writer, which sleeps. Only for the functions below. */
BCS_PUBLIC void bcs_channel_wake_writer(struct bcs_channel_in *in);

/** Look whether the reader has opened its end. Only for the functions below. @return
 *  whether there is room now */
BCS_PUBLIC bool bcs_channel_find_reader(struct bcs_channel_out *out);

/** Bytes from one record to the next. */
static inline size_t bcs_channel_stride(size_t n_bytes)
{
    return (n_bytes + 7) & ~(size_t)7;
}

static inline size_t bcs_channel_block_bytes(size_t n_bytes)
{
    return bcs_channel_stride(n_bytes) > 56 ? 128 : 64;
}

/** Records of a block. */
static inline size_t bcs_channel_per_block(size_t n_bytes)
{
    return (bcs_channel_block_bytes(n_bytes) - 8) / bcs_channel_stride(n_bytes);
}

/** Copy n records, which are so far from one to the next. A block's worth without gaps,
 *  as most of a stream is, takes some moves of a constant length. */
static inline void bcs_channel_copy(uint8_t *to, size_t to_step, const uint8_t *from,
                                    size_t from_step, size_t n, size_t n_bytes)
{
    if (n == bcs_channel_per_block(n_bytes) && to_step == from_step) {
        memcpy(to, from, bcs_channel_per_block(n_bytes) * n_bytes);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * to_step, from + i * from_step, n_bytes);
    }
}

/** The mark of a block. */
static inline const uint64_t *bcs_channel_mark_of(const uint8_t *block,
                                                  size_t block_bytes)
{
    return (const uint64_t *)(const void *)(block + block_bytes - sizeof(uint64_t));
}

/** Go on to the next block, if it is free. */
static inline bool bcs_channel_next_block(struct bcs_channel_out *out, size_t n_bytes)
{
    if (out->n_ahead == 0) {
        if (out->n_blocks == 0 && !bcs_channel_find_reader(out)) {
            return false;
        }
        /* Pairs with the store of bcs_channel_give_back: its block was read. */
        out->n_ahead = __atomic_load_n(out->n_freed, __ATOMIC_ACQUIRE) + out->n_blocks -
                       out->n_begun;
        if (out->n_ahead == 0) {
            return false;
        }
    }
    out->n_ahead--;
    out->n_begun++;
    out->block += bcs_channel_block_bytes(n_bytes);
    if (out->block == out->end) {
        out->block = out->first;
        out->lap += BCS_CHANNEL_LAP;
    }
    out->mark = out->lap;
    return true;
}

static inline bool bcs_channel_has_room(struct bcs_channel_out *out, size_t n_bytes)
{
    return __builtin_expect(
               (out->mark & BCS_CHANNEL_COUNT) < bcs_channel_per_block(n_bytes), 1) ||
           bcs_channel_next_block(out, n_bytes);
}

/** Let the reader see n records more. @param is_last the last of them ends a message */
static inline void bcs_channel_publish(struct bcs_channel_out *out, uint64_t n,
                                       bool is_last, size_t n_bytes)
{
    uint64_t *mark =
        (uint64_t *)(void *)(out->block + bcs_channel_block_bytes(n_bytes) -
                             sizeof(uint64_t));

    out->mark += n;
    if (is_last) {
        out->mark |= UINT64_C(0x80) << (out->mark & BCS_CHANNEL_COUNT);
    }
    /* Pairs with the load of bcs_channel_look. */
    __atomic_store_n(mark, out->mark, __ATOMIC_RELEASE);
    /* The load stays behind the store in the program; the processors see to the rest
     * when the reader's barrier runs. Pairs with the store before it, in
     * bcs_channel_wait_in. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(out->sleeper, __ATOMIC_RELAXED) != 0, 0)) {
        bcs_channel_wake_reader(out);
    }
}

/** Tell the writer that blocks were read. */
static inline void bcs_channel_give_back(struct bcs_channel_in *in)
{
    in->n_freed_here += in->n_left;
    in->n_left = 0;
    /* Pairs with the load of bcs_channel_next_block. */
    __atomic_store_n(in->n_freed, in->n_freed_here, __ATOMIC_RELEASE);
    /* As in bcs_channel_publish. Pairs with the store in bcs_channel_wait_out. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(in->sleeper, __ATOMIC_RELAXED) != 0, 0)) {
        bcs_channel_wake_writer(in);
    }
}

/** Go on to the next block, as this one is read. */
static inline void bcs_channel_leave_block(struct bcs_channel_in *in, size_t n_bytes)
{
    in->was_end = (uint32_t)(in->mark >> (7 + in->n_read)) & 1;
    in->n_read = 0;
    in->n_seen = 0;
    in->block += bcs_channel_block_bytes(n_bytes);
    if (in->block == in->end) {
        in->block = in->first;
        in->lap += BCS_CHANNEL_LAP;
    }
    if (++in->n_left == in->n_batch) {
        bcs_channel_give_back(in);
    }
}

/** Look for more records. @return whether there are some */
static inline bool bcs_channel_look(struct bcs_channel_in *in, size_t n_bytes)
{
    uint64_t mark;

    if (in->n_read == bcs_channel_per_block(n_bytes)) {
        bcs_channel_leave_block(in, n_bytes);
    }
    /* Pairs with the store of bcs_channel_publish: the records of the mark are
     * there. */
    mark = __atomic_load_n(
        bcs_channel_mark_of(in->block, bcs_channel_block_bytes(n_bytes)),
        __ATOMIC_ACQUIRE);
    if ((mark & ~(BCS_CHANNEL_LAP - 1)) != in->lap ||
        (mark & BCS_CHANNEL_COUNT) == in->n_read) {
        return false;
    }
    in->mark = mark;
    in->n_seen = mark & BCS_CHANNEL_COUNT;
    return true;
}

/** Read a whole block, if the next one is full and ends no message. @return whether it
 *  is read */
static inline bool bcs_channel_take_block(struct bcs_channel_in *in, uint8_t *to,
                                          size_t n_bytes)
{
    const size_t n = bcs_channel_per_block(n_bytes);
    uint64_t mark;

    if (in->n_read == n) {
        bcs_channel_leave_block(in, n_bytes);
    }
    /* As in bcs_channel_look. */
    mark = __atomic_load_n(
        bcs_channel_mark_of(in->block, bcs_channel_block_bytes(n_bytes)),
        __ATOMIC_ACQUIRE);
    if (in->n_read != 0 || mark != in->lap + n) {
        return false;
    }
    in->mark = mark;
    in->n_read = n;
    in->n_seen = n;
    bcs_channel_copy(to, n_bytes, in->block, bcs_channel_stride(n_bytes), n, n_bytes);
    return true;
}

static inline bool bcs_channel_has_record(struct bcs_channel_in *in, size_t n_bytes)
{
    return in->n_read != in->n_seen || bcs_channel_look(in, n_bytes);
}

/** Records of the block that are known to be there, up to the end of a message. */
static inline size_t bcs_channel_n_together(const struct bcs_channel_in *in)
{
    uint64_t ends = (in->mark >> 8 & 0xff) >> in->n_read;
    uint64_t n_there = in->n_seen - in->n_read;

    if (ends != 0) {
        uint64_t n_to_end = (uint64_t)__builtin_ctzll(ends) + 1;

        n_there = n_to_end < n_there ? n_to_end : n_there;
    }
    return (size_t)n_there;
}

/** The mark of the block that is so many behind the one being read; 0: nothing is
 *  there. */
static inline uint64_t bcs_channel_mark_ahead(const struct bcs_channel_in *in,
                                              uint64_t n_blocks)
{
    const uint8_t *block = in->block + n_blocks * in->block_bytes;
    uint64_t lap = in->lap, mark;

    if (block >= in->end) {
        block -= in->end - in->first;
        lap += BCS_CHANNEL_LAP;
    }
    /* As in bcs_channel_look. */
    mark =
        __atomic_load_n(bcs_channel_mark_of(block, in->block_bytes), __ATOMIC_ACQUIRE);
    return (mark & ~(BCS_CHANNEL_LAP - 1)) == lap ? mark & (BCS_CHANNEL_LAP - 1) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
