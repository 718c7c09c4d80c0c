# SPDX-License-Identifier: BSD-3-Clause
"""MPI by ctypes: functions are looked up in the library that the first argument names. The second
argument says whether its names are seen by others (global) or not (local), or whether the library is opened
as Julia does (deep); the third whether a message is awaited that nobody sends (dead) or not (sum)."""

import ctypes
import os
import sys

MODES = {"global": ctypes.RTLD_GLOBAL, "local": ctypes.RTLD_LOCAL, "deep": os.RTLD_LAZY | os.RTLD_DEEPBIND}


def main():
    library, scope, act = sys.argv[1:]
    mpi = ctypes.CDLL(library, mode=MODES[scope])
    world, integer, plus = (
        ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))
        for name in ("ompi_mpi_comm_world", "ompi_mpi_int", "ompi_mpi_op_sum"))
    rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Init(None, None)
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    mpi.MPI_Comm_size(world, ctypes.byref(size))
    mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, plus, world)
    sys.stdout.write(f"rank {rank.value} of {size.value}, sum {total.value}\n")  # in one piece
    sys.stdout.flush()
    if act == "dead":
        mpi.MPI_Recv(ctypes.byref(total), 1, integer, (rank.value + 1) % size.value, 3, world, None)
    mpi.MPI_Finalize()


main()
