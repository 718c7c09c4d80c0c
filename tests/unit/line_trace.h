/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cache lines of some memory a program reads and writes, found by the processor:
 * the memory is forbidden, each access traps, is written down, and is carried out as a
 * single step. For one thread, on x86-64; nothing may block in the kernel on that
 * memory meanwhile.
 */
#ifndef TEST_UNIT_LINE_TRACE_H
#define TEST_UNIT_LINE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_TRACE_PIECES = 2, LINE_BYTES = 64, LINE_READ = 1, LINE_WRITTEN = 2 };

/** What was done to the lines of one piece of memory. */
struct line_trace {
    char *base; /* of pages */
    size_t n_bytes;
    uint8_t *lines;  /* bits LINE_READ and LINE_WRITTEN */
    size_t n_atomic; /* instructions that read and write at once, as nobody else can
                        between */
};

/** Whether this machine and build can do it. */
bool line_trace_is_possible(void);

/** Begin to note, besides what the traces have. Each has a piece of its own. */
void line_trace_begin(struct line_trace traces[], int n);

/** The memory may be used as before. */
void line_trace_end(void);

/** A trace without any lines. End with line_trace_free. */
void line_trace_make(struct line_trace *trace_out, void *base, size_t n_bytes);

/** Free what line_trace_make has made. */
void line_trace_free(struct line_trace *trace);

/** How many lines have all of the bits. */
size_t line_trace_count(const struct line_trace *trace, uint8_t bits);

#endif
