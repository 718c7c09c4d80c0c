/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds matrix: which ranks send how much to which, and what is done on which
 * communicators, those with most first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "mds/tool/analysis/comm_read.h"
#include "mds/tool/read/manifest.h"
#include "mds/tool/verbs/verbs.h"

enum { LINES = 50 }; /* if not told */

/** Messages from one rank to another, as the sender has counted them. */
struct pair {
    uint32_t from, to;
    uint64_t n, n_bytes;
};

static int compare(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->n_bytes != b->n_bytes) {
        return a->n_bytes < b->n_bytes ? 1 : -1;
    }
    if (a->n != b->n) {
        return a->n < b->n ? 1 : -1;
    }
    return a->from != b->from ? (a->from < b->from ? -1 : 1) : (a->to < b->to ? -1 : 1);
}

/** All pairs with messages. @return how many */
static size_t collect(const struct run *run, struct pair *pairs_out)
{
    size_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        for (uint32_t j = 0; j < run->files[i].peers.n; j++) {
            struct mds_dump_peer peer = dump_peer(&run->files[i], j);

            if (peer.n_sent > 0) {
                pairs_out[n++] = (struct pair){run->files[i].process.rank, peer.rank,
                                               peer.n_sent, peer.sent_bytes};
            }
        }
    }
    return n;
}

static void print(const struct pair *pairs, size_t n, size_t n_shown)
{
    uint64_t n_messages = 0, n_bytes = 0;

    for (size_t i = 0; i < n; i++) {
        n_messages += pairs[i].n;
        n_bytes += pairs[i].n_bytes;
    }
    printf("%" PRIu64 " messages with %" PRIu64 " bytes, between %zu pairs of ranks\n",
           n_messages, n_bytes, n);
    printf("%8s %8s %14s %18s %14s\n", "From", "To", "Messages", "Bytes", "Average");
    for (size_t i = 0; i < n_shown; i++) {
        printf("%8u %8u %14" PRIu64 " %18" PRIu64 " %14.1f\n", pairs[i].from,
               pairs[i].to, pairs[i].n, pairs[i].n_bytes,
               (double)pairs[i].n_bytes / (double)pairs[i].n);
    }
    if (n_shown < n) {
        printf("and %zu pairs with less\n", n - n_shown);
    }
}

/** @return 0, or 1: no memory */
static int print_comms(const struct run *run, size_t n_most)
{
    size_t n;
    struct comm *comms = comms_of(run, &n);

    if (comms == NULL) {
        fprintf(stderr, "bcs-mds: no memory for communicators\n");
        return 1;
    }
    if (n > 0) {
        printf("\n%14s %18s %14s %18s %8s %8s  %s\n", "Messages", "Bytes",
               "Collectives", "Bytes", "Members", "Used by", "Communicator");
    }
    for (size_t i = 0; i < n && i < n_most; i++) {
        const struct mds_dump_comm *sum = &comms[i].sum;
        const char *title = comm_title(&comms[i]);

        printf("%14" PRIu64 " %18" PRIu64 " %14" PRIu64 " %18" PRIu64 " %8u %8u  ",
               sum->n_sent, sum->sent_bytes, sum->n_collectives, sum->collective_bytes,
               sum->n_ranks, comms[i].n_files);
        manifest_print(stdout, title, strlen(title));
        printf("\n");
    }
    if (n > n_most) {
        printf("and %zu communicators with less\n", n - n_most);
    }
    free(comms);
    return 0;
}

int verb_matrix(const struct run *run, const struct verb_options *options)
{
    size_t n_lines = options->n_most < 0 ? LINES : (size_t)options->n_most;
    size_t n_most = 1, n;
    struct pair *pairs;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n_most += run->files[i].peers.n;
    }
    pairs = calloc(n_most, sizeof(*pairs));
    if (pairs == NULL) {
        fprintf(stderr, "bcs-mds: no memory for %zu pairs of ranks\n", n_most);
        return 1;
    }
    n = collect(run, pairs);
    qsort(pairs, n, sizeof(*pairs), compare);
    print(pairs, n, n < n_lines ? n : n_lines);
    free(pairs);
    return print_comms(run, n_lines);
}
