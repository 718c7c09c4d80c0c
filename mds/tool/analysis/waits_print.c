/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows who waits for whom; see waits.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/analysis/waits.h"
#include "mds/tool/read/manifest.h"

/** @return 0 or -ENOMEM */
static int print_place(const struct site *site, struct places *places)
{
    char *words = site_words(site, places);

    if (words == NULL) {
        return -ENOMEM;
    }
    manifest_print(stdout, words, strlen(words));
    free(words);
    return 0;
}

static int print_line(const struct wait *wait, double run_ns, struct places *places)
{
    int rc;

    printf("%12.3f %8.2f %10" PRIu64 " %12.3f %8u  %-19s ",
           (double)wait->total_ns / 1e6,
           100 * efficiency_part((double)wait->total_ns, run_ns), wait->n,
           (double)wait->most_ns / 1e6, wait->late_rank, wait_names[wait->kind]);
    rc = print_place(&wait->waiting, places);
    printf(", for ");
    if (rc == 0) {
        rc = print_place(&wait->late, places);
    }
    printf("\n");
    return rc;
}

void waits_write_note(FILE *out, const struct waits *waits, size_t n_most)
{
    fprintf(out, "%zu of %zu kinds of waits, the longest first.",
            waits->n < n_most ? waits->n : n_most, waits->n);
    if (waits->n_left_out > waits->n_unpaired) {
        fprintf(out,
                " Messages of %u ranks are left out, which have made more calls than "
                "were kept.",
                waits->n_left_out - waits->n_unpaired);
    }
    if (waits->n_unpaired > 0) {
        fprintf(
            out,
            " Messages of %u ranks are left out, of which not all were kept: several "
            "threads have called.",
            waits->n_unpaired);
    }
}

void waits_write_unread(FILE *out, const struct waits *waits)
{
    fprintf(out,
            "%" PRIu64 " events were not looked at here, where %" PRIu64
            " are at most: bcs-mds waits tells for whom ranks have waited.",
            waits->n_unread, WAITS_FEW_EVENTS);
}

int waits_print(const struct run *run, const struct waits *waits, size_t n_most)
{
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = places == NULL ? -ENOMEM : 0;
    double run_ns = run_total_ns(run, -1);

    printf("\n%12s %8s %10s %12s %8s  %-19s %s\n", "Waits(ms)", "App(%)", "Times",
           "Most(ms)", "For rank", "Which is", "Where, and for what");
    for (size_t i = 0; i < waits->n && i < n_most && rc == 0; i++) {
        rc = print_line(&waits->waits[i], run_ns, places);
    }
    waits_write_note(stdout, waits, n_most);
    printf("%s\n", PLACE_NOTE);
    place_close(places);
    return rc;
}
