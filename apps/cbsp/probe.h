/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four parameters of a BSP computer, p, L, g and s, measured in the same way
 * whatever library carries the supersteps: a library is a function that goes through
 * supersteps in each of which every process sends and gets h words. [cBSP section 2.2]
 */
#ifndef CBSP_PROBE_H
#define CBSP_PROBE_H

/* The most words that a process sends in a superstep. */
#define PROBE_MAX_WORDS 256

struct probe_library {
    const char *name;
    int pid;
    int n_processes;
    void *context;
    /* Seconds for n supersteps in each of which all processes send n_words messages of
     * one word, evenly to all others. Begins and ends with a synchronisation of all. */
    double (*go)(void *context, int n_words, int n_supersteps);
    /* The largest number of all processes, for all. */
    double (*slowest)(void *context, double seconds);
};

/** To which process message number word of process pid goes: to the others in turn. */
int probe_receiver(const struct probe_library *library, int word);

/** Measure, and print on process 0. Every process calls it. */
void probe_run(const struct probe_library *library, int n_batches);

#endif
