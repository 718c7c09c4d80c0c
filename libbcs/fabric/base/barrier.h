/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memory barrier of one thread for all of them: who stores and then loads often need
 * not have one, if who meets it seldom has this. Of all processes that have called
 * bcs_barrier_join, by membarrier. Any thread.
 *
 * Thread A stores X, and then, in the order of the program, loads Y. Thread B stores Y,
 * calls bcs_barrier_all, and then loads X. Then A has loaded what B stored, or B loads
 * what A stored: the call puts a full barrier into the order of each running thread,
 * and one that does not run has gone through one. The compiler must keep A's order
 * (__atomic_signal_fence).
 */
#ifndef LIBBCS_FABRIC_BASE_BARRIER_H
#define LIBBCS_FABRIC_BASE_BARRIER_H

/** Take part, with all threads of this process. @return 0, or -ENOSYS: the system has
 *  no such barrier, or forbids it */
int bcs_barrier_join(void);

/** The barrier. One system call, which interrupts the cores where such processes
 *  run. */
void bcs_barrier_all(void);

#endif
