/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: the table of primitives, with the columns that users of mpiP know.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

static int compare(const void *left, const void *right)
{
    const struct report_call *a = left, *b = right;

    if (a->time.total_ns != b->time.total_ns) {
        return a->time.total_ns > b->time.total_ns ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/** Add what the file of a rank has. */
static void add_file(const struct run *run, const struct dump_file *file,
                     struct report_call *calls)
{
    for (uint32_t i = 0; i < file->calls.n; i++) {
        struct mds_dump_call record = dump_call(file, i);
        struct report_call *call =
            &calls[run_find_name(run, dump_name(file, record.name))];

        call->is_blocking |= record.timing == MDS_BLOCKING;
        call->n_sized += record.n_sized;
        call->n_bytes += record.n_bytes;
        call->n_passed += record.n_passed;
    }
}

/** Standard deviation of the ranks' totals by their mean. */
static double variation_of(const struct run *run, const struct report_call *call)
{
    double mean = (double)call->time.total_ns / run->n_files, squares = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        double distance =
            (double)run->summaries[i].primitives[call->number].total_ns - mean;

        squares += distance * distance;
    }
    return efficiency_part(sqrt(squares / run->n_files), mean);
}

struct report_call *report_calls_of(const struct run *run)
{
    struct report_call *calls = calloc((size_t)run->n_names + 1, sizeof(*calls));
    struct mmds_summary *sum = calloc(1, sizeof(*sum));

    if (calls == NULL || sum == NULL) {
        free(calls);
        free(sum);
        return NULL;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        mmds_merge(sum, &run->summaries[i]);
        add_file(run, &run->files[i], calls);
    }
    for (uint32_t i = 0; i < run->n_names; i++) {
        calls[i].name = run->names[i];
        calls[i].number = i;
        calls[i].time = sum->primitives[i];
        calls[i].split = sum->splits[i];
        calls[i].variation = variation_of(run, &calls[i]);
    }
    free(sum);
    qsort(calls, run->n_names, sizeof(*calls), compare);
    return calls;
}

static void print_time_cell(FILE *out, double ns)
{
    html_cell(out);
    html_time(out, ns);
}

/** @param run_ns, mpi_ns of all ranks together: all of the run, and all inside of
 *  calls */
static void print_row(FILE *out, const struct report_call *call, double run_ns,
                      double mpi_ns)
{
    double total_ns = (double)call->time.total_ns;

    fprintf(out, "<tr><th>");
    html_text(out, call->name);
    fprintf(out, "%s", call->is_blocking ? "" : "&#8224;");
    html_cell(out);
    html_count(out, call->time.count);
    print_time_cell(out, total_ns);
    html_percent_cell(out, efficiency_part(total_ns, run_ns));
    html_percent_cell(out, efficiency_part(total_ns, mpi_ns));
    print_time_cell(out, efficiency_part(total_ns, (double)call->time.count));
    print_time_cell(out, (double)call->time.min_ns);
    print_time_cell(out, (double)call->time.max_ns);
    fprintf(out, "<td>%.2f<td>", call->variation);
    if (call->n_sized > 0) {
        html_bytes(out, (double)call->n_bytes);
        html_cell(out);
        html_bytes(out, (double)call->n_bytes / (double)call->n_sized);
    } else {
        html_cell(out);
    }
    fprintf(out, "\n");
}

static void print_passed(FILE *out, const struct run *run,
                         const struct report_call *calls)
{
    const char *before = "<p>Passed to the MPI library: ";

    for (uint32_t i = 0; i < run->n_names; i++) {
        if (calls[i].n_passed > 0) {
            fputs(before, out);
            html_text(out, calls[i].name);
            fputc(' ', out);
            html_count(out, calls[i].n_passed);
            before = ", ";
        }
    }
    fputs(before[0] == ',' ? ".</p>\n" : "", out);
}

void report_print_calls(FILE *out, const struct run *run,
                        const struct report_call *calls)
{
    double run_ns = run_total_ns(run, -1), mpi_ns = 0;

    for (uint32_t i = 0; i < run->n_names; i++) {
        mpi_ns += (double)calls[i].time.total_ns;
    }
    fprintf(out,
            "<h2>Primitives</h2>\n<div class=wide><table>\n<thead><tr><th>Primitive"
            "<th>Calls<th>Total<th>App&nbsp;%%<th>MPI&nbsp;%%<th>Mean<th>Least"
            "<th>Most<th>COV<th>Bytes<th>Mean&nbsp;bytes\n<tbody>\n");
    for (uint32_t i = 0; i < run->n_names; i++) {
        if (calls[i].time.count > 0) {
            print_row(out, &calls[i], run_ns, mpi_ns);
        }
    }
    fprintf(out,
            "</table></div>\n<p>Of all ranks. App&nbsp;%% is of all their time, "
            "MPI&nbsp;%% of all that is listed; COV is the standard deviation of the "
            "ranks&#39; totals by their mean. &#8224; does not block.</p>\n");
    print_passed(out, run, calls);
}
