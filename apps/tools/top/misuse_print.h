/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What deadlocked ranks have called that the MPI standard forbids, as far as it shows
 * in what they wait for. Works on a job as bcs-top prints it as JSON. One thread.
 */
#ifndef APPS_TOOLS_TOP_MISUSE_PRINT_H
#define APPS_TOOLS_TOP_MISUSE_PRINT_H

#include <jansson.h>

/**
 * Print, a line each: members of a communicator that are in different collectives of
 * it; those that are in the same one, but name different roots or operations; and ranks
 * in MPI_Finalize for whom others wait. Behind each kind what the standard demands.
 */
void misuse_print(const json_t *job);

#endif
