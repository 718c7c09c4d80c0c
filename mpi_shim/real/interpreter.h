/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Python interpreter of this process, if there is one that tells where its threads
 * are: CPython exports what its own fault handler uses.
 */
#ifndef MPI_SHIM_REAL_INTERPRETER_H
#define MPI_SHIM_REAL_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The first bytes of a traceback: its pieces are shorter than 512, and a pipe has room
 * for 4096, so that all pieces of these are there. */
enum { SHIM_TRACEBACK_BYTES = 3072 };

/** An interpreter. */
struct shim_interpreter {
    void *(*thread)(void);              /* PyGILState_GetThisThreadState; NULL: none */
    void (*dump)(int fd, void *thread); /* _Py_DumpTraceback */
    uintptr_t base;                     /* where its code is loaded */
};

/** Look for one among what is loaded. Takes the loader's lock: not for who waits.
 *  @param interpreter_out  zeroed if there is none */
void shim_interpreter_find(struct shim_interpreter *interpreter_out);

/** Whether code that is loaded there is the interpreter's. */
static inline bool shim_interpreter_is_at(const struct shim_interpreter *interpreter,
                                          uintptr_t base)
{
    return interpreter->thread != NULL && interpreter->base == base;
}

/**
 * Have it write where the calling thread is in Python, the last call first. Takes
 * neither the GIL nor another lock, allocates nothing, and does not block. The thread
 * must not be running Python.
 *
 * @param text_out  ended by a zero, cut off; "": nothing is known
 */
void shim_interpreter_traceback(const struct shim_interpreter *interpreter,
                                char text_out[SHIM_TRACEBACK_BYTES]);

#pragma GCC visibility pop

#endif
