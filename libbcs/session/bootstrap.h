/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the processes of a job exchange data before they share memory. Made by the MPI
 * shim (by the MPI library's own calls) or by libbcs/session/entry.c; used while a
 * process attaches.
 */
#ifndef BCS_SESSION_BOOTSTRAP_H
#define BCS_SESSION_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

/** How the processes of the job exchange data before they have the engine. */
struct bcs_bootstrap {
    uint32_t rank; /* of this process in the job */
    uint32_t size;
    uint32_t n_near; /* processes on this machine, as the launcher says; 0: not known */
    void *arg;
    /** Gather n_bytes of every process, in rank order, at every process. 0 or
     *  -errno. */
    int (*allgather)(void *arg, const void *mine, size_t n_bytes, void *all_out);
    /** Gather n_bytes of every process at process 0; all_out is NULL elsewhere. 0 or
     *  -errno. NULL: it has no other way than allgather. */
    int (*gather)(void *arg, const void *mine, size_t n_bytes, void *all_out);
    /** Give process 0's n_bytes to every process. 0 or -errno. NULL: as of gather. */
    int (*bcast)(void *arg, void *data, size_t n_bytes);
};

#endif
