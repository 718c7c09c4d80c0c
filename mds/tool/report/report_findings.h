/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections about what bcsrun has found, of a document of bcsrun --json. The
 * document may be anybody's: nothing of it is believed. One thread.
 */
#ifndef MDS_TOOL_REPORT_REPORT_FINDINGS_H
#define MDS_TOOL_REPORT_REPORT_FINDINGS_H

#include <jansson.h>
#include <stdio.h>

/** The command line of the run, for a title. @return for free; NULL: no memory */
char *report_findings_command(const json_t *document);

/** Print how the run has ended, what was found, and how to read that. */
void report_findings_print(FILE *out, const json_t *document);

/** Print the first line of each finding as text, the first ones. */
void report_findings_write(FILE *out, const json_t *document);

#endif
