/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BSPlib on cBSP: the interface of "BSPlib: The BSP programming library" (Hill, McColl,
 * Stefanescu, Goudreau, Lang, Rao, Suel, Tsantilas, Bisseling 1998), for programs that
 * were written for it. Link with libbcs_bsp; start by any launcher with PMIx, or alone.
 * New programs that know how many messages to expect should use <bcs/cbsp.h>.
 *
 * Every error is found by the process that makes it, or at the next bsp_sync by all,
 * and ends the job with one line, as bsp_abort does. Where the paper leaves something
 * open, it is said here. One thread of a process is in these functions at a time.
 *
 * Costs are given in messages of cBSP (cBSP_send) for p processes: what is not
 * mentioned is local. Data that are not written at once are copied once more, to memory
 * that is kept for the next superstep.
 */
#ifndef BSP_H
#define BSP_H

#include <stdarg.h>

#include <bcs/public.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- begin and end */

/** If the parallel part is not main: says that it is spmd_part. First statement of
 *  main. Returns in process 0 only; the others run spmd_part, and exit with status
 *  0. */
BCS_PUBLIC void bsp_init(void (*spmd_part)(void), int argc, char *argv[]);

/** Begin the parallel part, with at most maxprocs processes (process 0's counts).
 *  Processes that are too many exit with status 0 when the part ends. Once in a
 *  program. Cost: cBSP_initialize, if bsp_init has not been called, and a
 *  cBSP_broadcast. */
BCS_PUBLIC void bsp_begin(int maxprocs);

/** End the parallel part. Collective. Cost: a superstep as of bsp_sync, and
 *  cBSP_finalize. */
BCS_PUBLIC void bsp_end(void);

/** Print a message, in printf's form, and end the whole job with a status other than
 *  0. */
BCS_PUBLIC void bsp_abort(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** bsp_abort with a list of arguments. */
BCS_PUBLIC void bsp_abort_va(const char *format, va_list arguments);

/** Number of processes of the parallel part; before it, how many there can be. */
BCS_PUBLIC int bsp_nprocs(void);

/** Number of this process; in the parallel part only. */
BCS_PUBLIC int bsp_pid(void);

/** Seconds since bsp_begin, by this process's clock; in the parallel part only. */
BCS_PUBLIC double bsp_time(void);

/** End the superstep: all communication of it is done when this returns. Collective.
 *  Cost: a cBSP_gsync; if any process gets something, a superstep that ends by
 *  counting, with one message for each get; p messages of each process that has
 *  registered, popped, or set the size of tags. */
BCS_PUBLIC void bsp_sync(void);

/* ------------------------------------------------------ memory of other processes */

/** Register memory: all processes do so in the same order, each with its own address
 *  and size; from the next superstep on, an address stands for those of all. NULL with
 *  size 0: this process has no part in it. Cost: 16 bytes of memory for each process;
 *  see bsp_sync. */
BCS_PUBLIC void bsp_push_reg(const void *ident, int size);

/** End the registration that was made last with this address, from the next superstep
 *  on. Collective; the registration must be the same one in all processes. A process
 *  with no part in it gives NULL; if all do, it is the last one in which none had a
 *  part. */
BCS_PUBLIC void bsp_pop_reg(const void *ident);

/** Copy nbytes to process pid, to where dst stands for there, plus offset. src may be
 *  used again at once. Written at the end of the superstep, after all gets; those to
 *  the same place in the order of the processes that made them. 0 bytes: no effect, and
 *  nothing is checked. Cost: one message of nbytes and 16, and, as of all four, a look
 *  at the registrations, the last one used first. */
BCS_PUBLIC void bsp_put(int pid, const void *src, void *dst, int offset, int nbytes);

/** As bsp_put, but neither buffered nor ordered: neither memory may be used by anything
 *  else in this superstep. Cost: one message of nbytes. */
BCS_PUBLIC void bsp_hpput(int pid, const void *src, void *dst, int offset, int nbytes);

/** Copy nbytes from process pid, from where src stands for there, plus offset, as they
 *  are at the end of the superstep before anything is put. Those to the same place are
 *  written in the order of the processes that they are from. Cost: one message of 32
 *  bytes, and one of nbytes and 16 back. */
BCS_PUBLIC void bsp_get(int pid, const void *src, int offset, void *dst, int nbytes);

/** As bsp_get, but written at any time in bsp_sync and in any order. Cost: as bsp_get;
 *  the data come without a copy. */
BCS_PUBLIC void bsp_hpget(int pid, const void *src, int offset, void *dst, int nbytes);

/* ------------------------------------------------------------------------ messages */

/** Set the size of messages' tags from the next superstep on, at first 0; collective,
 *  with the same size. Gives the size that was set before. */
BCS_PUBLIC void bsp_set_tagsize(int *tag_nbytes);

/** Send a message with a tag, which process pid finds in its queue in the next
 *  superstep. Both may be used again at once. Cost: one message of both. */
BCS_PUBLIC void bsp_send(int pid, const void *tag, const void *payload,
                         int payload_nbytes);

/** How many messages are in the queue, and how long their payloads are, together. The
 *  queue is in the order of the senders, the last process first; those of one in the
 *  order in which they were sent. (BSPlib defines no order.) Cost: a look at each
 *  message in the queue. */
BCS_PUBLIC void bsp_qsize(int *nmessages, int *accum_nbytes);

/** The payload's length of the first message in the queue, and its tag; -1 and none if
 *  it is empty. */
BCS_PUBLIC void bsp_get_tag(int *status, void *tag);

/** Take the first message out of the queue, with at most reception_nbytes of its
 *  payload. */
BCS_PUBLIC void bsp_move(void *payload, int reception_nbytes);

/** Take the first message out of the queue, where it is: until the end of the
 *  superstep, and aligned for any type. @return length of the payload; -1: the queue is
 *  empty */
BCS_PUBLIC int bsp_hpmove(void **tag_ptr, void **payload_ptr);

#ifdef __cplusplus
}
#endif

#endif
