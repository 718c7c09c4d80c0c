/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of fortran_mixed that is C. Every argument is a Fortran handle or a Fortran
 * status.
 */
#include <mpi.h>

void c_waitall(int n, MPI_Fint requests[], MPI_Fint statuses[], int status_size);
void c_start(MPI_Fint comm, int from, int to, int *in, int *out, MPI_Fint requests[2]);
void c_mrecv(MPI_Fint *message, int *in, MPI_Fint *status);
int c_is_status(MPI_Fint *status, int source, int tag, int n);
MPI_Fint c_operation(void);
int c_allreduce(int value, MPI_Fint op, MPI_Fint type, MPI_Fint comm);
void c_start_persistent(MPI_Fint *request);

enum { MAX_REQUESTS = 16 };

void c_waitall(int n, MPI_Fint requests[], MPI_Fint statuses[], int status_size)
{
    MPI_Request of_c[MAX_REQUESTS];
    MPI_Status status[MAX_REQUESTS];

    for (int i = 0; i < n; i++) {
        of_c[i] = MPI_Request_f2c(requests[i]);
    }
    MPI_Waitall(n, of_c, status);
    for (int i = 0; i < n; i++) {
        requests[i] = MPI_Request_c2f(of_c[i]);
        MPI_Status_c2f(&status[i], statuses + i * status_size);
    }
}

void c_start(MPI_Fint comm, int from, int to, int *in, int *out, MPI_Fint requests[2])
{
    MPI_Request of_c[2];

    MPI_Irecv(in, 1, MPI_INT, from, 4, MPI_Comm_f2c(comm), &of_c[0]);
    MPI_Isend(out, 1, MPI_INT, to, 4, MPI_Comm_f2c(comm), &of_c[1]);
    requests[0] = MPI_Request_c2f(of_c[0]);
    requests[1] = MPI_Request_c2f(of_c[1]);
}

void c_mrecv(MPI_Fint *message, int *in, MPI_Fint *status)
{
    MPI_Message of_c = MPI_Message_f2c(*message);
    MPI_Status status_of_c;

    MPI_Mrecv(in, 1, MPI_INT, &of_c, &status_of_c);
    *message = MPI_Message_c2f(of_c);
    MPI_Status_c2f(&status_of_c, status);
}

int c_is_status(MPI_Fint *status, int source, int tag, int n)
{
    MPI_Status of_c;
    int count = -1;
    int is_cancelled = -1;

    MPI_Status_f2c(status, &of_c);
    MPI_Get_count(&of_c, MPI_INT, &count);
    MPI_Test_cancelled(&of_c, &is_cancelled);
    return of_c.MPI_SOURCE == source && of_c.MPI_TAG == tag && count == n &&
           is_cancelled == 0;
}

static void add_twice(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i] + 1;
    }
}

MPI_Fint c_operation(void)
{
    MPI_Op op;

    MPI_Op_create(add_twice, 1, &op);
    return MPI_Op_c2f(op);
}

int c_allreduce(int value, MPI_Fint op, MPI_Fint type, MPI_Fint comm)
{
    int result = -1;

    MPI_Allreduce(&value, &result, 1, MPI_Type_f2c(type), MPI_Op_f2c(op),
                  MPI_Comm_f2c(comm));
    return result;
}

void c_start_persistent(MPI_Fint *request)
{
    MPI_Request of_c = MPI_Request_f2c(*request);

    MPI_Start(&of_c);
    *request = MPI_Request_c2f(of_c);
}
