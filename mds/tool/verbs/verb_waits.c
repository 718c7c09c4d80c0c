/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds waits: for whom ranks have waited, how long, and where both were.
 */
#include <stdio.h>

#include "mds/tool/analysis/waits.h"
#include "mds/tool/verbs/verbs.h"

enum { LINES = 20 }; /* if not told */

static void print_ranks(const struct run *run, const struct waits *waits)
{
    printf("%8s %14s %14s %22s %12s\n", "Rank", "Blocked(ms)", "For others(ms)",
           "Others for it(ms)", "To blame(ms)");
    for (uint32_t i = 0; i < run->n_files; i++) {
        printf("%8u %14.3f %14.3f %22.3f %12.3f\n", run->files[i].process.rank,
               (double)run->summaries[i].communication.total_ns / 1e6,
               (double)waits->waited_ns[i] / 1e6, (double)waits->caused_ns[i] / 1e6,
               (double)waits->root_ns[i] / 1e6);
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
    struct waits waits;
    int rc = waits_of(run, &waits);

    if (rc == 0 && waits.n_events == 0) {
        fprintf(stderr, "bcs-mds: %s " TIMELINE_NONE "\n", run->folder);
        waits_fini(&waits);
        return 1;
    }
    if (rc == 0) {
        print_ranks(run, &waits);
        rc = waits_print(run, &waits, n_most);
    }
    waits_fini(&waits);
    return rc < 0 ? no_memory() : 0;
}
