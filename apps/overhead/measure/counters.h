/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel counts, of a rank and of its machine: whether anything else than the
 * measurement went on during a sample.
 */
#ifndef OVERHEAD_COUNTERS_H
#define OVERHEAD_COUNTERS_H

#include <stdio.h>

/* Of the main thread of a rank. */
enum rank_counter {
    RANK_PREEMPTED, /* switches to another thread that it did not ask for */
    RANK_WAITED,    /* those that it did */
    RANK_FAULTS,    /* pages touched for the first time */
    RANK_PAGED,     /* pages read from disk */
    N_RANK_COUNTERS
};

/* Of the machine of rank 0. */
enum machine_counter {
    MACHINE_STOLEN,     /* ticks of 10 ms that the hypervisor gave to others */
    MACHINE_INTERRUPTS, /* interrupts of all cores, timers included */
    MACHINE_SWITCHES,   /* context switches of all cores */
    N_MACHINE_COUNTERS
};

/** The counters of the calling thread. */
void rank_counters_read(long counters[N_RANK_COUNTERS]);

/**
 * The counters of the machine from a file like /proc/stat, read up to the last of them;
 * those that it does not tell are 0. The file stays open and the caller's.
 */
void machine_counters_parse(FILE *file, long counters[N_MACHINE_COUNTERS]);

/** The counters of the machine; all 0 where the kernel does not tell them. */
void machine_counters_read(long counters[N_MACHINE_COUNTERS]);

#endif
