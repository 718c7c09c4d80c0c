/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process: within MPI_Finalize, once all callbacks are over that may still
 * communicate, it waits for all others to be there, and then writes what was recorded.
 * So nobody leaves the job before all have come to its end, and who waits for a message
 * of a process that is at its end is seen to be deadlocked, as in any collective.
 * (Besides, mpirun of Open MPI 4.1 may die or hang if a job is ended while some ranks
 * have gone on in MPI_Finalize.) Called by the thread that initializes MPI.
 */
#ifndef SHIM_ENDING_H
#define SHIM_ENDING_H

#pragma GCC visibility push(hidden)

/** See that it waits. At the end of MPI_Init, before the program can give MPI_COMM_SELF
 *  attributes.
 *  @return 0 or -EIO */
int shim_ending_watch(void);

#pragma GCC visibility pop

#endif
