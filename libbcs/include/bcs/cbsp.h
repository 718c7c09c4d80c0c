/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cBSP: counting bulk-synchronous programs. A program goes in *supersteps*; what is
 * sent in one is at its destination at the beginning of the next. Where a process knows
 * how many messages a superstep brings, it synchronizes by counting them (cBSP_nsync),
 * and no message is needed for that; elsewhere by a barrier (cBSP_gsync). The names are
 * those of the cBSP paper; [cBSP n] names its section.
 *
 * Use. The processes are started by any launcher with PMIx (bcsrun, mpirun, srun), or
 * one alone. Each calls cBSP_initialize, and before it ends cBSP_finalize. Link with
 * libbcs. MPI may be used in the same program, with or without libbcs_mpi.so. One
 * thread of a process is in these functions at a time. In a forked child all of them
 * fail, with a message, and the job goes on.
 *
 * Supersteps. The first begins with cBSP_initialize; every call of cBSP_nsync or
 * cBSP_gsync ends one, and so does every superstep that cBSP_broadcast and cBSP_reduce
 * take. Every process goes through all supersteps, in one and the same order. In a
 * superstep some may call cBSP_nsync while others still compute; but if one ends a
 * superstep with cBSP_gsync, all must. A process may be ahead of another by as many
 * supersteps as messages allow: if it only sends, it waits when it is a few ahead.
 *
 * Results. 0: success; negative: -errno, and one line on standard error has told what
 * is wrong and where. -EINVAL and -EACCES refuse one call and change nothing. The
 * results that cBSP_nsync documents as ends of the job are returned, from then on, by
 * every call in every process: the program can only end, with a status other than 0.
 *
 * Costs are given for p processes. A *transfer* is one Xfer-And-Signal
 * (<bcs/primitives.h>) to one process, or, where it says so, to all. Nobody waits for a
 * round trip, but where it says so. cBSP_counts counts them. What is not mentioned is
 * constant and local.
 */
#ifndef BCS_CBSP_H
#define BCS_CBSP_H

#include <stddef.h>
#include <stdint.h>

#include <bcs/public.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ begin and end */

/**
 * Join the job: agree with all other processes on numbers and buffers. Collective; once
 * in the life of a process. May be called before or after MPI_Init. Reads the same
 * environment as bcs_init of <bcs/bcs.h>. [cBSP 4.3, 5.1]
 *
 * Cost: a few allgathers and fences by the launcher, with less than 1 KB of each
 * process; one transfer to all; address space for p * p * 4 buffers, of which pages are
 * taken as they are used.
 *
 * @return 0           end with cBSP_finalize
 * @return -EALREADY   called before in this process; logged
 * @return -EINVAL a BCS_ variable is unknown or has a bad value, or the processes have
 *                     different ones; logged
 * @return -ELIBACC    there is a launcher, but libpmix.so.2 cannot be loaded; logged
 * @return -EIO        the launcher's PMIx does not answer as it should; logged
 * @return -ENOTSUP no transport reaches all processes of the job; logged by process 0
 * @return -EPERM      BCS_COPY=direct, but the system forbids it; logged by process 0
 * @return -E2BIG      more than 65536 processes; logged
 * @return -ENOMEM     logged
 * @return <0          -errno of the system; logged
 */
BCS_PUBLIC int cBSP_initialize(void);

/**
 * Leave the job. Collective: a cBSP_gsync, then the buffers are given back. Messages
 * that were sent and not synchronized yet are delivered, and their handlers run. Cost:
 * p transfers by each process, and a cBSP_gsync.
 *
 * @return 0        left
 * @return -EPROTO  messages arrived that no cBSP_nsync has counted; logged. Left
 * @return -EPERM not between cBSP_initialize and cBSP_finalize, or in a handler; logged
 * @return <0       as cBSP_nsync. Left
 */
BCS_PUBLIC int cBSP_finalize(void);

/** Number of processes; 0 before cBSP_initialize and after cBSP_finalize. */
BCS_PUBLIC int cBSP_nprocs(void);

/** Number of this process, 0 to cBSP_nprocs() - 1; -1 before and after. */
BCS_PUBLIC int cBSP_pid(void);

/* --------------------------------------------------------------- memory of others
 *
 * A process *exports* a region of its memory, by which it lets all others write there,
 * and gives it a number. Others *import* it, by which they learn its address. A message
 * to an address that was not imported is refused at its sender. Numbers are a process's
 * own, so that the same program exports the same number everywhere. [cBSP 3] */

/** Region numbers are 0 to CBSP_MAX_REGIONS - 1. */
#define CBSP_MAX_REGIONS 256

/**
 * Export n_bytes at address as region number `region` of this process. Others may
 * import it after a cBSP_gsync. The memory stays the caller's, must live until
 * cBSP_unexport or cBSP_finalize, and should not be touched where messages are on their
 * way to: they are written while this process is in cBSP_nsync or cBSP_gsync. Regions
 * may overlap. Cost: two transfers to all.
 *
 * @return 0        exported
 * @return -EINVAL  no such number, or address is NULL and n_bytes is not 0; logged
 * @return -EEXIST  the number is in use; logged
 * @return -EPERM   not between cBSP_initialize and cBSP_finalize; logged
 * @return <0       as cBSP_nsync
 */
BCS_PUBLIC int cBSP_export(int region, void *address, size_t n_bytes);

/**
 * Take a region back. Sends to it are refused from the next cBSP_gsync on, until which
 * its memory must live; after that the number may be exported again. Cost: two
 * transfers to all; in their next cBSP_gsync all look through what they have imported.
 *
 * @return 0        taken back
 * @return -EINVAL  no such number, or it is not exported; logged
 * @return -EPERM   as cBSP_export
 * @return <0       as cBSP_nsync
 */
BCS_PUBLIC int cBSP_unexport(int region);

/**
 * Import a region that `node` has exported before the last cBSP_gsync; also a region of
 * one's own. Importing it again gives the same again. Cost: no transfer; a look at each
 * import from that node, and memory for one more.
 *
 * @param address_out where it begins in the memory of that process: the destinations of
 *                     cBSP_send are this plus an offset
 * @param n_bytes_out  its length; may be NULL
 * @return 0        imported
 * @return -EINVAL  no such node or number; logged
 * @return -ENOENT  the node has not exported it; logged
 * @return -ENOMEM
 * @return -EPERM   as cBSP_export
 * @return <0       as cBSP_nsync
 */
BCS_PUBLIC int cBSP_import(int node, int region, void **address_out,
                           size_t *n_bytes_out);

/* ------------------------------------------------------------------- the messages */

/**
 * A function that the receiver of a message runs within cBSP_nsync or cBSP_gsync, in
 * the thread that called it, after the data are at their destination. The order of
 * messages is not defined, but one handler is done before the next begins. [cBSP 4.3]
 *
 * It may call cBSP_send, cBSP_import, cBSP_pid and cBSP_nprocs. What it sends belongs
 * to the superstep that begins when the synchronization ends. It must not synchronize.
 *
 * @param srcNode   who sent the message
 * @param destAddr where the data are: the destination of cBSP_send; or, if that was
 *                  NULL, a receive buffer, aligned to 8 bytes, until the handler
 *                  returns
 * @param nBytes    length of the data
 */
typedef void (*cBSP_handler_fn)(int srcNode, void *destAddr, int nBytes);

/**
 * Send a message: n_bytes at srcAddr are written to destAddr in the process `node` by
 * the beginning of the next superstep, and then handler is run there. Never waits.
 * srcAddr may be used again at once. [cBSP 4.3, 5]
 *
 * Cost: one transfer with up to 224 bytes; three with more. A message longer than a
 * buffer (4 to 64 KB, by p) is copied to memory and announced by one transfer; then the
 * receiver reads it in one copy, or, as between machines, it follows in pieces of up to
 * a buffer. What finds the buffer full is copied to memory, too, and goes when this
 * process synchronizes. If it is not known that the receiver has ended the superstep
 * four before: up to three queries, each a round trip, and one transfer. Local: a look
 * at the imports from that node, the last one used first.
 *
 * One may send to oneself. A message of 0 bytes is counted and handled as any other;
 * its addresses are not looked at. Nothing orders messages, not even of one sender to
 * the same address.
 *
 * @param node      0 to cBSP_nprocs() - 1
 * @param destAddr within a region that this process has imported from node, with
 *                  n_bytes; or NULL: the handler gets the data where they have arrived
 * @param srcAddr   read before the call returns
 * @param handler a function of the program or of a library that both processes have
 *                  loaded, given by its address in this process (processes need not
 *                  have it at the same address); or NULL: none
 * @return 0          sent
 * @return -EINVAL no such node, srcAddr is NULL, NULL destination without a handler, or
 *                    a handler in no loaded program or library; logged
 * @return -EACCES destAddr is not within an imported region; logged with the next one
 * @return -EMSGSIZE with a handler and more than INT_MAX bytes: it could not be told
 *                    how many; logged
 * @return -ENOMEM    no memory to keep the message in; logged, nothing was sent
 * @return -EPERM     not between cBSP_initialize and cBSP_finalize; logged
 * @return <0         as cBSP_nsync
 */
BCS_PUBLIC int cBSP_send(int node, void *destAddr, const void *srcAddr, size_t n_bytes,
                         cBSP_handler_fn handler);

/* ---------------------------------------------------------------- synchronization */

/**
 * End the superstep when `count` messages of it have arrived in this process, have been
 * written to their destinations, and their handlers have run. Messages that others have
 * sent in later supersteps are not counted, and keep. If something that this process
 * has sent did not fit into a buffer, it waits until that has gone, too. [cBSP 4.2,
 * 4.3, 5.2]
 *
 * To find out whether the messages are there it looks at its own memory only, and
 * nothing is transferred. It transfers what others wait for: to the sender of a message
 * longer than a buffer, that it has been read; to a sender whose messages overflow a
 * buffer, that it may go on; to a sender that is four supersteps ahead, that this
 * process has ended the one that it waits for; messages that were kept; and, after it
 * has slept in vain, a record of what it waits for. Whether a receiver has ended a
 * superstep is asked by its sender, by Compare-And-Write, when it writes a message: in
 * cBSP_send or, for one that was kept, here.
 *
 * Cost: no transfer but these; a look at one word for each process, again and again
 * until the messages are there, and one copy of each. Sleeps after BCS_SPIN.
 *
 * Ends of the job:
 *
 * @param count  all messages of this superstep to this process, those it has sent to
 *               itself among them
 * @return 0         a new superstep has begun
 * @return -EINVAL   count is negative; logged
 * @return -EPERM not between cBSP_initialize and cBSP_finalize, or in a handler; logged
 * @return -EDEADLK end of the job: every process waits and none can go on, as a count
 *                   can never be reached, or some call cBSP_gsync where others do not;
 *                   one process logs who waits for how many messages and has how many
 * @return -EPROTO end of the job: more messages of a superstep have arrived than were
 *                   counted, or processes call cBSP_gsync in different supersteps;
 *                   logged by the process that noticed: at this call, or when the next
 *                   message of that sender arrives, or at cBSP_finalize
 * @return -ENOEXEC  end of the job: a handler is in a library that this process has not
 *                   loaded; logged
 * @return <0        end of the job: -errno; logged
 */
BCS_PUBLIC int cBSP_nsync(int count);

/**
 * End the superstep when all processes have called this, and all messages of the
 * superstep to this process have been written and handled, however many. [cBSP 4.3]
 * Cost: on a tree of up to 8 children a process, one transfer to the parent, and then
 * one to all children, from level to level; otherwise as cBSP_nsync.
 *
 * @return as cBSP_nsync
 */
BCS_PUBLIC int cBSP_gsync(void);

/* ------------------------------------------------------------------- built of these
 *
 * Called by all processes at the beginning of a superstep, when nothing has been sent
 * in it. They end by counting, and need no regions. */

/**
 * Broadcast: every process gets the root's n_bytes at data, the same number everywhere.
 * Takes one superstep, and p - 1 messages by the root; 16 bytes of memory for each
 * process.
 *
 * @return 0          done
 * @return -EINVAL    no such root, or data is NULL; logged
 * @return -EMSGSIZE  more than INT_MAX bytes; logged
 * @return -EBUSY     this process has sent something in this superstep; logged
 * @return -EPERM     as cBSP_nsync
 * @return -ENOMEM    logged; others wait for this process, which can only end
 * @return -EPROTO    also: end of the job, as lengths or roots differ; logged
 * @return <0         as cBSP_nsync
 */
BCS_PUBLIC int cBSP_broadcast(int root, void *data, size_t n_bytes);

/** into[i] = into[i] combined with from[i], for count elements; into is of lower
 *  processes. */
typedef void (*cBSP_combine_fn)(void *into, const void *from, size_t count);

/**
 * Reduction: the vectors of all processes are combined, element by element, and all get
 * the result, of equal bits everywhere: they are combined in the order of the
 * processes' numbers. Takes one superstep in which each sends its vector to all others,
 * or for vectors of more than 2 KB two, in which each combines its share and sends the
 * result: p - 1 messages by each of n bytes, or 2 (p - 1) of n / p; memory for p
 * vectors, or p shares.
 *
 * @param data           this process's vector; then the result
 * @param count          elements; the same everywhere
 * @param element_bytes  at least 1
 * @param combine        associative: one of those below, or the program's own
 * @return -EINVAL  also: element_bytes is 0, or combine is NULL; logged
 * @return as cBSP_broadcast
 */
BCS_PUBLIC int cBSP_reduce(void *data, size_t count, size_t element_bytes,
                           cBSP_combine_fn combine);

/** Add doubles, for cBSP_reduce. */
BCS_PUBLIC void cBSP_add_double(void *into, const void *from, size_t count);

/** The larger of doubles, for cBSP_reduce. */
BCS_PUBLIC void cBSP_max_double(void *into, const void *from, size_t count);

/** The smaller of doubles, for cBSP_reduce. */
BCS_PUBLIC void cBSP_min_double(void *into, const void *from, size_t count);

/** Add int64_t, for cBSP_reduce. */
BCS_PUBLIC void cBSP_add_int64(void *into, const void *from, size_t count);

/* ------------------------------------------------------------------------- counts */

/** What this process has done since cBSP_initialize. */
struct cBSP_counts {
    uint64_t n_supersteps;      /* ended, by either synchronization */
    uint64_t n_nsyncs;          /* of these, ended by counting */
    uint64_t n_messages_sent;   /* by cBSP_send and in broadcasts and reductions */
    uint64_t n_messages_taken;  /* delivered to this process */
    uint64_t n_transfers;       /* Xfer-And-Signals started, all of them */
    uint64_t n_nsync_transfers; /* of these, within cBSP_nsync, without its handlers */
    uint64_t
        n_record_transfers; /* of these, to tell all for what it waits, and later that
                                  * it goes on: after a sleep in vain, in any call */
    uint64_t n_queries;     /* Compare-And-Writes: has a receiver room? */
    uint64_t n_overflows;   /* times that a receive buffer was full */
    uint64_t n_large;       /* messages sent that were longer than a buffer */
    uint64_t n_sleeps;      /* times that this process slept while it waited */
    uint64_t reserved[5];   /* 0 */
};

/** Read the counts. @return 0, or -EPERM as cBSP_export */
BCS_PUBLIC int cBSP_counts(struct cBSP_counts *counts_out);

#ifdef __cplusplus
}
#endif

#endif
