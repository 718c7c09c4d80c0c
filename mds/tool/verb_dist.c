/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds dist: a distribution of all ranks or of one, as a table with a picture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/histogram.h"
#include "mds/tool/verbs.h"

enum { BAR_COLUMNS = 40 };

/** What is shown. */
struct chosen {
    enum mds_dump_of of;
    const char *name;
};

static struct chosen choose(const struct verb_options *options)
{
    if (strcmp(options->of, "computation") == 0) {
        return (struct chosen){MDS_DUMP_OF_COMPUTATION, "computation granularity"};
    }
    if (strcmp(options->of, "communication") == 0) {
        return (struct chosen){MDS_DUMP_OF_COMMUNICATION, "communication overhead"};
    }
    return (struct chosen){
        options->is_of_sizes ? MDS_DUMP_OF_SIZE : MDS_DUMP_OF_LATENCY, options->of};
}

static bool is_chosen(const struct dump_file *file,
                      const struct mds_dump_bucket *bucket, const struct chosen *chosen)
{
    return bucket->of == chosen->of &&
           (bucket->of < MDS_DUMP_OF_LATENCY ||
            strcmp(dump_name(file, dump_call(file, bucket->call).name), chosen->name) ==
                0);
}

/** Add up the buckets of the ranks that are wanted. @return the sum of all */
static uint64_t add_up(const struct run *run, const struct verb_options *options,
                       const struct chosen *chosen, uint64_t *counts)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct dump_file *file = &run->files[i];

        if (options->rank >= 0 && options->rank != file->process.rank) {
            continue;
        }
        for (uint32_t j = 0; j < file->buckets.n; j++) {
            struct mds_dump_bucket bucket = dump_bucket(file, j);

            if (is_chosen(file, &bucket, chosen)) {
                counts[bucket.bucket] += bucket.count;
                sum += bucket.count;
            }
        }
    }
    return sum;
}

/** A number of nanoseconds in a unit that fits. */
static void print_time(double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s "}, {1e6, "ms"}, {1e3, "us"}, {0, "ns"}};
    int i = 0;

    while (ns < units[i].ns) {
        i++;
    }
    printf("%10.3f %s", units[i].ns > 0 ? ns / units[i].ns : ns, units[i].name);
}

static void print_value(uint64_t value, bool is_size, double ns_per_tick)
{
    if (is_size) {
        printf("%13" PRIu64, value);
    } else {
        print_time((double)value * ns_per_tick);
    }
}

static void print_table(const struct run *run, const uint64_t *counts, uint64_t sum,
                        bool is_size)
{
    uint32_t bits = run->files[0].process.histogram_bits;
    double ns_per_tick = run_ns_per_tick(&run->files[0]);
    uint64_t most = 0, below = 0;

    for (uint32_t i = 0; i < mds_histogram_n(bits); i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    printf("%13s %13s %12s %8s\n", "From", is_size ? "Below(bytes)" : "Below", "Count",
           "Up to(%)");
    for (uint32_t i = 0; i < mds_histogram_n(bits); i++) {
        int n_columns = (int)(BAR_COLUMNS * (double)counts[i] / (double)most + 0.5);

        if (counts[i] == 0) {
            continue;
        }
        below += counts[i];
        print_value(mds_histogram_least(i, bits), is_size, ns_per_tick);
        printf(" ");
        print_value(mds_histogram_least(i + 1, bits), is_size, ns_per_tick);
        printf(" %12" PRIu64 " %8.2f ", counts[i], 100 * (double)below / (double)sum);
        for (int column = 0; column < n_columns; column++) {
            putchar('#');
        }
        putchar('\n');
    }
}

int verb_dist(const struct run *run, const struct verb_options *options)
{
    uint32_t n = mds_histogram_n(run->files[0].process.histogram_bits);
    uint64_t *counts = calloc(n, sizeof(*counts));
    struct chosen chosen = choose(options);
    uint64_t sum;

    if (counts == NULL) {
        fprintf(stderr, "bcs-mds: no memory\n");
        return 1;
    }
    sum = add_up(run, options, &chosen, counts);
    if (sum == 0) {
        fprintf(stderr,
                "bcs-mds: there is no distribution of %s%s; there may be one of "
                "computation, communication and the primitives that summary shows\n",
                chosen.of == MDS_DUMP_OF_SIZE ? "sizes of " : "", chosen.name);
        free(counts);
        return 1;
    }
    printf("%s of %s, %" PRIu64 " in all\n",
           chosen.of == MDS_DUMP_OF_SIZE ? "Sizes" : "Times", chosen.name, sum);
    print_table(run, counts, sum, chosen.of == MDS_DUMP_OF_SIZE);
    free(counts);
    return 0;
}
