/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions as C++ programs write them, by the C++ run-time library, if there
 * is one.
 */
#ifndef MDS_SOURCE_DEMANGLE_H
#define MDS_SOURCE_DEMANGLE_H

/** What turns names back. */
struct demangler {
    char *(*function)(const char *, char *, unsigned long *,
                      int *); /* NULL: nothing does */
};

/** Look for the library, which stays open until the process ends. */
struct demangler demangler_open(void);

/** A name as its program writes it; one that is not of C++, or cannot be turned back,
 *  as it is.
 *  @return for free; NULL: no memory, or no name */
char *demangle(const struct demangler *demangler, const char *name);

#endif
