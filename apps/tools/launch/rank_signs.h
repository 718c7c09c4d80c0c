/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process of a job shows from outside of whether BCS carries its MPI calls: the
 * files that it has mapped, and its LD_PRELOAD. The text of /proc is somebody else's,
 * and is only searched. Used by bcsrun's keeper, whose one thread calls this.
 */
#ifndef APPS_TOOLS_LAUNCH_RANK_SIGNS_H
#define APPS_TOOLS_LAUNCH_RANK_SIGNS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/** What is mapped in a process. */
struct rank_signs {
    bool has_mpi;     /* Open MPI's library */
    bool has_preload; /* libbcs_mpi.so */
    bool has_linker;  /* the dynamic linker, which reads LD_PRELOAD */
    bool has_begun;   /* memory of the MPI library: MPI_Init has been called in it */
    bool has_called;  /* memory of BCS: an MPI call has come to libbcs_mpi.so, or the
                         process uses libbcs.so */
};

/** Why BCS cannot carry the MPI calls of a process. */
enum rank_absence {
    RANK_NOT_ABSENT, /* it can, or the process has not called MPI_Init yet, or no MPI */
    RANK_STATIC,
    RANK_NOT_PRELOADED, /* LD_PRELOAD lacks libbcs_mpi.so */
    RANK_NOT_LOADED,    /* LD_PRELOAD names it, but it has not been loaded */
    RANK_PASSED_BY,     /* it is loaded, but MPI_Init was not called through it */
};

enum { RANK_PRELOAD_BYTES = 256 };

/** Read the signs in a process's map. */
void rank_signs_read(FILE *maps, struct rank_signs *signs_out);

/**
 * Find LD_PRELOAD in a process's environment, as it was when its program began.
 *
 * @param preload_out  the value, cut off if it is long, with '?' for what cannot be
 *                     printed; "" if there is none
 * @return whether it names libbcs_mpi.so
 */
bool rank_preload_read(FILE *environment, char preload_out[RANK_PRELOAD_BYTES]);

/** Judge. A process that may call MPI_Init through libbcs_mpi.so later is not absent.
 *  @param is_named  by rank_preload_read */
enum rank_absence rank_absence_of(const struct rank_signs *signs, bool is_named);

/**
 * Look at a process.
 *
 * @return whether it is an MPI process that can be looked at; then signs_out and
 *         preload_out are filled
 */
bool rank_look(pid_t pid, struct rank_signs *signs_out,
               char preload_out[RANK_PRELOAD_BYTES], enum rank_absence *absence_out);

#endif
