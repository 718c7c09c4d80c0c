/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcs-mds check: whether what was recorded agrees with itself. In each process
 * computation and communication come to the run time, to 0.01 % [BCS-MPI section 5.4],
 * and its distributions have as many points as were counted; its places in the program
 * have made as many calls; the parts of blocking calls come to their time, by call,
 * place and rank that was late; its messages are as many by communicator as by rank;
 * what one rank has sent another one, that one has got, unless one of the two was
 * killed. Of slices see check_slices.c, of what a user expects of them check_rhythm.c.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "mds/tool/analysis/check_slices.h"
#include "mds/tool/analysis/split_read.h"
#include "mds/tool/read/dump_later.h"
#include "mds/tool/verbs/verbs.h"

#define MOST_GAP 1e-4 /* of the run time */

/** Tell of what does not agree. @return 1 */
#define FOUND(...) (printf(__VA_ARGS__), printf("\n"), 1)

/** The run time of a process. @return number of findings */
static int check_time(const struct run *run, uint32_t i)
{
    const struct mmds_summary *summary = &run->summaries[i];
    double gap =
        summary->run_ns > 0 ? (double)summary->gap_ns / (double)summary->run_ns : 0;

    if (gap <= MOST_GAP) {
        return 0;
    }
    return FOUND("rank %u: computation and communication differ from the run time by "
                 "%.4f %%",
                 run->files[i].process.rank, 100 * gap);
}

/** One distribution. @param n  points that were counted */
static int check_points(const struct dump_file *file, const char *what, uint64_t n,
                        uint64_t n_points)
{
    if (n == n_points || n_points == 0) { /* not recorded */
        return 0;
    }
    return FOUND("rank %u: the distribution of %s has %" PRIu64 " points of %" PRIu64,
                 file->process.rank, what, n_points, n);
}

/** All distributions of a process. */
static int check_distributions(const struct dump_file *file)
{
    uint64_t *points = calloc((size_t)file->calls.n + 1, 2 * sizeof(*points));
    uint64_t periods[2] = {0};
    int n_found = 0;

    if (points == NULL) {
        return FOUND("no memory");
    }
    for (uint32_t i = 0; i < file->buckets.n; i++) {
        struct mds_dump_bucket bucket = dump_bucket(file, i);

        if (bucket.of < MDS_DUMP_OF_LATENCY) {
            periods[bucket.of] += bucket.count;
        } else {
            points[2 * bucket.call + (bucket.of == MDS_DUMP_OF_SIZE)] += bucket.count;
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct mds_dump_call period = dump_period(file, i);

        n_found +=
            check_points(file, dump_name(file, period.name), period.count, periods[i]);
    }
    for (uint32_t i = 0; i < file->calls.n; i++) {
        struct mds_dump_call call = dump_call(file, i);
        const char *name = dump_name(file, call.name);

        n_found += check_points(file, name, call.count, points[2 * i]);
        n_found += check_points(file, name, call.n_sized, points[2 * i + 1]);
    }
    free(points);
    return n_found;
}

/** Calls by place are all calls. */
static int check_sites(const struct dump_file *file)
{
    uint64_t *counts = calloc((size_t)file->calls.n + 1, sizeof(*counts));
    int n_found = 0;

    if (counts == NULL) {
        return FOUND("no memory");
    }
    for (uint32_t i = 0; i < file->sites.n; i++) {
        struct mds_dump_site site = dump_site(file, i);

        counts[site.call] += site.count;
    }
    for (uint32_t i = 0; i < file->calls.n && file->sites.n > 0; i++) {
        struct mds_dump_call call = dump_call(file, i);

        if (call.count != counts[i]) {
            n_found += FOUND("rank %u: places have called %s %" PRIu64
                             " times, it was called %" PRIu64 " times",
                             file->process.rank, dump_name(file, call.name), counts[i],
                             call.count);
        }
    }
    free(counts);
    return n_found;
}

/** Events that are held are calls that were counted, within the run. */
static int check_calls(const struct dump_file *file)
{
    uint64_t *counts = calloc((size_t)file->calls.n + 1, sizeof(*counts));
    int n_found = 0;

    if (counts == NULL) {
        return FOUND("no memory");
    }
    for (uint32_t i = 0; i < file->events.n; i++) {
        struct mds_dump_event event = dump_event(file, i);

        counts[event.call]++;
        if (event.end > file->process.run + 1 && n_found == 0) { /* one for rounding */
            n_found +=
                FOUND("rank %u: a call has ended after the run", file->process.rank);
        }
    }
    for (uint32_t i = 0; i < file->calls.n; i++) {
        if (counts[i] > dump_call(file, i).count) {
            n_found +=
                FOUND("rank %u: more events than calls of %s", file->process.rank,
                      dump_name(file, dump_call(file, i).name));
        }
    }
    free(counts);
    return n_found;
}

/** Events of one rank after the other. */
static int check_events(struct dump_file *file)
{
    char error[DUMP_ERROR_BYTES];
    int n_found;

    if (dump_events_hold(file, error) < 0) {
        return FOUND("%s", error);
    }
    n_found = check_calls(file);
    dump_events_drop(file);
    return n_found;
}

/** Messages by communicator are those by rank. */
static int check_comms(const struct dump_file *file)
{
    uint64_t n_by_comm = 0, n_by_peer = 0, bytes_by_comm = 0, bytes_by_peer = 0;

    for (uint32_t i = 0; i < file->comms.n; i++) {
        struct mds_dump_comm comm = dump_comm(file, i);

        n_by_comm += comm.n_sent + comm.n_received;
        bytes_by_comm += comm.sent_bytes + comm.received_bytes;
    }
    for (uint32_t i = 0; i < file->peers.n; i++) {
        struct mds_dump_peer peer = dump_peer(file, i);

        n_by_peer += peer.n_sent + peer.n_received;
        bytes_by_peer += peer.sent_bytes + peer.received_bytes;
    }
    if (file->comms.n == 0 ||
        (n_by_comm == n_by_peer && bytes_by_comm == bytes_by_peer)) {
        return 0;
    }
    return FOUND("rank %u: %" PRIu64 " messages with %" PRIu64
                 " bytes by communicator, %" PRIu64 " with %" PRIu64 " by rank",
                 file->process.rank, n_by_comm, bytes_by_comm, n_by_peer,
                 bytes_by_peer);
}

/** The file of a rank; NULL: it has none. */
static const struct dump_file *file_of(const struct run *run, uint32_t rank)
{
    uint32_t low = 0, high = run->n_files; /* they are in the order of ranks */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (run->files[middle].process.rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < run->n_files && run->files[low].process.rank == rank ? &run->files[low]
                                                                      : NULL;
}

/** What a process knows of a peer; nothing if it has no record. */
static struct mds_dump_peer peer_of(const struct dump_file *file, uint32_t rank)
{
    uint32_t low = 0, high = file->peers.n; /* they are in the order of ranks */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (dump_peer(file, middle).rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < file->peers.n && dump_peer(file, low).rank == rank
               ? dump_peer(file, low)
               : (struct mds_dump_peer){.rank = rank};
}

/** Messages that are on one side's count and not yet on the other's. */
struct under_way {
    uint64_t n_messages, n_bytes;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool has_ended(const struct dump_file *file)
{
    return file->process.end == MDS_DUMP_END_FINALIZE;
}

/** What a process has sent, and what it has got from those that do not know that they
 *  have sent it anything. Between two of which one has not ended, messages may be under
 *  way. */
static int check_peers(const struct run *run, const struct dump_file *file,
                       struct under_way *under_way)
{
    uint32_t rank = file->process.rank;
    int n_found = 0;

    for (uint32_t i = 0; i < file->peers.n; i++) {
        struct mds_dump_peer mine = dump_peer(file, i);
        const struct dump_file *other = file_of(run, mine.rank);
        struct mds_dump_peer its;

        if (other == NULL) {
            continue;
        }
        its = peer_of(other, rank);
        if (!has_ended(file) || !has_ended(other)) {
            under_way->n_messages += distance(mine.n_sent, its.n_received);
            under_way->n_bytes += distance(mine.sent_bytes, its.received_bytes);
            continue;
        }
        if (mine.n_sent != its.n_received || mine.sent_bytes != its.received_bytes) {
            n_found +=
                FOUND("rank %u has sent rank %u %" PRIu64 " messages with %" PRIu64
                      " bytes, which has got %" PRIu64 " with %" PRIu64,
                      rank, mine.rank, mine.n_sent, mine.sent_bytes, its.n_received,
                      its.received_bytes);
        }
        if (its.n_sent == 0 && mine.n_received > 0) {
            n_found += FOUND("rank %u has got %" PRIu64 " messages of rank %u, which "
                             "has sent none",
                             rank, mine.n_received, mine.rank);
        }
    }
    return n_found;
}

/** Say so if ranks have not ended: what was under way then is no finding. */
static void print_unended(const struct run *run, const struct under_way *under_way)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n += !has_ended(&run->files[i]);
    }
    if (n > 0) {
        printf("%u of %u ranks have not ended: they were killed, or still run. %" PRIu64
               " messages with %" PRIu64
               " bytes were under way, which is no finding.\n",
               n, run->n_files, under_way->n_messages, under_way->n_bytes);
    }
}

int verb_check(const struct run *run, const struct verb_options *options)
{
    struct under_way under_way = {0};
    int n_found = 0;

    for (uint32_t i = 0; i < run->n_files; i++) {
        n_found += check_time(run, i);
        n_found += check_distributions(&run->files[i]);
        n_found += check_sites(&run->files[i]);
        n_found += split_check(&run->files[i]);
        n_found += check_comms(&run->files[i]);
        n_found += check_events(&run->files[i]);
        n_found += check_peers(run, &run->files[i], &under_way);
    }
    n_found += check_slices(run);
    if (options->grid_us >= 0) {
        n_found += check_grid(run, options->grid_us);
    }
    for (size_t i = 0; i < options->n_rhythms; i++) {
        n_found += check_rhythm(run, &options->rhythms[i]);
    }
    print_unended(run, &under_way);
    printf("%u files, %d findings\n", run->n_files + run->n_nodes, n_found);
    return n_found > 0;
}
