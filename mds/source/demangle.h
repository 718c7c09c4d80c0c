/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions as their programs write them, from those that the linker has: of
 * C++ by its run-time library, if there is one; of modules of Fortran, as gfortran has
 * them, and of Rust by what is known here.
 */
#ifndef MDS_SOURCE_DEMANGLE_H
#define MDS_SOURCE_DEMANGLE_H

#include <stdbool.h>

/** What turns names back. */
struct demangler {
    char *(*function)(const char *, char *, unsigned long *,
                      int *); /* of C++; NULL: nothing does */
};

/** Look for the library, which stays open until the process ends. */
struct demangler demangler_open(void);

/** Whether a name is one that a compiler has made of more than a name. */
bool demangle_is_needed(const char *name);

/** A name as its program writes it; one that needs nothing, or cannot be turned back,
 *  as it is.
 *  @return for free; NULL: no memory, or no name */
char *demangle(const struct demangler *demangler, const char *name);

#endif
