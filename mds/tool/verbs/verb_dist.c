/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds dist: a distribution of all ranks or of one, as a table with bars, or as a
 * picture that gnuplot draws.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/histogram.h"
#include "mds/tool/verbs/drawing.h"
#include "mds/tool/verbs/verbs.h"

enum { BAR_COLUMNS = 40 };

#define NS_PER_US 1e3

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

/** What was counted. */
struct counted {
    char title[256];
    const uint64_t *counts; /* by bucket */
    uint64_t sum;
    uint32_t bits;
    bool is_size;
    double ns_per_tick;
};

static void print_value(uint64_t value, const struct counted *counted)
{
    if (counted->is_size) {
        printf("%13" PRIu64, value);
    } else {
        print_time((double)value * counted->ns_per_tick);
    }
}

static void print_table(const struct counted *counted)
{
    const uint64_t *counts = counted->counts;
    uint32_t bits = counted->bits;
    uint64_t most = 0, below = 0;

    for (uint32_t i = 0; i < mds_histogram_n(bits); i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    printf("%s\n", counted->title);
    printf("%13s %13s %12s %8s\n", "From", counted->is_size ? "Below(bytes)" : "Below",
           "Count", "Up to(%)");
    for (uint32_t i = 0; i < mds_histogram_n(bits); i++) {
        int n_columns = (int)(BAR_COLUMNS * (double)counts[i] / (double)most + 0.5);

        if (counts[i] == 0) {
            continue;
        }
        below += counts[i];
        print_value(mds_histogram_least(i, bits), counted);
        printf(" ");
        print_value(mds_histogram_least(i + 1, bits), counted);
        printf(" %12" PRIu64 " %8.2f ", counts[i],
               100 * (double)below / (double)counted->sum);
        for (int column = 0; column < n_columns; column++) {
            putchar('#');
        }
        putchar('\n');
    }
}

/** Where a bucket begins on the axis, which is logarithmic: 0 stands at 0.5. */
static double place_of(const struct counted *counted, uint32_t bucket)
{
    uint64_t value = mds_histogram_least(bucket, counted->bits);
    double unit = counted->is_size ? 1 : counted->ns_per_tick / NS_PER_US;

    return (value == 0 ? 0.5 : (double)value) * unit;
}

static void write_script(FILE *out, const void *what)
{
    const struct counted *counted = what;

    fprintf(out,
            "set xlabel '%s'\nset ylabel 'count'\nset y2label 'up to, %%'\n"
            "set y2range [0:100]\nset ytics nomirror\nset y2tics\nset logscale x\n"
            "set yrange [0:*]\nset grid\nset key above\n"
            "plot '-' using 1:2:3 title 'count' with boxes fillstyle solid 0.4, "
            "'-' using 1:2 axes x1y2 title 'up to, %%' with steps\n",
            counted->is_size ? "bytes, 0 at 0.5" : "us");
    for (int curve = 0; curve < 2; curve++) {
        uint64_t below = 0;

        for (uint32_t i = 0; i < mds_histogram_n(counted->bits); i++) {
            double from = place_of(counted, i), to = place_of(counted, i + 1);

            if (counted->counts[i] == 0) {
                continue;
            }
            below += counted->counts[i];
            if (curve == 0) {
                fprintf(out, "%.9g %" PRIu64 " %.9g\n", (from + to) / 2,
                        counted->counts[i], to - from);
            } else {
                fprintf(out, "%.9g %.6g\n", to,
                        100 * (double)below / (double)counted->sum);
            }
        }
        fprintf(out, "e\n");
    }
}

int verb_dist(const struct run *run, const struct verb_options *options)
{
    uint32_t bits = run->files[0].process.histogram_bits;
    uint64_t *counts = calloc(mds_histogram_n(bits), sizeof(*counts));
    struct chosen chosen = choose(options);
    struct counted counted = {
        .counts = counts,
        .bits = bits,
        .is_size = chosen.of == MDS_DUMP_OF_SIZE,
        .ns_per_tick = run_ns_per_tick(&run->files[0]),
    };
    int status = 0;

    if (counts == NULL) {
        fprintf(stderr, "bcs-mds: no memory\n");
        return 1;
    }
    counted.sum = add_up(run, options, &chosen, counts);
    snprintf(counted.title, sizeof(counted.title), "%s of %s, %" PRIu64 " in all",
             counted.is_size ? "Sizes" : "Times", chosen.name, counted.sum);
    if (counted.sum == 0) {
        fprintf(stderr,
                "bcs-mds: there is no distribution of %s%s; there may be one of "
                "computation, communication and the primitives that summary shows\n",
                counted.is_size ? "sizes of " : "", chosen.name);
        status = 1;
    } else if (options->output != NULL) {
        status = drawing_make(options->output, counted.title, write_script, &counted);
    } else {
        print_table(&counted);
    }
    free(counts);
    return status;
}
