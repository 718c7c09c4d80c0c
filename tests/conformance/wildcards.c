/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_ANY_SOURCE and MPI_ANY_TAG: every message is taken once, its status says where it
 * came from, and a communicator's wildcards see nothing of other communicators.
 */
#include "tests/conformance/check.h"

enum { N_EACH = 60 };

struct parcel {
    int source;
    int sequence;
    uint64_t seal;
};

static struct parcel parcel_make(int source, int sequence)
{
    struct parcel parcel = {source, sequence, check_mix(source, sequence)};

    return parcel;
}

static void parcel_take(const struct parcel *parcel, const MPI_Status *status,
                        int *next)
{
    CHECK_EQUAL(parcel->source, status->MPI_SOURCE);
    CHECK_EQUAL(parcel->sequence, next[parcel->source]);
    CHECK_EQUAL(status->MPI_TAG, parcel->sequence % 4);
    CHECK(parcel->seal == check_mix(parcel->source, parcel->sequence));
    next[parcel->source]++;
}

static void send_parcels(struct world world, int to)
{
    for (int i = 0; i < N_EACH; i++) {
        struct parcel parcel = parcel_make(world.rank, i);

        MPI_Send(&parcel, sizeof(parcel), MPI_BYTE, to, i % 4, MPI_COMM_WORLD);
    }
}

static void blocking_from_anyone(struct world world)
{
    int *next = check_alloc(world.size * sizeof(int));

    if (world.rank != 0) {
        send_parcels(world, 0);
    } else {
        for (int i = 0; i < N_EACH * (world.size - 1); i++) {
            struct parcel parcel;
            MPI_Status status;

            MPI_Recv(&parcel, sizeof(parcel), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
            parcel_take(&parcel, &status, next);
        }
        for (int rank = 1; rank < world.size; rank++) {
            CHECK_EQUAL(next[rank], N_EACH);
        }
    }
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("blocking from anyone\n");
}

/* Every rank sends to every rank, all receives posted at once as wildcards. */
static void posted_from_everyone(struct world world)
{
    int n = N_EACH * world.size;
    struct parcel *in = check_alloc(n * sizeof(*in));
    MPI_Request *requests = check_alloc(n * sizeof(MPI_Request));
    MPI_Status *statuses = check_alloc(n * sizeof(MPI_Status));
    int *next = check_alloc(world.size * sizeof(int));

    for (int i = 0; i < n; i++) {
        MPI_Irecv(&in[i], sizeof(*in), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int to = 0; to < world.size; to++) {
        send_parcels(world, (world.rank + to) % world.size);
    }
    MPI_Waitall(n, requests, statuses);
    for (int i = 0; i < n; i++) {
        parcel_take(&in[i], &statuses[i], next);
    }
    free(in);
    free(requests);
    free(statuses);
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("posted from everyone\n");
}

/* The usual farm: workers ask, the master hands out numbers until they are used up. */
static void master_and_workers(struct world world)
{
    enum { N_TASKS = 200, STOP = 1, WORK = 2 };
    MPI_Status status;
    long answer = 0;
    long sum = 0;
    int task = 0;

    if (world.size == 1) {
        check_say("sum of squares 2686700\n");
        return;
    }
    if (world.rank != 0) {
        do {
            MPI_Send(&answer, 1, MPI_LONG, 0, WORK, MPI_COMM_WORLD);
            MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            answer = (long)task * task;
        } while (status.MPI_TAG == WORK);
        return;
    }
    for (int n_stopped = 0; n_stopped < world.size - 1;) {
        MPI_Recv(&answer, 1, MPI_LONG, MPI_ANY_SOURCE, WORK, MPI_COMM_WORLD, &status);
        sum += answer;
        task++;
        n_stopped += task > N_TASKS;
        MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, task > N_TASKS ? STOP : WORK,
                 MPI_COMM_WORLD);
    }
    check_say("sum of squares %ld\n", sum);
}

static void wildcards_stay_in_their_communicator(struct world world)
{
    MPI_Comm other;
    MPI_Request requests[2];
    MPI_Status status;
    int in[2] = {-1, -1};
    int values[2] = {world.rank, world.rank + 100};

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &requests[1]);
    MPI_Send(&values[1], 1, MPI_INT, world.right, 11, other);
    MPI_Wait(&requests[1], &status);
    CHECK_EQUAL(status.MPI_TAG, 11);
    CHECK_EQUAL(in[1], world.left + 100);
    CHECK_EQUAL(in[0], -1);
    MPI_Barrier(other);
    MPI_Send(&values[0], 1, MPI_INT, world.right, 12, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    CHECK_EQUAL(status.MPI_TAG, 12);
    CHECK_EQUAL(in[0], world.left);
    MPI_Comm_free(&other);
    check_say("wildcards stay in their communicator\n");
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    blocking_from_anyone(world);
    posted_from_everyone(world);
    master_and_workers(world);
    MPI_Barrier(MPI_COMM_WORLD);
    wildcards_stay_in_their_communicator(world);
    return check_end();
}
