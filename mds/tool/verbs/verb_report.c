/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds report: one page that tells of a run, in HTML, with all drawings in it: it
 * needs no network and no script, and can be printed. Whatever a run names is text on
 * it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/read/manifest.h"
#include "mds/tool/read/output.h"
#include "mds/tool/report/report_page.h"
#include "mds/tool/verbs/verbs.h"

/** Print the page. @return 0 or -ENOMEM */
static int print(FILE *out, const struct run *run)
{
    char *command = manifest_command(run->manifest);
    int rc = command == NULL ? -ENOMEM : 0;

    if (rc == 0) {
        report_page_begin(out, command);
        rc = report_page_print(out, run);
        report_page_end(out);
    }
    free(command);
    return rc;
}

/** Make the page in memory. @return 0 or -ENOMEM */
static int make(const struct run *run, char **text_out, size_t *n_bytes_out)
{
    FILE *out = open_memstream(text_out, n_bytes_out);
    int rc;

    if (out == NULL) {
        *text_out = NULL;
        return -ENOMEM;
    }
    rc = print(out, run);
    return fclose(out) != 0 ? -ENOMEM : rc;
}

/** Write the page, if there is memory for all of it. */
static int fill(const void *what, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    const struct run *run = what;
    size_t n_bytes;
    char *text;
    int rc = make(run, &text, &n_bytes);

    if (rc < 0) {
        dump_refuse(error_out, "no memory for the page of %s", run->folder);
    } else if (fwrite(text, 1, n_bytes, output->file) != n_bytes) {
        rc = output_refuse(output, -errno, error_out);
    }
    free(text);
    return rc;
}

int verb_report(const struct run *run, const struct verb_options *options)
{
    return output_make(options->output, false, fill, run);
}
