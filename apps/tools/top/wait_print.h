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

/** Print what a wait is in, as "MPI_Recv"; or, if the program has called a method that
 *  hides it, as "comm.recv (MPI_Mprobe)". Of an object with "call" and "method". */
void wait_print_call(const json_t *of);

/** Whether a communicator is one that the program does not see, by a context of it. */
bool wait_is_hidden(json_int_t context);

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

/** What all members of the communicator must call: the method that hides what a wait is
 *  in, if it is about all of them, or the collective.
 *  @return as wait_collective */
const char *wait_shared(const json_t *wait);

/** The collective of a wait with what its members must agree on: "broadcast, root 1".
 *  For json_decref */
json_t *wait_part_of(const json_t *wait);

#endif
