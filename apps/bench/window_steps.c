/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window of 64 messages of 8 bytes, step by step, for tools that count instructions: rank 1
 * posts all receives, then rank 0 sends, then both complete theirs. Between the steps the two
 * meet at a word of shared memory, outside of the calls that are counted, so that no call
 * waits and a count does not depend on time. docs/performance.md has the command.
 */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
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
    for (int i = 0; i < N_WINDOWS; i++) {
        exchange(rank, &meeting);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
