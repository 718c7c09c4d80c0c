/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as JSON: what is known of where its ranks stand. For scripts, and for the
 * roll-call. One thread.
 */
#ifndef APPS_TOOLS_TOP_JOB_JSON_H
#define APPS_TOOLS_TOP_JOB_JSON_H

#include <jansson.h>

#include "apps/tools/look/look.h"
#include "mds/source/place.h"

/**
 * bcs_look_open, which says on standard error what is wrong with a job.
 *
 * @return 0; -ENOENT or -EAGAIN, of which nothing is said: the job has ended, or only
 *         begins; or another -errno
 */
int job_json_open(const struct bcs_look_found *found, struct bcs_look **look_out);

/**
 * Look at a job, and ask those who have told nothing.
 *
 * @param places  for lines of the source
 * @return for json_decref; NULL: no memory
 */
json_t *job_json_of(const struct bcs_look *look, const struct bcs_look_found *found,
                    struct places *places);

#endif
