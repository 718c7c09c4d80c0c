/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child process that reads what may be anybody's, or may never come: it can be ended
 * at any time, and what it has found until then is there. place.c has lines of the
 * source found in one.
 */
#ifndef MDS_SOURCE_READER_H
#define MDS_SOURCE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READER_ANSWER_BYTES = 1 << 15 }; /* the longest question and answer */

/** A child. */
struct reader;

/** In the child: answer a question by reader_tell, once or better and better.
 *  @param arg as it was when the child was started @param answers what reader_tell is
 *  to get */
typedef void (*reader_serve_fn)(void *arg, const char *question, size_t n_bytes,
                                int answers);

/**
 * Start a child. It is a copy of this process, which has one thread, without any of its
 * file descriptors. It gets no signals' handlers, makes no core, may take
 * READER_MEMORY_BYTES more memory than this process has, and ends with it.
 *
 * @return end with reader_end; NULL: it cannot be started
 */
struct reader *reader_start(reader_serve_fn serve, void *arg);

/**
 * Ask, and wait for the last answer.
 *
 * @param answer_out  receives the last one that has come, ended by a zero; "": none has
 * @param left_ns the most that may be waited, of which it takes what it has waited.
 *                    Time in which the child only waits for a core does not count.
 * @return whether it was the last answer. Else the time is over or the child has ended:
 *         the next answer may belong to this question, so end it
 */
bool reader_ask(const struct reader *reader, const char *question, size_t n_bytes,
                char answer_out[READER_ANSWER_BYTES], uint64_t *left_ns);

/** End a child at once, whatever it is at. Accepts NULL. */
void reader_end(struct reader *reader);

/** In the child: answer. @param is_last  there will be no better one */
void reader_tell(int answers, bool is_last, const char *answer, size_t n_bytes);

/** In the child, if it is root's: go on as that user and group, and as nobody more.
 *  @return whether it does */
bool reader_become(uint32_t user, uint32_t group);

/** Open a file, and nothing but a file: without waiting, without any effect on what
 *  else may have that name. @return a descriptor or -errno; -EINVAL: it is none */
int reader_open_file(const char *path);

#endif
