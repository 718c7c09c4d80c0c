/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How efficient a run was. Parallel efficiency is the part of all ranks' time in which
 * they computed: the mean of their times outside of MPI, by the run time. It is the
 * product of load balance, that mean by the largest of these times, and communication
 * efficiency, the largest by the run time. This is serialisation efficiency, the
 * largest by the run time that there would be if messages took no time, times transfer
 * efficiency, that by the run time. That time is taken to be the largest of the ranks'
 * times outside of MPI and for others that were late. Pure.
 */
#ifndef MDS_TOOL_ANALYSIS_EFFICIENCY_H
#define MDS_TOOL_ANALYSIS_EFFICIENCY_H

#include "mds/tool/read/run_read.h"

/** Times in ns, and parts of 1. */
struct efficiency {
    double run_ns;                /* the longest of the ranks' */
    double outside_ns;            /* of MPI; mean */
    double blocking_ns, other_ns; /* in blocking calls, and in others; mean */
    double most_ns;               /* the longest outside of MPI */
    double parallel, balance, communication;
    double serialisation, transfer; /* 0 but for efficiency_split */
};

/** Time outside of MPI of a rank. */
uint64_t efficiency_outside_ns(const struct mmds_summary *summary);

/** That of a run. */
struct efficiency efficiency_of(const struct run *run);

/** Split its communication efficiency. @param waited_ns [n_files] how long each rank
 *  has waited for others */
void efficiency_split(const struct run *run, const uint64_t *waited_ns,
                      struct efficiency *efficiency);

/** A part of a whole, 0 if there is none. */
static inline double efficiency_part(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

#endif
