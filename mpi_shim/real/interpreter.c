/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks CPython for a traceback; see interpreter.h. Its function is made for handlers of
 * signals: it reads frames and code objects, and writes as it goes. A thread's frames
 * change only while that thread runs Python. The calling thread is in a call of MPI, so
 * they stand still, whether it has released the GIL or not.
 *
 * It writes into a pipe of this process that does not block: what finds no room is
 * lost, and that is far behind what is read. No limit of the process's files, and no
 * file system, has anything to do with a pipe.
 */
#include "mpi_shim/real/interpreter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mpi_shim/real/shim_module.h"

void shim_interpreter_find(struct shim_interpreter *interpreter_out)
{
    void *thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    void *dump = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    struct shim_module module = {.address = (uintptr_t)dump};

    *interpreter_out = (struct shim_interpreter){0};
    if (thread == NULL || dump == NULL || !shim_module_at(&module)) {
        return;
    }
    /* POSIX lets a pointer from dlsym be a function; memcpy says so to the compiler. */
    memcpy(&interpreter_out->thread, &thread, sizeof(thread));
    memcpy(&interpreter_out->dump, &dump, sizeof(dump));
    interpreter_out->base = module.base;
}

void shim_interpreter_traceback(const struct shim_interpreter *interpreter,
                                char text_out[SHIM_TRACEBACK_BYTES])
{
    void *thread = interpreter->thread();
    ssize_t n;
    int ends[2];

    text_out[0] = '\0';
    if (thread == NULL || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return;
    }
    interpreter->dump(ends[1], thread);
    n = read(ends[0], text_out, SHIM_TRACEBACK_BYTES - 1);
    text_out[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
}
