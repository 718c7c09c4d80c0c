/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that the standard forbids; see misuse.c. The wrong version has an error
 * that ends the job. The right one has the same error with MPI_ERRORS_RETURN, so that
 * the program gets it, and nobody else hears of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "misuse.h"

enum { NO_RANK = 99, NO_TAG = -5 };

static long in[N_LONG], out[N_LONG];

/** A call with a wrong argument. @return its error */
typedef int call_fn(const struct run *run);

/** Make a wrong call, and see to it that the error comes back if it should. */
static void make(const struct run *run, int is_wrong, call_fn *call, int error_class)
{
    int found = MPI_SUCCESS, error;

    if (is_wrong) {
        call(run);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    error = call(run);
    MPI_Error_class(error, &found);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (found != error_class) {
        printf("misuse: error class %d, not %d\n", found, error_class);
    }
}

static int call_root(const struct run *run)
{
    return MPI_Bcast(in, run->n, MPI_LONG, NO_RANK, MPI_COMM_WORLD);
}

void argument_root(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_root, MPI_ERR_ROOT);
}

static int call_count(const struct run *run)
{
    (void)run;
    return MPI_Bcast(in, -1, MPI_LONG, 0, MPI_COMM_WORLD);
}

void argument_count(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_count, MPI_ERR_COUNT);
}

/** The type of one block is none. */
static int call_types(const struct run *run)
{
    int *counts = calloc((size_t)run->size, sizeof(int));
    MPI_Datatype *types = calloc((size_t)run->size, sizeof(MPI_Datatype));
    int error;

    for (int i = 0; i < run->size; i++) {
        types[i] = i == 1 ? MPI_DATATYPE_NULL : MPI_LONG;
    }
    error = MPI_Alltoallw(in, counts, counts, types, out, counts, counts, types,
                          MPI_COMM_WORLD);
    free(counts);
    free(types);
    return error;
}

void argument_types(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_types, MPI_ERR_TYPE);
}

static int call_op(const struct run *run)
{
    return MPI_Allreduce(in, out, run->n, MPI_LONG, MPI_OP_NULL, MPI_COMM_WORLD);
}

void argument_op(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_op, MPI_ERR_OP);
}

static int call_target(const struct run *run)
{
    return MPI_Send(in, run->n, MPI_LONG, NO_RANK, 7, MPI_COMM_WORLD);
}

void argument_target(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_target, MPI_ERR_RANK);
}

static int call_tag(const struct run *run)
{
    MPI_Request request;

    return MPI_Irecv(out, run->n, MPI_LONG, 0, NO_TAG, MPI_COMM_WORLD, &request);
}

void argument_tag(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_tag, MPI_ERR_TAG);
}

static int call_type(const struct run *run)
{
    return MPI_Sendrecv(in, run->n, MPI_LONG, run->rank, 7, out, run->n,
                        MPI_DATATYPE_NULL, run->rank, 7, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
}

void argument_type(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_type, MPI_ERR_TYPE);
}

static int call_probe(const struct run *run)
{
    (void)run;
    return MPI_Probe(NO_RANK, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void argument_probe(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_probe, MPI_ERR_RANK);
}

static int call_request(const struct run *run)
{
    MPI_Request request = MPI_REQUEST_NULL;

    (void)run;
    return MPI_Start(&request);
}

void argument_request(const struct run *run, int is_wrong)
{
    make(run, is_wrong, call_request, MPI_ERR_REQUEST);
}

/** One rank alone is wrong, and the others wait for it. */
void argument_of_one(const struct run *run, int is_wrong)
{
    if (run->is_last) {
        make(run, is_wrong, call_target, MPI_ERR_RANK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
