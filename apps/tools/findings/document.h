/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What documents are made of, and who writes them. Internal to this folder.
 */
#ifndef APPS_TOOLS_FINDINGS_DOCUMENT_H
#define APPS_TOOLS_FINDINGS_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "apps/tools/findings/findings_run.h"
#include "libbcs/report/finding_rules.h"

/** A run with its findings. */
struct document {
    const struct findings_run *run;
    const char *folder; /* the working folder */
    json_t *findings;   /* an array, as findings_read makes it */
    int n_lost;         /* lines that could not be read */
};

/** A text that may have any bytes, as JSON. */
json_t *document_string(const char *text);

/** A path without "." and "..", and relative to a folder if it is below that. @return
 *  for free; NULL: no memory */
char *findings_path(const char *path, const char *folder);

/** The rule of a finding that findings_read has made. */
enum bcs_finding_kind document_kind(const json_t *finding);

/** A text of it; "": it has none. */
const char *document_text(const json_t *finding, const char *key);

/** How the run has ended: "exit", "signal", "interrupted" or "killed". */
const char *document_ending(const struct findings_run *run);

/** The signal that has ended it; 0: none has. */
int document_signal(const struct findings_run *run);

/** A time as documents have it, "2026-11-29T10:00:00Z". */
void document_time(int64_t seconds, char text_out[static 32]);

/** Ranks as people read them: "rank 3", "ranks 0-3,7". @return for free; NULL: no
 *  memory */
char *document_ranks(const json_t *ranks);

#endif
