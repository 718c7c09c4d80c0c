/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: the table of what holds for a run as a whole.
 */
#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/diff/diff.h"

#define NS_PER_MS 1e6

#define MOST_PERCENT 99999.9 /* what the column holds; more is no percentage to read */

void diff_print_percent(const struct diff_pair *pair)
{
    double was = pair->of[0].mean, change = diff_change(pair);

    if (was <= 0) {
        printf("%9s", pair->of[1].mean > 0 ? "new" : "");
    } else if (100 * change > MOST_PERCENT * was) {
        printf("%9s", ">99999.9");
    } else {
        printf("%+9.1f", 100 * change / was);
    }
}

/** A line of the table of the whole. */
enum whole {
    RUN,
    OUTSIDE,
    BLOCKING,
    OTHER,
    PARALLEL,
    BALANCE,
    COMMUNICATION,
    MESSAGES,
    BYTES,
    N_WHOLE
};

static const char *const whole_names[N_WHOLE] = {
    [RUN] = "Run time (ms)",
    [OUTSIDE] = "Outside of MPI, mean (ms)",
    [BLOCKING] = "In blocking calls, mean (ms)",
    [OTHER] = "In other calls, mean (ms)",
    [PARALLEL] = "Parallel efficiency (%)",
    [BALANCE] = "Load balance (%)",
    [COMMUNICATION] = "Communication efficiency (%)",
    [MESSAGES] = "Messages",
    [BYTES] = "Bytes",
};

static void add_whole(const struct diff *diff, const struct run *run, uint32_t which,
                      struct diff_pair *whole)
{
    struct efficiency efficiency = efficiency_of(run);
    double n_messages = 0, n_bytes = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        for (uint32_t j = 0; j < run->files[i].peers.n; j++) {
            struct mds_dump_peer peer = dump_peer(&run->files[i], j);

            n_messages += (double)peer.n_sent;
            n_bytes += (double)peer.sent_bytes;
        }
    }
    noise_add(&whole[RUN].of[which], efficiency.run_ns / NS_PER_MS);
    noise_add(&whole[OUTSIDE].of[which], efficiency.outside_ns / NS_PER_MS);
    noise_add(&whole[BLOCKING].of[which], efficiency.blocking_ns / NS_PER_MS);
    noise_add(&whole[OTHER].of[which], efficiency.other_ns / NS_PER_MS);
    noise_add(&whole[PARALLEL].of[which], 100 * efficiency.parallel);
    noise_add(&whole[BALANCE].of[which], 100 * efficiency.balance);
    noise_add(&whole[COMMUNICATION].of[which], 100 * efficiency.communication);
    noise_add(&whole[MESSAGES].of[which], diff_scaled(diff, run, n_messages));
    noise_add(&whole[BYTES].of[which], diff_scaled(diff, run, n_bytes));
}

void diff_print_whole(const struct diff *diff)
{
    struct diff_pair whole[N_WHOLE] = {0};

    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs; i++) {
            add_whole(diff, &diff->sides[which].runs[i], which, whole);
        }
    }
    printf("\n%-30s %15s %15s %15s %9s  %s\n", "", "A", "B", "Change", "(%)", "Noise");
    for (uint32_t i = 0; i < N_WHOLE; i++) {
        const struct diff_pair *pair = &whole[i];

        printf("%-30s %15.3f %15.3f %15.3f ", whole_names[i], pair->of[0].mean,
               pair->of[1].mean, diff_change(pair));
        diff_print_percent(pair);
        printf("  %s\n", noise_word(noise_judge(&pair->of[0], &pair->of[1])));
    }
}
