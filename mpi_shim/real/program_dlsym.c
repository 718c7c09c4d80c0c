/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes over dlsym. A program that opens the MPI library itself asks the library's
 * handle for MPI_Send, and the dynamic linker then looks into that library only: it
 * passes LD_PRELOAD by. Python's ctypes and Julia's ccall do so. Such a question gets
 * our function as its answer.
 *
 * Every other question goes on to the C library's dlsym by a jump. RTLD_NEXT and
 * RTLD_DEFAULT depend on who calls, and dlsym takes the caller from the return address,
 * which a jump leaves as it is; a call would put this library there. So the entry is
 * written in assembly, for x86-64. On other processors dlsym is not taken over.
 *
 * Any thread runs this, also before the constructors of this library have run, as a
 * sanitizer's runtime may ask first. So the entry's code takes no lock, needs no
 * constructor and has no checks of a sanitizer in it.
 *
 * A function MPI_X is answered with our PMPI_X: natively, a handle of the MPI library
 * passes profiling tools by, too.
 */
#include "mpi_shim/real/program_dlsym.h"

#include <dlfcn.h>

#if defined(__x86_64__)

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_shim/real/shim_module.h"

#define C_LIBRARY_VERSION "GLIBC_2.2.5" /* of dlsym, in all C libraries of x86-64 */
#define MPI_LIBRARY "libmpi.so"
#define UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

enum { NAME_BYTES = 128 };

typedef void *(*dlsym_fn)(void *handle, const char *name);

#pragma GCC visibility push(hidden)

/** dlsym of the C library. The assembly below jumps to it. Every thread that finds NULL
 *  here writes the same address. */
dlsym_fn shim_dlsym_next;

/** What dlsym is to answer. @return NULL: the C library's dlsym is to answer */
void *shim_dlsym_answer(void *handle, const char *name);

#pragma GCC visibility pop

UNCHECKED static void find_next(void)
{
    void *symbol;

    if (shim_dlsym_next != NULL) {
        return;
    }
    symbol = dlvsym(RTLD_NEXT, "dlsym", C_LIBRARY_VERSION);
    if (symbol == NULL) {
        fprintf(stderr, "bcs: the C library has no dlsym of version %s\n",
                C_LIBRARY_VERSION);
        exit(1);
    }
    shim_dlsym_next = (dlsym_fn)symbol;
}

/** Whether a name begins as MPI's functions do. */
UNCHECKED static bool is_of_mpi(const char *name)
{
    name += name[0] == 'P';
    return name[0] == 'M' && name[1] == 'P' && name[2] == 'I' && name[3] == '_';
}

/** Whether an address is in the MPI library. */
static bool is_in_library(void *address)
{
    const char *name;
    Dl_info info;

    if (dladdr(address, &info) == 0) {
        return false;
    }
    name = strrchr(info.dli_fname, '/');
    name = name == NULL ? info.dli_fname : name + 1;
    return strncmp(name, MPI_LIBRARY, strlen(MPI_LIBRARY)) == 0;
}

/** Our function of a name that the MPI library has. @return NULL: we have none */
static void *find_own(const char *name)
{
    char own_name[NAME_BYTES];
    void *own;

    snprintf(own_name, sizeof(own_name), "%s%s", name[0] == 'P' ? "" : "P", name);
    own = shim_dlsym_next(RTLD_DEFAULT, own_name);
    return own != NULL && shim_module_is_same(own, (void *)shim_dlsym_answer) ? own
                                                                              : NULL;
}

UNCHECKED void *shim_dlsym_answer(void *handle, const char *name)
{
    void *found;

    find_next();
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !is_of_mpi(name)) {
        return NULL;
    }
    found = shim_dlsym_next(handle, name);
    return found != NULL && is_in_library(found) ? find_own(name) : NULL;
}

/* The stack is aligned for the call by three words. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call shim_dlsym_answer\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    jmp *shim_dlsym_next(%rip)\n"
        "1:  ret\n"
        "    .cfi_endproc\n"
        ".size dlsym, .-dlsym\n");

void *shim_handle_symbol(void *handle, const char *name)
{
    find_next();
    return shim_dlsym_next(handle, name);
}

#else

void *shim_handle_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

#endif
