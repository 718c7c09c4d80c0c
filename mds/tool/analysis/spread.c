/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributions of several ranks or runs; see spread.h. Pure.
 */
#include "mds/tool/analysis/spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mds/histogram.h"

#define MOST_VALUE ((double)(UINT64_C(1) << MDS_HISTOGRAM_VALUE_BITS))

int spread_add(struct spread *spread, uint64_t value, uint64_t count)
{
    if (spread->counts == NULL) {
        spread->counts = calloc(mds_histogram_n(spread->bits), sizeof(*spread->counts));
        if (spread->counts == NULL) {
            return -ENOMEM;
        }
    }
    spread->counts[mds_histogram_bucket(value, spread->bits)] += count;
    spread->n += count;
    return 0;
}

int spread_merge(struct spread *into, const struct spread *from)
{
    int rc = 0;

    for (uint32_t i = 0; from->n > 0 && i < mds_histogram_n(from->bits) && rc == 0;
         i++) {
        if (from->counts[i] > 0) {
            rc = spread_add(into, mds_histogram_least(i, from->bits), from->counts[i]);
        }
    }
    return rc;
}

void spread_fini(struct spread *spread)
{
    free(spread->counts);
    *spread = (struct spread){0};
}

/** The middle of a bucket of a file, in ns or bytes. */
static uint64_t middle_of(const struct dump_file *file,
                          const struct mds_dump_bucket *bucket)
{
    uint32_t bits = file->process.histogram_bits;
    uint64_t least = mds_histogram_least(bucket->bucket, bits);
    uint64_t most = mds_histogram_least(bucket->bucket + 1, bits) - 1;
    double middle = (double)least + (double)(most - least) / 2;

    if (bucket->of == MDS_DUMP_OF_SIZE) {
        return (uint64_t)middle;
    }
    middle *= run_ns_per_tick(file);
    return middle < MOST_VALUE ? (uint64_t)(middle + 0.5) : (uint64_t)MOST_VALUE;
}

static struct spread *spread_for(struct spreads *spreads,
                                 const struct mds_dump_bucket *bucket,
                                 const uint32_t *numbers)
{
    switch (bucket->of) {
    case MDS_DUMP_OF_LATENCY:
        return &spreads->times[numbers[bucket->call]];
    case MDS_DUMP_OF_SIZE:
        return &spreads->sizes[numbers[bucket->call]];
    default:
        return &spreads->periods[bucket->of];
    }
}

/** Add those of a rank. */
static int add_file(const struct run *run, const struct dump_file *file,
                    struct spreads *spreads)
{
    uint32_t *numbers = calloc((size_t)file->calls.n + 1, sizeof(*numbers));
    int rc = numbers == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < file->calls.n && rc == 0; i++) {
        numbers[i] = run_find_name(run, dump_name(file, dump_call(file, i).name));
    }
    for (uint32_t i = 0; i < file->buckets.n && rc == 0; i++) {
        struct mds_dump_bucket bucket = dump_bucket(file, i);

        rc = spread_add(spread_for(spreads, &bucket, numbers), middle_of(file, &bucket),
                        bucket.count);
    }
    free(numbers);
    return rc;
}

int spreads_of(const struct run *run, uint32_t bits, int64_t rank,
               struct spreads *spreads_out)
{
    struct spreads spreads = {.n = run->n_names};
    int rc = 0;

    spreads.times = calloc((size_t)run->n_names + 1, sizeof(*spreads.times));
    spreads.sizes = calloc((size_t)run->n_names + 1, sizeof(*spreads.sizes));
    if (spreads.times == NULL || spreads.sizes == NULL) {
        spreads.n = 0;
        rc = -ENOMEM;
    }
    spreads.periods[0].bits = spreads.periods[1].bits = bits;
    for (uint32_t i = 0; i < spreads.n; i++) {
        spreads.times[i].bits = spreads.sizes[i].bits = bits;
    }
    for (uint32_t i = 0; i < run->n_files && rc == 0; i++) {
        if (rank < 0 || rank == run->files[i].process.rank) {
            rc = add_file(run, &run->files[i], &spreads);
        }
    }
    if (rc < 0) {
        spreads_fini(&spreads);
        return rc;
    }
    *spreads_out = spreads;
    return 0;
}

void spreads_fini(struct spreads *spreads)
{
    for (uint32_t i = 0; i < spreads->n; i++) {
        spread_fini(&spreads->times[i]);
        spread_fini(&spreads->sizes[i]);
    }
    spread_fini(&spreads->periods[0]);
    spread_fini(&spreads->periods[1]);
    free(spreads->times);
    free(spreads->sizes);
    *spreads = (struct spreads){0};
}

double spread_quantile(const struct spread *spread, double part)
{
    double wanted = part * (double)spread->n, below = 0;

    for (uint32_t i = 0; spread->n > 0 && i < mds_histogram_n(spread->bits); i++) {
        double count = (double)spread->counts[i];

        if (count > 0 && below + count >= wanted) {
            double least = (double)mds_histogram_least(i, spread->bits);
            double most = (double)mds_histogram_least(i + 1, spread->bits) - 1;

            return least + (most - least) * (wanted - below) / count;
        }
        below += count;
    }
    return 0;
}

struct spread_shift spread_compare(const struct spread *a, const struct spread *b)
{
    double n_a = (double)a->n, n_b = (double)b->n, n = n_a + n_b;
    double below = 0, above = 0, ties = 0, variance;

    if (a->n == 0 || b->n == 0) {
        return (struct spread_shift){0};
    }
    for (uint32_t i = 0; i < mds_histogram_n(a->bits); i++) {
        double of_a = (double)a->counts[i], of_b = (double)b->counts[i];
        double both = of_a + of_b;

        above += of_b * (below + of_a / 2);
        below += of_a;
        ties += both * both * both - both;
    }
    variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    return (struct spread_shift){
        .delta = 2 * above / (n_a * n_b) - 1,
        .z = variance > 0 ? (above - n_a * n_b / 2) / sqrt(variance) : 0,
    };
}
