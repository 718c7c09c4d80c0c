/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the methods of mpi4py for objects; see mpi4py_method.h. They have names in
 * small letters. Those in small letters that make one call of MPI, which is theirs, are
 * not among them: barrier, isend, probe, wait.
 */
#include "mpi_shim/calls/mpi4py_method.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "mpi_shim/calls/place_finder.h"
#include "mpi_shim/calls/skip_list.h"
#include "mpi_shim/real/python_method.h"
#include "mpi_shim/real/shim_module.h"

enum { FRAMES_MOST = 64 };

static const char *const methods[] = {
    "send",
    "bsend",
    "ssend",
    "recv",
    "sendrecv",
    "bcast",
    "gather",
    "scatter",
    "reduce",
    "allgather",
    "alltoall",
    "allreduce",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_alltoall",
};

bool shim_mpi4py_has(const char *path)
{
    return shim_skip_has("/mpi4py/", path);
}

bool shim_mpi4py_method(uintptr_t function, char name_out[BCS_STAND_METHOD_BYTES])
{
    char name[SHIM_METHOD_BYTES];

    if (!shim_python_method_name(function, name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(methods[i], name) == 0) {
            snprintf(name_out, BCS_STAND_METHOD_BYTES, "comm.%s", name);
            return true;
        }
    }
    return false;
}

/** What was found on a stack, from the innermost frame on. */
struct search {
    const struct shim_interpreter *interpreter;
    uintptr_t function; /* the outermost one so far, if it is mpi4py's; else 0 */
    int n_frames;
    bool is_python; /* the interpreter has called it */
};

/** An _Unwind_Backtrace function. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    struct shim_module module = {.address = _Unwind_GetIP(context), .path = ""};

    if (++search->n_frames > FRAMES_MOST || !shim_module_at(&module)) {
        return _URC_END_OF_STACK;
    }
    search->is_python = shim_interpreter_is_at(search->interpreter, module.base);
    if (search->is_python) {
        return _URC_END_OF_STACK;
    }
    search->function =
        shim_mpi4py_has(module.path) ? _Unwind_GetRegionStart(context) : 0;
    return _URC_NO_REASON;
}

bool shim_mpi4py_is_hidden(void)
{
    struct search search = {.interpreter = shim_place_interpreter()};
    char name[BCS_STAND_METHOD_BYTES];

    if (search.interpreter == NULL) {
        return false;
    }
    _Unwind_Backtrace(look_at_frame, &search);
    return search.is_python && search.function != 0 &&
           shim_mpi4py_method(search.function, name);
}
