/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that never wait but poll: pairs of neighbours play ping-pong against message
 * length, one that finds its messages by MPI_Iprobe and one that tests its receives;
 * the values are the times one way. Then the time of a probe that finds nothing. A
 * program of its own.
 */
#include "apps/bench/bench.h"

#include <string.h>

enum { TAG = 0, NO_TAG = 1 };

static void send(struct bench *bench, size_t n_bytes, int partner)
{
    MPI_Request request;

    MPI_Isend(bench->send, (int)n_bytes, MPI_BYTE, partner, TAG, MPI_COMM_WORLD,
              &request);
    MPI_Request_free(&request);
}

static void receive_probed(struct bench *bench, size_t n_bytes)
{
    MPI_Status status;
    int is_there = 0;

    while (!is_there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status);
    }
    MPI_Recv(bench->receive, (int)n_bytes, MPI_BYTE, status.MPI_SOURCE, TAG,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_tested(struct bench *bench, size_t n_bytes)
{
    MPI_Request request;
    int is_done = 0;

    MPI_Irecv(bench->receive, (int)n_bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG,
              MPI_COMM_WORLD, &request);
    while (!is_done) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

static void ping_pong(struct bench *bench, size_t n_bytes, long n_iterations,
                      void (*receive)(struct bench *bench, size_t n_bytes))
{
    int partner = bench_partner(bench);

    for (long i = 0; partner != MPI_PROC_NULL && i < n_iterations; i++) {
        if (bench->rank < partner) {
            send(bench, n_bytes, partner);
            receive(bench, n_bytes);
        } else {
            receive(bench, n_bytes);
            send(bench, n_bytes, partner);
        }
    }
}

static void probing(struct bench *bench, size_t n_bytes, long n_iterations)
{
    ping_pong(bench, n_bytes, n_iterations, receive_probed);
}

static void testing(struct bench *bench, size_t n_bytes, long n_iterations)
{
    ping_pong(bench, n_bytes, n_iterations, receive_tested);
}

static void miss(struct bench *bench, size_t n_bytes, long n_iterations)
{
    int is_there;

    (void)bench;
    (void)n_bytes;
    for (long i = 0; i < n_iterations; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, NO_TAG, MPI_COMM_WORLD, &is_there,
                   MPI_STATUS_IGNORE);
    }
}

/* Each way once; a message is not sent before the one before it has been answered,
 * since a freed request does not say when its buffer may be filled again. */
static long verify(struct bench *bench, size_t n_bytes)
{
    static void (*const bodies[])(struct bench *, size_t, long) = {probing, testing};
    int partner = bench_partner(bench);
    long n_errors = 0;

    bench_fill(bench->send, n_bytes, bench->rank);
    for (int i = 0; partner != MPI_PROC_NULL && i < 2; i++) {
        memset(bench->receive, 0, n_bytes);
        bodies[i](bench, n_bytes, 1);
        n_errors += bench_check(bench, bench->receive, n_bytes, partner);
    }
    return n_errors;
}

static void report(struct bench *bench, size_t n_bytes)
{
    double probing_seconds = bench_seconds(bench, probing, n_bytes);
    double testing_seconds = bench_seconds(bench, testing, n_bytes);
    double miss_seconds = bench_seconds(bench, miss, n_bytes);

    bench_print(bench, "polling", n_bytes, probing_seconds / 2 * 1e6, "us");
    bench_print(bench, "polling_test", n_bytes, testing_seconds / 2 * 1e6, "us");
    bench_print(bench, "polling_miss", n_bytes, miss_seconds * 1e9, "ns");
}

static const struct bench_spec spec = {
    .name = "polling",
    .summary =
        "Ping-pong of pairs that poll, by MPI_Iprobe and by MPI_Test, the times\n"
        "one way; and the time of an MPI_Iprobe that finds nothing.",
    .options = BENCH_OPTION_LENGTHS,
    .n_ranks_timed = BENCH_ALL_RANKS,
    .unit_bytes = 1,
    .n_bytes_min = 8,
    .n_bytes_max = 8,
    .n_slots = bench_one_slot,
    .verify = verify,
    .report = report,
};

int main(int argc, char **argv)
{
    return bench_main(argc, argv, &spec);
}
