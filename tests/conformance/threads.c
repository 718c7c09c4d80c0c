/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: several threads of each rank exchange messages at once, told
 * apart by tag or by communicator, one of them blocked while the others go on; one
 * thread's collectives run beside them.
 */
#include "tests/conformance/check.h"

#include <pthread.h>

enum { N_THREADS = 3, N_ROUNDS = 10, MAX_BYTES = 30000, N_GAPS = 30000 };

struct worker {
    pthread_t thread;
    struct world world;
    int number;
    MPI_Comm comm;
    MPI_Datatype type;
    int is_told_apart_by_tag;
    uint64_t sum;
};

static void *exchange(void *argument)
{
    struct worker *worker = argument;
    struct world world = worker->world;
    char *out = check_alloc(MAX_BYTES);
    char *in = check_alloc(MAX_BYTES);
    int tag = worker->is_told_apart_by_tag ? worker->number : 0;

    for (int round = 0; round < N_ROUNDS; round++) {
        int n = (int)(check_mix(round, 5) % 4 ? 100 + round : MAX_BYTES);
        uint64_t seed = 1000 * worker->number + round;
        MPI_Request requests[2];

        check_fill(out, n, seed + 100000 * world.rank);
        if (round % 3 == 0) {
            MPI_Sendrecv(out, n, MPI_BYTE, world.right, tag, in, n, MPI_BYTE,
                         world.left, tag, worker->comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(in, n, MPI_BYTE, round % 3 == 1 ? world.left : MPI_ANY_SOURCE,
                      tag, worker->comm, &requests[0]);
            MPI_Isend(out, n, MPI_BYTE, world.right, tag, worker->comm, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        CHECK(check_is_filled(in, n, seed + 100000 * world.left));
        worker->sum = check_mix(worker->sum, check_sum(in, 100));
    }
    free(out);
    free(in);
    return NULL;
}

static void *reduce(void *argument)
{
    struct worker *worker = argument;

    for (int round = 0; round < N_ROUNDS; round++) {
        int sum;

        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, worker->comm);
        CHECK_EQUAL(sum, round * worker->world.size);
        MPI_Barrier(worker->comm);
    }
    return NULL;
}

static void run(struct world world, const char *name, int is_told_apart_by_tag,
                void *(*last)(void *))
{
    struct worker workers[N_THREADS];
    uint64_t sum = 0;

    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){
            .world = world,
            .number = i,
            .comm = MPI_COMM_WORLD,
            .is_told_apart_by_tag = is_told_apart_by_tag,
        };
        if (!is_told_apart_by_tag || last != exchange) {
            MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        }
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_create(&workers[i].thread, NULL, i == N_THREADS - 1 ? last : exchange,
                       &workers[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        sum = check_mix(sum, workers[i].sum);
        if (workers[i].comm != MPI_COMM_WORLD) {
            MPI_Comm_free(&workers[i].comm);
        }
    }
    check_say_sum(name, sum);
}

/* A thread that waits for a message which another thread of the same rank must send. */
static void *wait_for_own_rank(void *argument)
{
    struct worker *worker = argument;
    int in = 0;

    MPI_Recv(&in, 1, MPI_INT, worker->world.rank, 99, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    worker->sum = in;
    return NULL;
}

static void a_blocked_thread_is_freed_by_another(struct world world)
{
    struct worker worker = {.world = world};
    int in;

    pthread_create(&worker.thread, NULL, wait_for_own_rank, &worker);
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, world.right, 1, &in, 1, MPI_INT, world.left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    in = 1234;
    MPI_Send(&in, 1, MPI_INT, world.rank, 99, MPI_COMM_WORLD);
    pthread_join(worker.thread, NULL);
    CHECK_EQUAL(worker.sum, 1234);
    check_say("a blocked thread is freed by another\n");
}

/* A thread that sends data with gaps, and waits until they are received. */
static void *send_with_gaps(void *argument)
{
    const struct worker *worker = argument;
    int *out = check_alloc(2 * N_GAPS * sizeof(*out));

    for (int i = 0; i < 2 * N_GAPS; i++) {
        out[i] = i;
    }
    MPI_Ssend(out, 1, worker->type, worker->world.rank, 98, MPI_COMM_WORLD);
    free(out);
    return NULL;
}

/* What is made in its place does not matter to the call that has it. */
static void a_type_may_be_freed_during_a_call(struct world world)
{
    struct worker worker = {.world = world};
    int *in = check_alloc(N_GAPS * sizeof(*in));
    MPI_Datatype other;

    MPI_Type_vector(N_GAPS, 1, 2, MPI_INT, &worker.type);
    MPI_Type_commit(&worker.type);
    pthread_create(&worker.thread, NULL, send_with_gaps, &worker);
    MPI_Probe(world.rank, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&worker.type); /* the call has begun */
    MPI_Type_vector(3, 2, 5, MPI_CHAR, &other);
    MPI_Type_commit(&other);
    MPI_Sendrecv(in, 1, other, MPI_PROC_NULL, 1, in, 1, other, MPI_PROC_NULL, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, N_GAPS, MPI_INT, world.rank, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N_GAPS; i++) {
        CHECK_EQUAL(in[i], 2 * i);
    }
    pthread_join(worker.thread, NULL);
    MPI_Type_free(&other);
    free(in);
    check_say("a type may be freed during a call\n");
}

int main(int argc, char **argv)
{
    int provided;
    struct world world;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    world = check_world();
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    run(world, "by tag", 1, exchange);
    run(world, "by communicator", 0, exchange);
    run(world, "beside collectives", 0, reduce);
    a_blocked_thread_is_freed_by_another(world);
    a_type_may_be_freed_during_a_call(world);
    return check_end();
}
