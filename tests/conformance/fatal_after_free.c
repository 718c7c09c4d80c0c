/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error of a receive whose communicator was freed before: it has no error handler
 * any more, so that MPI_COMM_WORLD's is called, which ends the job. Must fail, natively
 * as well.
 */
#include "tests/conformance/check.h"

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char in[8];
    char out[64] = {0};
    MPI_Request request;
    MPI_Comm comm;

    check_say("before\n");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 8, MPI_BYTE, world.left, 0, comm, &request);
    MPI_Barrier(comm);
    MPI_Send(out, 64, MPI_BYTE, world.right, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_say("never printed\n");
    return check_end();
}
