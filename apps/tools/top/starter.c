/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for the jobs of a launcher; see starter.h.
 */
#include "starter.h"

#include <errno.h>
#include <stdlib.h>

#include "job_json.h"
#include "kin.h"
#include "libbcs/fabric/base/clock.h"
#include "libbcs/fabric/base/park.h"

#define FIRST_SEARCH_NS UINT64_C(100000000)
#define MOST_SEARCH_NS UINT64_C(2000000000)

void starter_sleep(uint64_t ns)
{
    const uint32_t nobody = 0;
    uint64_t until_ns = bcs_clock_now_ns() + ns;

    while (!bcs_word_sleep(&nobody, 0, until_ns)) {
    }
}

/** @return whether there is one */
static bool find_job(int64_t starter, struct bcs_look_found *found_out)
{
    struct bcs_look_found *found = NULL;
    int n = bcs_look_find(&found);
    bool is_found = false;

    for (int i = 0; i < n && !is_found; i++) {
        is_found = kin_is_below(found[i].handle.pid, starter);
        *found_out = found[i];
    }
    free(found);
    return is_found;
}

int starter_await_job(int64_t starter, struct starter_job *job_out)
{
    uint64_t search_ns = FIRST_SEARCH_NS;

    for (;;) {
        if (find_job(starter, &job_out->found)) {
            int rc = job_json_open(&job_out->found, &job_out->look);

            if (rc != -ENOENT && rc != -EAGAIN) {
                return rc; /* else it only begins, or has ended */
            }
            search_ns = FIRST_SEARCH_NS;
        }
        starter_sleep(search_ns);
        search_ns = search_ns * 2 > MOST_SEARCH_NS ? MOST_SEARCH_NS : search_ns * 2;
    }
}
