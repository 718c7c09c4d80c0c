/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as a roll-call for people: a line for the ranks that stand at the same place.
 * Below the lines stands the tree of the calls of all ranks, if it tells more
 * (job_tree.h). One thread.
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

/** Print the tree of the calls of all ranks of a job. @return 0 or -ENOMEM */
int roll_call_print_tree(const json_t *job);

/** What is printed of the ranks that an error is about. */
struct roll_call_at {
    const char *ranks;          /* as "0-3,7": of these, those that wait */
    const char *before, *after; /* texts around them */
    bool are_failing;           /* only those whose call fails, which ends the job */
};

/** Print where some ranks of a job stand. @return 0 or -ENOMEM; the texts are printed
 *  in any case */
int roll_call_print_at(const json_t *job, const struct roll_call_at *at);

/** Whether all ranks of such a list wait. */
bool roll_call_is_complete(const json_t *job, const char *list);

#endif
