/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of the sections about ranks of the page that bcs-mds report makes: a time of
 * each rank in parts, as stacked bars. Of many ranks a bar stands for several that
 * follow each other.
 */
#ifndef MDS_TOOL_REPORT_REPORT_BARS_H
#define MDS_TOOL_REPORT_REPORT_BARS_H

#include <stdio.h>

#include "mds/tool/read/run_read.h"

/** A part of all bars. */
struct report_part {
    const char *name, *colour;
};

/** What the bars show. */
struct report_bars {
    const struct report_part *parts; /* [n_parts] from left to right */
    uint32_t n_parts;
    uint32_t n_ranged;  /* of several ranks the range of the first so many together is
                           shown */
    const char *ranged; /* what they are */
    const double *ns;   /* [run->n_files][n_parts] */
};

/** Print a legend and the bars of all ranks that have a file. */
void report_print_bars(FILE *out, const struct run *run,
                       const struct report_bars *bars);

#endif
