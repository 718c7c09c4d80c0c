/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote commands: write, read, accumulate, append, compare and swap, and fetch on
 * condition, in the memory of another process of the job, whose program need not take
 * part. They go with open channels, whose job they share: bcs_channels_init, _finalize,
 * _rank and _size are those of <bcs/channel.h>. [Low Latency Messages, section 5:
 * "low-level operations such as direct or indirect reads and writes, accumulations into
 * memory, or appending data to a buffer"]
 *
 * Memory. What others may reach is a *region*: memory that the library gives to its
 * owner, who exports it under a number. Others import it, and address it by offsets in
 * bytes. Each command checks its offset, so that nothing outside of a region is ever
 * touched. No other memory can be exported: regions lie where all processes of the
 * machine have them mapped, so that whoever gives a command carries it out himself, at
 * once, by the processor's own atomic operations.
 *
 * Other machines. A command to a region of another machine is asked for by a put of 512
 * bytes. A thread of the owner carries it out, whatever the owner's program does, and
 * puts an answer of 512 bytes. Each such command waits for its answer. Blocks longer
 * than 448 bytes go in parts, each with an answer. bcs_remote_fetch is refused there,
 * and so is appending more than 448 bytes (-ENOTSUP; logged). The death of a process of
 * another machine is left to the launcher.
 *
 * Completion. A command has been carried out when it returns; only a fetch on condition
 * may have to wait, is started and ends by an event. Nothing is sent, queued or copied
 * in between, and no command waits for another: a process that is stopped, or that
 * waits, holds up nobody (but the taking of records behind one that it is appending).
 *
 * Order. The commands of one process to regions of one other, or to its own, take
 * effect in the order in which they were given, whatever they are and whichever regions
 * they name: who sees the effect of one sees those of all before it, and of what the
 * process has stored in its own regions before. A fetch takes effect when its condition
 * is found true, and is not ordered with commands that are given between its start and
 * its end. Commands to different processes, and of different ones, are in no order but
 * what a program makes by looking at what others have written. [section 5: "packets
 * arrive in the order they are sent"]
 *
 * Atomicity. An aligned word of 8 bytes is always read and written whole; a longer
 * block is not, and is written and read from lower to higher addresses. Accumulate
 * (element by element), compare and swap, and append are atomic with respect to each
 * other and to writes of words, whoever gives them. The owner may use its region by
 * address, too: it reads what was written after it has seen, by a command, a word that
 * was written later; and words for which others wait must be changed by commands, which
 * wake them.
 *
 * Threads. The remote commands of a process belong to one thread, the one that exports
 * or imports while nothing is open. In handlers of channels everything is allowed that
 * does not wait, open or close. In a forked child everything fails.
 *
 * Results. As <bcs/channel.h>: 0; positive, of <bcs/status.h>; or -errno, and one line
 * on standard error has told what is wrong. Every command returns
 *
 *   0             carried out
 *   BCS_E_CLOSED  the owner has taken the region back; a write has gone to memory that
 * nobody uses -EPERM        the region is not open here: released, after
 * bcs_channels_finalize, in a forked child, or another thread's; logged -ERANGE the
 * bytes are not within the region; logged -EINVAL       the offset is not aligned as it
 * must be, or another parameter is out of range; logged
 *
 * Costs are given in *lines*, the time that a cache line takes from one core to
 * another; those that are not inline take one call of a function more. Nothing calls
 * the system while nobody sleeps.
 */
#ifndef BCS_REMOTE_H
#define BCS_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcs/bcs.h>
#include <bcs/channel.h>
#include <bcs/public.h>
#include <bcs/remote_region.h>
#include <bcs/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ regions */

enum { BCS_REGION_NUMBERS = 256 }; /* numbers are 0 to this - 1 */

/**
 * Export n_bytes of new memory, all zero, as region `number` of this process. Others
 * may import it when this returns. Address: bcs_region_memory. Cost: two puts to all.
 *
 * @param own_out   the region, for the owner's own commands; memory of the caller's,
 *                  which stays in place until bcs_region_release
 * @return 0        exported; end with bcs_region_release
 * @return -EINVAL  no such number, or no bytes; logged with what is allowed
 * @return -EEXIST this process has exported that number, or has taken it back while
 *                  others still have it imported; or own_out is open; logged
 * @return -ENOMEM the 256 MB of a process for channels and regions are in use, each
 *                  rounded up by an eighth at most; logged
 * @return -EPERM not between bcs_channels_init and bcs_channels_finalize, or another
 *                  thread has regions open; logged
 * @return -EDEADLK in a handler; logged
 * @return <0       -errno of the primitives; logged
 */
BCS_PUBLIC int bcs_region_export(uint32_t number, size_t n_bytes,
                                 struct bcs_remote *own_out);

/**
 * Import region `number` of a process, which may be this one; waits until it is
 * exported. It may be imported several times. Cost: one line, and an atomic addition at
 * its owner; to another machine as a command.
 *
 * @param remote_out   the region, in memory of the caller's that stays in place until
 *                     bcs_region_release
 * @return 0           imported; end with bcs_region_release
 * @return -EINVAL     no such rank or number; logged with what is allowed
 * @return -EEXIST     remote_out is open; logged
 * @return -ENOENT     the process has left the job and has no such region, or it is
 *                     this one; logged
 * @return -ENOMEM     no memory; logged
 * @return -EOWNERDEAD as bcs_remote_wait
 * @return -EPERM, -EDEADLK, <0  as bcs_region_export
 */
BCS_PUBLIC int bcs_region_import(int rank, uint32_t number,
                                 struct bcs_remote *remote_out);

/** bcs_region_import without waiting.
 *  @return as there; -ENOENT also: it is not exported; logged */
BCS_PUBLIC int bcs_region_import_now(int rank, uint32_t number,
                                     struct bcs_remote *remote_out);

/**
 * Close a region here. Another's is forgotten; one's own is taken back: nobody imports
 * it any more, commands of those who have return BCS_E_CLOSED, and its memory is used
 * again when all have released it. Fetches from it that wait here end with
 * BCS_E_CLOSED. Accepts one that is not open.
 *
 * @return 0       closed
 * @return -EPERM  another thread's; logged
 * @return -EDEADLK in a handler; logged
 * @return <0      -errno of the primitives; logged. Closed
 */
BCS_PUBLIC int bcs_region_release(struct bcs_remote *remote);

/** The memory of one's own region, aligned to 64 bytes; NULL if it is another's, or not
 *  open. */
BCS_PUBLIC void *bcs_region_memory(const struct bcs_remote *own);

/** Bytes of a region; 0 if it is not open. */
static inline uint64_t bcs_region_bytes(const struct bcs_remote *remote)
{
    return remote->n_bytes;
}

/* ------------------------------------------------------------------ write and read */

/** Write a word. @param offset a multiple of 8. Cost: two stores and two loads; the
 *  word is at its owner a line later */
static inline int bcs_remote_write_word(const struct bcs_remote *remote,
                                        uint64_t offset, uint64_t word)
{
    int rc = bcs_remote_check(remote, offset, sizeof(word), sizeof(word));

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR ? bcs_remote_far_write_word(remote, offset, word)
                                       : rc;
    }
    /* Pairs with the loads of bcs_remote_read_word, of whoever waits for it, and of the
     * owner. */
    __atomic_store_n(bcs_remote_word(remote, offset), word, __ATOMIC_RELEASE);
    *remote->is_unsettled = 1;
    return bcs_remote_after_change(remote);
}

/** Read a word. @param offset  a multiple of 8. Cost: a line there and back */
static inline int bcs_remote_read_word(const struct bcs_remote *remote, uint64_t offset,
                                       uint64_t *word_out)
{
    int rc = bcs_remote_check(remote, offset, sizeof(*word_out), sizeof(*word_out));

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? bcs_remote_far_read_word(remote, offset, word_out)
                   : rc;
    }
    bcs_remote_before_read(remote);
    /* Pairs with all that changes words. */
    *word_out = __atomic_load_n(bcs_remote_word(remote, offset), __ATOMIC_ACQUIRE);
    return bcs_remote_after_read(remote);
}

/** Write a block, at any offset, from lower to higher addresses, each aligned word of
 *  it whole. Cost: a line for each line, which overlap */
BCS_PUBLIC int bcs_remote_write(const struct bcs_remote *remote, uint64_t offset,
                                const void *data, size_t n_bytes);

/** Read a block, in the same manner. */
BCS_PUBLIC int bcs_remote_read(const struct bcs_remote *remote, uint64_t offset,
                               void *data_out, size_t n_bytes);

/* ------------------------------------------------------------------ atomic commands */

/** Compare and swap: if the word is `expected`, it becomes `desired`.
 *  @param offset  a multiple of 8
 *  @param before_out what it was: it was swapped if that is `expected`. Cost: a line
 *  there and back, while which no other process gets at it */
static inline int bcs_remote_compare_swap(const struct bcs_remote *remote,
                                          uint64_t offset, uint64_t expected,
                                          uint64_t desired, uint64_t *before_out)
{
    int rc = bcs_remote_check(remote, offset, sizeof(expected), sizeof(expected));

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? bcs_remote_far_compare_swap(remote, offset, expected, desired,
                                                 before_out)
                   : rc;
    }
    /* Pairs with all commands on the word. */
    (void)__atomic_compare_exchange_n(bcs_remote_word(remote, offset), &expected,
                                      desired, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST);
    *before_out = expected;
    return bcs_remote_after_update(remote);
}

/** Add to a word. @param offset a multiple of 8 @param before_out what it was; may be
 *  NULL. Cost: as bcs_remote_compare_swap */
static inline int bcs_remote_add_word(const struct bcs_remote *remote, uint64_t offset,
                                      uint64_t addend, uint64_t *before_out)
{
    int rc = bcs_remote_check(remote, offset, sizeof(addend), sizeof(addend));
    uint64_t before;

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR
                   ? bcs_remote_far_add_word(remote, offset, addend, before_out)
                   : rc;
    }
    /* Pairs with all commands on the word. */
    before =
        __atomic_fetch_add(bcs_remote_word(remote, offset), addend, __ATOMIC_SEQ_CST);
    if (before_out != NULL) {
        *before_out = before;
    }
    return bcs_remote_after_update(remote);
}

/** An accumulation: each element x of the region becomes x OP operand. */
struct bcs_remote_accumulation {
    enum bcs_op op;       /* all but BCS_OP_COMBINE */
    enum bcs_type type;   /* of 4 or 8 bytes: BCS_INT32 to BCS_DOUBLE */
    const void *operands; /* [count] */
    size_t count;
    void *before_out; /* [count] what the elements were; may be NULL */
};

/**
 * Accumulate: element by element, each by itself atomically, from lower to higher
 * addresses. The operations are those of bcs_reduce. Cost: a line there and back for
 * each line.
 *
 * @param offset    a multiple of the element's size
 * @return -EINVAL also: the operation is not defined on the type, or the type has not 4
 *                  or 8 bytes
 */
BCS_PUBLIC int
bcs_remote_accumulate(const struct bcs_remote *remote, uint64_t offset,
                      const struct bcs_remote_accumulation *accumulation);

/* ------------------------------------------------------------------ indirect commands
 *
 * The place is found by an index or pointer in the same region. To read that and to
 * carry out the command are two steps: other processes' commands may come between. */

/** An indirect place: base + stride * index, where the index is in the region at
 *  index_offset. A pointer is an index with base 0 and stride 1: it holds an offset. */
struct bcs_remote_indirect {
    uint64_t index_offset; /* a multiple of index_bytes */
    uint32_t index_bytes;  /* 4 or 8; it has no sign */
    uint32_t reserved;     /* clear */
    uint64_t base;
    uint64_t stride;
};

/** Find an indirect place. Cost: a line there and back. @return -ERANGE also: it is
 *  beyond all addresses; logged */
BCS_PUBLIC int bcs_remote_find(const struct bcs_remote *remote,
                               const struct bcs_remote_indirect *place,
                               uint64_t *offset_out);

/** bcs_remote_write at an indirect place. */
static inline int bcs_remote_write_indirect(const struct bcs_remote *remote,
                                            const struct bcs_remote_indirect *place,
                                            const void *data, size_t n_bytes)
{
    uint64_t offset;
    int rc = bcs_remote_find(remote, place, &offset);

    return rc != 0 ? rc : bcs_remote_write(remote, offset, data, n_bytes);
}

/** bcs_remote_read at an indirect place. */
static inline int bcs_remote_read_indirect(const struct bcs_remote *remote,
                                           const struct bcs_remote_indirect *place,
                                           void *data_out, size_t n_bytes)
{
    uint64_t offset;
    int rc = bcs_remote_find(remote, place, &offset);

    return rc != 0 ? rc : bcs_remote_read(remote, offset, data_out, n_bytes);
}

/** bcs_remote_accumulate at an indirect place. */
static inline int
bcs_remote_accumulate_indirect(const struct bcs_remote *remote,
                               const struct bcs_remote_indirect *place,
                               const struct bcs_remote_accumulation *accumulation)
{
    uint64_t offset;
    int rc = bcs_remote_find(remote, place, &offset);

    return rc != 0 ? rc : bcs_remote_accumulate(remote, offset, accumulation);
}

/* ------------------------------------------------------------------ buffers
 *
 * A buffer is a part of a region to which any process appends records, which its owner
 * takes, in the order in which they were given room. A full one makes nobody wait who
 * does not want to. A process that is killed while it appends may leave room that is
 * never filled: then bcs_remote_take finds nothing more, and bcs_remote_take_wait finds
 * that the process is dead. */

/** Bytes that a buffer takes besides its records. A record takes its length, rounded up
 *  to a multiple of 8, and 8 bytes; one that does not fit before the end begins anew at
 *  the start. */
enum { BCS_REMOTE_BUFFER_BYTES = 256 };

/**
 * Make a buffer in one's own region, from offset to offset + n_bytes. Before that
 * nobody may append.
 *
 * @param offset    a multiple of 64
 * @param n_bytes   BCS_REMOTE_BUFFER_BYTES + 16 at least; a multiple of 8
 * @return -EPERM   also: the region is another's
 */
BCS_PUBLIC int bcs_remote_make_buffer(const struct bcs_remote *own, uint64_t offset,
                                      uint64_t n_bytes);

/**
 * Append a record to the buffer at an offset. Cost: two lines there and back, and one
 * for each line.
 *
 * @return BCS_E_FULL  the buffer has no room; nothing was appended
 * @return -EINVAL also: there is no buffer at the offset, or the record is longer than
 *                     half of the buffer's bytes; logged
 * @return -EPROTO     the buffer was overwritten; logged
 */
BCS_PUBLIC int bcs_remote_append(const struct bcs_remote *remote, uint64_t offset,
                                 const void *record, size_t n_bytes);

/** The same; waits for room. @return as bcs_remote_append, or bcs_remote_wait */
BCS_PUBLIC int bcs_remote_append_wait(const struct bcs_remote *remote, uint64_t offset,
                                      const void *record, size_t n_bytes);

/**
 * Take the next record out of a buffer of one's own.
 *
 * @param n_most        bytes that record_out has
 * @param n_bytes_out   the record's length; set with BCS_E_TRUNCATED, too
 * @return BCS_E_PENDING    there is none
 * @return BCS_E_TRUNCATED  it is longer than n_most; it stays
 * @return -EPERM           also: the region is another's
 * @return -EPROTO          the buffer was overwritten; logged
 */
BCS_PUBLIC int bcs_remote_take(const struct bcs_remote *own, uint64_t offset,
                               void *record_out, size_t n_most, size_t *n_bytes_out);

/** The same; waits for a record. @return as bcs_remote_take, or bcs_remote_wait */
BCS_PUBLIC int bcs_remote_take_wait(const struct bcs_remote *own, uint64_t offset,
                                    void *record_out, size_t n_most,
                                    size_t *n_bytes_out);

/* ------------------------------------------------------------------ waiting */

/** The part of bcs_remote_wait behind its first look. Programs call bcs_remote_wait.
 *  @return as there */
BCS_PUBLIC int bcs_remote_wait_long(const struct bcs_remote *remote, uint64_t offset,
                                    uint64_t at_least);

/**
 * Wait until a word, of another's region or of one's own, is at_least so much; numbers
 * have no sign. Meanwhile the fetches of this process go on. It waits as channels do;
 * asleep it is woken by the command that makes it true.
 *
 * A word that is at_least so much for a while, and less again before it was looked at,
 * may be missed: use words that grow.
 *
 * @param offset       a multiple of 8
 * @return BCS_E_CLOSED the owner has taken the region back, and the word is less; or is
 *                     on another machine and has left the job
 * @return -EOWNERDEAD a process of the job has ended without bcs_channels_finalize,
 *                     which might be the one that was to change it; logged. Found while
 *                     it sleeps, within a tenth of a second for each 64 processes
 * @return -EDEADLK    in a handler; or all other processes have left the job; logged
 * @return <0          -errno of the primitives; logged
 */
static inline int bcs_remote_wait(const struct bcs_remote *remote, uint64_t offset,
                                  uint64_t at_least)
{
    int rc = bcs_remote_check(remote, offset, sizeof(uint64_t), sizeof(uint64_t));

    if (rc != 0) {
        return rc == BCS_REMOTE_IS_FAR ? bcs_remote_wait_long(remote, offset, at_least)
                                       : rc;
    }
    bcs_remote_before_read(remote);
    /* Pairs with all that changes words. */
    return __atomic_load_n(bcs_remote_word(remote, offset), __ATOMIC_ACQUIRE) >=
                   at_least
               ? 0
               : bcs_remote_wait_long(remote, offset, at_least);
}

/* ------------------------------------------------------------------ fetch on
 * condition */

/** An event: counts the fetches that have ended. Clear it before its first use. */
struct bcs_remote_event {
    uint64_t count; /* that have ended, however */
    int32_t result; /* of the first one that did not end with 0; else 0 */
    uint32_t reserved;
};

/**
 * A fetch: when the word is at_least so much, bytes of the same region come to
 * data_out. The caller's memory; it and data_out are the library's from
 * bcs_remote_fetch until the fetch has ended.
 */
struct bcs_remote_fetch {
    uint64_t word;     /* offset, a multiple of 8 */
    uint64_t at_least; /* numbers have no sign */
    uint64_t offset;   /* of the bytes, any */
    size_t n_bytes;    /* may be 0 */
    void *data_out;
    struct bcs_remote_event *event; /* counts it when it has ended */
    int32_t result; /* then: 0, or BCS_E_CLOSED: the region was taken back, or released
                       here */
    uint32_t reserved;
    /* Of the library. */
    const struct bcs_remote *remote;
    struct bcs_remote_fetch *next;
};

/**
 * Start a fetch. Never waits: if the condition is true already, it has ended when this
 * returns; else it waits in a queue of its own, in which no fetch waits for another,
 * and no other command for it. The queue is gone through by the functions below and by
 * all that wait here, and while they sleep whoever makes a condition true wakes them.
 * [section 5: "the execution of a command cannot block the network"; section 4.1:
 * "fetch data from a processor once a specific condition has been met"]
 *
 * Cost: a look at the word, and at each fetch in the queue.
 *
 * @return 0         started
 * @return -EALREADY this very fetch was started before, and has not ended; it goes on
 *                   as it was; logged
 * @return as the commands: not started
 */
BCS_PUBLIC int bcs_remote_fetch(const struct bcs_remote *remote,
                                struct bcs_remote_fetch *fetch);

/** Go through the queue, and look at an event. Cost: a look at one line for each fetch
 *  in the queue. @return 0: it has counted so many at least; BCS_E_PENDING: it has not;
 *  -EPERM as every command */
BCS_PUBLIC int bcs_remote_test(const struct bcs_remote_event *event, uint64_t count);

/** Wait until an event has counted so many. @return 0: it has, look at its result;
 *  -EINVAL: there are not so many fetches, so it never will; logged; else as
 *  bcs_remote_wait */
BCS_PUBLIC int bcs_remote_wait_event(const struct bcs_remote_event *event,
                                     uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
