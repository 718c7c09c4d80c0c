/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells what is left of the program's at the end of MPI_Finalize, with
 * BCS_REFEREE_LINT; see lint.h.
 */
#ifndef SHIM_LINT_REPORT_H
#define SHIM_LINT_REPORT_H

#pragma GCC visibility push(hidden)

/** Tell what all ranks have left, and stop noting. Collective over MPI_COMM_WORLD,
 *  after the last call of the program and before shim_monitor_report. Nothing if
 *  nothing was noted. */
void shim_lint_report(void);

#pragma GCC visibility pop

#endif
