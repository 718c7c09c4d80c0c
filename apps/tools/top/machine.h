/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much there is to do on this machine, by the kernel. One thread.
 */
#ifndef APPS_TOOLS_TOP_MACHINE_H
#define APPS_TOOLS_TOP_MACHINE_H

#include <stdint.h>

/** A look at the machine. */
struct machine_look {
    double load[3]; /* of the last 1, 5 and 15 minutes; -1: not known */
    uint64_t busy,
        passed; /* time of all cores since the start, in ticks; 0: not known */
    uint32_t n_cores;
};

/** Look. */
struct machine_look machine_look(void);

/** The share of the cores' time that was used between two looks; -1: not known. */
double machine_busy(const struct machine_look *before, const struct machine_look *now);

#endif
