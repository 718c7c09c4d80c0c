/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one log sink: lines on standard error, "bcs[rank 3]: text". Any thread may log;
 * each line is one write. Never called on the hot path.
 */
#ifndef LIBBCS_FABRIC_BASE_LOG_H
#define LIBBCS_FABRIC_BASE_LOG_H

#include <stddef.h>

enum bcs_log_level { BCS_LOG_ERROR, BCS_LOG_WARN, BCS_LOG_INFO, BCS_LOG_DEBUG };

/** Set the highest level that is printed (default BCS_LOG_WARN) and the rank shown in
 *  front of every line (negative: none). Call once, before other threads start. */
void bcs_log_setup(enum bcs_log_level level, int rank);

/** Write what stands in front of every line, "bcs[rank 3]: ", for who prints several
 *  lines at once. @return its length, at most n_bytes - 1 */
size_t bcs_log_prefix(char *text_out, size_t n_bytes);

/** Print one line if level is enabled; a newline is added. */
void bcs_log(enum bcs_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define bcs_error(...) bcs_log(BCS_LOG_ERROR, __VA_ARGS__)
#define bcs_warn(...) bcs_log(BCS_LOG_WARN, __VA_ARGS__)

#endif
