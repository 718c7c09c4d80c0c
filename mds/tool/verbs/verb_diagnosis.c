/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diagnosis: one page that tells what bcsrun has found about a run, and what
 * was recorded of it. What matters most is printed, too. A run of which nothing was
 * recorded has a page as well.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/outstanding.h"
#include "mds/tool/read/output.h"
#include "mds/tool/report/html.h"
#include "mds/tool/report/report_findings.h"
#include "mds/tool/report/report_page.h"
#include "mds/tool/verbs/verbs.h"

#define FORMAT "bcs-findings 1"

/** What a page is about. */
struct diagnosis {
    json_t *document;
    struct run run;
    bool has_run;
    char error[DUMP_ERROR_BYTES]; /* why it has none */
};

/** Read what was recorded, if it can be read. */
static void read_run(struct diagnosis *diagnosis, const char *folder)
{
    struct run *run = &diagnosis->run;

    if (run_read(folder, run, diagnosis->error) < 0) {
        return;
    }
    if (run->n_files == 0) {
        dump_refuse(diagnosis->error, "%s has no file of a rank", folder);
    } else if (run_n_events(run) > WAITS_FEW_EVENTS ||
               run_hold_events(run, diagnosis->error) == 0) {
        diagnosis->has_run = true;
        return;
    }
    run_fini(run);
}

/** Print the page. @return 0 or -ENOMEM */
static int print(FILE *out, const struct diagnosis *diagnosis)
{
    char *command = report_findings_command(diagnosis->document);
    int rc = command == NULL ? -ENOMEM : 0;

    if (rc < 0) {
        return rc;
    }
    report_page_begin(out, command);
    report_findings_print(out, diagnosis->document);
    fputs("<h2>What was recorded</h2>\n", out);
    if (diagnosis->has_run) {
        rc = report_page_print(out, &diagnosis->run);
    } else {
        fputs("<p>Nothing: ", out);
        html_text(out, diagnosis->error);
        fputs(".</p>\n", out);
    }
    report_page_end(out);
    free(command);
    return rc;
}

/** An output_fill_fn. */
static int fill(const void *what, struct output *output,
                char error_out[DUMP_ERROR_BYTES])
{
    int rc = print(output->file, what);

    if (rc < 0) {
        dump_refuse(error_out, "no memory for the page");
    } else if (fflush(output->file) != 0) {
        rc = output_refuse(output, -errno, error_out);
    }
    return rc;
}

/** Print what stands out of what was recorded. */
static void write_outstanding(const struct run *run)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    struct waits waits;
    char *text = NULL;

    if (waits_of(run, &waits) == 0) {
        if (places != NULL && outstanding_of(run, &waits, places, &text) == 0) {
            for (const char *at = text; *at != '\0'; at += strlen(at) + 1) {
                printf("  %s\n", at);
            }
        }
        free(text);
    }
    waits_fini(&waits);
    place_close(places);
}

int verb_diagnosis(const char *findings, const char *folder,
                   const struct verb_options *options)
{
    struct diagnosis diagnosis = {0};
    json_error_t why;
    const char *format;
    int status;

    diagnosis.document = json_load_file(findings, 0, &why);
    format = json_string_value(json_object_get(diagnosis.document, "format"));
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        fprintf(stderr, "bcs-mds: %s is no document of bcsrun --json: %s\n", findings,
                format == NULL ? why.text : format);
        json_decref(diagnosis.document);
        return EXIT_FAILURE;
    }
    read_run(&diagnosis, folder);
    status = output_make(options->output, false, fill, &diagnosis);
    if (status == 0) {
        report_findings_write(stdout, diagnosis.document);
    }
    if (status == 0 && diagnosis.has_run) {
        write_outstanding(&diagnosis.run);
    }
    if (diagnosis.has_run) {
        run_fini(&diagnosis.run);
    }
    json_decref(diagnosis.document);
    return status;
}
