/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the lint has found, as a finding for who collects them
 * (libbcs/report/finding.h). Used by lint_report.c, on the first rank.
 */
#ifndef SHIM_LINT_FINDING_H
#define SHIM_LINT_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "libbcs/report/lines.h"
#include "mpi_shim/calls/lint_entries.h"

#pragma GCC visibility push(hidden)

/** Things of one kind and place. */
struct shim_lint_found {
    const struct shim_left_entry *entry; /* the first one's */
    uint64_t n;
    const bool *has; /* [size] a rank */
    int size;
    const struct bcs_line *place; /* where they were made; its text is NULL if not known
                                   */
    const char *noun, *fault;     /* "requests" that "were not freed" */
};

/** Append it to the findings of the job. */
void shim_lint_finding_tell(const struct shim_lint_found *found);

#pragma GCC visibility pop

#endif
