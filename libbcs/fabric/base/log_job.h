/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors that every process of a job meets, as a bad setting: one of them says it. Any
 * process and thread, also before the processes know each other; never on the hot path.
 */
#ifndef LIBBCS_FABRIC_BASE_LOG_JOB_H
#define LIBBCS_FABRIC_BASE_LOG_JOB_H

/**
 * Print an error as bcs_error does, unless another process of the job on this machine
 * has printed the same text so. Without a launcher each process prints its own.
 */
void bcs_job_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
