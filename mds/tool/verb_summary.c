/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds summary: what was run, the table of the paper [BCS-MPI table 5.3], how each rank has
 * spent its time, and how efficient that was.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/efficiency.h"
#include "mds/tool/manifest.h"
#include "mds/tool/verbs.h"

enum { VALUE_BYTES = 64 };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static double percent(double part, double whole)
{
    return 100 * efficiency_part(part, whole);
}

static void print_head(const struct run *run)
{
    char *command = manifest_command(run->manifest);
    char value[VALUE_BYTES];

    printf("%s", command == NULL ? "" : command);
    free(command);
    manifest_value(run->manifest, "state", 0, value, sizeof(value));
    printf("\n%u ranks, of which %u have a file; the run has %s\n", run->n_ranks,
           run->n_files, strcmp(value, "ended") == 0 ? value : "not ended");
}

static void print_ranks(const struct run *run)
{
    printf("\n%8s %12s %10s %10s %10s %12s  %s\n", "Rank", "Run(s)", "Outside(%)",
           "Waiting(%)", "Other(%)", "Memory(MB)", "Host");
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        const struct mds_dump_process *process = &run->files[i].process;
        double run_ns = (double)summary->run_ns;

        printf("%8u %12.3f %10.2f %10.2f %10.2f %12.1f  %.*s\n", process->rank,
               seconds(summary->run_ns),
               percent((double)efficiency_outside_ns(summary), run_ns),
               percent((double)summary->communication.total_ns, run_ns),
               percent((double)summary->instant_ns, run_ns),
               (double)process->peak_bytes / 1e6, (int)sizeof(process->host),
               process->host);
    }
    printf("Outside of MPI, in blocking calls, in calls that do not block.\n");
}

static void print_efficiency(const struct run *run)
{
    struct efficiency efficiency = efficiency_of(run);

    printf("\nParallel efficiency %.1f %% = load balance %.1f %% x communication "
           "efficiency %.1f %%\n",
           100 * efficiency.parallel, 100 * efficiency.balance,
           100 * efficiency.communication);
}

int verb_summary(const struct run *run, const struct verb_options *options)
{
    struct mmds_summary sum = {0};
    char title[64];

    print_head(run);
    for (uint32_t i = 0; i < run->n_files; i++) {
        bool is_wanted =
            options->rank < 0 || options->rank == run->files[i].process.rank;

        if (is_wanted) {
            mmds_merge(&sum, &run->summaries[i]);
        }
        if (is_wanted && options->has_ranks) {
            snprintf(title, sizeof(title), "Rank %u", run->files[i].process.rank);
            mmds_print(stdout, title, run->names, run->n_names, &run->summaries[i]);
        }
    }
    if (sum.n_processes == 0) {
        fprintf(stderr, "bcs-mds: rank %" PRId64 " has no file\n", options->rank);
        return 1;
    }
    snprintf(title, sizeof(title), "%" PRIu64 " processes", sum.n_processes);
    mmds_print(stdout, title, run->names, run->n_names, &sum);
    print_ranks(run);
    print_efficiency(run);
    return 0;
}
