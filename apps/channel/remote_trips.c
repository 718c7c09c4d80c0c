/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What remote commands on 8 bytes take beside what the machine takes, two ranks, in
 * turns: writes, by which a word goes there and back; reads and atomic additions, each
 * of which needs what the one before has brought; fetches on condition; beside a cache
 * line that goes there and back. Prints medians, and the medians of the ratios of each
 * turn. [Low Latency Messages, section 5]
 */
#include <bcs/remote.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/clock.h"
#include "apps/bench/line_trip.h"
#include "apps/bench/median.h"

enum { TURNS_USUAL = 15, TURNS_MOST = 1000, N_TRIPS = 3000 };

/* A region: words of their own lines, and a chain of lines, in an order that nothing
 * foresees. */
enum {
    MINE = 0,
    SHARED = 256,
    FETCHED = 512,
    CHAIN = 1024,
    N_LINES = 256,
    LINE_BYTES = 128
};
enum { REGION_BYTES = CHAIN + N_LINES * LINE_BYTES };

enum row { LINE, WRITE, WRITE_SHARED, READ, ADD, FETCH, N_ROWS };

struct job {
    int rank;
    struct bcs_remote own, other;
    uint64_t n_written; /* so far, by each kind of trip */
    uint64_t n_shared, n_fetched;
    bool is_wrong;
};

/** A word to the other's region, which writes one back. Nanoseconds of one way, on rank
 *  0. */
static double write_trips(struct job *job)
{
    double start = bench_now_seconds();

    for (int i = 0; i < N_TRIPS; i++) {
        uint64_t n = ++job->n_written;

        if (job->rank == 0) {
            bcs_remote_write_word(&job->other, MINE, n);
            job->is_wrong |= bcs_remote_wait(&job->own, MINE, n) != 0;
        } else {
            job->is_wrong |= bcs_remote_wait(&job->own, MINE, n) != 0;
            bcs_remote_write_word(&job->other, MINE, n);
        }
    }
    return (bench_now_seconds() - start) / (2.0 * N_TRIPS) * 1e9;
}

/** The same on one word of rank 0's region, as the cache line goes. */
static double write_trips_shared(struct job *job)
{
    const struct bcs_remote *region = job->rank == 0 ? &job->own : &job->other;
    double start = bench_now_seconds();

    for (int i = 0; i < N_TRIPS; i++) {
        job->n_shared += 2;
        if (job->rank == 0) {
            bcs_remote_write_word(region, SHARED, job->n_shared - 1);
            job->is_wrong |= bcs_remote_wait(region, SHARED, job->n_shared) != 0;
        } else {
            job->is_wrong |= bcs_remote_wait(region, SHARED, job->n_shared - 1) != 0;
            bcs_remote_write_word(region, SHARED, job->n_shared);
        }
    }
    return (bench_now_seconds() - start) / (2.0 * N_TRIPS) * 1e9;
}

/** A word that is fetched by the other when it is there. Nanoseconds of one way, on
 *  rank 0. */
static double fetch_trips(struct job *job)
{
    struct bcs_remote_event event = {0};
    uint64_t word = 0;
    double start = bench_now_seconds();

    for (int i = 0; i < N_TRIPS; i++) {
        uint64_t n = ++job->n_fetched;
        struct bcs_remote_fetch fetch = {.word = FETCHED,
                                         .at_least = n,
                                         .offset = FETCHED,
                                         .n_bytes = 8,
                                         .data_out = &word,
                                         .event = &event};

        if (job->rank == 0) {
            bcs_remote_write_word(&job->own, FETCHED, n);
        }
        bcs_remote_fetch(&job->other, &fetch);
        job->is_wrong |=
            bcs_remote_wait_event(&event, (uint64_t)i + 1) != 0 || word != n;
        if (job->rank == 1) {
            bcs_remote_write_word(&job->own, FETCHED, n);
        }
    }
    return (bench_now_seconds() - start) / (2.0 * N_TRIPS) * 1e9;
}

/** The owner writes all lines of the chain, so that they are in its cache: each tells
 *  the next. */
static void write_chain(struct job *job)
{
    for (uint64_t i = 0; i < N_LINES; i++) {
        uint64_t next =
            (i * 77 + 41) % N_LINES; /* goes through all, as 77 - 1 has the factors of
                                                  * N_LINES, and 41 has not */

        bcs_remote_write_word(&job->own, CHAIN + i * LINE_BYTES,
                              CHAIN + next * LINE_BYTES);
    }
}

/** Follow the chain of the other. Nanoseconds of a step. */
static double follow(struct job *job, bool is_add)
{
    uint64_t at = CHAIN, n = 0;
    double start = bench_now_seconds();

    do {
        if (is_add) {
            job->is_wrong |= bcs_remote_add_word(&job->other, at, 0, &at) != 0;
        } else {
            job->is_wrong |= bcs_remote_read_word(&job->other, at, &at) != 0;
        }
        n++;
    } while (at != CHAIN && n < N_LINES);
    job->is_wrong |= n != N_LINES || at != CHAIN;
    return (bench_now_seconds() - start) / N_LINES * 1e9;
}

/** Rank 0 follows rank 1's chain, which has just been written. Nanoseconds of a
 *  step. */
static double chain_steps(struct job *job, bool is_add)
{
    enum { N_TIMES = 9 };
    double times[N_TIMES];

    for (int i = 0; i < N_TIMES; i++) {
        if (job->rank == 1) {
            write_chain(job);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = job->rank == 0 ? follow(job, is_add) : 0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return median_of(times, N_TIMES);
}

/** One of each. The times are rank 0's. */
static void take_turn(struct job *job, struct line_trip *trip, double times[N_ROWS])
{
    MPI_Barrier(MPI_COMM_WORLD);
    times[LINE] = line_trip_is_possible(trip) ? line_trip_seconds(trip) / 2 * 1e9 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    times[WRITE] = write_trips(job);
    times[WRITE_SHARED] = write_trips_shared(job);
    times[FETCH] = fetch_trips(job);
    times[READ] = chain_steps(job, false);
    times[ADD] = chain_steps(job, true);
}

/** The median of one row, in lines if so wanted. */
static double median_row(double (*times)[N_ROWS], int n, int row, bool in_lines)
{
    double values[TURNS_MOST];

    for (int i = 0; i < n; i++) {
        values[i] = in_lines ? times[i][row] / times[i][LINE] : times[i][row];
    }
    return median_of(values, n);
}

static void report(double (*times)[N_ROWS], int n)
{
    static const char *const names[N_ROWS] = {
        [LINE] = "cache line, one way",
        [WRITE] = "remote write",
        [WRITE_SHARED] = "... on one line for both ways",
        [READ] = "remote read",
        [ADD] = "remote add, for what it was",
        [FETCH] = "fetch on condition",
    };
    bool has_lines = times[0][LINE] > 0;

    printf("%-30s %8s %8s   (medians of %d turns)\n", "", "ns", "lines", n);
    for (int i = 0; i < N_ROWS; i++) {
        printf("%-30s %8.2f", names[i], median_row(times, n, i, false));
        if (has_lines) {
            printf(" %8.3f", median_row(times, n, i, true));
        }
        printf("\n");
    }
    if (!has_lines) {
        printf("lines are not measured, as the ranks have no core each\n");
    }
}

/** Measure. @return whether all went right */
static bool measure(int rank, int n_turns)
{
    static double times[TURNS_MOST][N_ROWS];
    static struct job job;
    struct line_trip trip;

    job.rank = rank;
    if (bcs_region_export(0, REGION_BYTES, &job.own) != 0 ||
        bcs_region_import(1 - rank, 0, &job.other) != 0) {
        return false;
    }
    line_trip_init(&trip, rank, 2);
    for (int i = 0; i < n_turns; i++) {
        take_turn(&job, &trip, times[i]);
    }
    if (rank == 0) {
        report(times, n_turns);
    }
    line_trip_fini(&trip);
    if (job.is_wrong) {
        printf("rank %d: words are wrong\n", rank);
    }
    return !job.is_wrong;
}

int main(int argc, char **argv)
{
    int rank, size;
    int n_turns = argc > 1 ? atoi(argv[1]) : TURNS_USUAL;
    bool is_right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc > 2 || n_turns < 1 || n_turns > TURNS_MOST) {
        if (rank == 0) {
            fprintf(stderr, "usage: remote_trips [TURNS], on 2 ranks; TURNS: 1 to %d\n",
                    TURNS_MOST);
        }
        MPI_Finalize();
        return 2;
    }
    if (bcs_channels_init() < 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    is_right = measure(rank, n_turns);
    bcs_channels_finalize();
    MPI_Finalize();
    return is_right ? 0 : 1;
}
