/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is read of waits, of a job as bcs-top prints it as JSON. One thread.
 */
#ifndef APPS_TOOLS_TOP_WAIT_PRINT_H
#define APPS_TOOLS_TOP_WAIT_PRINT_H

#include <jansson.h>
#include <stdbool.h>

/** A text of an object; "": it has none. */
const char *wait_text(const json_t *object, const char *key);

/** A number of an object; 0: it has none. */
json_int_t wait_number(const json_t *object, const char *key);

/** The context of the communicator that a wait, or an operation, is about. Odd ones
 *  have the messages of its collectives. */
json_int_t wait_comm(const json_t *of);

/** The name of a communicator of which some rank has told. @return "": nobody has */
const char *wait_communicator(const json_t *job, json_int_t context);

/** The collective that a wait is for: its call, or, if it does not block, what it is in
 *  words.
 *  @return "": none, or it is not known which */
const char *wait_collective(const json_t *wait);

/** Whether a rank polls, by its last look in vain, which was not long ago.
 *  @param poll  null: there is none */
bool wait_polls(const json_t *poll);

/** The collective of a wait with what its members must agree on: "broadcast, root 1".
 *  For json_decref */
json_t *wait_part_of(const json_t *wait);

#endif
