/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a tool from within a program that has its own children, and must not see this
 * one.
 */
#ifndef LIBBCS_REPORT_RUN_UNSEEN_H
#define LIBBCS_REPORT_RUN_UNSEEN_H

/**
 * Run a tool until it ends, its standard output being standard error. No SIGCHLD comes
 * of it, no handler of pthread_atfork is called, and neither wait nor waitpid of
 * another thread finds the process.
 *
 * @param arguments ended by NULL; the first is its path, or a name that is looked for
 * as in a shell
 * @param environment  ended by NULL
 * @param status_out   as waitpid gives it
 * @return 0, or an errno: it has not run
 */
int bcs_run_unseen(char *const arguments[], char *const environment[], int *status_out);

#endif
