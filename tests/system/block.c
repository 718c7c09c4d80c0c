/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks forever: one rank stays away, all others wait for it in the call that the
 * first argument names. Every rank prints its process id first, so that a runner can
 * kill any of them. The third argument says what the rank that stays away does instead
 * of waiting to be killed: "abort", "exit", "crash", or "bad_memory": it gives MPI, for
 * long messages to and from all others, memory that must not be used.
 *
 *     block CALL ABSENT_RANK [abort | exit | crash | bad_memory]
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 4 << 20, TAG = 1 };

struct blocked {
    int absent;
    int rank;
    int size;
    char *data; /* LARGE bytes for each rank */
};

struct call {
    const char *name;
    void (*block)(struct blocked *);
};

static void in_recv(struct blocked *b)
{
    MPI_Recv(b->data, 8, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_recv_from_any(struct blocked *b)
{
    MPI_Recv(b->data, 8, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void in_ssend(struct blocked *b)
{
    MPI_Ssend(b->data, 8, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD);
}

static void in_large_recv(struct blocked *b)
{
    MPI_Recv(b->data, LARGE, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void in_large_send(struct blocked *b)
{
    MPI_Send(b->data, LARGE, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD);
}

static void in_sendrecv(struct blocked *b)
{
    MPI_Sendrecv_replace(b->data, 8, MPI_BYTE, b->absent, TAG, b->absent, TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_wait(struct blocked *b)
{
    MPI_Request request;

    MPI_Irecv(b->data, 8, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_waitall(struct blocked *b)
{
    MPI_Request requests[3];

    for (int i = 0; i < 2; i++) {
        MPI_Irecv(b->data + 8 * i, 8, MPI_BYTE, b->absent, i, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Isend(b->data, LARGE, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void in_waitany(struct blocked *b)
{
    MPI_Request requests[2];
    int index;

    for (int i = 0; i < 2; i++) {
        MPI_Irecv(b->data + 8 * i, 8, MPI_BYTE, b->absent, i, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void in_probe(struct blocked *b)
{
    MPI_Probe(b->absent, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_test_loop(struct blocked *b)
{
    MPI_Request request;
    int is_done = 0;

    MPI_Irecv(b->data, 8, MPI_BYTE, b->absent, TAG, MPI_COMM_WORLD, &request);
    while (!is_done) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

static void in_iprobe_loop(struct blocked *b)
{
    int is_there = 0;

    while (!is_there) {
        MPI_Iprobe(b->absent, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
}

static void in_barrier(struct blocked *b)
{
    (void)b;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void in_bcast(struct blocked *b)
{
    MPI_Bcast(b->data, 8, MPI_BYTE, b->absent, MPI_COMM_WORLD);
}

static void in_large_bcast(struct blocked *b)
{
    MPI_Bcast(b->data, LARGE, MPI_BYTE, b->absent, MPI_COMM_WORLD);
}

static void in_allreduce(struct blocked *b)
{
    long in = 1;

    MPI_Allreduce(&in, b->data, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static void in_alltoall(struct blocked *b)
{
    char *out = malloc((size_t)b->size * 1000);

    memset(out, 1, (size_t)b->size * 1000);
    MPI_Alltoall(out, 1000, MPI_BYTE, b->data, 1000, MPI_BYTE, MPI_COMM_WORLD);
    free(out);
}

static const struct call calls[] = {
    {"recv", in_recv},
    {"recv_from_any", in_recv_from_any},
    {"ssend", in_ssend},
    {"large_recv", in_large_recv},
    {"large_send", in_large_send},
    {"sendrecv", in_sendrecv},
    {"wait", in_wait},
    {"waitall", in_waitall},
    {"waitany", in_waitany},
    {"probe", in_probe},
    {"test_loop", in_test_loop},
    {"iprobe_loop", in_iprobe_loop},
    {"barrier", in_barrier},
    {"bcast", in_bcast},
    {"large_bcast", in_large_bcast},
    {"allreduce", in_allreduce},
    {"alltoall", in_alltoall},
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i].name, name) == 0) {
            return &calls[i];
        }
    }
    fprintf(stderr, "block: no call %s\n", name);
    exit(2);
}

static void use_bad_memory(const struct blocked *b)
{
    void *memory = mmap(NULL, LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Request request;

    for (int rank = 0; rank < b->size; rank++) {
        if (rank != b->rank) {
            MPI_Isend(memory, LARGE, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
            MPI_Irecv(memory, LARGE, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
    MPI_Recv(NULL, 0, MPI_BYTE, b->rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stay_away(const struct blocked *b, const char *how)
{
    if (strcmp(how, "bad_memory") == 0) {
        use_bad_memory(b);
    }
    if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    if (strcmp(how, "exit") == 0) {
        exit(6);
    }
    if (strcmp(how, "crash") == 0) {
        raise(SIGSEGV);
    }
    for (;;) {
        pause();
    }
}

int main(int argc, char **argv)
{
    struct blocked blocked;
    const struct call *call;

    if (argc < 3) {
        fprintf(stderr,
                "usage: block CALL ABSENT_RANK [abort | exit | crash | bad_memory]\n");
        return 2;
    }
    call = find_call(argv[1]);
    MPI_Init(&argc, &argv);
    blocked.absent = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &blocked.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &blocked.size);
    blocked.data = calloc((size_t)blocked.size + 1, LARGE);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d pid %ld\n", blocked.rank, (long)getpid());
    fflush(stdout);
    if (blocked.rank == blocked.absent) {
        stay_away(&blocked, argc > 3 ? argv[3] : "pause");
    }
    call->block(&blocked);
    printf("rank %d came out of %s\n", blocked.rank, argv[1]);
    MPI_Finalize();
    free(blocked.data);
    return 0;
}
