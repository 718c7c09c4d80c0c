/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the structures of some versions of CPython; see python_frame.h. They are of the
 * interpreter's inside, and a version may be built otherwise. So before a way is gone
 * without a look at each step, it is tried once, with pointers that are read by the
 * kernel, and compared with what functions of CPython say, which need the GIL. mpi4py
 * holds it while it calls MPI_Init.
 *
 * The frames of a thread change only while it runs Python: within a call of MPI they
 * stand still, whoever has the GIL.
 */
#include "mpi_shim/real/python_frame.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* An instruction is in its code object, behind a head of fewer bytes. */
enum { CODE_HEAD_MOST = 512 };

/* 3.11 and 3.12: thread state, frame of C, frame, instruction before the next one. In
 * 3.13 the interpreter has no function any more that writes a traceback. */
static const struct shim_python_way ways[] = {
    {0x030b, 3, {56, 8, 56}},
    {0x030c, 3, {56, 0, 56}},
};

/** Functions of CPython, by their names there. */
struct functions {
    int (*PyGILState_Check)(void);
    void *(*PyGILState_GetThisThreadState)(void);
    void *(*PyThreadState_GetFrame)(void *state);
    void *(*PyFrame_GetCode)(void *frame);
    int (*PyFrame_GetLasti)(void *frame);
    void (*Py_DecRef)(void *object);
};

/** Look a function up. @return whether it is there */
static bool look_up(const char *name, void *function_out)
{
    void *address = dlsym(RTLD_DEFAULT, name);

    /* POSIX lets a pointer from dlsym be a function; memcpy says so to the compiler. */
    memcpy(function_out, &address, sizeof(address));
    return address != NULL;
}

static bool find_functions(struct functions *functions_out)
{
#define LOOK_UP(name) look_up(#name, &functions_out->name)
    return LOOK_UP(PyGILState_Check) && LOOK_UP(PyGILState_GetThisThreadState) &&
           LOOK_UP(PyThreadState_GetFrame) && LOOK_UP(PyFrame_GetCode) &&
           LOOK_UP(PyFrame_GetLasti) && LOOK_UP(Py_DecRef);
#undef LOOK_UP
}

/** Read a pointer that may lead nowhere. @param ends  of a pipe @return whether it can
 *  be read */
static bool read_pointer(const int ends[2], uintptr_t at, uintptr_t *pointer_out)
{
    return write(ends[1], (const void *)at, sizeof(*pointer_out)) ==
               (ssize_t)sizeof(*pointer_out) &&
           read(ends[0], pointer_out, sizeof(*pointer_out)) ==
               (ssize_t)sizeof(*pointer_out);
}

/** Go a way step by step. @return 0: it leads nowhere */
static uintptr_t try_way(const struct shim_python_way *way, const void *state)
{
    uintptr_t at = (uintptr_t)state;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return 0;
    }
    for (uint32_t i = 0; i < way->n_steps && at != 0; i++) {
        if (!read_pointer(ends, at + way->steps[i], &at)) {
            at = 0;
        }
    }
    close(ends[0]);
    close(ends[1]);
    return at;
}

/** Whether a way leads to what CPython says that the thread is at. */
static bool leads_there(const struct shim_python_way *way,
                        const struct functions *python)
{
    void *state = python->PyGILState_GetThisThreadState();
    void *frame = state == NULL ? NULL : python->PyThreadState_GetFrame(state);
    uintptr_t instruction, begin;
    void *code;

    if (frame == NULL) {
        return false;
    }
    code = python->PyFrame_GetCode(frame);
    instruction = try_way(way, state);
    begin = instruction - (uintptr_t)python->PyFrame_GetLasti(frame);
    python->Py_DecRef(code);
    python->Py_DecRef(frame);
    return begin > (uintptr_t)code && begin - (uintptr_t)code < CODE_HEAD_MOST;
}

bool shim_python_way_find(struct shim_python_way *way_out)
{
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
    struct functions python;

    if (version == NULL || !find_functions(&python) || !python.PyGILState_Check()) {
        return false;
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].version == *version >> 16 && leads_there(&ways[i], &python)) {
            *way_out = ways[i];
            return true;
        }
    }
    return false;
}
