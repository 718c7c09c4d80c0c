/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are late, in ways that run_mds_split.py knows: each has a function of its
 * own, which is the place of its calls. Work is sleep, which takes as long for all on
 * cores that are shared. What others have waited for the late rank is measured by the
 * program itself, on one clock of the machine (MPI_Wtime begins at another moment in
 * each rank): rank 0 prints a line for each way, "function part late-rank seconds", or
 * "function - - seconds" where nobody is late. Four ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RANKS = 4,
    ROUNDS = 4,
    WORK_MS = 21, /* no multiple of a slice */
    TAG = 5,
    BLOCK_BYTES = 1000,
    LONG_BYTES = 1 << 20,
    MIDDLE_BYTES = 100000,
};

#define PLACE static __attribute__((noinline)) void

static int rank;
static char data[LONG_BYTES], more[LONG_BYTES];
static volatile int n_over;
static double began; /* this rank, with the call that may wait or be waited for */

static void work(int n)
{
    nanosleep(&(struct timespec){.tv_nsec = n * WORK_MS * 1000000}, NULL);
}

static void begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    began = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/** A call that was the last one of its function would be made by its caller. */
static void over(void)
{
    n_over++;
}

/** Rank 1 is late with what it sends to rank 0. */
static void send_late(void)
{
    if (rank == 1) {
        work(1);
    }
}

PLACE late_sender(void)
{
    send_late();
    begin();
    if (rank == 1) {
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

PLACE late_block(void)
{
    send_late();
    begin();
    if (rank == 1) {
        MPI_Send(data, BLOCK_BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(data, BLOCK_BYTES, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    over();
}

PLACE late_long(void)
{
    send_late();
    begin();
    if (rank == 1) {
        MPI_Send(data, LONG_BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(data, LONG_BYTES, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

PLACE late_probed(void)
{
    send_late();
    begin();
    if (rank == 1) {
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Probe(1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

/** All others send to rank 0; rank 2 comes last. */
PLACE last_of_all(void)
{
    MPI_Request requests[RANKS - 1];

    if (rank > 0) {
        work(rank == 2 ? 2 : 1);
    }
    begin();
    if (rank > 0) {
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < RANKS - 1 && rank == 0; i++) {
        MPI_Irecv(&data[8 * i], 8, MPI_CHAR, i + 1, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0) {
        MPI_Waitall(RANKS - 1, requests, MPI_STATUSES_IGNORE);
    }
    over();
}

PLACE late_receiver(void)
{
    if (rank == 3) {
        work(1);
    }
    begin();
    if (rank == 0) {
        MPI_Send(data, LONG_BYTES, MPI_CHAR, 3, TAG, MPI_COMM_WORLD);
    } else if (rank == 3) {
        MPI_Recv(data, LONG_BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

PLACE late_match(void)
{
    if (rank == 3) {
        work(1);
    }
    begin();
    if (rank == 0) {
        MPI_Ssend(data, 8, MPI_CHAR, 3, TAG, MPI_COMM_WORLD);
    } else if (rank == 3) {
        MPI_Recv(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

PLACE late_wait(void)
{
    MPI_Request request;

    if (rank == 3) {
        work(1);
    }
    begin();
    if (rank == 0) {
        MPI_Isend(data, LONG_BYTES, MPI_CHAR, 3, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 3) {
        MPI_Recv(data, LONG_BYTES, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

/** One rank is late for a collective. */
static void come(int late)
{
    if (rank == late) {
        work(1);
    }
    begin();
}

PLACE late_barrier(void)
{
    come(2);
    MPI_Barrier(MPI_COMM_WORLD);
    over();
}

PLACE late_root(void)
{
    come(2);
    MPI_Bcast(data, 8, MPI_CHAR, 2, MPI_COMM_WORLD);
    over();
}

PLACE late_first(void)
{
    come(0);
    MPI_Scan(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    over();
}

PLACE late_long_root(void)
{
    come(1);
    MPI_Bcast(data, MIDDLE_BYTES, MPI_CHAR, 1, MPI_COMM_WORLD);
    over();
}

PLACE late_reduction(void)
{
    come(3);
    MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    over();
}

PLACE late_long_reduction(void)
{
    come(3);
    MPI_Allreduce(data, more, MIDDLE_BYTES / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    over();
}

/** The sender comes first: the receiver waits for nobody. */
PLACE early_sender(void)
{
    if (rank == 0) {
        work(1);
    }
    begin();
    if (rank == 1) {
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    over();
}

/** Others end what they have begun, at a place of its own. */
PLACE ended_elsewhere(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    over();
}

PLACE late_begun(void)
{
    MPI_Request request;

    come(2);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    over();
}

PLACE late_begun_root(void)
{
    MPI_Request request;

    come(1);
    MPI_Ibcast(data, MIDDLE_BYTES, MPI_CHAR, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    over();
}

PLACE late_begun_reduction(void)
{
    MPI_Request request;

    come(3);
    MPI_Iallreduce(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    over();
}

/** Two of them, which end by one call. */
PLACE late_for_one(void)
{
    MPI_Request requests[2];

    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    come(3);
    MPI_Iallreduce(data, more, MIDDLE_BYTES / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    over();
}

/** Rank 0 has begun in time, but is late to hand on what it has got. */
PLACE late_between(void)
{
    MPI_Request request;

    MPI_Iallreduce(data, more, MIDDLE_BYTES / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    come(0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    over();
}

/** Begin a barrier, for which rank 2 is late, and send rank 0 a message of rank 1.
 *  @param n how long that one works before it sends */
PLACE begin_both(int n, MPI_Request requests[2])
{
    if (rank == 2) {
        work(2);
        begin();
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    if (rank == 1) {
        work(n);
        begin();
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Irecv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        begin();
    }
    if (rank != 0) {
        ended_elsewhere(&requests[0]);
    }
}

PLACE message_last(void)
{
    MPI_Request requests[2];

    begin_both(3, requests);
    if (rank == 0) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    over();
}

PLACE collective_last(void)
{
    MPI_Request requests[2];

    begin_both(1, requests);
    if (rank == 0) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    over();
}

/** One of them is enough. */
PLACE late_for_any(void)
{
    MPI_Request requests[2];
    int index;

    if (rank == 2) {
        work(1);
    }
    begin();
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    if (rank == 0) {
        MPI_Irecv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    }
    ended_elsewhere(&requests[0]);
    if (rank == 1) {
        MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else if (rank == 0) {
        ended_elsewhere(&requests[1]);
    }
    over();
}

/** The collective does not hold up who gets the message. */
PLACE late_for_some(void)
{
    MPI_Request requests[2];
    int n, indices[2];

    if (rank == 1) {
        work(1);
    }
    begin();
    if (rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(data, 8, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitsome(2, requests, &n, indices, MPI_STATUSES_IGNORE);
    } else {
        if (rank == 1) {
            MPI_Send(data, 8, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
        } else if (rank == 2) {
            work(2); /* and then for the barrier */
        }
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    }
    ended_elsewhere(&requests[0]);
    over();
}

PLACE begin_idup(MPI_Comm *comm, MPI_Request *request)
{
    MPI_Comm_idup(MPI_COMM_WORLD, comm, request);
    over();
}

PLACE free_idup(MPI_Comm *comm)
{
    MPI_Comm_free(comm);
    over();
}

/** Nothing is known of who is late for what the MPI library has a part in. */
PLACE unknown(void)
{
    MPI_Request request;
    MPI_Comm comm;

    come(2);
    begin_idup(&comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free_idup(&comm);
    over();
}

static const struct way {
    const char *name, *part;
    void (*run)(void);
    int late;     /* rank, */
    int waits[4]; /* and those that wait for it */
} ways[] = {
    {"late_sender", "late_sender", late_sender, 1, {1, 0, 0, 0}},
    {"late_block", "late_sender", late_block, 1, {1, 0, 0, 0}},
    {"late_long", "late_sender", late_long, 1, {1, 0, 0, 0}},
    {"late_probed", "late_sender", late_probed, 1, {1, 0, 0, 0}},
    {"last_of_all", "late_sender", last_of_all, 2, {1, 0, 0, 0}},
    {"late_receiver", "late_receiver", late_receiver, 3, {1, 0, 0, 0}},
    {"late_match", "late_receiver", late_match, 3, {1, 0, 0, 0}},
    {"late_wait", "late_receiver", late_wait, 3, {1, 0, 0, 0}},
    {"late_barrier", "late_collective", late_barrier, 2, {1, 1, 0, 1}},
    {"late_root", "late_collective", late_root, 2, {1, 1, 0, 1}},
    {"late_first", "late_collective", late_first, 0, {0, 1, 1, 1}},
    {"late_long_root", "late_collective", late_long_root, 1, {1, 0, 1, 1}},
    {"late_reduction", "late_collective", late_reduction, 3, {1, 1, 1, 0}},
    {"late_long_reduction", "late_collective", late_long_reduction, 3, {1, 1, 1, 0}},
    {"early_sender", "late_sender", early_sender, 1, {1, 0, 0, 0}},
    {"late_begun", "late_collective", late_begun, 2, {1, 1, 0, 1}},
    {"late_begun_root", "late_collective", late_begun_root, 1, {1, 0, 1, 1}},
    {"late_begun_reduction", "late_collective", late_begun_reduction, 3, {1, 1, 1, 0}},
    {"late_for_one", "late_collective", late_for_one, 3, {1, 1, 1, 0}},
    {"late_between", "late_collective", late_between, 0, {0, 1, 1, 1}},
    {"message_last", "late_sender", message_last, 1, {1, 0, 0, 0}},
    {"collective_last", "late_collective", collective_last, 2, {1, 0, 0, 0}},
    {"late_for_any", "late_collective", late_for_any, 2, {1, 0, 0, 0}},
    {"late_for_some", "late_sender", late_for_some, 1, {1, 0, 0, 0}},
    {"unknown", "-", unknown, -1, {0}},
};

/** Run one way some times. @return how long the late rank was waited for, at rank 0 */
static double measure(const struct way *way)
{
    double waited = 0, begins[RANKS];

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        way->run();
        MPI_Gather(&began, 1, MPI_DOUBLE, begins, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int j = 0; j < RANKS && rank == 0; j++) {
            if (way->waits[j] && begins[way->late] > begins[j]) {
                waited += begins[way->late] - begins[j];
            }
        }
    }
    return waited;
}

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "split_ranks: %d ranks are expected\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        double waited = measure(&ways[i]);

        if (rank == 0) {
            printf("%s %s %d %.6f\n", ways[i].name, ways[i].part, ways[i].late, waited);
        }
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
