/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether a job stands still; see standstill.h. It looks now and then at a
 * sum of all that messages and collectives change (bcs_look_sum): the job does nothing
 * for that. A look at 64 ranks takes about a millisecond or a few, and there are at
 * most ten in the time of the patience, and one a second if that is longer.
 *
 * Asking the ranks where they stand changes nothing of that sum, so that the same
 * standstill is printed once, however long it lasts: in a log of a night one is enough.
 */
#include "standstill.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "finding_add.h"
#include "job_json.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/report/finding.h"
#include "roll_call.h"
#include "starter.h"

#define LEAST_LOOK_NS UINT64_C(1000000)
#define MOST_LOOK_NS UINT64_C(1000000000)
#define NEXT_JOB_NS UINT64_C(100000000)
enum { LOOKS = 10, MESSAGE_BYTES = 160 };

/** How often to look. */
static uint64_t look_ns_of(uint64_t patience_ns)
{
    uint64_t ns = patience_ns / LOOKS;

    return ns < LEAST_LOOK_NS ? LEAST_LOOK_NS : ns > MOST_LOOK_NS ? MOST_LOOK_NS : ns;
}

static int print(const struct bcs_look *look, const struct bcs_look_found *found,
                 struct places *places, uint64_t patience_ns)
{
    bool is_whole = bcs_look_near(look).n == bcs_look_board(look)->n_nodes;
    char message[MESSAGE_BYTES], *line;
    struct finding_add adding;
    json_t *job;
    int rc;

    place_renew(places);
    job = job_json_of(look, found, places);
    snprintf(message, sizeof(message),
             "nothing has moved in the job%s for %.9g s: no message or collective was "
             "begun, went on or ended",
             is_whole ? "" : " on this machine", (double)patience_ns / 1e9);
    line = bcs_findings_are_wanted()
               ? bcs_finding_line(&(struct bcs_finding){.kind = BCS_FINDING_STANDSTILL,
                                                        .message = message})
               : NULL;
    adding = finding_add_begin(line);
    printf(
        "bcsrun: %s.\n"
        "bcsrun: this proves nothing and is no verdict; a rank that does not wait may "
        "compute, poll, or be in a file or window. The job goes on.\n",
        message);
    rc = job == NULL ? -ENOMEM : roll_call_print(job, NULL);
    rc = rc == 0 && fflush(stdout) != 0 ? -EIO : rc;
    finding_add_end(&adding, job, NULL);
    json_decref(job);
    free(line);
    return rc;
}

/** Watch a job until it has ended. @return 0 or -errno */
static int watch_job(const struct bcs_look *look, const struct bcs_look_found *found,
                     struct places *places, uint64_t patience_ns)
{
    uint64_t since_ns = bcs_clock_now_ns();
    uint64_t sum = 0, before;
    bool is_told = false;
    int rc = bcs_look_sum(look, &sum);

    while (rc == 0 && bcs_look_is_there(found)) {
        uint64_t now_ns;

        starter_sleep(look_ns_of(patience_ns));
        before = sum;
        rc = bcs_look_sum(look, &sum);
        now_ns = bcs_clock_now_ns();
        if (sum != before) {
            since_ns = now_ns;
            is_told = false;
        } else if (rc == 0 && !is_told && now_ns - since_ns >= patience_ns) {
            rc = bcs_look_is_there(found) ? print(look, found, places, patience_ns) : 0;
            is_told = true;
        }
    }
    return rc;
}

int standstill_watch(int64_t starter, uint64_t patience_ns)
{
    struct places *places = place_open(PLACE_HASTY_NS);
    int rc = places == NULL ? -ENOMEM : 0;

    while (rc == 0) {
        struct starter_job job;

        rc = starter_await_job(starter, &job);
        if (rc == 0) {
            rc = watch_job(job.look, &job.found, places, patience_ns);
            bcs_look_close(job.look);
            starter_sleep(NEXT_JOB_NS);
        }
    }
    place_close(places);
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
