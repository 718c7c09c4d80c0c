/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of 64 messages of 8 bytes, step by step, for tools that count instructions.
 * Usually rank 1 posts all receives, then rank 0 sends, then both complete theirs.
 * With the argument `probe` rank 1 finds each message by MPI_Iprobe and receives it.
 * With `test` it tests each receive before its message is sent, and after that.
 * Between the steps the two meet at a word of shared memory, outside of the calls that
 * are counted: no call waits, and a count does not depend on time. docs/performance.md
 * has the commands.
 */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_MESSAGES = 64, N_WINDOWS = 200, N_BYTES = 8, TAG = 1, N_ENDS = 2 };

/* Where the two ends meet, and how often they have. */
struct meeting {
    _Atomic int *n_arrived;
    int n_awaited;
};

/** Wait for the other end. */
static void meet(struct meeting *meeting)
{
    meeting->n_awaited += N_ENDS;
    /* seq_cst: each end's partner is the other's load below */
    atomic_fetch_add(meeting->n_arrived, 1);
    while (atomic_load(meeting->n_arrived) < meeting->n_awaited) {
        sched_yield();
    }
}

static void exchange(int rank, struct meeting *meeting)
{
    static char data[N_MESSAGES][N_BYTES];
    MPI_Request requests[N_MESSAGES];

    if (rank == 1) {
        for (int i = 0; i < N_MESSAGES; i++) {
            MPI_Irecv(data[i], N_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
        }
    }
    meet(meeting);
    if (rank == 0) {
        for (int i = 0; i < N_MESSAGES; i++) {
            MPI_Isend(data[i], N_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[i]);
        }
    }
    meet(meeting);
    MPI_Waitall(N_MESSAGES, requests, MPI_STATUSES_IGNORE);
}

/** A message that rank 0 sends while rank 1 does nothing. */
static void send_alone(int rank, struct meeting *meeting)
{
    static char data[N_BYTES];
    MPI_Request request;

    meet(meeting);
    if (rank == 0) {
        MPI_Isend(data, N_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    meet(meeting);
}

/** Leave if a step has not done what it is counted for. */
static void expect(int is_so)
{
    if (!is_so) {
        fprintf(stderr, "bench_window_steps: a poll was not as expected\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void probe(int rank, struct meeting *meeting)
{
    char data[N_BYTES];
    MPI_Status status;
    int is_there;

    for (int i = 0; i < N_MESSAGES; i++) {
        send_alone(rank, meeting);
        if (rank == 1) {
            do { /* Open MPI's first one only moves the message */
                MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status);
            } while (!is_there);
            MPI_Recv(data, N_BYTES, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }
}

static void test(int rank, struct meeting *meeting)
{
    char data[N_BYTES];
    MPI_Request request;
    int is_done = 0;

    for (int i = 0; i < N_MESSAGES; i++) {
        if (rank == 1) {
            MPI_Irecv(data, N_BYTES, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                      &request);
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            expect(!is_done);
        }
        send_alone(rank, meeting);
        if (rank == 1) {
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
            expect(is_done);
        }
    }
}

int main(int argc, char **argv)
{
    void (*steps)(int rank, struct meeting *meeting) = exchange;
    struct meeting meeting = {0};
    MPI_Aint n_bytes;
    MPI_Win window;
    int rank, n_ranks, unit;
    void *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (n_ranks != N_ENDS) {
        fprintf(stderr, "bench_window_steps: needs %d ranks\n", N_ENDS);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof(*meeting.n_arrived) : 0, 1,
                            MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_shared_query(window, 0, &n_bytes, &unit, &base);
    meeting.n_arrived = base;
    if (rank == 0) {
        atomic_init(meeting.n_arrived, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        steps = strcmp(argv[1], "probe") == 0 ? probe : test;
    }
    for (int i = 0; i < N_WINDOWS; i++) {
        steps(rank, &meeting);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
