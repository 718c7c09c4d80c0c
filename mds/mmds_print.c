/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the Main MDS's report in the form of the paper's table 5.3. Called once, in
 * MPI_Finalize, by rank 0; the other ranks only hand over their summaries.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libbcs/fabric/base/notice.h"
#include "mds/mmds.h"

#define NS_PER_MS 1e6
#define NS_PER_US 1e3
#define MIN_NAME_WIDTH 16 /* "Comp Granularity" */

/* Columns of the longest name that the table will show. */
static int name_width(const char *const *names, uint32_t n_primitives,
                      const struct mmds_summary *summary)
{
    size_t width = MIN_NAME_WIDTH;

    for (uint32_t i = 0; i < n_primitives; i++) {
        if (summary->primitives[i].count > 0 && strlen(names[i]) > width) {
            width = strlen(names[i]);
        }
    }
    return (int)width;
}

static void print_interval(FILE *out, int width, const char *name,
                           const struct mmds_interval *interval)
{
    double total_ms = (double)interval->total_ns / NS_PER_MS;
    double average_ms = interval->count > 0 ? total_ms / (double)interval->count : 0;

    fprintf(out, "%-*s %10.3f %11.3f %13.3f %10" PRIu64 " %12.3f\n", width, name,
            (double)interval->min_ns / NS_PER_MS, (double)interval->max_ns / NS_PER_MS,
            total_ms, interval->count, average_ms);
}

static void print_table(FILE *out, const char *const *names, uint32_t n_primitives,
                        const struct mmds_summary *summary)
{
    int width = name_width(names, n_primitives, summary);

    fprintf(out, "%-*s %10s %11s %13s %10s %12s\n", width, "Primitive", "Min(ms)",
            "Max(ms)", "Total(ms)", "Count", "Average(ms)");
    for (uint32_t i = 0; i < n_primitives; i++) {
        if (summary->primitives[i].count > 0) {
            print_interval(out, width, names[i], &summary->primitives[i]);
        }
    }
    print_interval(out, width, "Comp Granularity", &summary->computation);
    print_interval(out, width, "Comm Overhead", &summary->communication);
}

/** What blocking calls have waited for, if it is known of any. */
static void print_splits(FILE *out, const char *const *names, uint32_t n_primitives,
                         const struct mmds_summary *summary)
{
    int width = name_width(names, n_primitives, summary);
    bool has_head = false;

    for (uint32_t i = 0; i < n_primitives; i++) {
        const struct mmds_split *split = &summary->splits[i];

        if (mmds_split_total_ns(split) == 0) {
            continue;
        }
        if (!has_head) {
            fprintf(out, "%-*s %11s %11s %11s %11s %11s %11s\n", width,
                    "Waited for(ms)", "Sender", "Receiver", "Collective", "Slice",
                    "Transfer", "Not split");
            has_head = true;
        }
        fprintf(out, "%-*s", width, names[i]);
        for (int part = 0; part < MDS_N_PARTS; part++) {
            fprintf(out, " %11.3f", (double)split->ns[part] / NS_PER_MS);
        }
        fprintf(out, "\n");
    }
}

static void print_strobes(FILE *out, const struct mmds_strobes *strobes)
{
    if (strobes->n_sent > 0) {
        fprintf(out,
                "Strobes %" PRIu64 " every %.0f us, not needed %" PRIu64
                ", left out %" PRIu64 "; 99 %% at most %.0f us late; %s priority\n",
                strobes->n_sent, (double)strobes->slice_ns / NS_PER_US, strobes->n_idle,
                strobes->n_left_out, (double)strobes->late_ns / NS_PER_US,
                strobes->is_prompt ? "real-time" : "normal");
    }
}

/** Whether no process has ended, which are known of when they do only. */
static bool is_unknown(const struct mmds_summary *summary)
{
    return summary->n_unended > 0 && summary->n_unended == summary->n_processes;
}

static void print_account(FILE *out, const struct mmds_summary *summary)
{
    uint64_t accounted_ns =
        summary->computation.total_ns + summary->communication.total_ns;
    double gap = summary->run_ns > 0
                     ? 100.0 * (double)summary->gap_ns / (double)summary->run_ns
                     : 0;

    fprintf(out, "Run time %.3f ms, computation + communication %.3f ms, gap %.4f %%\n",
            (double)summary->run_ns / NS_PER_MS, (double)accounted_ns / NS_PER_MS, gap);
    fprintf(out, "Non-blocking primitives %.3f ms of the computation; slices ",
            (double)summary->instant_ns / NS_PER_MS);
    if (is_unknown(summary)) {
        fprintf(out, "not known\n");
    } else {
        fprintf(out, "%" PRIu64 "\n", summary->n_slices);
    }
    print_strobes(out, &summary->strobes);
}

static void print_passed(FILE *out, const char *const *names, uint32_t n_primitives,
                         const struct mmds_summary *summary)
{
    bool is_empty = true;

    fprintf(out, "Passed to the MPI library:");
    for (uint32_t i = 0; i < n_primitives; i++) {
        if (summary->passed[i] > 0) {
            fprintf(out, "%s %s %" PRIu64, is_empty ? "" : ",", names[i],
                    summary->passed[i]);
            is_empty = false;
        }
    }
    if (is_unknown(summary)) {
        fprintf(out, " not known\n");
        return;
    }
    fprintf(out, "%s", is_empty ? " nothing" : "");
    if (summary->n_unended > 0) {
        fprintf(out, "; not known of %" PRIu64 " processes", summary->n_unended);
    }
    fprintf(out, "\n");
}

/** Whether a program of MPI was recorded; of none that was called nothing is known. */
static bool is_of_mpi(const char *const *names, uint32_t n_primitives)
{
    return n_primitives == 0 || strncmp(names[0], "MPI_", strlen("MPI_")) == 0;
}

void mmds_print(FILE *out, const char *title, const char *const *names,
                uint32_t n_primitives, const struct mmds_summary *summary)
{
    fprintf(out, "\n%s\n", title);
    print_table(out, names, n_primitives, summary);
    print_splits(out, names, n_primitives, summary);
    print_account(out, summary);
    if (is_of_mpi(names, n_primitives)) {
        print_passed(out, names, n_primitives, summary);
    }
}

/** What all processes have met, with what each entry is in docs/configuration.md. */
static void print_notices(FILE *out)
{
    bool is_empty = true;

    fprintf(out, "Fallen back or held up:");
    for (enum bcs_notice i = 0; i < BCS_N_NOTICES; i++) {
        if (bcs_notice_count(i) > 0) {
            fprintf(out, "%s %s %" PRIu64, is_empty ? "" : ",", bcs_notice_kind(i)->key,
                    bcs_notice_count(i));
            is_empty = false;
        }
    }
    fprintf(out, "%s\n", is_empty ? " nothing" : "");
}

static void print_all(FILE *out, const struct mmds_report *report,
                      const struct mmds_summary *summaries, struct mmds_summary *sum)
{
    char title[64];

    for (uint32_t i = 0; i < report->n_ranks; i++) {
        mmds_merge(sum, &summaries[i]);
    }
    snprintf(title, sizeof(title), "MMDS, all %" PRIu64 " processes", sum->n_processes);
    mmds_print(out, title, report->names, report->n_primitives, sum);
    print_notices(out);
    for (uint32_t i = 0; i < report->n_ranks && !report->is_brief; i++) {
        if (summaries[i].n_processes > 0) { /* it has recorded */
            snprintf(title, sizeof(title), "MMDS, process %" PRIu32, i);
            mmds_print(out, title, report->names, report->n_primitives, &summaries[i]);
        }
    }
}

/* The text is made in memory and written at once, so that lines of others, which go to
 * the same terminal, do not come in between. */
static int print_at_once(const struct mmds_report *report,
                         const struct mmds_summary *summaries)
{
    struct mmds_summary *sum = calloc(1, sizeof(*sum));
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *memory = open_memstream(&text, &n_bytes);
    int err = -ENOMEM;

    if (sum != NULL && memory != NULL) {
        print_all(memory, report, summaries, sum);
        err = 0;
    }
    if (memory != NULL && fclose(memory) != 0) {
        err = -ENOMEM;
    }
    if (!err) {
        fwrite(text, 1, n_bytes, report->out);
        fflush(report->out);
    }
    free(text);
    free(sum);
    return err;
}

int mmds_report(const struct mmds_report *report, const struct mmds_summary *mine)
{
    struct mmds_summary *summaries = NULL;
    int err;

    if (report->rank != 0) {
        return report->gather(report->arg, mine, sizeof(*mine), NULL);
    }
    summaries = calloc(report->n_ranks, sizeof(*summaries));
    if (summaries == NULL) {
        return -ENOMEM;
    }
    err = report->gather(report->arg, mine, sizeof(*mine), summaries);
    if (!err) {
        err = print_at_once(report, summaries);
    }
    free(summaries);
    return err;
}
