/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out where a call stands by looking at the stack of the thread that waits, so
 * that entry points have nothing to keep for it. The outermost frame of this library is
 * that of our function for the call: entry points jump to it, or it is in the table by
 * what they call. What is above is the MPI library's bindings, what BCS_PLACE_SKIP
 * names, and then the program's own frames.
 *
 * The unwinder goes by the tables that exceptions go by, and ends at a frame that has
 * none. It is safe here: it runs in the thread whose stack it reads, within a call, so
 * that no frame changes, and that thread holds no lock of the loader. The walk ends at
 * the C library that has called the program: what is above it is no function.
 *
 * If the walk comes to a Python interpreter, the callers are lines of Python, which the
 * interpreter tells (mpi_shim/real/interpreter.h). The function that it has called is a
 * method, of mpi4py perhaps (mpi4py_method.h).
 */
#include "mpi_shim/calls/call_place.h"

#include <string.h>
#include <unwind.h>

#include "mpi_shim/calls/assemble.h"
#include "mpi_shim/calls/mpi4py_method.h"
#include "mpi_shim/calls/mpi_calls.h"
#include "mpi_shim/calls/place_finder.h"
#include "mpi_shim/comm/comm_table.h"
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
    struct bcs_stand_frame call; /* the first one outside of MPI's bindings */
    uint32_t n_own;              /* frames of the program */
    int n_frames;
    bool was_inside;    /* this library's frames have been met */
    bool is_python;     /* an interpreter has called the program's frames */
    uintptr_t function; /* the outermost function so far, if it is mpi4py's; else 0 */
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

/** Whether the last part of a path begins with some text. */
static bool is_called(const char *path, const char *begin)
{
    const char *name = strrchr(path, '/');

    return strncmp(name == NULL ? path : name + 1, begin, strlen(begin)) == 0;
}

/** Whether a file has bindings (see caller.c), or is of the MPI library, which calls
 *  back: its own libraries and plugins, and those that progress it. */
static bool is_of_mpi(const char *path)
{
    static const char *const begins[] = {"libmpi",   "libopen-", "mca_",     "libpmix",
                                         "libevent", "libuc",    "libfabric"};
    bool is = false;

    for (size_t i = 0; !is && i < sizeof(begins) / sizeof(begins[0]); i++) {
        is = is_called(path, begins[i]);
    }
    return is;
}

/** Look at a frame of the program, or of what it calls MPI by. @return whether there is
 *  nothing above it to be looked for */
static bool look_outside(struct search *search, const struct shim_module *module,
                         uintptr_t function)
{
    const struct shim_interpreter *interpreter = shim_place_interpreter();
    const struct bcs_stand_frame frame = {module->address, module->base};

    if (is_of_mpi(module->path)) {
        return false;
    }
    if (search->call.address == 0) {
        search->call = frame;
    }
    if (interpreter != NULL && shim_interpreter_is_at(interpreter, module->base)) {
        search->is_python = true;
        return true;
    }
    search->function = shim_mpi4py_has(module->path) ? function : 0;
    if (is_called(module->path, "libc.so")) {
        return search->n_own > 0; /* else it has called back */
    }
    if (!shim_place_is_skipped(module->path)) {
        search->stand->frames[search->n_own++] = frame;
    }
    return search->n_own == BCS_STAND_FRAMES;
}

/** An _Unwind_Backtrace function, from the innermost frame on. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
    struct search *search = arg;
    struct shim_module module = {.address = _Unwind_GetIP(context), .path = ""};

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
    shim_module_at(&module);
    return look_outside(search, &module, _Unwind_GetRegionStart(context))
               ? _URC_NORMAL_STOP
               : _URC_NO_REASON;
}

/** Tell which method of mpi4py it is. A communicator that it has made for its own
 *  messages is not seen by the program, which knows the one that it is of. */
static void tell_method(const struct search *search)
{
    struct bcs_stand *stand = search->stand;

    if (search->function != 0 && shim_mpi4py_method(search->function, stand->method)) {
        stand->context_id = shim_comm_shown(stand->context_id);
    }
}

void shim_call_place(struct bcs_stand *stand)
{
    struct search search = {.stand = stand};

    _Unwind_Backtrace(look_at_frame, &search);
    if (search.is_python) {
        shim_place_lines(false, BCS_STAND_FRAMES - search.n_own, stand->lines);
        tell_method(&search);
    }
    if (search.n_own == 0 && stand->lines[0] == '\0') {
        stand->frames[0] = search.call;
    }
    if (stand->call[0] == '\0' && shim_state.is_ending) {
        strncpy(stand->call, "MPI_Finalize", sizeof(stand->call) - 1);
    }
}
