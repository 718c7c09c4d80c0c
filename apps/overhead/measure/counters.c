/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the counters from getrusage and /proc/stat, between the samples. Called on the
 * main thread of each rank; no state.
 */
#include "apps/overhead/measure/counters.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#ifndef RUSAGE_THREAD
#define RUSAGE_THREAD RUSAGE_SELF
#endif

void rank_counters_read(long counters[N_RANK_COUNTERS])
{
    struct rusage usage;

    memset(counters, 0, N_RANK_COUNTERS * sizeof *counters);
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        counters[RANK_PREEMPTED] = usage.ru_nivcsw;
        counters[RANK_WAITED] = usage.ru_nvcsw;
        counters[RANK_FAULTS] = usage.ru_minflt;
        counters[RANK_PAGED] = usage.ru_majflt;
    }
}

void machine_counters_parse(FILE *file, long counters[N_MACHINE_COUNTERS])
{
    char line[512];
    long value;

    memset(counters, 0, N_MACHINE_COUNTERS * sizeof *counters);
    while (fgets(line, sizeof line, file) != NULL) {
        /* A space of a format matches nothing, too: "cpu0" is another line. */
        if (strncmp(line, "cpu ", 4) == 0) {
            if (sscanf(line + 4, "%*d %*d %*d %*d %*d %*d %*d %ld", &value) == 1) {
                counters[MACHINE_STOLEN] = value;
            }
        } else if (sscanf(line, "intr %ld", &value) == 1) {
            counters[MACHINE_INTERRUPTS] = value;
        } else if (sscanf(line, "ctxt %ld", &value) == 1) {
            counters[MACHINE_SWITCHES] = value;
            break; /* the last one of interest; the line before it may be very long */
        }
    }
}

void machine_counters_read(long counters[N_MACHINE_COUNTERS])
{
    FILE *file = fopen("/proc/stat", "r");

    if (file == NULL) {
        memset(counters, 0, N_MACHINE_COUNTERS * sizeof *counters);
        return;
    }
    machine_counters_parse(file, counters);
    fclose(file);
}
