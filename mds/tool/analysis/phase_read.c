/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the phases of all ranks together; see phase_read.h.
 */
#include "mds/tool/analysis/phase_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mds/tool/analysis/efficiency.h"

/** What ranks have done in a phase. */
struct phase {
    struct mds_dump_phase sum;
    uint32_t n_ranks;
};

static int compare(const void *left, const void *right)
{
    const struct mds_dump_phase *a = &((const struct phase *)left)->sum;
    const struct mds_dump_phase *b = &((const struct phase *)right)->sum;

    return a->is_other != b->is_other ? (a->is_other < b->is_other ? -1 : 1)
           : a->level < b->level      ? -1
                                      : a->level > b->level;
}

/** All records of the ranks that are wanted, by level. @return for free; NULL: no
 *  memory */
static struct phase *read_all(const struct run *run, int64_t rank, size_t *n_out)
{
    struct phase *phases;
    size_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += run->files[i].phases.n;
    }
    phases = calloc(n + 1, sizeof(*phases));
    n = 0;
    for (uint32_t i = 0; i < run->n_files && phases != NULL; i++) {
        const struct dump_file *file = &run->files[i];

        for (uint32_t j = 0; j < file->phases.n; j++) {
            if (rank < 0 || rank == file->process.rank) {
                phases[n++] = (struct phase){dump_phase(file, j), 1};
            }
        }
    }
    if (phases != NULL) {
        qsort(phases, n, sizeof(*phases), compare);
    }
    *n_out = n;
    return phases;
}

/** Records of one level become one. @return how many are left */
static size_t merge(struct phase *phases, size_t n)
{
    size_t n_kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (n_kept > 0 && compare(&phases[n_kept - 1], &phases[i]) == 0) {
            struct phase *last = &phases[n_kept - 1];

            last->n_ranks++;
            last->sum.count += phases[i].sum.count;
            last->sum.total += phases[i].sum.total;
            last->sum.blocked += phases[i].sum.blocked;
            last->sum.instant += phases[i].sum.instant;
        } else {
            phases[n_kept++] = phases[i];
        }
    }
    return n_kept;
}

static double percent(double part, uint64_t whole)
{
    return 100 * efficiency_part(part, (double)whole);
}

static void print(const struct phase *phase)
{
    const struct mds_dump_phase *sum = &phase->sum;
    double inside = (double)sum->blocked + (double)sum->instant;

    if (sum->is_other != 0) {
        printf("%12s", "others");
    } else {
        printf("%12" PRId32, sum->level);
    }
    printf(" %8u %12" PRIu64 " %12.3f %10.2f %10.2f %10.2f\n", phase->n_ranks,
           sum->count, (double)sum->total / 1e9,
           percent((double)sum->total - inside, sum->total),
           percent((double)sum->blocked, sum->total),
           percent((double)sum->instant, sum->total));
}

int phases_print(const struct run *run, int64_t rank)
{
    size_t n;
    struct phase *phases = read_all(run, rank, &n);

    if (phases == NULL) {
        return -ENOMEM;
    }
    n = merge(phases, n);
    if (n > 1) {
        printf("\n%12s %8s %12s %12s %10s %10s %10s\n", "Pcontrol", "Ranks", "Entered",
               "Time(s)", "Outside(%)", "Waiting(%)", "Other(%)");
        for (size_t i = 0; i < n; i++) {
            print(&phases[i]);
        }
        printf("The phases that MPI_Pcontrol has begun, by level; times of all ranks "
               "together.\n");
    }
    free(phases);
    return 0;
}
