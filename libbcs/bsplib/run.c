/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of the parallel part. Processes that are too many for the part go
 * through all of its supersteps and do nothing.
 */
#include <stdlib.h>

#include "libbcs/bsplib/bsplib.h"
#include "libbcs/fabric/base/system.h"

/** A forked child is not of the job, and nothing ends with it. */
static void take_away(void *state)
{
    struct bsplib *bsp = state;

    bsp->phase = BSPLIB_FORKED;
    bsp->is_recorded = false;
}

/** A call of the program begins that has its entry point here. @return for end_call */
static uint64_t begin_call(const struct bsplib *bsp, enum cbsp_call call,
                           const void *address)
{
    return bsp->is_recorded ? cbsp_raw_begin(call, address) : 0;
}

static void end_call(const struct bsplib *bsp, enum cbsp_call call, uint64_t began)
{
    if (bsp->is_recorded) {
        cbsp_raw_end(call, began, -1);
    }
}

/** The state stays: it says that all is over. */
static void leave(struct bsplib *bsp, const char *caller)
{
    bsp->phase = BSPLIB_OVER;
    bsp->is_recorded = false;
    bsplib_registrations_fini(&bsp->registrations);
    bsplib_queue_fini(bsp);
    bsplib_remote_fini(bsp);
    bsplib_require(caller, cBSP_finalize());
}

/** When the program ends: what has begun must have ended. */
static void check_end(void)
{
    struct bsplib *bsp = bsplib_self;

    if (bsp->phase == BSPLIB_RUNNING) {
        bsp_abort("bsp_end: was not called before the program ended\n");
    }
    if (bsp->phase == BSPLIB_BEFORE) {
        leave(bsp, "exit");
    }
}

struct bsplib *bsplib_create(const char *caller)
{
    struct bsplib *bsp = calloc(1, sizeof(*bsp));

    if (bsp == NULL) {
        bsp_abort("%s: out of memory\n", caller);
        return NULL;
    }
    bsp->n_procs = cBSP_nprocs();
    bsp->is_recorded = cbsp_raw_records();
    bsp->forked = (struct bcs_forked){.in_child = take_away, .arg = bsp};
    cbsp_raw_watch_forks(&bsp->forked);
    return bsp;
}

/** Join the job, if this process has not. @return the state */
static struct bsplib *join(const char *caller)
{
    if (bsplib_self == NULL) {
        bsplib_require(caller, cBSP_initialize());
        bsplib_self = bsplib_create(caller);
        atexit(check_end);
    }
    return bsplib_self;
}

void bsp_init(void (*spmd_part)(void), int argc, char *argv[])
{
    struct bsplib *bsp;

    (void)argc;
    (void)argv;
    bsplib_check_process("bsp_init");
    bsp = join("bsp_init");
    if (bsp->is_initialized || bsp->phase != BSPLIB_BEFORE) {
        bsp_abort("bsp_init: may be called only once, and before bsp_begin\n");
    }
    bsp->is_initialized = true;
    if (cBSP_pid() != 0) {
        spmd_part();
        exit(EXIT_SUCCESS);
    }
}

/** What a process does that is too many. @param began  as for end_call */
static void stand_by(struct bsplib *bsp, uint64_t began)
{
    while ((bsplib_superstep(bsp, "bsp_begin") & BSPLIB_END) == 0) {
    }
    end_call(bsp, CBSP_CALL_bsp_begin, began);
    leave(bsp, "bsp_begin");
    exit(EXIT_SUCCESS);
}

void bsp_begin(int maxprocs)
{
    struct bsplib *bsp;
    uint64_t began;

    bsplib_check_process("bsp_begin");
    bsp = join("bsp_begin");
    if (bsp->phase != BSPLIB_BEFORE) {
        bsp_abort("bsp_begin: may be called only once\n");
    }
    began = begin_call(bsp, CBSP_CALL_bsp_begin, __builtin_return_address(0));
    bsplib_require("bsp_begin", cBSP_broadcast(0, &maxprocs, sizeof(maxprocs)));
    if (maxprocs <= 0) {
        bsp_abort("bsp_begin: %d processes; allowed are 1 and more\n", maxprocs);
    }
    bsp->n_procs = maxprocs < cBSP_nprocs() ? maxprocs : cBSP_nprocs();
    if (cBSP_pid() >= bsp->n_procs) {
        stand_by(bsp, began);
    }
    end_call(bsp, CBSP_CALL_bsp_begin, began);
    bsp->phase = BSPLIB_RUNNING;
    bsp->start_ns = bcs_kernel_now_ns();
}

void bsp_end(void)
{
    struct bsplib *bsp = bsplib_check("bsp_end");
    uint64_t began = begin_call(bsp, CBSP_CALL_bsp_end, __builtin_return_address(0));

    bsp->bits |= BSPLIB_END;
    bsplib_superstep(bsp, "bsp_end");
    end_call(bsp, CBSP_CALL_bsp_end, began);
    leave(bsp, "bsp_end");
}

int bsp_nprocs(void)
{
    return join("bsp_nprocs")->n_procs;
}

int bsp_pid(void)
{
    bsplib_check("bsp_pid");
    return cBSP_pid();
}

double bsp_time(void)
{
    const struct bsplib *bsp = bsplib_check("bsp_time");

    return (double)(bcs_kernel_now_ns() - bsp->start_ns) * 1e-9;
}
