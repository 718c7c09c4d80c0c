/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of deadlocks.c that stand in its other file, and what these share. */
#ifndef TESTS_SYSTEM_DEADLOCKS_H
#define TESTS_SYSTEM_DEADLOCKS_H

/** Compute for so many milliseconds. */
void compute(int ms);

/** Rank 0 waits for eight messages of the last rank, which computes, and for one of rank 1, which
 *  waits for it. */
void ninth_of_many_receives(void);

/** A long send goes on without a handle, and nobody receives it. */
void send_without_request(void);

/** The same of one that is buffered, as its buffer is detached. */
void send_from_buffer(void);

/** All wait for each other by a communicator that has been freed meanwhile. */
void receives_on_freed_communicator(void);

/** While MPI_Init_thread runs, a thread of the program starts another one, which lets all go on. */
void late_thread_of_the_start(void);

/** To be called before MPI_Init_thread, for that case. */
void begin_late_thread(void);

#endif
