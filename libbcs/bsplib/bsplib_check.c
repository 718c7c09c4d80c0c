/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process's state, and the end of a job in which something is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libbcs/bsplib/bsplib.h"

struct bsplib *bsplib_self;

void bsp_abort_va(const char *format, va_list arguments)
{
    fflush(stdout);
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    /* A process that ends so, without leaving the job, makes the launcher end all. */
    _exit(EXIT_FAILURE);
}

void bsp_abort(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bsp_abort_va(format, arguments);
    va_end(arguments);
}

void bsplib_check_process(const char *caller)
{
    if (bsplib_self != NULL && bsplib_self->phase == BSPLIB_FORKED) {
        cbsp_raw_refuse_forked(caller);
    }
}

struct bsplib *bsplib_check(const char *caller)
{
    bsplib_check_process(caller);
    if (bsplib_self == NULL || bsplib_self->phase != BSPLIB_RUNNING) {
        bsp_abort("%s: can only be called within the parallel part, from bsp_begin to "
                  "bsp_end\n",
                  caller);
    }
    return bsplib_self;
}

void bsplib_check_pid(const struct bsplib *bsp, const char *caller, int pid)
{
    if (pid < 0 || pid >= bsp->n_procs) {
        bsp_abort("%s: there is no process %d; there are 0 to %d\n", caller, pid,
                  bsp->n_procs - 1);
    }
}

void bsplib_require(const char *caller, int rc)
{
    if (rc < 0) {
        bsp_abort("%s: %s\n", caller, strerror(-rc));
    }
}

void bsplib_send(const char *caller, int pid, const struct bsplib_message *message,
                 cBSP_handler_fn handler)
{
    bsplib_require(caller, cbsp_raw_send(pid, message->dest, message->data,
                                         message->n_bytes, handler));
}
