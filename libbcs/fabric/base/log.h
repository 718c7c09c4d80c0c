/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one log sink: lines on standard error, "bcs[rank 3]: text". Any thread may log;
 * each line is one write. Never called on the hot path.
 */
#ifndef LIBBCS_FABRIC_BASE_LOG_H
#define LIBBCS_FABRIC_BASE_LOG_H

enum bcs_log_level { BCS_LOG_ERROR, BCS_LOG_WARN, BCS_LOG_INFO, BCS_LOG_DEBUG };

/** Set the highest level that is printed (default BCS_LOG_WARN) and the rank shown in
 *  front of every line (negative: none). Call once, before other threads start. */
void bcs_log_setup(enum bcs_log_level level, int rank);

/** Print one line if level is enabled; a newline is added. */
void bcs_log(enum bcs_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define bcs_error(...) bcs_log(BCS_LOG_ERROR, __VA_ARGS__)
#define bcs_warn(...) bcs_log(BCS_LOG_WARN, __VA_ARGS__)

#endif
