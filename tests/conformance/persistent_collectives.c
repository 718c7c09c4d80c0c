/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives of MPI 4, started again and again with other data, several at
 * a time, among persistent messages. They are looked up by name, since the library that
 * this program is built with may not have them; where nobody has them it only says so.
 */
#include <dlfcn.h>

#include "tests/conformance/check.h"

enum { N_ROUNDS = 20, LENGTH = 3000 };

/** The functions, as MPI 4 declares them. */
static struct {
    int (*barrier)(MPI_Comm, MPI_Info, MPI_Request *);
    int (*bcast)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
    int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
                     MPI_Info, MPI_Request *);
    int (*alltoallw)(const void *, const int *, const int *, const MPI_Datatype *,
                     void *, const int *, const int *, const MPI_Datatype *, MPI_Comm,
                     MPI_Info, MPI_Request *);
    int (*neighbor_allgather)(const void *, int, MPI_Datatype, void *, int,
                              MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
} mpi4;

static void find(const char *name, void *function_out)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    memcpy(function_out, &symbol, sizeof(symbol));
}

/** @return whether there are such functions */
static int find_all(void)
{
    find("MPI_Barrier_init", &mpi4.barrier);
    find("MPI_Bcast_init", &mpi4.bcast);
    find("MPI_Allreduce_init", &mpi4.allreduce);
    find("MPI_Alltoallw_init", &mpi4.alltoallw);
    find("MPI_Neighbor_allgather_init", &mpi4.neighbor_allgather);
    return mpi4.barrier != NULL && mpi4.bcast != NULL && mpi4.allreduce != NULL &&
           mpi4.alltoallw != NULL && mpi4.neighbor_allgather != NULL;
}

/* Not commutative: the last operand that is not zero. */
static void last(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *left = in;
    int *right = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        right[i] = right[i] == 0 ? left[i] : right[i];
    }
}

/* What is named at the beginning may be freed before the first start. */
static void started_again(struct world world)
{
    MPI_Request requests[5];
    MPI_Datatype sparse;
    MPI_Comm comm;
    MPI_Op op;
    int *data = check_alloc(2 * LENGTH * sizeof(int));
    int *in = check_alloc(LENGTH * sizeof(int)), *out = check_alloc(LENGTH * 4);
    int token = -1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Op_create(last, 0, &op);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    mpi4.bcast(data, LENGTH, sparse, 0, comm, MPI_INFO_NULL, &requests[0]);
    mpi4.allreduce(in, out, LENGTH, MPI_INT, op, comm, MPI_INFO_NULL, &requests[1]);
    mpi4.barrier(comm, MPI_INFO_NULL, &requests[2]);
    MPI_Send_init(&world.rank, 1, MPI_INT, world.right, 1, comm, &requests[3]);
    MPI_Recv_init(&token, 1, MPI_INT, world.left, 1, comm, &requests[4]);
    MPI_Type_free(&sparse);
    MPI_Op_free(&op);
    MPI_Comm_free(&comm);
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++) {
            data[2 * i] = world.rank == 0 ? round + i : -1;
            data[2 * i + 1] = -2;
            in[i] = (world.rank + 1) * 100 + round;
        }
        MPI_Startall(5, requests);
        MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < LENGTH; i++) {
            CHECK(data[2 * i] == round + i && data[2 * i + 1] == -2);
            CHECK_EQUAL(out[i], world.size * 100 + round);
        }
        CHECK_EQUAL(token, world.left);
        token = -1;
    }
    for (int i = 0; i < 5; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE); /* inactive: returns at once */
        MPI_Request_free(&requests[i]);
    }
    free(data);
    free(in);
    free(out);
}

/* The arrays go away at once. MPI does not allow it, but bindings that convert them
 * have no other choice, and MPI libraries make their plans at the beginning. */
static void vectors(struct world world)
{
    MPI_Datatype *types = check_alloc(world.size * sizeof(MPI_Datatype));
    int *numbers = check_alloc(2 * world.size * sizeof(int));
    int *in = check_alloc(world.size * sizeof(int));
    int *out = check_alloc(world.size * sizeof(int));
    MPI_Request request;

    for (int i = 0; i < world.size; i++) {
        types[i] = MPI_INT;
        numbers[i] = 1;
        numbers[world.size + i] = i * (int)sizeof(int);
    }
    mpi4.alltoallw(out, numbers, numbers + world.size, types, in, numbers,
                   numbers + world.size, types, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    memset(numbers, 0x55, 2 * world.size * sizeof(int));
    free(numbers);
    free(types);
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < world.size; i++) {
            out[i] = world.rank * 1000 + i * 10 + round;
        }
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < world.size; i++) {
            CHECK_EQUAL(in[i], i * 1000 + world.rank * 10 + round);
        }
    }
    MPI_Request_free(&request);
    free(in);
    free(out);
}

static void neighbours(struct world world)
{
    MPI_Request request;
    MPI_Comm line;
    int is_ring = 0, in[2], out;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &world.size, &is_ring, 0, &line);
    mpi4.neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, line, MPI_INFO_NULL,
                            &request);
    for (int round = 0; round < N_ROUNDS; round++) {
        in[0] = in[1] = -1;
        out = world.rank + round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQUAL(in[0], world.rank == 0 ? -1 : world.rank - 1 + round);
        CHECK_EQUAL(in[1], world.rank == world.size - 1 ? -1 : world.rank + 1 + round);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&line);
}

/* Members may start them in any order, each its own. [MPI-4.0 section 6.13] */
static void any_order(struct world world)
{
    enum { N = 6, N_SHORT = 3 };
    MPI_Request requests[N];
    int shorts[N_SHORT], sum, in;
    int *longer = check_alloc(LENGTH * sizeof(int));

    for (int i = 0; i < N_SHORT; i++) {
        mpi4.bcast(&shorts[i], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[i]);
    }
    mpi4.bcast(longer, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
               &requests[N_SHORT]);
    mpi4.barrier(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[N_SHORT + 1]);
    mpi4.allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &requests[N_SHORT + 2]);
    for (int round = 0; round < N_ROUNDS; round++) {
        MPI_Request others[2];
        int other = world.rank == 0 ? 7 * round : -1, all = 0;

        for (int i = 0; i < N_SHORT; i++) {
            shorts[i] = world.rank == 0 ? 10 * round + i : -1;
        }
        for (int i = 0; i < LENGTH; i++) {
            longer[i] = world.rank == 0 ? i + round : -1;
        }
        in = world.rank + round;
        for (int i = 0; i < N; i++) {
            MPI_Start(&requests[(i * 5 + world.rank + round) % N]);
            if (i == world.rank % N) { /* others come between, in one order */
                MPI_Ibcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD, &others[0]);
                MPI_Iallreduce(&in, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                               &others[1]);
            }
        }
        MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
        MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N_SHORT; i++) {
            CHECK_EQUAL(shorts[i], 10 * round + i);
        }
        for (int i = 0; i < LENGTH; i++) {
            CHECK_EQUAL(longer[i], i + round);
        }
        CHECK_EQUAL(sum, world.size * (world.size - 1) / 2 + world.size * round);
        CHECK_EQUAL(other, 7 * round);
        CHECK_EQUAL(all, world.size - 1 + round);
    }
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&requests[i]);
    }
    free(longer);
}

/* More are made than have numbers at once. */
static void many(struct world world)
{
    enum { N_MADE = 1500, N_AT_ONCE = 100 };
    MPI_Request requests[N_AT_ONCE];
    int data[N_AT_ONCE];

    for (int made = 0; made < N_MADE; made += N_AT_ONCE) {
        for (int i = 0; i < N_AT_ONCE; i++) {
            data[i] = world.rank == 0 ? made + i : -1;
            mpi4.bcast(&data[i], 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[i]);
        }
        for (int i = 0; i < N_AT_ONCE; i++) {
            MPI_Start(&requests[(i + world.rank * 31) % N_AT_ONCE]);
        }
        MPI_Waitall(N_AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N_AT_ONCE; i++) {
            CHECK_EQUAL(data[i], made + i);
            MPI_Request_free(&requests[i]);
        }
    }
}

/* One too many is refused, until the first one is freed. */
static void too_many(void)
{
    enum { N_MOST = 512 };
    MPI_Request requests[N_MOST + 1];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < N_MOST; i++) {
        CHECK_EQUAL(mpi4.barrier(comm, MPI_INFO_NULL, &requests[i]), MPI_SUCCESS);
    }
    CHECK(mpi4.barrier(comm, MPI_INFO_NULL, &requests[N_MOST]) != MPI_SUCCESS);
    MPI_Request_free(&requests[0]);
    CHECK_EQUAL(mpi4.barrier(comm, MPI_INFO_NULL, &requests[0]), MPI_SUCCESS);
    for (int i = 0; i < N_MOST; i++) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    if (find_all()) {
        started_again(world);
        vectors(world);
        neighbours(world);
        any_order(world);
        many(world);
        too_many();
    }
    check_say("persistent collectives, if there are any\n");
    return check_end();
}
