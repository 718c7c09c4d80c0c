/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as a roll-call for people: a line for the ranks that stand at the same place.
 * One thread.
 */
#ifndef APPS_TOOLS_TOP_ROLL_CALL_H
#define APPS_TOOLS_TOP_ROLL_CALL_H

#include <jansson.h>
#include <stdbool.h>

/**
 * Print a job, as bcs-top prints it as JSON.
 *
 * @param stuck ranks as "0-3,7", who are deadlocked, or have ended: only these; NULL:
 * all
 * @return 0 or -ENOMEM
 */
int roll_call_print(const json_t *job, const char *stuck);

/** Print those ranks of a job that are listed, as "0-3,7", and wait, and nothing else.
 *  @param are_failing  only those whose call fails @return 0 or -ENOMEM */
int roll_call_print_at(json_t *job, const char *list, bool are_failing);

/** Whether all ranks of such a list wait. */
bool roll_call_is_complete(const json_t *job, const char *list);

#endif
