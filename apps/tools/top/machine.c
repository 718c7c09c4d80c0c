/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads /proc/loadavg and /proc/stat; see machine.h.
 */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Of the first line of /proc/stat: user nice system idle iowait irq softirq steal. */
enum { N_TIMES = 8, IDLE = 3, IO_WAIT = 4 };

static void read_load(struct machine_look *look)
{
    FILE *file = fopen("/proc/loadavg", "re");

    if (file != NULL) {
        if (fscanf(file, "%lf %lf %lf", &look->load[0], &look->load[1],
                   &look->load[2]) != 3) {
            look->load[0] = -1;
        }
        fclose(file);
    }
}

static void read_times(struct machine_look *look)
{
    FILE *file = fopen("/proc/stat", "re");
    uint64_t ticks;

    if (file == NULL) {
        return;
    }
    if (fscanf(file, "cpu") == 0) {
        for (int i = 0; i < N_TIMES && fscanf(file, " %" SCNu64, &ticks) == 1; i++) {
            look->passed += ticks;
            look->busy += i == IDLE || i == IO_WAIT ? 0 : ticks;
        }
    }
    fclose(file);
}

struct machine_look machine_look(void)
{
    struct machine_look look = {.load = {-1, -1, -1}};
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);

    look.n_cores = n_cores > 0 ? (uint32_t)n_cores : 0;
    read_load(&look);
    read_times(&look);
    return look;
}

double machine_busy(const struct machine_look *before, const struct machine_look *now)
{
    return before->passed == 0 || now->passed <= before->passed ||
                   now->busy < before->busy
               ? -1
               : (double)(now->busy - before->busy) /
                     (double)(now->passed - before->passed);
}
