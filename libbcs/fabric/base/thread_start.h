/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the library's own threads. Any thread.
 */
#ifndef LIBBCS_FABRIC_BASE_THREAD_START_H
#define LIBBCS_FABRIC_BASE_THREAD_START_H

#include <pthread.h>

/**
 * Start a thread that gets no signals, which are the program's.
 *
 * @param id_out  for pthread_join
 * @param name    up to 15 characters, as debuggers and top(1) show it
 * @return 0 or -errno, not logged
 */
int bcs_thread_start(pthread_t *id_out, const char *name, void *(*run)(void *arg),
                     void *arg);

#endif
