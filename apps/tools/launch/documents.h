/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The documents that --json, --sarif, --junit and --diagnose ask for: where the
 * processes of the job append what they find, and what becomes of it at the end. Used
 * by bcsrun before there is a keeper, and then by the keeper; if that is killed, by
 * bcsrun again.
 */
#ifndef APPS_TOOLS_LAUNCH_DOCUMENTS_H
#define APPS_TOOLS_LAUNCH_DOCUMENTS_H

#include "apps/tools/findings/findings.h"
#include "apps/tools/launch/launch_options.h"
#include "apps/tools/launch/watch.h"

/** What bcsrun and its keeper both know: shared memory. */
struct documents_state {
    char folder[PATH_MAX]; /* of the findings; "": there is none yet */
    bool are_written;
};

/** Documents of a run. */
struct documents {
    const struct launch_options *options;
    char *const *command; /* bcsrun's command line */
    struct findings_files files;
    char page[PATH_MAX];           /* of --diagnose; "": none */
    struct documents_state *state; /* NULL: no documents are wanted */
    uint64_t began_ns;
    int64_t began_s;
    bool is_own_folder; /* which nobody else removes */
};

/**
 * Find out whether the documents can be written, before anything is launched. From then
 * on ranks are told of the folder's variable.
 *
 * @return 0 or <0, printed
 */
int documents_prepare(struct documents *documents, const struct launch_options *options,
                      char *const *command);

/**
 * Make the folder, and tell the processes of the job where it is. By the keeper.
 *
 * @param scratch  that is removed at the end; NULL: other machines take part, and the
 *                 folder is beside the first document
 * @return 0 or <0, printed
 */
int documents_begin(struct documents *documents, const char *scratch);

/** The job has ended: write the documents. @return the exit status of the whole: the
 *  job's, or, if that is 0 and a document could not be written, 1 */
int documents_end(struct documents *documents, const struct watch_result *result);

#endif
