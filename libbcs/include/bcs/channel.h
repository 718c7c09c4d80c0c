/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open channels: a word, or a record of up to 64 bytes, from one process of a job to
 * another for about the price of a cache line. A channel is opened once, with all
 * checks, and stays open; to send is to store the data and their mark, to receive is to
 * look at the mark and to load the data. Both are inline here: no call, no descriptor,
 * no header, and nothing is checked. [Low Latency Messages, section 4: "a message is
 * just data"]
 *
 * Use. The processes are started by any launcher with PMIx (bcsrun, mpirun, srun), or
 * one alone. Each calls bcs_channels_init, opens its ends of channels, and ends with
 * bcs_channels_finalize. Link with libbcs. MPI and cBSP may be used in the same
 * program, with or without libbcs_mpi.so. In a forked child everything that opens
 * fails, with a message; its ends must not be used.
 *
 * Channels. A channel has one writer and one reader, which may be one process. It is
 * known by these two and by a number: what rank 0 opens to write to rank 1 as number 5,
 * rank 1 opens to read from rank 0 as number 5. Opening waits for nobody: until the
 * other end is open the channel has no room for its writer, and nothing comes to its
 * reader. The n-th opening of a number at one end meets the n-th at the other. What was
 * sent arrives in its order. A channel touches nothing but its own memory: who does not
 * read it stops its writer, and nobody else. [section 5: virtual networks, flow
 * control]
 *
 * Messages. The last record of a message may have an end-of-data mark, which the reader
 * can ask for (bcs_channel_is_end). Records without marks are a stream. [section 4]
 *
 * Threads. An end belongs to the thread that has opened it: it alone uses, waits at and
 * closes it. Several threads of a process may open ends; one of them is in
 * bcs_channels_poll at a time. A reader's end may be given to the helper thread of the
 * library, which runs its handler (bcs_channel_set_helper); there is no such thread
 * before, nor after the last was taken back.
 *
 * Results. 0: success; positive: of <bcs/status.h>; negative: -errno, and one line on
 * standard error has told what is wrong, with the channel's name.
 *
 * Costs. A *line* is the time that a cache line takes from one core to another. What
 * waits does so as everything in the library: it looks at once, then with pauses, and,
 * where the job has more processes than cores, yields; after BCS_SPIN it sleeps, and
 * whoever brings what it waits for wakes it by one call of the system. While nobody
 * sleeps, nobody calls the system.
 *
 * Where it works: between all processes of a job. On one machine it does not matter how
 * BCS_NODE_RANKS cuts them into nodes. Between machines an end cannot store into the
 * other's memory. There each call that sends is one put (<bcs/primitives.h>) of up to
 * 128 bytes for each block that it writes to, and the reader puts 8 bytes for each
 * quarter of the blocks. Each put rings the bell of the other process. Where the
 * transport may be late, each put is followed by a bcs_core_flush.
 */
#ifndef BCS_CHANNEL_H
#define BCS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bcs/channel_ring.h>
#include <bcs/public.h>
#include <bcs/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ begin and end */

/**
 * Join the job: agree with all other processes. Collective; once in the life of a
 * process. May be called before or after MPI_Init. Reads the same environment as
 * bcs_init of <bcs/bcs.h>.
 *
 * Cost: a few allgathers and fences by the launcher; address space of 256 MB and 40 KB
 * a process, for each process, of which pages are taken as channels and regions
 * (<bcs/remote.h>) need them.
 *
 * @return 0           end with bcs_channels_finalize
 * @return -EALREADY   called before in this process; logged
 * @return -EINVAL a BCS_ variable is unknown or has a bad value, or the processes have
 *                     different ones; logged
 * @return -ELIBACC    there is a launcher, but libpmix.so.2 cannot be loaded; logged
 * @return -EIO        the launcher's PMIx does not answer as it should; logged
 * @return -ENOTSUP no transport reaches all processes of the job; logged by process 0
 * @return -ENOSYS the system has no membarrier for processes (Linux 4.16), or forbids
 *                     it, without which a sender could not be as quick as it is; logged
 * @return -E2BIG      more than 4096 processes; logged
 * @return -ENOMEM     logged
 * @return <0          -errno of the system; logged
 */
BCS_PUBLIC int bcs_channels_init(void);

/**
 * Close all ends that are open, and leave. Waits for nobody: what was sent stays
 * readable for its readers, which find the channel closed behind it. No thread may be
 * using an end.
 *
 * @return 0       left
 * @return -EPERM  not between bcs_channels_init and here, or in a handler; logged
 * @return <0      -errno of the primitives; logged. Left
 */
BCS_PUBLIC int bcs_channels_finalize(void);

/** Number of processes; 0 before bcs_channels_init and after bcs_channels_finalize. */
BCS_PUBLIC int bcs_channels_size(void);

/** Rank of this process, as in MPI_COMM_WORLD; -1 before and after. */
BCS_PUBLIC int bcs_channels_rank(void);

/* ------------------------------------------------------------------ opening */

enum {
    BCS_CHANNEL_NUMBERS = 256,           /* numbers are 0 to this - 1 */
    BCS_CHANNEL_RECORD_MOST = 64,        /* bytes */
    BCS_CHANNEL_CAPACITY_MOST = 1 << 20, /* records */
};

/** A channel, as one end names it; the last two must be the same at both ends. */
struct bcs_channel_params {
    int32_t peer;    /* rank of the process at the other end; may be the own one */
    uint32_t number; /* below BCS_CHANNEL_NUMBERS */
    uint32_t record_bytes; /* 1 to BCS_CHANNEL_RECORD_MOST; of words 8 */
    uint32_t
        capacity; /* 1 to BCS_CHANNEL_CAPACITY_MOST records that always have room */
    uint64_t reserved[2]; /* clear */
};

/**
 * Open the end of a channel that this process writes to. Cost: one put of 64 bytes to
 * the peer, which is there when this returns.
 *
 * @param out_out   the end; the library's, until bcs_channel_close_out
 * @return 0        open
 * @return -EINVAL no such rank or number, a length, capacity or reserved member out of
 *                  range; logged with what is allowed
 * @return -EEXIST  this process has that end open; logged
 * @return -EPERM   not between bcs_channels_init and bcs_channels_finalize; logged
 * @return -EDEADLK in a handler; logged
 * @return -ENOMEM  logged; as bcs_channel_open_in, if the peer is on another machine
 * @return <0       -errno of the primitives; logged
 */
BCS_PUBLIC int bcs_channel_open_out(const struct bcs_channel_params *params,
                                    struct bcs_channel_out **out_out);

/**
 * Open the end of a channel that this process reads from. The records are in memory of
 * this process: 64 bytes for 7 words or shorter records, for two to three of up to 24
 * bytes, for one of up to 56; 128 bytes for one longer; and a quarter more, rounded up
 * by an eighth at most. Cost: as bcs_channel_open_out.
 *
 * @param in_out    the end; the library's, until bcs_channel_close_in
 * @return -ENOMEM also: the 256 MB of a process for channels and regions are in use;
 *                  logged
 * @return as bcs_channel_open_out
 */
BCS_PUBLIC int bcs_channel_open_in(const struct bcs_channel_params *params,
                                   struct bcs_channel_in **in_out);

/**
 * Close an end, which does not exist any more then. What was sent stays readable.
 * Accepts NULL. Cost: a put of 8 bytes.
 *
 * @return 0       closed
 * @return -EPERM  another thread has opened it; logged
 * @return -EDEADLK in a handler; logged
 * @return <0      -errno of the primitives. Closed
 */
BCS_PUBLIC int bcs_channel_close_out(struct bcs_channel_out *out);

/** The same for the end of a reader; what is unread is lost, and its writer finds the
 *  channel closed when it is out of room. */
BCS_PUBLIC int bcs_channel_close_in(struct bcs_channel_in *in);

/* ------------------------------------------------------------------ waiting */

/**
 * Wait until a channel has room for a record, and so until its other end is open, too.
 *
 * @return 0             it has
 * @return BCS_E_CLOSED its reader has closed it, or has called bcs_channels_finalize
 *                       without opening it, which is found as a death is
 * @return -EPROTO the reader has opened it with another record length or capacity;
 *                       logged
 * @return -EOWNERDEAD the reader's process, on this machine, has ended without
 *                       bcs_channels_finalize; logged. Found asleep, within 0.1 seconds
 * @return -EPERM another thread has opened this end, or the helper thread has it;
 *                       logged
 * @return -EDEADLK      in a handler, which must not wait; logged
 * @return <0            -errno of the primitives; logged
 */
BCS_PUBLIC int bcs_channel_wait_out(struct bcs_channel_out *out);

/** Wait until something can be received. @return as bcs_channel_wait_out, of the
 *  writer; BCS_E_CLOSED: it has closed the channel, and all was received, or has left,
 *  as there */
BCS_PUBLIC int bcs_channel_wait_in(struct bcs_channel_in *in);

/* ------------------------------------------------------------------ handlers */

/** When the handler of a channel is called. [section 4: the control register] */
enum bcs_channel_when {
    BCS_CHANNEL_NEVER,
    BCS_CHANNEL_ARRIVAL, /* something is unread */
    BCS_CHANNEL_BEGIN,   /* ... and it is the beginning of a message */
    /* The end of a message is among what is unread; or bcs_channel_status_in is
     * BCS_CHANNEL_FULL, as a message that is longer than the channel has room for has
     * its end only when a part of it was received: bcs_channel_is_end tells which it
     * was. */
    BCS_CHANNEL_END,
    BCS_CHANNEL_IF_HALF, /* bcs_channel_status_in is BCS_CHANNEL_HALF at least */
};

/**
 * A handler of a channel, run by bcs_channels_poll in the thread that calls it, or by
 * the helper thread (bcs_channel_set_helper tells what it may do there). In a poll it
 * may receive from its channel and others of this thread, and send, in the forms that
 * try; it may ask for status. What waits, opens, closes or polls returns -EDEADLK. It
 * may call MPI.
 */
typedef void (*bcs_channel_handler_fn)(struct bcs_channel_in *in, void *arg);

/**
 * Set when a channel's handler is called, and which. NULL, or BCS_CHANNEL_NEVER: none.
 * An end that the helper thread has is taken back; if its handler runs, this waits
 * until it has returned.
 *
 * @return 0        set
 * @return -EINVAL  no such condition; logged
 * @return -EPERM another thread has opened this end, or the helper thread has it and
 *                  this is a forked child; logged
 * @return -EDEADLK the helper thread has it, and this is a handler; logged
 */
BCS_PUBLIC int bcs_channel_set_handler(struct bcs_channel_in *in,
                                       enum bcs_channel_when when,
                                       bcs_channel_handler_fn handler, void *arg);

/**
 * The same for a handler that the helper thread of this process runs, whatever the
 * program does meanwhile: what arrives is handled without a poll. The thread is made
 * for the first such end, and ends when the last one is taken back or closed, in
 * bcs_channels_finalize, or, at the exit of a process that has not called that, once
 * the running handler has returned, or a second later.
 *
 * From then on the end is the helper thread's. It is taken back by
 * bcs_channel_set_handler, or here by NULL or BCS_CHANNEL_NEVER, and may be closed as
 * it is; both wait until its handler has returned. Meanwhile the owner finds `in`
 * empty; bcs_channel_wait_in, and so all that wait for records, return -EPERM and name
 * the channel, and bcs_channels_poll passes it by. What the program has written before
 * the end was given is seen by the handler, and what handlers have written by who has
 * taken it back; all else that they share is the program's to protect.
 *
 * What a handler in the helper thread may do. It gets `in` of its own, which is valid
 * until it returns: to receive from, to ask for status, and to set its condition,
 * handler or argument anew (bcs_channel_set_handler, also to BCS_CHANNEL_NEVER). It may
 * send, in the forms that try, by writers' ends of this process that nobody else uses
 * until the reader's end was taken back. It may not open, close, poll or wait here
 * (-EDEADLK), nor use regions (-EDEADLK, -EPERM). It may call MPI only in a program
 * with MPI_THREAD_MULTIPLE. It must return, and not block: all such handlers of a
 * process run one after the other, and who takes an end back waits for them. A handler
 * that receives nothing and leaves its condition true is called again, a thousand times
 * a second at least. No signal is delivered to the thread; it may run on the cores of
 * the thread that has given it the first end.
 *
 * That the writer has closed the channel is not told: take the end back, and receive.
 * That its process has died is told by a line on standard error within a tenth of a
 * second of sleep. So is that the thread ends as the primitives have failed; the next
 * call of this makes it anew, for all ends that it has.
 *
 * Cost: 300 bytes. While no helper thread is asked for, nothing; and a sender's stores
 * and loads are the same with it. The thread looks at a line of each of its channels,
 * for BCS_SPIN after something has come, then it sleeps, until any record comes for it,
 * due or not: that one costs its sender a call of the system.
 *
 * @return 0        given to the helper thread; or taken back
 * @return -EINVAL  no such condition; logged
 * @return -EPERM   another thread has opened this end, or a forked child calls; logged
 * @return -EDEADLK in a handler; logged
 * @return -EAGAIN  the system makes no thread; logged. The end is the caller's
 * @return -ENOMEM  logged; as -EAGAIN
 */
BCS_PUBLIC int bcs_channel_set_helper(struct bcs_channel_in *in,
                                      enum bcs_channel_when when,
                                      bcs_channel_handler_fn handler, void *arg);

/**
 * Call the handler of each channel of this thread that has one and whose condition is
 * true, once: a handler that leaves it true is called again by the next poll. Handlers
 * that the helper thread runs have no part in it.
 *
 * Cost: a look at a line for each channel with a handler; with BCS_CHANNEL_END at each
 * unread one.
 *
 * @return >= 0     how many it has called
 * @return -EDEADLK in a handler; logged
 * @return -EBUSY   another thread polls; logged
 * @return -EPERM   as bcs_channel_open_out
 */
BCS_PUBLIC int bcs_channels_poll(void);

/* ------------------------------------------------------------------ sending
 *
 * n_bytes is the record length that the channel was opened with; a constant makes the
 * copy a move or two. */

/** Send a record, if there is room. @param is_last it ends a message. @return whether
 *  it is sent. Cost: one line on its way, once in a block; two stores otherwise */
static inline bool bcs_channel_try_send(struct bcs_channel_out *out, const void *record,
                                        size_t n_bytes, bool is_last)
{
    if (!bcs_channel_has_room(out, n_bytes)) {
        return false;
    }
    memcpy(out->block + (out->mark & BCS_CHANNEL_COUNT) * bcs_channel_stride(n_bytes),
           record, n_bytes);
    bcs_channel_publish(out, 1, is_last, n_bytes);
    return true;
}

/** Send a record. @return 0, or as bcs_channel_wait_out; then it was not sent */
static inline int bcs_channel_send(struct bcs_channel_out *out, const void *record,
                                   size_t n_bytes, bool is_last)
{
    while (!bcs_channel_try_send(out, record, n_bytes, is_last)) {
        int rc = bcs_channel_wait_out(out);

        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/** Send a word, of a channel with records of 8 bytes. @return as bcs_channel_send */
static inline int bcs_channel_send_word(struct bcs_channel_out *out, uint64_t word)
{
    return bcs_channel_send(out, &word, sizeof(word), false);
}

/** Send as many of n records, one after the other in memory, as there is room for.
 *  Cost: one mark a block. @return how many */
static inline size_t bcs_channel_try_send_many(struct bcs_channel_out *out,
                                               const void *records, size_t n,
                                               size_t n_bytes)
{
    size_t n_sent = 0;

    while (n_sent < n && bcs_channel_has_room(out, n_bytes)) {
        size_t i = (size_t)(out->mark & BCS_CHANNEL_COUNT);
        size_t n_here = bcs_channel_per_block(n_bytes) - i;

        n_here = n_here < n - n_sent ? n_here : n - n_sent;
        bcs_channel_copy(
            out->block + i * bcs_channel_stride(n_bytes), bcs_channel_stride(n_bytes),
            (const uint8_t *)records + n_sent * n_bytes, n_bytes, n_here, n_bytes);
        bcs_channel_publish(out, n_here, false, n_bytes);
        n_sent += n_here;
    }
    return n_sent;
}

/** Send n records. @param n_sent_out how many were sent, on errors, too. @return 0, or
 *  as bcs_channel_wait_out */
static inline int bcs_channel_send_many(struct bcs_channel_out *out,
                                        const void *records, size_t n, size_t n_bytes,
                                        size_t *n_sent_out)
{
    int rc = 0;

    *n_sent_out = 0;
    while (rc == 0) {
        *n_sent_out += bcs_channel_try_send_many(
            out, (const uint8_t *)records + *n_sent_out * n_bytes, n - *n_sent_out,
            n_bytes);
        if (*n_sent_out == n) {
            break;
        }
        rc = bcs_channel_wait_out(out);
    }
    return rc;
}

/* ------------------------------------------------------------------ receiving */

/** Receive a record, if there is one. @return whether there was. Cost: one line, once
 *  in a block; two loads otherwise */
static inline bool bcs_channel_try_receive(struct bcs_channel_in *in, void *record_out,
                                           size_t n_bytes)
{
    if (!bcs_channel_has_record(in, n_bytes)) {
        return false;
    }
    memcpy(record_out, in->block + in->n_read * bcs_channel_stride(n_bytes), n_bytes);
    in->n_read++;
    return true;
}

/** Receive a record. @return 0, or as bcs_channel_wait_in; then none was received */
static inline int bcs_channel_receive(struct bcs_channel_in *in, void *record_out,
                                      size_t n_bytes)
{
    while (!bcs_channel_try_receive(in, record_out, n_bytes)) {
        int rc = bcs_channel_wait_in(in);

        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/** Receive a word, of a channel with records of 8 bytes. @return as
 *  bcs_channel_receive */
static inline int bcs_channel_receive_word(struct bcs_channel_in *in,
                                           uint64_t *word_out)
{
    return bcs_channel_receive(in, word_out, sizeof(*word_out));
}

/** Whether the record that was received last is the end of a message; true before the
 *  first. */
static inline bool bcs_channel_is_end(const struct bcs_channel_in *in)
{
    return in->n_read == 0 ? in->was_end != 0 : (in->mark >> (7 + in->n_read) & 1) != 0;
}

/** Receive up to n records that are there, but none beyond the end of a message.
 *  @return how many */
static inline size_t bcs_channel_try_receive_many(struct bcs_channel_in *in,
                                                  void *records_out, size_t n,
                                                  size_t n_bytes)
{
    size_t n_received = 0;

    while (n_received + bcs_channel_per_block(n_bytes) <= n &&
           bcs_channel_take_block(in, (uint8_t *)records_out + n_received * n_bytes,
                                  n_bytes)) {
        n_received += bcs_channel_per_block(n_bytes);
    }
    while (n_received < n && bcs_channel_has_record(in, n_bytes)) {
        size_t n_here = bcs_channel_n_together(in);

        n_here = n_here < n - n_received ? n_here : n - n_received;
        bcs_channel_copy((uint8_t *)records_out + n_received * n_bytes, n_bytes,
                         in->block + in->n_read * bcs_channel_stride(n_bytes),
                         bcs_channel_stride(n_bytes), n_here, n_bytes);
        in->n_read += n_here;
        n_received += n_here;
        if (bcs_channel_is_end(in)) {
            break;
        }
    }
    return n_received;
}

/** Receive n records, or fewer if a message ends before. @param n_received_out how
 *  many, on errors, too. @return 0, or as bcs_channel_wait_in */
static inline int bcs_channel_receive_many(struct bcs_channel_in *in, void *records_out,
                                           size_t n, size_t n_bytes,
                                           size_t *n_received_out)
{
    int rc = 0;

    *n_received_out = 0;
    while (rc == 0) {
        *n_received_out += bcs_channel_try_receive_many(
            in, (uint8_t *)records_out + *n_received_out * n_bytes, n - *n_received_out,
            n_bytes);
        if (*n_received_out == n || (*n_received_out > 0 && bcs_channel_is_end(in))) {
            break;
        }
        rc = bcs_channel_wait_in(in);
    }
    return rc;
}

/* ------------------------------------------------------------------ status */

/** How full a channel is. [section 4: the status register] */
enum bcs_channel_status {
    BCS_CHANNEL_EMPTY, /* nothing to receive; of a writer: all that it has sent was read
                        */
    BCS_CHANNEL_PARTLY, /* something */
    BCS_CHANNEL_HALF,   /* at least half of its blocks are in use */
    BCS_CHANNEL_FULL,   /* no room */
};

/** The status of a reader's end. Cost: a look at one line if it is empty, else at up to
 *  three. */
static inline enum bcs_channel_status bcs_channel_status_in(struct bcs_channel_in *in)
{
    uint64_t mark;

    if (!bcs_channel_has_record(in, in->record_bytes)) {
        return BCS_CHANNEL_EMPTY;
    }
    mark = bcs_channel_mark_ahead(in, in->n_blocks - 1 - in->n_left);
    if ((mark & BCS_CHANNEL_COUNT) == bcs_channel_per_block(in->record_bytes)) {
        return BCS_CHANNEL_FULL;
    }
    return bcs_channel_mark_ahead(in, in->n_blocks / 2) != 0 ? BCS_CHANNEL_HALF
                                                             : BCS_CHANNEL_PARTLY;
}

/** The status of a writer's end, as far as the reader has freed blocks: while one is
 *  read in part, it is in use. Cost: a look at one line. */
static inline enum bcs_channel_status
bcs_channel_status_out(struct bcs_channel_out *out)
{
    uint64_t n_used;

    if (!bcs_channel_has_room(out, out->record_bytes)) {
        return BCS_CHANNEL_FULL;
    }
    /* As in bcs_channel_next_block. */
    n_used = out->n_begun - __atomic_load_n(out->n_freed, __ATOMIC_ACQUIRE);
    if (n_used == 1 && (out->mark & BCS_CHANNEL_COUNT) == 0) {
        return BCS_CHANNEL_EMPTY;
    }
    return 2 * n_used >= out->n_blocks ? BCS_CHANNEL_HALF : BCS_CHANNEL_PARTLY;
}

#ifdef __cplusplus
}
#endif

#endif
