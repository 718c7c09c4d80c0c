/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program handles and its module share.
 */
#ifndef TESTS_SYSTEM_HANDLES_H
#define TESTS_SYSTEM_HANDLES_H

/** module_run of the module: begin MPI, print "begun", wait, and end MPI. @return an
 *  exit status */
typedef int (*handles_module_fn)(void (*await)(void));

/** A symbol of the library; the program ends if there is none. */
void *handles_find(const char *name);

/** Wait for SIGUSR2. */
void handles_await(void);

#endif
