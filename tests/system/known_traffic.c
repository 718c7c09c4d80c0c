/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends known lengths to the next rank in every way that MPI has, and takes part in
 * collectives of known lengths: run_mds.py knows what the MDS must have recorded of it.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 100000 };

static int rank, size, next, last;
static char out[MOST_BYTES], in[MOST_BYTES], attached[MOST_BYTES];

static void receive(int n_bytes)
{
    MPI_Recv(in, n_bytes, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/** Send from here on, and receive what the one before sends in the same way. */
static void finish(MPI_Request *request, int n_bytes)
{
    receive(n_bytes);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void blocking_sends(void)
{
    MPI_Request request;
    int detached;
    void *buffer;

    MPI_Irecv(in, 101, MPI_BYTE, last, 0, MPI_COMM_WORLD, &request);
    MPI_Send(out, 101, MPI_BYTE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 202, MPI_BYTE, last, 0, MPI_COMM_WORLD, &request);
    MPI_Ssend(out, 202, MPI_BYTE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 303, MPI_BYTE, last, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(out, 303, MPI_BYTE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_attach(attached, sizeof(attached));
    MPI_Bsend(out, 404, MPI_BYTE, next, 0, MPI_COMM_WORLD);
    receive(404);
    MPI_Ibsend(out, 405, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    finish(&request, 405);
    MPI_Buffer_detach(&buffer, &detached);
}

static void requests(void)
{
    MPI_Request request;

    MPI_Isend(out, 506, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    finish(&request, 506);
    MPI_Issend(out, 607, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    finish(&request, 607);
    MPI_Send_init(out, 708, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        finish(&request, 708);
    }
    MPI_Request_free(&request);
    MPI_Isend(out, MOST_BYTES, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    finish(&request, MOST_BYTES);
}

static void exchanges(void)
{
    MPI_Message message;
    MPI_Request request;

    MPI_Sendrecv(out, 809, MPI_BYTE, next, 0, in, 809, MPI_BYTE, last, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 910, MPI_BYTE, next, 0, last, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Isend(out, 1011, MPI_BYTE, next, 0, MPI_COMM_WORLD, &request);
    MPI_Mprobe(last, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1011, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/** On a communicator that gets its name when it is in use, and is freed meanwhile. */
static void freed(void)
{
    MPI_Request requests[2];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(in, 40000, MPI_BYTE, last, 0, comm, &requests[0]);
    MPI_Isend(out, 40000, MPI_BYTE, next, 0, comm, &requests[1]);
    MPI_Comm_set_name(comm, "a copy");
    MPI_Comm_free(&comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/** One byte of each two. */
static void gaps(void)
{
    MPI_Datatype type;
    MPI_Request request;

    MPI_Type_vector(50, 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Isend(out, 2, type, next, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(in, 2, type, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

/** What is no message. */
static void nothing(void)
{
    MPI_Request request;

    MPI_Send(out, 77, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(in, 77, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 77, MPI_BYTE, last, 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Issend(out, 0, MPI_BYTE, next, 78, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    int *counts = calloc((size_t)size, sizeof(*counts));
    int *places = calloc((size_t)size, sizeof(*places));
    MPI_Request request;

    for (int i = 0; i < size; i++) {
        counts[i] = 10;
        places[i] = 10 * i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, 33, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, 5, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 5, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(out, 12, MPI_BYTE, in, 12, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE,
                  MPI_COMM_WORLD);
    MPI_Scatter(out, 21, MPI_BYTE, in, 21, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(out, in, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallgather(out, 9, MPI_BYTE, in, 9, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(counts);
    free(places);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    blocking_sends();
    requests();
    exchanges();
    freed();
    gaps();
    nothing();
    MPI_Pcontrol(7, "with", 2.5, "arguments");
    collectives();
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
