/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds summary: what was run, what stands out, the table of the paper [BCS-MPI table
 * 5.3], how each rank has spent its time and what its calls have waited for, how
 * efficient that was, which places in the program have cost most, and, if events were
 * recorded, for whom ranks have waited most.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/analysis/outstanding.h"
#include "mds/tool/analysis/phase_read.h"
#include "mds/tool/analysis/roll.h"
#include "mds/tool/analysis/site.h"
#include "mds/tool/analysis/slice_series.h"
#include "mds/tool/analysis/split_read.h"
#include "mds/tool/analysis/waits.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/verbs/verbs.h"

enum {
    VALUE_BYTES = 64,
    USUAL_SITES = 10, /* that are shown */
    USUAL_WAITS = 5,
};

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
    printf("\n%u ranks, of which %u have a file; the run has %s\n", run_n_ranks(run),
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

        char memory[32] = "not known";

        if (summary->n_unended == 0) {
            snprintf(memory, sizeof(memory), "%.1f", (double)process->peak_bytes / 1e6);
        }
        printf("%8u %12.3f %10.2f %10.2f %10.2f %12s  %.*s\n", process->rank,
               seconds(summary->run_ns),
               percent((double)efficiency_outside_ns(summary), run_ns),
               percent((double)summary->communication.total_ns, run_ns),
               percent((double)summary->instant_ns, run_ns), memory,
               (int)sizeof(process->host), process->host);
    }
    printf("Outside of MPI, in blocking calls, in calls that do not block.\n");
}

/** Say so if waits were not looked for. */
static void print_unread(const struct waits *waits)
{
    if (waits->n_unread > 0) {
        printf("\n");
        waits_write_unread(stdout, waits);
        printf("\n");
    }
}

static void print_efficiency(const struct run *run, const struct waits *waits)
{
    struct efficiency efficiency = efficiency_of(run);

    printf("\nParallel efficiency %.1f %% = load balance %.1f %% x communication "
           "efficiency %.1f %%\n",
           100 * efficiency.parallel, 100 * efficiency.balance,
           100 * efficiency.communication);
    if (outstanding_is_whole(waits)) {
        efficiency_split(run, waits->waited_ns, &efficiency);
        printf("Communication efficiency %.1f %% = serialisation %.1f %% x transfer "
               "%.1f %%\n",
               100 * efficiency.communication, 100 * efficiency.serialisation,
               100 * efficiency.transfer);
    }
}

/** What stands out, a line each. @return false: no memory */
static bool print_outstanding(const struct run *run, const struct waits *waits)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    char *text = NULL;
    int rc = places == NULL ? -1 : outstanding_of(run, waits, places, &text);

    for (const char *at = text; rc == 0 && *at != '\0'; at += strlen(at) + 1) {
        printf("%s  ", at == text ? "\nWhat stands out:\n" : "");
        manifest_print(stdout, at, strlen(at));
        printf("\n");
    }
    free(text);
    place_close(places);
    return rc == 0;
}

/** @param run_ns, mpi_ns of all ranks that are shown: all of their time, and all in
 *  calls */
static void print_site(const struct site *site, struct places *places, double run_ns,
                       double mpi_ns)
{
    char *place = site_place(site, places, NULL);
    double total_ns = (double)site->time.total_ns;

    printf("%-20s %10" PRIu64 " %12.3f %8.2f %8.2f %12.3f %6.2f %8u %12.3f  ",
           site->primitive, site->time.count, total_ns / 1e6, percent(total_ns, run_ns),
           percent(total_ns, mpi_ns), total_ns / (double)site->time.count / 1e3,
           site->variation, site->most_rank, (double)site->most_ns / 1e6);
    if (place != NULL) {
        manifest_print(stdout, place, strlen(place));
    }
    printf("\n");
    free(place);
}

/** How many places are shown. */
static size_t n_sites(const struct verb_options *options)
{
    return options->n_most < 0 ? USUAL_SITES : (size_t)options->n_most;
}

/** The places that have cost most. @return false: no memory */
static bool print_sites(const struct run *run, const struct verb_options *options)
{
    size_t n, n_most = n_sites(options);
    struct site *sites = sites_of(run, options->rank, &n);
    struct places *places = place_open(PLACE_PATIENT_NS);

    if (sites != NULL && places != NULL && n > 0 && n_most > 0) {
        double run_ns = run_total_ns(run, options->rank);
        double mpi_ns = sites_total_ns(sites, n);

        printf("\n%-20s %10s %12s %8s %8s %12s %6s %8s %12s  %s\n", "Called from",
               "Calls", "Total(ms)", "App(%)", "MPI(%)", "Mean(us)", "COV", "Rank",
               "Its(ms)", "Place");
        for (size_t i = 0; i < n && i < n_most; i++) {
            print_site(&sites[i], places, run_ns, mpi_ns);
        }
        printf("%zu of %zu places, by their total; the rank has most of it. COV is the "
               "standard deviation\nof the ranks' totals by their mean.%s\n",
               n < n_most ? n : n_most, n, PLACE_NOTE);
    }
    place_close(places);
    free(sites);
    return sites != NULL && places != NULL;
}

static int no_memory(const struct run *run)
{
    fprintf(stderr, "bcs-mds: no memory for the places of %s\n", run->folder);
    return 1;
}

/** What slices came to, if they were recorded. */
static void print_slices(const struct run *run)
{
    struct emds_summary summary = series_summary(run);

    emds_print(stdout, &summary);
}

/** The tables of the paper. */
static int print_tables(const struct run *run, const struct verb_options *options)
{
    struct mmds_summary sum = {0};
    char title[64];

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
    return 0;
}

/** All that is told of all ranks, or of one. */
static int print(const struct run *run, const struct verb_options *options,
                 const struct waits *waits)
{
    bool is_of_all = options->rank < 0;
    int status;

    print_head(run);
    if (run->n_files == 0) {
        print_slices(run);
        return 0;
    }
    if (roll_print(run) < 0 || (is_of_all && !print_outstanding(run, waits))) {
        return no_memory(run);
    }
    status = print_tables(run, options);
    if (status != 0) {
        return status;
    }
    print_slices(run);
    print_ranks(run);
    print_efficiency(run, waits);
    if (split_print_ranks(run, options->rank) < 0 ||
        phases_print(run, options->rank) < 0 || !print_sites(run, options) ||
        split_print_sites(run, options->rank, n_sites(options)) < 0) {
        return no_memory(run);
    }
    print_unread(waits);
    return is_of_all && waits->n > 0 && waits_print(run, waits, USUAL_WAITS) < 0
               ? no_memory(run)
               : 0;
}

int verb_summary(const struct run *run, const struct verb_options *options)
{
    struct waits waits;
    int status =
        waits_of(run, &waits) < 0 ? no_memory(run) : print(run, options, &waits);

    waits_fini(&waits);
    return status;
}
