/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out where a call stands by looking at the stack of the thread that waits, so
 * that entry points have nothing to keep for it. The outermost frame of this library is
 * that of our function for the call: entry points jump to it, or it is in the table by
 * what they call; what it returns to is the place. Frames of the MPI library's Fortran
 * bindings are skipped, as caller.c does.
 */
#include "mpi_shim/calls/call_place.h"

#include <string.h>
#include <unwind.h>

#include "mpi_shim/calls/assemble.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/real/pass.h"
#include "mpi_shim/real/real.h"
#include "mpi_shim/real/shim_module.h"
#include "mpi_shim/real/state.h"

enum { FRAMES_MOST = 64 };

/* Of this library, by the linker. */
extern const char __ehdr_start[], etext[];

/** Our function for one of MPI. */
struct own_function {
    void (*address)(void);
    enum shim_function number;
};

#define SHIM_BUFFERED(timing, type, name, parameters, arguments)                       \
    {(void (*)(void))shim_##name, SHIM_FN_##name},
static const struct own_function own_functions[] = {
#define SHIM_PASSED(timing, type, name, parameters, arguments)                         \
    {(void (*)(void))shim_pass_##name, SHIM_FN_##name},
#define SHIM_ASSEMBLED(name, parameters, arguments)                                    \
    {(void (*)(void))shim_assembled_##name, SHIM_FN_##name},
#include "mpi_shim/real/functions.def"
};

/** What is looked for on a stack, and what was found. */
struct search {
    struct bcs_stand *stand;
    int n_frames;
    bool was_inside; /* this library's frames have been met */
};

static bool is_own(uintptr_t address)
{
    return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)etext;
}

static void name_function(uintptr_t start, struct bcs_stand *stand)
{
    for (size_t i = 0; i < sizeof(own_functions) / sizeof(own_functions[0]); i++) {
        if ((uintptr_t)own_functions[i].address == start) {
            strncpy(stand->call, shim_function_names[own_functions[i].number],
                    sizeof(stand->call) - 1);
        }
    }
}

/** Whether a file has bindings (see caller.c), or is of the MPI library, which calls
 *  back: its own libraries and plugins, and those that progress it. */
static bool is_binding(const char *path)
{
    static const char *const begins[] = {"libmpi",   "libopen-", "mca_",     "libpmix",
                                         "libevent", "libuc",    "libfabric"};
    const char *name = strrchr(path, '/');

    name = name == NULL ? path : name + 1;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (strncmp(name, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return false;
}

/** An _Unwind_Backtrace function, from the innermost frame on. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    struct shim_module module = {.address = _Unwind_GetIP(context)};

    if (++search->n_frames > FRAMES_MOST) {
        return _URC_END_OF_STACK;
    }
    if (is_own(module.address)) {
        search->was_inside = true;
        name_function(_Unwind_GetRegionStart(context), search->stand);
        return _URC_NO_REASON;
    }
    if (!search->was_inside) {
        return _URC_NO_REASON;
    }
    if (shim_module_at(&module) && is_binding(module.path)) {
        return _URC_NO_REASON;
    }
    search->stand->address = module.address;
    search->stand->base = module.base;
    return _URC_NORMAL_STOP;
}

void shim_call_place(struct bcs_stand *stand)
{
    struct search search = {.stand = stand};

    _Unwind_Backtrace(look_at_frame, &search);
    if (stand->call[0] == '\0' && shim_state.is_ending) {
        strncpy(stand->call, "MPI_Finalize", sizeof(stand->call) - 1);
    }
}
