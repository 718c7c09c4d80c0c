/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds export: all that is in a run, in a format of others.
 */
#include <stdio.h>
#include <string.h>

#include "mds/tool/export/export.h"
#include "mds/tool/verbs/verbs.h"

/** A format. */
struct format {
    const char *name;
    export_fn write;    /* NULL: it cannot be written, */
    const char *reason; /* because it ... */
    bool is_folder;     /* what is written */
};

#define LACKS(library, package)                                                        \
    "is not in this bcs-mds, which was built without " library ": install " package    \
    ", configure and build again"

static const struct format formats[] = {
    {"csv", export_csv, NULL, false},
#ifdef MDS_HAS_JANSSON
    {"json", export_json, NULL, false},     {"chrome", export_chrome, NULL, false},
#else
    {"json", NULL, LACKS("Jansson", "libjansson-dev"), false},
    {"chrome", NULL, LACKS("Jansson", "libjansson-dev"), false},
#endif
#ifdef MDS_HAS_SQLITE
    {"sqlite", export_sqlite, NULL, false},
#else
    {"sqlite", NULL, LACKS("SQLite", "libsqlite3-dev"), false},
#endif
#ifdef MDS_HAS_OTF2
    {"otf2", export_otf2, NULL, true},
#else
    {"otf2", NULL, LACKS("OTF2", "libotf2-trace-dev"), true},
#endif
};

/** Say why a format cannot be written, and which can. @return the program's exit
 *  status */
static int refuse(const char *name, const char *reason)
{
    const char *before = "; allowed:";

    fprintf(stderr, "bcs-mds: format %s %s", name, reason);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].write != NULL) {
            fprintf(stderr, "%s %s", before, formats[i].name);
            before = ",";
        }
    }
    fputc('\n', stderr);
    return VERBS_USAGE_STATUS;
}

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

/** What is exported, and how. */
struct job {
    const struct run *run;
    const struct format *format;
};

static int fill(const void *what, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    const struct job *job = what;

    return job->format->write(job->run, output, error_out);
}

int verb_export(const struct run *run, const struct verb_options *options)
{
    struct job job = {run, find(options->format)};

    if (job.format == NULL || job.format->write == NULL) {
        return refuse(options->format, job.format == NULL ? "is none that is known"
                                                          : job.format->reason);
    }
    return output_make(options->output, job.format->is_folder, fill, &job);
}
