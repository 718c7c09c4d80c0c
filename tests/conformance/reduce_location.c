/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_MAXLOC and MPI_MINLOC on all pair types, with ties that the lowest index wins.
 */
#include "tests/conformance/check.h"

enum { N = 25 };

/* Ties between ranks for every third element. */
static int value_of(int rank, int i)
{
    return i % 3 ? (rank * 7 + i * 5) % 11 - 5 : i;
}

#define LOCATION_CASE(name, c_type, index_type, mpi_type)                              \
    static void name(struct world world, MPI_Op op)                                    \
    {                                                                                  \
        struct {                                                                       \
            c_type value;                                                              \
            index_type index;                                                          \
        } mine[N], all[N], root[N];                                                    \
                                                                                       \
        memset(mine, 0, sizeof(mine));                                                 \
        for (int i = 0; i < N; i++) {                                                  \
            mine[i].value = (c_type)value_of(world.rank, i);                           \
            mine[i].index = (index_type)(100 * world.rank + i);                        \
        }                                                                              \
        MPI_Allreduce(mine, all, N, mpi_type, op, MPI_COMM_WORLD);                     \
        MPI_Reduce(mine, root, N, mpi_type, op, world.size - 1, MPI_COMM_WORLD);       \
        for (int i = 0; i < N; i++) {                                                  \
            int best = 0;                                                              \
                                                                                       \
            for (int rank = 1; rank < world.size; rank++) {                            \
                int difference = value_of(rank, i) - value_of(best, i);                \
                                                                                       \
                if (op == MPI_MAXLOC ? difference > 0 : difference < 0) {              \
                    best = rank;                                                       \
                }                                                                      \
            }                                                                          \
            CHECK(all[i].value == (c_type)value_of(best, i));                          \
            CHECK_EQUAL(all[i].index, 100 * best + i);                                 \
            if (world.rank == world.size - 1) {                                        \
                CHECK(root[i].value == all[i].value);                                  \
                CHECK(root[i].index == all[i].index);                                  \
            }                                                                          \
        }                                                                              \
        check_say(#mpi_type " gives %g at %ld\n", (double)all[1].value,                \
                  (long)all[1].index);                                                 \
    }

LOCATION_CASE(float_int, float, int, MPI_FLOAT_INT)
LOCATION_CASE(double_int, double, int, MPI_DOUBLE_INT)
LOCATION_CASE(long_int, long, int, MPI_LONG_INT)
LOCATION_CASE(two_int, int, int, MPI_2INT)
LOCATION_CASE(short_int, short, int, MPI_SHORT_INT)
LOCATION_CASE(long_double_int, long double, int, MPI_LONG_DOUBLE_INT)
LOCATION_CASE(two_real, float, float, MPI_2REAL)
LOCATION_CASE(two_double, double, double, MPI_2DOUBLE_PRECISION)
LOCATION_CASE(two_integer, int, int, MPI_2INTEGER)

int main(int argc, char **argv)
{
    struct world world = check_begin(&argc, &argv);
    MPI_Op ops[] = {MPI_MAXLOC, MPI_MINLOC};

    for (int i = 0; i < 2; i++) {
        check_say(i ? "MINLOC\n" : "MAXLOC\n");
        float_int(world, ops[i]);
        double_int(world, ops[i]);
        long_int(world, ops[i]);
        two_int(world, ops[i]);
        short_int(world, ops[i]);
        long_double_int(world, ops[i]);
        two_real(world, ops[i]);
        two_double(world, ops[i]);
        two_integer(world, ops[i]);
    }
    return check_end();
}
