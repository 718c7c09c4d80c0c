/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profiling tool, to be preloaded above or below the preload of bcs: counts the calls
 * of some MPI functions, and prints the sums of all ranks in MPI_Finalize. Any thread
 * of the program that calls MPI runs it.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>

/* name, parameters, arguments */
#define FUNCTIONS(X)                                                                   \
    X(Send,                                                                            \
      (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),     \
      (buf, n, type, to, tag, comm))                                                   \
    X(Recv,                                                                            \
      (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,          \
       MPI_Status *status),                                                            \
      (buf, n, type, from, tag, comm, status))                                         \
    X(Isend,                                                                           \
      (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,      \
       MPI_Request *request),                                                          \
      (buf, n, type, to, tag, comm, request))                                          \
    X(Irecv,                                                                           \
      (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,          \
       MPI_Request *request),                                                          \
      (buf, n, type, from, tag, comm, request))                                        \
    X(Wait, (MPI_Request * request, MPI_Status * status), (request, status))           \
    X(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]),                 \
      (n, requests, statuses))                                                         \
    X(Start, (MPI_Request * request), (request))                                       \
    X(Barrier, (MPI_Comm comm), (comm))                                                \
    X(Bcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm),           \
      (buf, n, type, root, comm))                                                      \
    X(Allreduce,                                                                       \
      (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
      (in, out, n, type, op, comm))                                                    \
    X(Scan,                                                                            \
      (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
      (in, out, n, type, op, comm))                                                    \
    X(Comm_dup, (MPI_Comm comm, MPI_Comm * newcomm), (comm, newcomm))                  \
    X(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))                             \
    X(Win_fence, (int assertion, MPI_Win win), (assertion, win))                       \
    X(Init, (int *argc, char ***argv), (argc, argv))

enum function {
#define NUMBER(name, parameters, arguments) FN_##name,
    FUNCTIONS(NUMBER) FN_Pcontrol,
    N_FUNCTIONS
};

static const char *const names[] = {
#define NAME(name, parameters, arguments) "MPI_" #name,
    FUNCTIONS(NAME) "MPI_Pcontrol"};

static _Atomic long counts[N_FUNCTIONS];

#define DEFINE(name, parameters, arguments)                                            \
    int MPI_##name parameters                                                          \
    {                                                                                  \
        /* relaxed: statistics, read when all is over */                               \
        atomic_fetch_add_explicit(&counts[FN_##name], 1, memory_order_relaxed);        \
        return PMPI_##name arguments;                                                  \
    }

FUNCTIONS(DEFINE)

int MPI_Pcontrol(const int level, ...)
{
    /* relaxed: as in DEFINE */
    atomic_fetch_add_explicit(&counts[FN_Pcontrol], 1, memory_order_relaxed);
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    long mine[N_FUNCTIONS], sums[N_FUNCTIONS] = {0};
    int rank;

    for (int i = 0; i < N_FUNCTIONS; i++) {
        mine[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(mine, sums, N_FUNCTIONS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N_FUNCTIONS && rank == 0; i++) {
        printf("%s %ld\n", names[i], sums[i]);
    }
    fflush(stdout);
    return PMPI_Finalize();
}
