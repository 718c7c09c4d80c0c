/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of the calls of all ranks (call_tree.h), of a job as bcs-top prints it as
 * JSON. One thread.
 */
#ifndef APPS_TOOLS_TOP_JOB_TREE_H
#define APPS_TOOLS_TOP_JOB_TREE_H

#include <jansson.h>
#include <stdbool.h>

/**
 * The tree of a job, which is its member "tree". A rank that does not wait is in it
 * with what is known of it.
 *
 * @param ranks  the job's member of that name
 * @return for json_decref; NULL: no memory
 */
json_t *job_tree_of(const json_t *ranks);

/** What a report on a job has told above its tree. */
struct job_tree_told {
    const json_t *groups; /* of ranks, a line each; see groups_of */
    const json_t *acting; /* ranks that do not wait; NULL: of none of these */
    bool needs_call;      /* it is no lack that a rank is left out whose call is not
                             known */
};

/**
 * Print the tree of a job below a report, if it tells more than that: ranks or callers
 * that are left out above; or where paths of many lines part.
 *
 * @return 0 or -ENOMEM
 */
int job_tree_print_below(const json_t *job, const struct job_tree_told *told);

#endif
