/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The document in a form of our own, "bcs-findings 1": all that is known. It is
 * described in docs/dump-format.md.
 */
#include "apps/tools/findings/document_json.h"

#include <bcs/version.h>
#include <unistd.h>

enum { HOST_BYTES = 256 };

static json_t *command_of(const struct findings_run *run)
{
    json_t *list = json_array();

    for (char *const *word = run->command; *word != NULL; word++) {
        json_array_append_new(list, document_string(*word));
    }
    return list;
}

static json_t *run_of(const struct document *document)
{
    const struct findings_run *run = document->run;
    char began[32], host[HOST_BYTES] = "";
    int number = document_signal(run);

    document_time(run->began_s, began);
    gethostname(host, sizeof(host) - 1);
    return json_pack(
        "{s:o, s:o, s:i, s:o, s:o, s:s, s:f, s:i, s:s, s:o, s:{s:s, s:s}, s:i}",
        "command", command_of(run), "program", document_string(run->program), "ranks",
        run->n_ranks, "folder", document_string(document->folder), "host",
        document_string(host), "began", began, "seconds", run->seconds, "status",
        run->status, "ended", document_ending(run), "signal",
        number == 0 ? json_null() : json_integer(number), "versions", "bcs",
        bcs_version(), "mpi", run->mpi, "unreadable", document->n_lost);
}

bool document_write_json(FILE *out, const struct document *document)
{
    json_t *all = json_pack("{s:s, s:o, s:O}", "format", "bcs-findings 1", "run",
                            run_of(document), "findings", document->findings);
    bool is_good = all != NULL &&
                   json_dumpf(all, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;

    fputc('\n', out);
    json_decref(all);
    return is_good;
}
