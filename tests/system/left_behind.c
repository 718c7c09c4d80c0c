/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves things behind that MPI wants back, or does not: for run_lint.py, which knows
 * the lines by their marks. The case is named on the command line, or "all"; without
 * one they are listed. With "right" behind the name the same is done as it should be.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, tag; /* tag: of the case */
static bool is_right;

static int next(void)
{
    return (rank + 1) % size;
}

static int previous(void)
{
    return (rank + size - 1) % size;
}

/** Send to the next rank what nobody receives, or just one does not. */
static void message(void)
{
    int value[3] = {rank}, got[3];

    for (int i = 0; i < 3; i++) {
        MPI_Send(value, 3, MPI_INT, next(), tag, MPI_COMM_WORLD);
    }
    for (int i = is_right ? 0 : 1; i < 3; i++) {
        MPI_Recv(got, 3, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/** A long message, whose send the sender lets go. */
static void long_message(void)
{
    enum { N = 1 << 20 };
    static char sent[N], got[N];
    MPI_Request request;

    /* mark: long */
    MPI_Isend(sent, N, MPI_CHAR, next(), tag, MPI_COMM_WORLD, &request);
    if (is_right) {
        MPI_Recv(got, N, MPI_CHAR, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void receive(void)
{
    static int got[2];
    MPI_Request requests[2];
    int value[2] = {rank};

    for (int i = 0; i < 2; i++) {
        /* mark: receive */
        MPI_Irecv(got + i, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, &requests[i]);
    }
    if (is_right) {
        MPI_Send(value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
        MPI_Send(value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

/** A message that a matched probe has taken. */
static void taken(void)
{
    MPI_Message message;
    int got;

    MPI_Send(&rank, 1, MPI_INT, next(), tag, MPI_COMM_WORLD);
    MPI_Mprobe(previous(), tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (is_right) {
        MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
}

/** A receive that would take whatever comes from a rank, which sends nothing. */
static void opposite(void)
{
    static int got;
    int peer = (rank + size / 2) % size;
    MPI_Request request;

    /* mark: opposite */
    MPI_Irecv(&got, 1, MPI_INT, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    if (is_right) {
        MPI_Send(&rank, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/** A request that is over, and that nobody has asked for. */
static void send(void)
{
    static int value;
    MPI_Request request;
    int got;

    /* mark: send */
    MPI_Isend(&value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_right) {
        MPI_Request_free(&request);
    }
}

static void cancel(void)
{
    static int got;
    MPI_Request request;

    /* mark: cancel */
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request);
    if (is_right) {
        MPI_Cancel(&request);
    }
}

static void persistent(void)
{
    static int value;
    MPI_Request request;
    int got;

    /* mark: persistent */
    MPI_Send_init(&value, 1, MPI_INT, next(), tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Recv(&got, 1, MPI_INT, previous(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_right) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static void collective(void)
{
    static int sum, value;
    MPI_Request request;

    /* mark: collective */
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (is_right) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/** On a communicator of the program's, which is left, too. */
static void both(void)
{
    static int got;
    MPI_Request request;
    MPI_Comm apart;

    /* mark: apart */
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_Comm_set_name(apart, "apart");
    MPI_Send(NULL, 0, MPI_INT, previous(), tag + 1, apart);
    /* mark: both */
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, apart, &request);
    if (is_right) {
        MPI_Send(&rank, 1, MPI_INT, next(), tag, apart);
        MPI_Recv(NULL, 0, MPI_INT, next(), tag + 1, apart, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&apart);
    }
}

/** A message on a communicator that is freed before it could be received. */
static void freed(void)
{
    MPI_Comm apart;
    int got;

    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_Send(&rank, 1, MPI_INT, next(), tag, apart);
    if (is_right) {
        MPI_Recv(&got, 1, MPI_INT, previous(), tag, apart, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&apart);
}

static void communicator(void)
{
    MPI_Comm half, other;

    /* mark: communicator */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &other);
    if (is_right) {
        MPI_Comm_disconnect(&half);
    }
}

/** Several may have one handle. */
static void group(void)
{
    MPI_Group world, again, first;
    const int ranks[] = {0};

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    /* mark: inclusion */
    MPI_Group_incl(world, 1, ranks, &first);
    MPI_Group_free(&world);
    /* mark: group */
    MPI_Comm_group(MPI_COMM_WORLD, &again);
    MPI_Group_incl(again, 0, ranks, &world); /* the empty one */

    /* the last one counts as freed */

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_free(&world);
    if (is_right) {
        MPI_Group_free(&first);
        MPI_Group_free(&again);
    }
}

static void type(void)
{
    MPI_Datatype column, pair;

    /* mark: type */
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    /* mark: uncommitted */
    MPI_Type_contiguous(2, MPI_INT, &pair);
    if (is_right) {
        MPI_Type_free(&column);
        MPI_Type_free(&pair);
    }
}

static void add(void *in, void *inout, int *n, MPI_Datatype *of)
{
    (void)of;
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void handle_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void others(void)
{
    MPI_Errhandler handler;
    MPI_Op op;
    int key;

    /* mark: operation */
    MPI_Op_create(add, 1, &op);
    /* mark: keyval */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    /* mark: errhandler */
    MPI_Comm_create_errhandler(handle_error, &handler);
    if (is_right) {
        MPI_Op_free(&op);
        MPI_Comm_free_keyval(&key);
        MPI_Errhandler_free(&handler);
    }
}

static int free_type(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    if (is_right) {
        MPI_Type_free(value);
    }
    return MPI_SUCCESS;
}

/** A type that is freed within MPI_Finalize only. */
static void late(void)
{
    static MPI_Datatype pair;
    int key;

    /* mark: late */
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_type, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &pair);
    MPI_Comm_free_keyval(&key);
}

/** More than a screen, of different kinds. */
static void many(void)
{
    for (int i = 0; !is_right && i < 50; i++) {
        MPI_Send(&rank, 1, MPI_INT, rank, 100 + i, MPI_COMM_WORLD);
    }
}

/** More than a rank tells. */
static void very_many(void)
{
    for (int i = 0; !is_right && i < 1010; i++) {
        MPI_Send(NULL, 0, MPI_INT, rank, 10000 + i, MPI_COMM_WORLD);
    }
}

/** A collective that blocks and one that does not, in another order on the first
 *  rank. */
static void order(void)
{
    MPI_Request request;

    if (rank == 0 && !is_right) {
        /* mark: blocking */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    } else {
        /* mark: nonblocking */
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/** The root of a broadcast sends another type than the others expect; or one that is
 *  the same, described otherwise, or bytes. */
static void broadcast_types(void)
{
    float values[4] = {0};
    MPI_Datatype pair;
    MPI_Comm apart;

    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_commit(&pair);
    MPI_Bcast(values, rank == 0 ? 2 : 4, rank == 0 ? pair : MPI_FLOAT, 0, apart);
    MPI_Bcast(values, rank == 0 ? 16 : 4, rank == 0 ? MPI_BYTE : MPI_FLOAT, 0, apart);
    MPI_Bcast(values, rank == 1 ? 16 : 4, rank == 1 ? MPI_BYTE : MPI_FLOAT, 0, apart);
    MPI_Bcast(values, rank == 0 ? 16 : 4,
              rank == 0   ? MPI_BYTE
              : rank == 1 ? MPI_INT
                          : MPI_FLOAT,
              0, apart);
    MPI_Bcast(values, 0, rank == 0 ? MPI_INT : MPI_FLOAT, 0, apart);
    /* mark: broadcast */
    MPI_Bcast(values, 4, rank == 0 && !is_right ? MPI_INT : MPI_FLOAT, 0, apart);
    MPI_Bcast(values, 4, rank == 0 && !is_right ? MPI_INT : MPI_FLOAT, 0, apart);
    MPI_Type_free(&pair);
    MPI_Comm_free(&apart);
}

/** The root of a gather receives another type than the last rank sends. */
static void gather_types(void)
{
    int value = rank, values[64] = {0}, n[64] = {0}, at[64] = {0};
    MPI_Comm apart;
    bool is_wrong = rank == size - 1 && !is_right;

    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    /* the last one sends nothing, of another type */
    for (int i = 0; i < size - 1; i++) {
        n[i] = 1;
        at[i] = i;
    }
    MPI_Gatherv(&value, rank < size - 1, rank < size - 1 ? MPI_INT : MPI_FLOAT, values,
                n, at, MPI_INT, 0, apart);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : &value, 1, rank == 0 ? MPI_FLOAT : MPI_INT,
               values, 1, rank == 0 ? MPI_INT : MPI_FLOAT, 0, apart);
    MPI_Gather(&value, 1, rank == 1 ? MPI_FLOAT : MPI_INT, values, 4, MPI_BYTE, 0,
               apart);
    /* mark: gather */
    MPI_Gather(&value, 1, is_wrong ? MPI_FLOAT : MPI_INT, values, 1, MPI_INT, 0, apart);
    MPI_Comm_free(&apart);
}

/** Two collectives of one kind, by other names. */
static void names(void)
{
    int value = rank, values[64] = {0}, n[64], at[64];
    MPI_Comm apart;

    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    for (int i = 0; i < size; i++) {
        n[i] = 1;
        at[i] = i;
    }
    if (rank == 1 && !is_right) {
        /* mark: vectors */
        MPI_Allgatherv(&value, 1, MPI_INT, values, n, at, MPI_INT, apart);
    } else {
        /* mark: blocks */
        MPI_Allgather(&value, 1, MPI_INT, values, 1, MPI_INT, apart);
    }
    MPI_Comm_free(&apart);
}

/** One on one rank only. */
static void one(void)
{
    MPI_Datatype pair;

    if (rank == size - 1 && !is_right) {
        /* mark: one */
        MPI_Type_contiguous(2, MPI_INT, &pair);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"message", message},
    {"long_message", long_message},
    {"receive", receive},
    {"send", send},
    {"cancel", cancel},
    {"persistent", persistent},
    {"collective", collective},
    {"both", both},
    {"freed", freed},
    {"communicator", communicator},
    {"group", group},
    {"type", type},
    {"others", others},
    {"late", late},
    {"many", many},
    {"one", one},
    {"order", order},
    {"broadcast_types", broadcast_types},
    {"gather_types", gather_types},
    {"names", names},
    {"taken", taken},
    {"opposite", opposite},
    {"very_many", very_many},
};

/** Whether a case is a part of "all". */
static bool is_usual(size_t i)
{
    return cases[i].run != very_many;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            printf("%s\n", cases[i].name);
        }
        return EXIT_SUCCESS;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_right = argc > 2 && strcmp(argv[2], "right") == 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, argv[1]) == 0 ||
            (strcmp(argv[1], "all") == 0 && is_usual(i))) {
            tag = 7 + (int)i;
            cases[i].run();
        }
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
