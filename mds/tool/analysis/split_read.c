/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocking calls have waited for; see split_read.h.
 */
#include "mds/tool/analysis/split_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mds/tool/read/manifest.h"

#define NS_PER_MS 1e6

bool split_is_in(const struct dump_file *file)
{
    return file->calls.record_bytes >= sizeof(struct mds_dump_call);
}

const char *const split_names[MDS_N_PARTS] = {
    [MDS_PART_SENDER] = "late sender",
    [MDS_PART_RECEIVER] = "late receiver",
    [MDS_PART_COLLECTIVE] = "late in collective",
    [MDS_PART_SLICE] = "slice",
    [MDS_PART_TRANSFER] = "transfer",
    [MDS_PART_OTHER] = "not split",
};

static uint32_t n_split_files(const struct run *run)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += split_is_in(&run->files[i]);
    }
    return n;
}

bool split_is_in_any(const struct run *run)
{
    return n_split_files(run) > 0;
}

bool split_is_in_all(const struct run *run)
{
    return n_split_files(run) == run->n_files;
}

static int compare_ranks(const void *left, const void *right)
{
    uint32_t a = ((const struct split_rank *)left)->rank;
    uint32_t b = ((const struct split_rank *)right)->rank;

    return a < b ? -1 : a > b;
}

/** Add how long a rank has waited for others; those without a file are left out. A file
 *  may speak of billions of ranks, so there is no room for all. */
static void add_faults(const struct run *run, const struct dump_file *file,
                       struct split_rank *ranks)
{
    for (uint32_t i = 0; i < file->peers.n; i++) {
        struct mds_dump_peer peer = dump_peer(file, i);
        const struct split_rank key = {.rank = peer.rank};
        struct split_rank *late =
            bsearch(&key, ranks, run->n_files, sizeof(*ranks), compare_ranks);

        for (int part = 0; late != NULL && part < MDS_DUMP_LATE; part++) {
            late->others_ns[part] += peer.late[part];
        }
    }
}

/** The parts of all calls of a summary. */
static struct mmds_split sum_of(const struct mmds_summary *summary)
{
    struct mmds_split sum = {{0}};

    for (uint32_t i = 0; i < MDS_MAX_PRIMITIVES; i++) {
        mmds_split_merge(&sum, &summary->splits[i]);
    }
    return sum;
}

struct split_rank *split_ranks(const struct run *run)
{
    struct split_rank *ranks = calloc((size_t)run->n_files + 1, sizeof(*ranks));

    if (ranks == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        ranks[i].rank = run->files[i].process.rank;
        ranks[i].own = sum_of(&run->summaries[i]);
    }
    for (uint32_t i = 0; i < run->n_files; i++) {
        add_faults(run, &run->files[i], ranks);
    }
    return ranks;
}

/** The longest waits first. */
static int compare_late(const void *left, const void *right)
{
    const struct site *a = left, *b = right;
    uint64_t a_ns = split_late_ns(a->split.ns), b_ns = split_late_ns(b->split.ns);

    if (a_ns != b_ns) {
        return a_ns > b_ns ? -1 : 1;
    }
    return site_compare(a, b);
}

struct site *split_sites(const struct run *run, int64_t rank, size_t *n_out)
{
    size_t n = 0, n_late = 0;
    struct site *sites = sites_of(run, rank, &n);

    if (sites == NULL) {
        return NULL;
    }
    qsort(sites, n, sizeof(*sites), compare_late);
    while (n_late < n && split_late_ns(sites[n_late].split.ns) > 0) {
        n_late++;
    }
    *n_out = n_late;
    return sites;
}

static void print_ms(const uint64_t *ns, int n)
{
    for (int i = 0; i < n; i++) {
        printf(" %12.3f", (double)ns[i] / NS_PER_MS);
    }
}

int split_print_ranks(const struct run *run, int64_t rank)
{
    struct split_rank *ranks;

    if (!split_is_in_any(run)) {
        return 0;
    }
    ranks = split_ranks(run);
    if (ranks == NULL) {
        return -ENOMEM;
    }
    printf("\n%8s %12s %12s %12s %12s %12s %12s  %s\n%8s", "Waited", "Sender(ms)",
           "Receiver(ms)", "Collect.(ms)", "Slice(ms)", "Transfer(ms)", "Unsplit(ms)",
           "Others for it:", "by rank");
    printf("%79s %12s %12s %12s\n", "", "as sender", "as receiver", "in collect.");
    for (uint32_t i = 0; i < run->n_files; i++) {
        if (rank < 0 || rank == ranks[i].rank) {
            printf("%8u", ranks[i].rank);
            print_ms(ranks[i].own.ns, MDS_N_PARTS);
            printf(" ");
            print_ms(ranks[i].others_ns, MDS_DUMP_LATE);
            printf("\n");
        }
    }
    printf("What blocking calls waited for: a late sender, a late receiver, the last "
           "rank of "
           "a\ncollective, the begin of a timed slice; the rest is transfer. On the "
           "right how "
           "long others\nhave waited for the rank.\n");
    free(ranks);
    return 0;
}

static void print_site(const struct site *site, struct places *places)
{
    char *words = site_words(site, places);

    print_ms(site->split.ns, MDS_PART_TRANSFER + 1);
    if (site->fault.ticks > 0) {
        printf(" %8u %12.3f  ", site->fault.rank,
               (double)site->fault.ticks / NS_PER_MS);
    } else {
        printf(" %8s %12s  ", "-", "-");
    }
    if (words != NULL) {
        manifest_print(stdout, words, strlen(words));
    }
    printf("\n");
    free(words);
}

int split_print_sites(const struct run *run, int64_t rank, size_t n_most)
{
    size_t n = 0;
    struct site *sites = split_sites(run, rank, &n);
    struct places *places = place_open(PLACE_PATIENT_NS);
    int rc = sites == NULL || places == NULL ? -ENOMEM : 0;

    if (rc == 0 && n > 0 && n_most > 0) {
        printf("\n%13s %12s %12s %12s %12s %8s %12s  %s\n", "Sender(ms)",
               "Receiver(ms)", "Collect.(ms)", "Slice(ms)", "Transfer(ms)", "For rank",
               "At least(ms)", "Waited in");
    }
    for (size_t i = 0; rc == 0 && i < n && i < n_most; i++) {
        print_site(&sites[i], places);
    }
    place_close(places);
    free(sites);
    return rc;
}

/** Parts come to the time of their calls. @param what whose @return number of
 *  findings */
static int check_parts(const struct dump_file *file, const char *what, bool is_blocking,
                       const uint64_t parts[MDS_DUMP_PARTS], uint64_t total)
{
    uint64_t sum = 0, wanted = is_blocking ? total : 0;

    for (int i = 0; i < MDS_DUMP_PARTS; i++) {
        sum += parts[i];
    }
    if (sum == wanted) {
        return 0;
    }
    printf("rank %u: the parts of %s come to %" PRIu64 " ns, not to %" PRIu64 "\n",
           file->process.rank, what, sum, wanted);
    return 1;
}

/** What was waited for late ranks, by them and by calls. Each number is rounded. */
static int check_late(const struct dump_file *file)
{
    double by_call = 0, by_rank = 0;

    for (uint32_t i = 0; i < file->calls.n; i++) {
        struct mds_dump_call call = dump_call(file, i);

        for (int part = 0; part < MDS_DUMP_LATE; part++) {
            by_call += (double)call.parts[part];
        }
    }
    for (uint32_t i = 0; i < file->peers.n; i++) {
        struct mds_dump_peer peer = dump_peer(file, i);

        for (int part = 0; part < MDS_DUMP_LATE; part++) {
            by_rank += (double)peer.late[part];
        }
    }
    if (by_call - by_rank <= MDS_DUMP_LATE * ((double)file->calls.n + file->peers.n) &&
        by_rank - by_call <= MDS_DUMP_LATE * ((double)file->calls.n + file->peers.n)) {
        return 0;
    }
    printf(
        "rank %u: calls have waited for late ranks for %.0f ns, for each of these it "
        "comes to %.0f\n",
        file->process.rank, by_call, by_rank);
    return 1;
}

int split_check(const struct dump_file *file)
{
    int n_found = 0;

    if (!split_is_in(file)) {
        return 0;
    }
    for (uint32_t i = 0; i < file->calls.n; i++) {
        struct mds_dump_call call = dump_call(file, i);

        n_found += check_parts(file, dump_name(file, call.name),
                               call.timing == MDS_BLOCKING, call.parts, call.total);
    }
    for (uint32_t i = 0; i < file->sites.n; i++) {
        struct mds_dump_site site = dump_site(file, i);
        struct mds_dump_call call = dump_call(file, site.call);

        n_found += file->sites.record_bytes < sizeof(site)
                       ? 0
                       : check_parts(file, "a place", call.timing == MDS_BLOCKING,
                                     site.parts, site.total);
    }
    return n_found + check_late(file);
}
