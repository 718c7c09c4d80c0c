/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose ring is full and that only polls goes on: what it has posted is
 * carried out though it waits for nothing. With a ring of one entry, a new communicator
 * fills it; the claim of a message that MPI_Improbe finds needs the next. Prints
 * "passed".
 */
#include <mpi.h>
#include <stdio.h>

enum { N_ROUNDS = 20, N_INTS = 100, TAG = 1 };

static void receive_by_polling(MPI_Comm comm)
{
    int data[N_INTS], flag = 0;
    MPI_Message message;

    while (!flag) {
        MPI_Improbe(1, TAG, comm, &flag, &message, MPI_STATUS_IGNORE);
    }
    MPI_Mrecv(data, N_INTS, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void send_by_polling(MPI_Request *request)
{
    int flag = 0;

    while (!flag) {
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, data[N_INTS] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N_ROUNDS; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm copy;

        if (rank == 1) {
            MPI_Isend(data, N_INTS, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        if (rank == 0) {
            receive_by_polling(MPI_COMM_WORLD);
        }
        send_by_polling(&request);
        MPI_Comm_free(&copy);
    }
    MPI_Finalize();
    if (rank == 0) {
        printf("passed\n");
    }
    return 0;
}
