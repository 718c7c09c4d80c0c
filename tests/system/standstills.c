/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that move, and stop, as the arguments say, one after the other; for
 * run_patience.py and run_progress.py:
 *
 *   barriers MS   barriers for so long, and sums
 *   messages MS   messages of 8 bytes to and fro between ranks 0 and 1
 *   longs MS      messages of a megabyte
 *   sums MS       sums on a communicator of their own
 *   still 0       rank 0 waits for rank 1, which does nothing until it gets SIGUSR2
 *   poll 0        the same, but rank 0 polls by MPI_Test
 *   outside 0     rank 0 is in a call of the MPI library meanwhile
 *
 * Rank 0 prints each word when it begins, and how many turns it took when it ends.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BYTES = 1 << 20 };

static char data[LONG_BYTES];
static int rank;
static MPI_Comm other;
static sigset_t told;

/** Send to and fro, and tell whether rank 0 goes on. */
static int swing(int n_bytes, int goes_on)
{
    if (rank == 0) {
        MPI_Send(&goes_on, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Send(data, n_bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Recv(data, n_bytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&goes_on, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, n_bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, n_bytes, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    return goes_on;
}

/** A sum in which only rank 0 has something. */
static int add(int mine)
{
    int sum;

    mine = rank == 0 ? mine : 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
    return sum;
}

/** Barriers, and then a sum, by which rank 0 tells whether it goes on. */
static int meet(int goes_on)
{
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return add(goes_on);
}

static void stand(int polls)
{
    MPI_Request request;
    int word = 0, is_done = 0;

    if (rank == 1) {
        sigwait(&told, &word);
        MPI_Send(&word, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Irecv(&word, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
        while (polls && !is_done) {
            MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/** Rank 0 waits in a call that the MPI library carries, until rank 1 has been told. */
static void stand_outside(void)
{
    MPI_Win window;
    int word = 0, signal;

    MPI_Win_create(&word, sizeof(word), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1) {
        sigwait(&told, &signal);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/** Whether there is another turn; all ranks know by what rank 0 says. */
static int turn(const char *what, int goes_on)
{
    if (strcmp(what, "barriers") == 0) {
        return meet(goes_on);
    }
    if (strcmp(what, "sums") == 0) {
        return add(goes_on);
    }
    return swing(what[0] == 'l' ? LONG_BYTES : 8, rank == 0 && goes_on);
}

static void act(const char *what, double seconds)
{
    double end = MPI_Wtime() + seconds;
    long n_turns = 1;

    if (rank == 0) {
        printf("%s\n", what);
        fflush(stdout);
    }
    if (strcmp(what, "still") == 0 || strcmp(what, "poll") == 0) {
        stand(what[0] == 'p');
    } else if (strcmp(what, "outside") == 0) {
        stand_outside();
    } else {
        while (turn(what, MPI_Wtime() < end)) {
            n_turns++;
        }
    }
    if (rank == 0) {
        printf("turns: %ld\n", n_turns);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    sigemptyset(&told);
    sigaddset(&told, SIGUSR2);
    sigprocmask(SIG_BLOCK, &told, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int i = 1; i + 1 < argc; i += 2) {
        act(argv[i], atof(argv[i + 1]) / 1000);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
