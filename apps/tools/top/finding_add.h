/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completes a finding of which the library knows only what it is about: with the ranks,
 * the places and the text of the report that bcs-top prints, and appends it to those of
 * the job (libbcs/report/finding.h). Without a finding nothing is done. One thread.
 */
#ifndef APPS_TOOLS_TOP_FINDING_ADD_H
#define APPS_TOOLS_TOP_FINDING_ADD_H

#include <jansson.h>

/** A finding while its report is printed. */
struct finding_add {
    const char *line; /* of JSON: what is known of it; NULL: there is none */
    int output_fd;    /* what standard output was */
    int text_fd;      /* what it is; -1: nothing is kept */
};

/** Begin to print the report. @param line  NULL: of no finding */
struct finding_add finding_add_begin(const char *line);

/**
 * The report has been printed: hand it on to standard output, in one write, and append
 * the finding.
 *
 * @param job   as bcs-top prints it as JSON
 * @param list  the ranks that the report is about, as "0-3,7"; NULL: all
 * @return 0 or -EIO: standard output takes no more
 */
int finding_add_end(const struct finding_add *adding, const json_t *job,
                    const char *list);

#endif
