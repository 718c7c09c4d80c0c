/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds diff: the tables of ranks and of pairs of ranks. Both sides have the same
 * ranks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mds/tool/analysis/efficiency.h"
#include "mds/tool/diff/diff.h"

#define NS_PER_MS 1e6

/** A rank on both sides. */
struct rank_line {
    uint32_t rank;
    struct diff_pair outside_ns, blocking_ns;
};

static double larger_change(const struct rank_line *line)
{
    return fmax(fabs(diff_change(&line->outside_ns)),
                fabs(diff_change(&line->blocking_ns)));
}

static int compare_ranks(const void *left, const void *right)
{
    double a = larger_change(left), b = larger_change(right);

    return a > b ? -1 : a < b;
}

static int compare_numbers(const void *left, const void *right)
{
    uint32_t a = ((const struct rank_line *)left)->rank;
    uint32_t b = ((const struct rank_line *)right)->rank;

    return a < b ? -1 : a > b;
}

/** Add a run to the lines, [n_lines] in the order of ranks; a rank without one is left
 *  out. */
static void add_ranks(const struct run *run, uint32_t which, struct rank_line *lines,
                      uint32_t n_lines)
{
    for (uint32_t i = 0; i < run->n_files; i++) {
        const struct mmds_summary *summary = &run->summaries[i];
        const struct rank_line key = {.rank = run->files[i].process.rank};
        struct rank_line *line =
            bsearch(&key, lines, n_lines, sizeof(*lines), compare_numbers);

        if (line != NULL) {
            noise_add(&line->outside_ns.of[which],
                      (double)efficiency_outside_ns(summary));
            noise_add(&line->blocking_ns.of[which],
                      (double)summary->communication.total_ns);
        }
    }
}

static void print_pair(const struct diff_pair *pair)
{
    printf(" %12.3f %12.3f %12.3f %-6s", pair->of[0].mean / NS_PER_MS,
           pair->of[1].mean / NS_PER_MS, diff_change(pair) / NS_PER_MS,
           noise_word(noise_judge(&pair->of[0], &pair->of[1])));
}

int diff_print_ranks(const struct diff *diff)
{
    const struct run *first = &diff->sides[0].runs[0];
    uint32_t n_lines = first->n_files, n = 0;
    struct rank_line *lines = calloc(n_lines, sizeof(*lines));

    if (lines == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n_lines; i++) {
        lines[i].rank = first->files[i].process.rank;
    }
    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs; i++) {
            add_ranks(&diff->sides[which].runs[i], which, lines, n_lines);
        }
    }
    qsort(lines, n_lines, sizeof(*lines), compare_ranks);
    printf("\n%8s | %38s %-6s | %38s %-6s\n%8s | %12s %12s %12s %-6s | %12s %12s %12s "
           "%-6s\n",
           "", "Outside of MPI(ms)", "", "In blocking calls(ms)", "", "Rank", "A", "B",
           "Change", "Noise", "A", "B", "Change", "Noise");
    for (uint32_t i = 0; i < n_lines && n < diff->n_most; i++) {
        if (lines[i].outside_ns.of[0].n > 0 && lines[i].outside_ns.of[1].n > 0) {
            printf("%8u |", lines[i].rank);
            print_pair(&lines[i].outside_ns);
            printf(" |");
            print_pair(&lines[i].blocking_ns);
            printf("\n");
            n++;
        }
    }
    free(lines);
    return 0;
}

/** Messages from one rank to another, as the sender has counted them; or of one run
 *  only, before those of a pair are put together. */
struct peer_line {
    uint32_t from, to;
    uint32_t which; /* side that they are of */
    uint64_t n, n_bytes;
    struct diff_pair messages, bytes;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct peer_line *a = left, *b = right;

    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

static int compare_bytes(const void *left, const void *right)
{
    const struct peer_line *x = left, *y = right;
    double a = fabs(diff_change(&x->bytes)), b = fabs(diff_change(&y->bytes));

    if (a == b) {
        a = fabs(diff_change(&x->messages));
        b = fabs(diff_change(&y->messages));
    }
    return a > b ? -1 : a < b ? 1 : compare_pairs(left, right);
}

/** Append the pairs of one sender. @param lines NULL: only count. @return how many
 *  there are */
static size_t append_peers(const struct dump_file *file, uint32_t which,
                           struct peer_line *lines, size_t n)
{
    for (uint32_t i = 0; i < file->peers.n; i++) {
        struct mds_dump_peer peer = dump_peer(file, i);

        if (peer.n_sent == 0) {
            continue;
        }
        if (lines != NULL) {
            lines[n] = (struct peer_line){
                .from = file->process.rank,
                .to = peer.rank,
                .which = which,
                .n = peer.n_sent,
                .n_bytes = peer.sent_bytes,
            };
        }
        n++;
    }
    return n;
}

/** Pairs of ranks with messages, those of all runs behind each other. @return how
 *  many */
static size_t collect_peers(const struct diff *diff, struct peer_line *lines)
{
    size_t n = 0;

    for (uint32_t which = 0; which < 2; which++) {
        for (uint32_t i = 0; i < diff->sides[which].n_runs; i++) {
            const struct run *run = &diff->sides[which].runs[i];

            for (uint32_t j = 0; j < run->n_files; j++) {
                n = append_peers(&run->files[j], which, lines, n);
            }
        }
    }
    return n;
}

/** Add the runs in which a pair had no messages. */
static void add_silence(const struct diff *diff, struct peer_line *line)
{
    for (uint32_t which = 0; which < 2; which++) {
        while (line->messages.of[which].n < diff->sides[which].n_runs) {
            noise_add(&line->messages.of[which], 0);
            noise_add(&line->bytes.of[which], 0);
        }
    }
}

/** Put the lines of a pair together. @return how many there are then */
static size_t join_peers(const struct diff *diff, struct peer_line *lines, size_t n)
{
    size_t n_joined = 0;

    qsort(lines, n, sizeof(*lines), compare_pairs);
    for (size_t i = 0; i < n; i++) {
        struct peer_line line = lines[i];
        struct peer_line *into = &lines[n_joined > 0 ? n_joined - 1 : 0];

        if (n_joined == 0 || compare_pairs(into, &line) != 0) {
            into = &lines[n_joined++];
            *into = line;
        }
        noise_add(&into->messages.of[line.which], (double)line.n);
        noise_add(&into->bytes.of[line.which], (double)line.n_bytes);
    }
    for (size_t i = 0; i < n_joined; i++) {
        add_silence(diff, &lines[i]);
    }
    return n_joined;
}

static void print_peers(const struct diff *diff, const struct peer_line *lines,
                        size_t n)
{
    size_t n_changed = 0;

    while (n_changed < n && (diff_change(&lines[n_changed].bytes) != 0 ||
                             diff_change(&lines[n_changed].messages) != 0)) {
        n_changed++;
    }
    printf("\n%zu pairs of ranks with messages, of which %zu have changed\n", n,
           n_changed);
    if (n_changed > 0) {
        printf("%8s %8s %13s %13s %15s %15s %15s  %s\n", "From", "To", "Messages A",
               "Messages B", "Bytes A", "Bytes B", "Change(bytes)", "Noise");
    }
    for (size_t i = 0; i < n_changed && i < diff->n_most; i++) {
        const struct peer_line *line = &lines[i];

        printf("%8u %8u %13.0f %13.0f %15.0f %15.0f %15.0f  %s\n", line->from, line->to,
               line->messages.of[0].mean, line->messages.of[1].mean,
               line->bytes.of[0].mean, line->bytes.of[1].mean,
               diff_change(&line->bytes),
               noise_word(noise_judge(&line->bytes.of[0], &line->bytes.of[1])));
    }
}

int diff_print_peers(const struct diff *diff)
{
    size_t n = collect_peers(diff, NULL);
    struct peer_line *lines = calloc(n + 1, sizeof(*lines));

    if (lines == NULL) {
        return -ENOMEM;
    }
    collect_peers(diff, lines);
    n = join_peers(diff, lines, n);
    qsort(lines, n, sizeof(*lines), compare_bytes);
    print_peers(diff, lines, n);
    free(lines);
    return 0;
}
