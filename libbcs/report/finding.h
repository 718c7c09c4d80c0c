/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job has found out about its program, as a line of JSON for each finding:
 * bcsrun makes its documents of these lines. Whoever prints a report also appends its
 * finding. Without BCS_FINDINGS nothing is made and nothing is written.
 *
 * The setting names a folder. Each machine appends to a file of its own there, each
 * finding by one write, so that lines of several processes do not mix.
 */
#ifndef LIBBCS_REPORT_FINDING_H
#define LIBBCS_REPORT_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/report/finding_rules.h"

/** The name of the setting. */
#define BCS_FINDINGS_SETTING "BCS_FINDINGS"

/** A place in the program, and what is called there. What is not known is NULL or 0. */
struct bcs_finding_place {
    const char *call;  /* "MPI_Recv" */
    const char *words; /* "main, prog.c:12" */
    const char *file;  /* its path; NULL: what the words say */
    int line;
};

/** A finding. What is not known is NULL or 0. */
struct bcs_finding {
    enum bcs_finding_kind kind;
    int status;            /* that the job ends with */
    const char *message;   /* the headline */
    const char *demand;    /* of the standard */
    const char *text;      /* the report; NULL: the message and the demand */
    const uint64_t *ranks; /* bits by rank */
    uint32_t n_ranks;      /* of the job */
    const uint32_t *rank;  /* the only one, in their place */
    const struct bcs_finding_place *places;
    uint32_t n_places;
};

/** Whether anybody wants findings. Reads the environment. */
bool bcs_findings_are_wanted(void);

/** Append a finding to those of the job, if they are wanted. A failure is logged. Any
 *  thread. */
void bcs_finding_tell(const struct bcs_finding *finding);

/** A finding as one line of JSON, without its end. @return for free; NULL: no memory */
char *bcs_finding_line(const struct bcs_finding *finding);

/** Append such a line to the findings of the job, if they are wanted. A failure is
 *  logged. */
void bcs_finding_append(const char *line);

/** Part the words of a place into the function before and what is behind it: "main,
 *  prog.c:12", of which the last part is the file's name and the line. @return the
 *  function's bytes; 0: the words name no line */
int bcs_finding_part_words(const char *words, const char **file_out, int *n_file_out,
                           int *line_out);

#endif
