/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of the parallel part. Processes that are too many for the part go through all
 * of its supersteps and do nothing.
 */
#include <stdlib.h>

#include "libbcs/base/clock.h"
#include "libbcs/bsplib/bsplib.h"

/** A forked child is not of the job, and nothing ends with it. */
static void take_away(void *unused)
{
    (void)unused;
    bsplib.phase = BSPLIB_FORKED;
}

static void leave(const char *caller)
{
    bsplib.phase = BSPLIB_OVER;
    bsplib_registrations_fini();
    bsplib_queue_fini();
    bsplib_remote_fini();
    bsplib_require(caller, cBSP_finalize());
}

/** When the program ends: what has begun must have ended. */
static void check_end(void)
{
    if (bsplib.phase == BSPLIB_RUNNING) {
        bsp_abort("bsp_end: was not called before the program ended\n");
    }
    if (bsplib.phase == BSPLIB_BEFORE) {
        leave("exit");
    }
}

static void join(const char *caller)
{
    if (!bsplib.is_joined) {
        bsplib_require(caller, cBSP_initialize());
        bsplib.is_joined = true;
        bsplib.n_procs = cBSP_nprocs();
        bsplib.forked.in_child = take_away;
        cbsp_raw_watch_forks(&bsplib.forked);
        atexit(check_end);
    }
}

void bsp_init(void (*spmd_part)(void), int argc, char *argv[])
{
    static bool was_called;

    (void)argc;
    (void)argv;
    bsplib_check_process("bsp_init");
    if (was_called || bsplib.phase != BSPLIB_BEFORE) {
        bsp_abort("bsp_init: may be called only once, and before bsp_begin\n");
    }
    was_called = true;
    join("bsp_init");
    if (cBSP_pid() != 0) {
        spmd_part();
        exit(EXIT_SUCCESS);
    }
}

/** What a process does that is too many. */
static void stand_by(void)
{
    while ((bsplib_superstep("bsp_begin") & BSPLIB_END) == 0) {
    }
    leave("bsp_begin");
    exit(EXIT_SUCCESS);
}

void bsp_begin(int maxprocs)
{
    bsplib_check_process("bsp_begin");
    if (bsplib.phase != BSPLIB_BEFORE) {
        bsp_abort("bsp_begin: may be called only once\n");
    }
    join("bsp_begin");
    bsplib_require("bsp_begin", cBSP_broadcast(0, &maxprocs, sizeof(maxprocs)));
    if (maxprocs <= 0) {
        bsp_abort("bsp_begin: %d processes; allowed are 1 and more\n", maxprocs);
    }
    bsplib.n_procs = maxprocs < cBSP_nprocs() ? maxprocs : cBSP_nprocs();
    if (cBSP_pid() >= bsplib.n_procs) {
        stand_by();
    }
    bsplib.phase = BSPLIB_RUNNING;
    bsplib.start_ns = bcs_clock_now_ns();
}

void bsp_end(void)
{
    bsplib_check("bsp_end");
    bsplib.bits |= BSPLIB_END;
    bsplib_superstep("bsp_end");
    leave("bsp_end");
}

int bsp_nprocs(void)
{
    if (bsplib.phase == BSPLIB_BEFORE) {
        join("bsp_nprocs");
    }
    return bsplib.n_procs;
}

int bsp_pid(void)
{
    bsplib_check("bsp_pid");
    return cBSP_pid();
}

double bsp_time(void)
{
    bsplib_check("bsp_time");
    return (double)(bcs_clock_now_ns() - bsplib.start_ns) * 1e-9;
}
