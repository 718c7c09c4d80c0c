/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an open channel takes beside what the machine takes, two ranks, in turns: a word
 * there and back, beside a cache line there and back; a stream of words, beside a plain
 * ring in shared memory; both word by word and many at a time. Prints medians, and the
 * medians of the ratios of each turn. [Low Latency Messages, section 4]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/clock.h"
#include "apps/bench/line_trip.h"
#include "apps/bench/line_trips.h"
#include "apps/bench/median.h"
#include "apps/channel/streams.h"

enum { TURNS_USUAL = 201, TURNS_MOST = 1000, N_TRIPS = 3000, CAPACITY = 1024 };
enum { N_WORDS = STREAM_AT_ONCE * 20000 };

enum row {
    LINE,
    TWO_LINES,
    WORD,
    PLAIN,
    PLAIN_MANY,
    CHANNEL, /* by enum stream_form */
    N_ROWS = CHANNEL + STREAM_ALL + 1,
};

struct ends {
    struct bcs_channel_out *out;
    struct bcs_channel_in *in;
    struct bcs_channel_out *stream_out;
    struct bcs_channel_in *stream_in;
};

static int open_ends(struct ends *ends, int rank)
{
    const struct bcs_channel_params params = {
        .peer = 1 - rank,
        .record_bytes = sizeof(uint64_t),
        .capacity = CAPACITY,
    };
    struct bcs_channel_params stream = params;
    int rc = bcs_channel_open_out(&params, &ends->out);

    stream.number = 1;
    rc = rc == 0 ? bcs_channel_open_in(&params, &ends->in) : rc;
    if (rc == 0 && rank == 0) {
        rc = bcs_channel_open_out(&stream, &ends->stream_out);
    } else if (rc == 0) {
        rc = bcs_channel_open_in(&stream, &ends->stream_in);
    }
    return rc == 0 ? bcs_channel_wait_out(ends->out) : rc;
}

/** Nanoseconds of one way, on rank 0. */
static double ping_pong(const struct ends *ends, int rank, bool *is_wrong)
{
    double start = bench_now_seconds();
    uint64_t word = 0;

    for (uint64_t i = 0; i < N_TRIPS; i++) {
        if (rank == 0) {
            bcs_channel_send_word(ends->out, i);
            bcs_channel_receive_word(ends->in, &word);
            *is_wrong |= word != i + 1;
        } else {
            bcs_channel_receive_word(ends->in, &word);
            bcs_channel_send_word(ends->out, word + 1);
        }
    }
    return (bench_now_seconds() - start) / (2.0 * N_TRIPS) * 1e9;
}

/** A word there and back without the library, on a line each way. Nanoseconds of one
 *  way. */
static double two_lines(struct streams *streams, int rank)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now_seconds();
    plain_ring_ping_pong(&streams->ring, rank, streams->n_trips, N_TRIPS);
    streams->n_trips += N_TRIPS;
    return (bench_now_seconds() - start) / (2.0 * N_TRIPS) * 1e9;
}

/** One of each. The times are rank 0's for what goes there and back, rank 1's for
 *  streams. */
static void take_turn(const struct ends *ends, int rank, struct line_trip *trip,
                      struct streams *streams, double times[N_ROWS])
{
    MPI_Barrier(MPI_COMM_WORLD);
    times[LINE] = line_trip_is_possible(trip) ? line_trip_seconds(trip) / 2 * 1e9 : 0;
    times[TWO_LINES] = two_lines(streams, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    times[WORD] = ping_pong(ends, rank, &streams->is_wrong);
    for (enum stream_form form = STREAM_WORDS; form <= STREAM_ALL; form++) {
        if (form < STREAM_ALL) {
            MPI_Barrier(MPI_COMM_WORLD);
            times[PLAIN + form] = stream_plain(streams, N_WORDS, form);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        times[CHANNEL + form] = stream_channel(streams, N_WORDS, form);
    }
    if (rank == 1) {
        MPI_Send(&times[PLAIN], N_ROWS - PLAIN, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&times[PLAIN], N_ROWS - PLAIN, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
}

/** The median of what a turn gives: time of one row, over that of another if there is
 *  one. */
static double median(double (*times)[N_ROWS], int n, int row, int over)
{
    double values[TURNS_MOST];

    for (int i = 0; i < n; i++) {
        values[i] = over < 0 ? times[i][row] : times[i][row] / times[i][over];
    }
    return median_of(values, n);
}

/** The trips of the cache line, there and back, as the benchmarks print them. */
static void report_trips(double (*times)[N_ROWS], int n)
{
    double seconds[TURNS_MOST];

    for (int i = 0; i < n; i++) {
        seconds[i] = 2 * times[i][LINE] / 1e9;
    }
    line_trips_print(sizeof(uint64_t), seconds, n);
}

static void report(double (*times)[N_ROWS], int n)
{
    static const char *const names[N_ROWS] = {
        [LINE] = "cache line, one way",
        [TWO_LINES] = "... with a line each way",
        [WORD] = "word, one way",
        [PLAIN] = "plain ring, word by word",
        [PLAIN_MANY] = "plain ring, many at a time",
        [CHANNEL + STREAM_WORDS] = "channel, word by word",
        [CHANNEL + STREAM_MANY] = "channel, many, if there",
        [CHANNEL + STREAM_ALL] = "channel, many, waited for",
    };

    printf("%-28s %8s   (medians of %d turns)\n", "", "ns", n);
    for (int i = 0; i < N_ROWS; i++) {
        printf("%-28s %8.2f\n", names[i], median(times, n, i, -1));
    }
    if (times[0][LINE] > 0) {
        printf("%-28s %8.3f\n", "one way / line", median(times, n, WORD, LINE));
        report_trips(times, n);
    } else {
        printf("one way / line: not measured, as the ranks have no core each\n");
    }
    printf("%-28s %8.3f\n", "one way / two lines", median(times, n, WORD, TWO_LINES));
    printf("%-28s %8.3f\n", "rate / plain, word by word",
           median(times, n, PLAIN, CHANNEL + STREAM_WORDS));
    printf("%-28s %8.3f\n", "rate / plain, if there",
           median(times, n, PLAIN_MANY, CHANNEL + STREAM_MANY));
    printf("%-28s %8.3f\n", "rate / plain, waited for",
           median(times, n, PLAIN_MANY, CHANNEL + STREAM_ALL));
}

/** Measure. @return whether all words were right */
static bool measure(int rank, int n_turns)
{
    static double times[TURNS_MOST][N_ROWS];
    struct streams streams = {0};
    struct line_trip trip;
    struct ends ends = {0};

    if (open_ends(&ends, rank) != 0) {
        return false;
    }
    streams.out = ends.stream_out;
    streams.in = ends.stream_in;
    plain_ring_init(&streams.ring, rank);
    line_trip_init(&trip, rank, 2);
    for (int i = 0; i < n_turns; i++) {
        take_turn(&ends, rank, &trip, &streams, times[i]);
    }
    if (rank == 0) {
        report(times, n_turns);
    }
    line_trip_fini(&trip);
    plain_ring_fini(&streams.ring);
    if (streams.is_wrong) {
        printf("rank %d: words are wrong\n", rank);
    }
    return !streams.is_wrong;
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
            fprintf(stderr,
                    "usage: channel_ping_pong [TURNS], on 2 ranks; TURNS: 1 to %d\n",
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
