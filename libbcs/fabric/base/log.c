/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log sink: formats a line on the stack and hands it to the kernel in one write, so
 * that the lines of several ranks do not mix. Used by every process and any thread;
 * the level and the rank are set once at start, before other threads exist.
 */
#include "libbcs/fabric/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

static struct {
    enum bcs_log_level level;
    int rank;
} sink = {.level = BCS_LOG_WARN, .rank = -1};

void bcs_log_setup(enum bcs_log_level level, int rank)
{
    sink.level = level;
    sink.rank = rank;
}

size_t bcs_log_prefix(char *text_out, size_t n_bytes)
{
    if (sink.rank >= 0) {
        snprintf(text_out, n_bytes, "bcs[rank %d]: ", sink.rank);
    } else {
        snprintf(text_out, n_bytes, "bcs: ");
    }
    return strlen(text_out);
}

void bcs_log(enum bcs_log_level level, const char *format, ...)
{
    char line[LINE_BYTES];
    int saved_errno = errno;
    size_t n_bytes;
    int n_text;
    va_list arguments;

    if (level > sink.level) {
        return;
    }
    n_bytes = bcs_log_prefix(line, sizeof line);
    va_start(arguments, format);
    n_text = vsnprintf(line + n_bytes, sizeof line - n_bytes, format, arguments);
    va_end(arguments);
    if (n_text > 0) {
        n_bytes += (size_t)n_text;
    }
    if (n_bytes > sizeof line - 1) {
        n_bytes = sizeof line - 1; /* a longer text is cut off */
    }
    line[n_bytes] = '\n'; /* takes the place of the final 0 */
    if (write(STDERR_FILENO, line, n_bytes + 1) < 0) {
        /* Nowhere left to report it. */
    }
    errno = saved_errno;
}
