/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings of the lint; see lint_finding.h. Runs in MPI_Finalize.
 */
#include "mpi_shim/calls/lint_finding.h"

#include <stdio.h>
#include <stdlib.h>

#include "libbcs/report/finding.h"

enum { MESSAGE_BYTES = 1024 };

static enum bcs_finding_kind kind_of(uint32_t left)
{
    return left == SHIM_LEFT_MESSAGE ? BCS_FINDING_UNRECEIVED
           : left == SHIM_LEFT_CALL  ? BCS_FINDING_COLLECTIVE
                                     : BCS_FINDING_LEAK;
}

/** "6 requests that were not freed: of MPI_Irecv at main, file.c:12, the first ..." */
static void describe(const struct shim_lint_found *found, char text_out[MESSAGE_BYTES])
{
    const struct shim_left_entry *entry = found->entry;
    bool is_message = entry->kind == SHIM_LEFT_MESSAGE, has_place;
    const char *first =
        found->n > 1 && entry->kind != SHIM_LEFT_CALL ? "the first " : "";

    has_place = !is_message && found->place->text != NULL;
    snprintf(text_out, MESSAGE_BYTES, "%llu %s that %s: %s%s%s%s%s%s%s%s",
             (unsigned long long)found->n, found->noun, found->fault,
             is_message ? "with " : "of ", is_message ? entry->about : entry->call,
             has_place ? " at " : "", has_place ? found->place->text : "",
             is_message || entry->about[0] != '\0' ? ", " : "",
             is_message || entry->about[0] != '\0' ? first : "",
             is_message ? entry->first : "", is_message ? "" : entry->about);
}

void shim_lint_finding_tell(const struct shim_lint_found *found)
{
    char message[MESSAGE_BYTES];
    const struct bcs_finding_place place = {
        .call = found->entry->call,
        .words = found->place->text,
        .file = found->place->file,
        .line = found->place->number,
    };
    uint64_t *ranks = calloc((size_t)found->size / 64 + 1, sizeof(*ranks));

    if (ranks == NULL) {
        return;
    }
    for (int i = 0; i < found->size; i++) {
        ranks[i / 64] |= (uint64_t)found->has[i] << i % 64;
    }
    describe(found, message);
    bcs_finding_tell(&(struct bcs_finding){
        .kind = kind_of(found->entry->kind),
        .message = message,
        .ranks = ranks,
        .n_ranks = (uint32_t)found->size,
        .places = &place,
        .n_places = found->entry->call[0] != '\0',
    });
    free(ranks);
}
