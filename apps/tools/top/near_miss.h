/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is almost what deadlocked ranks wait for: a message that differs from what a
 * waiting receive asks for in its tag, its source, or its communicator alone; a part of
 * a collective whose receiver waits for that of another one. Works on a job as bcs-top
 * prints it as JSON. One thread.
 */
#ifndef APPS_TOOLS_TOP_NEAR_MISS_H
#define APPS_TOOLS_TOP_NEAR_MISS_H

#include <jansson.h>
#include <stdbool.h>

/**
 * Read a message that nobody has received, as "FROM,TO,TAG,BYTES,CONTEXT,TAKEN", or
 * with ",WORDS" behind it that say of which collective it is a part.
 *
 * @return an object of these, to be given up by json_decref; NULL: it is no such text,
 *         or no memory
 */
json_t *near_miss_read(const char *text);

/**
 * Add to a message, if it is almost what its receiver waits for, the object
 * "near_miss": in what it differs, and what is expected where.
 *
 * @param job  with all ranks of it
 */
void near_miss_find(const json_t *job, json_t *message);

/** Print the job's messages, those that are almost expected first, a line each, the
 *  first ones of each kind. */
void near_miss_print(const json_t *job);

#endif
