/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How efficient a run was. Parallel efficiency is the part of all ranks' time in which they
 * computed: the mean of their times outside of MPI, by the run time. It is the product of load
 * balance, that mean by the largest of these times, and communication efficiency, the largest by
 * the run time. Pure.
 */
#ifndef MDS_TOOL_EFFICIENCY_H
#define MDS_TOOL_EFFICIENCY_H

#include "mds/tool/run_read.h"

/** Times in ns, and parts of 1. */
struct efficiency {
    double run_ns;                /* the longest of the ranks' */
    double outside_ns;            /* of MPI; mean */
    double blocking_ns, other_ns; /* in blocking calls, and in others; mean */
    double parallel, balance, communication;
};

/** Time outside of MPI of a rank. */
uint64_t efficiency_outside_ns(const struct mmds_summary *summary);

/** That of a run. */
struct efficiency efficiency_of(const struct run *run);

/** A part of a whole, 0 if there is none. */
static inline double efficiency_part(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

#endif
