/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under MPI_ERRORS_ARE_FATAL a truncated message that shows in a Waitall ends the job
 * with a status other than 0. Must fail, natively as well.
 */
#include "tests/conformance/check.h"

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    char in[8];
    char out[64] = {0};
    MPI_Request requests[2];

    check_say("before\n");
    MPI_Irecv(in, 8, MPI_BYTE, world.left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 64, MPI_BYTE, world.right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check_say("never printed\n");
    return check_end();
}
