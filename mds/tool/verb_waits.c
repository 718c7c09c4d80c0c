/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds waits: for whom ranks have waited, how long, and where both were.
 */
#include <stdio.h>

#include "mds/tool/verbs.h"
#include "mds/tool/waits.h"

enum { LINES = 20 }; /* if not told */

static void print_ranks(const struct run *run, const struct waits *waits)
{
    printf("%8s %14s %14s %22s\n", "Rank", "Blocked(ms)", "For others(ms)",
           "Others for it(ms)");
    for (uint32_t i = 0; i < run->n_files; i++) {
        printf("%8u %14.3f %14.3f %22.3f\n", run->files[i].process.rank,
               (double)run->summaries[i].communication.total_ns / 1e6,
               (double)waits->waited_ns[i] / 1e6, (double)waits->caused_ns[i] / 1e6);
    }
}

static int no_memory(void)
{
    fprintf(stderr, "bcs-mds: no memory for the events\n");
    return 1;
}

int verb_waits(const struct run *run, const struct verb_options *options)
{
    size_t n_most = options->n_most < 0 ? LINES : (size_t)options->n_most;
    struct timeline timeline;
    struct waits waits = {0};
    int rc;

    if (timeline_of(run, -1, &timeline) < 0) {
        return no_memory();
    }
    if (timeline.n == 0) {
        fprintf(stderr, "bcs-mds: %s has no events; record with BCS_MDS=trace\n",
                run->folder);
        timeline_fini(&timeline);
        return 1;
    }
    rc = waits_of(run, &timeline, &waits);
    if (rc == 0) {
        print_ranks(run, &waits);
        rc = waits_print(run, &waits, n_most);
    }
    waits_fini(&waits);
    timeline_fini(&timeline);
    return rc < 0 ? no_memory() : 0;
}
