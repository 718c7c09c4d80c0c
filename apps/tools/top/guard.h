/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sees to it that a terminal is as it was, however the process ends that uses all of
 * it: this is a child, and whoever calls guard_run puts the terminal right if it dies.
 */
#ifndef APPS_TOOLS_TOP_GUARD_H
#define APPS_TOOLS_TOP_GUARD_H

/**
 * Carry out something in a child that uses the whole terminal of standard input and
 * output, and wait for its end. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on. If
 * this process is killed, the child gets SIGTERM. If the child has died of a signal, or
 * ends with 128 and its number, this process dies of it, too, after it has put the
 * terminal right.
 *
 * @param run  what the child does. @return its exit status; 128 + n after signal n
 * @return that exit status; EXIT_FAILURE, printed: it could not be started
 */
int guard_run(int (*run)(void *arg), void *arg);

#endif
