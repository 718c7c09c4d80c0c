/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads do all kinds of things at once, each with the thread of
 * the same number on the neighbours. Some post more than any queue of an implementation
 * may hold while others already wait; some probe, some poll, some make communicators.
 */
#include "tests/conformance/check.h"

#include <pthread.h>

enum { N_POSTED = 700, N_ROUNDS = 6, LONG_BYTES = 200000 };

/** What a thread works on: a communicator of its own. */
struct place {
    MPI_Comm comm;
    struct world world;
    uint64_t sum;
};

/* Post everything before anything is waited for. */
static void post_many(struct place *place)
{
    MPI_Request *requests = check_alloc(2 * N_POSTED * sizeof(*requests));
    int *numbers = check_alloc(2 * N_POSTED * sizeof(*numbers));

    for (int i = 0; i < N_POSTED; i++) {
        numbers[i] = 1000 * place->world.rank + i;
        MPI_Issend(&numbers[i], 1, MPI_INT, place->world.right, i, place->comm,
                   &requests[i]);
    }
    for (int i = 0; i < N_POSTED; i++) {
        MPI_Irecv(&numbers[N_POSTED + i], 1, MPI_INT, place->world.left, i, place->comm,
                  &requests[N_POSTED + i]);
    }
    MPI_Waitall(2 * N_POSTED, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N_POSTED; i++) {
        CHECK_EQUAL(numbers[N_POSTED + i], 1000 * place->world.left + i);
        place->sum = check_mix(place->sum, numbers[N_POSTED + i]);
    }
    free(numbers);
    free(requests);
}

/* Messages whose length only a matched probe tells. */
static void probe(struct place *place)
{
    char *out = check_alloc(LONG_BYTES);
    char *in = check_alloc(LONG_BYTES);

    for (int round = 0; round < N_ROUNDS; round++) {
        int n = round % 4 == 3 ? LONG_BYTES : 10 * round;
        int n_found = -1;
        MPI_Request request;
        MPI_Message message;
        MPI_Status status;

        check_fill(out, n, place->world.rank);
        MPI_Isend(out, n, MPI_BYTE, place->world.right, round, place->comm, &request);
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, place->comm, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &n_found);
        CHECK_EQUAL(n_found, n);
        MPI_Mrecv(in, n, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        CHECK(check_is_filled(in, n, place->world.left));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        place->sum = check_mix(place->sum, check_sum(in, n));
    }
    free(out);
    free(in);
}

/* A persistent pair, tested until it is over. */
static void poll(struct place *place)
{
    int numbers[2] = {0, 0};
    MPI_Request requests[2];

    MPI_Recv_init(&numbers[1], 1, MPI_INT, place->world.left, 1, place->comm,
                  &requests[0]);
    MPI_Send_init(&numbers[0], 1, MPI_INT, place->world.right, 1, place->comm,
                  &requests[1]);
    for (int round = 0; round < 10 * N_ROUNDS; round++) {
        int indices[2];
        int n_done = 0;

        numbers[0] = place->world.rank + round;
        MPI_Startall(2, requests);
        for (int n; n_done < 2; n_done += n) {
            MPI_Testsome(2, requests, &n, indices, MPI_STATUSES_IGNORE);
        }
        CHECK_EQUAL(numbers[1], place->world.left + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Communicators come and go; an error on one is seen by its own handler only. */
static void communicate(struct place *place)
{
    for (int round = 0; round < 5 * N_ROUNDS; round++) {
        MPI_Comm comm;
        int sum = -1;
        int code;

        MPI_Comm_split(place->comm, 0, -place->world.rank, &comm);
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQUAL(sum, round * place->world.size);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        code = MPI_Send(&sum, 1, MPI_INT, place->world.size, 0, comm);
        MPI_Error_class(code, &code);
        CHECK_EQUAL(code, MPI_ERR_RANK);
        MPI_Comm_free(&comm);
    }
}

/* Long and short collectives. */
static void collect(struct place *place)
{
    char *data = check_alloc(LONG_BYTES);

    for (int round = 0; round < N_ROUNDS; round++) {
        int root = round % place->world.size;

        if (place->world.rank == root) {
            check_fill(data, LONG_BYTES, round);
        }
        MPI_Bcast(data, LONG_BYTES, MPI_BYTE, root, place->comm);
        CHECK(check_is_filled(data, LONG_BYTES, round));
        MPI_Barrier(place->comm);
    }
    place->sum = check_sum(data, LONG_BYTES);
    free(data);
}

static void (*const works[])(struct place *) = {
    post_many, probe, communicate, poll, communicate, collect, post_many, communicate,
};

enum { N_THREADS = CHECK_N(works) };

struct worker {
    pthread_t thread;
    struct place place;
    int number;
};

static void *work(void *argument)
{
    struct worker *worker = argument;

    works[worker->number](&worker->place);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[N_THREADS];
    struct world world;
    uint64_t sum = 0;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
    world = check_world();
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.place.world = world, .number = i};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].place.comm);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        MPI_Comm_free(&workers[i].place.comm);
        sum = check_mix(sum, workers[i].place.sum);
    }
    check_say_sum("works", sum);
    return check_end();
}
