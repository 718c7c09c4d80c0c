/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: what is done on which communicator.
 */
#include <errno.h>
#include <stdlib.h>

#include "mds/tool/analysis/comm_read.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report.h"

enum { MOST_ROWS = 20 };

static void print_row(FILE *out, const struct comm *comm)
{
    fprintf(out, "<tr><th>");
    html_text(out, comm_title(comm));
    fprintf(out, "<td>%u<td>%u", comm->sum.n_ranks, comm->n_files);
    html_cell(out);
    html_count(out, comm->sum.n_sent);
    html_cell(out);
    html_bytes(out, (double)comm->sum.sent_bytes);
    html_cell(out);
    html_count(out, comm->sum.n_collectives);
    html_cell(out);
    html_bytes(out, (double)comm->sum.collective_bytes);
    fprintf(out, "\n");
}

int report_print_comms(FILE *out, const struct run *run)
{
    size_t n;
    struct comm *comms = comms_of(run, &n);

    if (comms == NULL) {
        return -ENOMEM;
    }
    if (n > 0) {
        fprintf(out, "<h2>Communicators</h2>\n<div class=wide><table>\n<thead><tr>"
                     "<th>Communicator<th>Members<th>Used&nbsp;by<th>Messages<th>Bytes"
                     "<th>Collectives<th>Bytes\n<tbody>\n");
        for (size_t i = 0; i < n && i < MOST_ROWS; i++) {
            print_row(out, &comms[i]);
        }
        fprintf(out,
                "</table></div>\n<p>%zu of %zu communicators, by their bytes. "
                "Collectives are counted, and their bytes added up, by each rank that "
                "takes part.</p>\n",
                n < MOST_ROWS ? n : MOST_ROWS, n);
    }
    free(comms);
    return 0;
}
