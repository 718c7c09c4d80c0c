/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under MPI_ERRORS_ARE_FATAL, the default, a wrong rank ends the whole job with a
 * status other than 0, even though the others wait in a barrier. Must fail, natively as
 * well.
 */
#include "tests/conformance/check.h"

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);

    check_say("before\n");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == world.size - 1) {
        MPI_Send(&world.rank, 1, MPI_INT, world.size, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_say("never printed\n");
    return check_end();
}
