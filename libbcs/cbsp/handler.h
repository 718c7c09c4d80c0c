/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions that are the same in all processes, though each may have loaded
 * its program and its libraries elsewhere: which of them it is, by a hash of what
 * identifies it, and where in it. Called for every message that has a handler.
 */
#ifndef CBSP_HANDLER_H
#define CBSP_HANDLER_H

#include <stdint.h>

#include <bcs/cbsp.h>

enum { CBSP_HANDLER_CACHE = 64 };

/** The names used lately. All zero is empty. */
struct cbsp_handlers {
    struct {
        cBSP_handler_fn function;
        uint64_t name;
    } named[CBSP_HANDLER_CACHE], found[CBSP_HANDLER_CACHE];
};

/** The name of a function; never 0. @return 0: it is in no program or library */
uint64_t cbsp_handler_name(struct cbsp_handlers *handlers, cBSP_handler_fn function);

/** The function of a name. @return NULL: the program or library is not loaded here */
cBSP_handler_fn cbsp_handler_find(struct cbsp_handlers *handlers, uint64_t name);

#endif
