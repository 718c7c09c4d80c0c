/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight ranks in different places, for run_tree.py. Ranks 0 and 1 wait for each other
 * when they get SIGUSR2; or, with an argument, rank 0 makes a call with a wrong one
 * then. The other ranks stay where they are.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TAG = 7 };

/** So that no call is the last thing that its function does: it would be a jump. */
static volatile int n_calls;
static int word;

static __attribute__((noinline)) void receive(int from)
{
    MPI_Recv(&word, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, /* in receive */
             MPI_STATUS_IGNORE);
    n_calls++;
}

static __attribute__((noinline)) void exchange(int rank)
{
    receive(1 - rank); /* in exchange */
    n_calls++;
}

static __attribute__((noinline)) void gather(void)
{
    receive(0); /* in gather */
    n_calls++;
}

static __attribute__((noinline)) void spin(void)
{
    MPI_Request request;
    int is_done = 0;

    MPI_Irecv(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    while (!is_done) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE); /* in spin */
    }
    n_calls++;
}

static __attribute__((noinline)) void finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD); /* in finish */
    n_calls++;
}

/** What ranks 0 and 1 do when they are told. */
static __attribute__((noinline)) void go_wrong(int rank, int is_argument)
{
    sigset_t told;
    int signal;

    sigemptyset(&told);
    sigaddset(&told, SIGUSR2);
    sigwait(&told, &signal);
    if (!is_argument) {
        exchange(rank); /* in go_wrong */
    } else if (rank == 0) {
        MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD); /* wrong */
    } else {
        pause();
    }
    n_calls++;
}

int main(int argc, char **argv)
{
    sigset_t told;
    int rank;

    sigemptyset(&told);
    sigaddset(&told, SIGUSR2);
    sigprocmask(SIG_BLOCK, &told, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank <= 1) {
        go_wrong(rank, argc > 1); /* main goes wrong */
    } else if (rank == 2) {
        spin(); /* main spins */
    } else if (rank == 3) {
        pause();
    } else if (rank == 4) {
        gather(); /* main gathers */
    } else if (rank <= 6) {
        finish(); /* main finishes */
    } else {
        MPI_Barrier(MPI_COMM_WORLD); /* in main */
    }
    printf("%d\n", n_calls);
    MPI_Finalize();
    return 0;
}
