/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at all jobs as the screen looks at one; see jobs_json.h.
 */
#include "jobs_json.h"

#include <errno.h>
#include <stdlib.h>

#include "job_json.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"
#include "picture_json.h"
#include "viewer.h"

/** Look at a job for the first time. @return whether all is well; the job may have
 *  ended */
static bool begin(struct viewer *viewer, const struct bcs_look_found *found)
{
    struct bcs_look *look;
    int rc = job_json_open(found, &look);

    if (rc == 0) {
        viewer_init_brief(viewer, found, look);
    }
    return rc == 0 || rc == -ENOENT || rc == -EAGAIN; /* it has ended, or only begins */
}

/** Have all looks taken. */
static void await(struct viewer *viewers, int n)
{
    uint64_t next_ns;

    do {
        next_ns = UINT64_MAX;
        for (int i = 0; i < n; i++) {
            uint64_t its_ns;

            if (viewers[i].look == NULL || viewers[i].has_before) {
                continue;
            }
            viewer_step(&viewers[i], &its_ns);
            next_ns = its_ns < next_ns ? its_ns : next_ns;
        }
        if (next_ns != UINT64_MAX) {
            uint64_t now_ns = bcs_clock_now_ns();

            bcs_rest(next_ns > now_ns ? next_ns - now_ns : 1);
        }
    } while (next_ns != UINT64_MAX);
}

json_t *jobs_json_of(const struct bcs_look_found *found, int n, struct places *places,
                     bool *is_good_out)
{
    struct viewer *viewers = calloc((size_t)n + 1, sizeof(*viewers));
    json_t *jobs = json_array();
    bool is_good = viewers != NULL;

    for (int i = 0; viewers != NULL && i < n; i++) {
        is_good &= begin(&viewers[i], &found[i]);
    }
    if (viewers != NULL) {
        await(viewers, n);
    }
    for (int i = 0; viewers != NULL && i < n; i++) {
        if (viewers[i].look != NULL && viewers[i].has_before) {
            struct picture picture = viewer_picture(&viewers[i]);
            json_t *job = job_json_of(viewers[i].look, &found[i], places);

            picture_json_add(job, &picture);
            json_array_append_new(jobs, job);
        }
        viewer_fini(&viewers[i]);
    }
    free(viewers);
    *is_good_out = is_good;
    return jobs;
}
