# SPDX-License-Identifier: BSD-3-Clause
"""Bugs that programs have, in Python with mpi4py and numpy; see planted_hangs.c."""

import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def wrong_source():
    """The rows of a matrix are handed out by rank 0, and received of the rank below."""
    row = numpy.zeros(100)
    if rank == 0:
        for other in range(1, size):
            comm.Send(row, dest=other, tag=1)
        comm.Recv(row, source=size - 1, tag=2)  # HANG wrong_source 0
    else:
        comm.Recv(row, source=rank - 1 or size - 1, tag=1)  # HANG wrong_source 1-3
        comm.Send(row, dest=0, tag=2)


def objects_against_arrays():
    """Rank 0 receives objects, the others send an array, and wait for all."""
    if rank == 0:
        for other in range(1, size):
            comm.recv(source=other, tag=3)  # HANG objects_against_arrays 0
        comm.bcast("done", root=0)
    else:
        comm.Send(numpy.arange(10.0), dest=0, tag=4)
        comm.bcast(None, root=0)  # HANG objects_against_arrays 1-3


def sum_if_needed():
    """A rank whose norm is small enough leaves the sum out."""
    norm = numpy.linalg.norm(numpy.full(10, float(rank)))
    if norm > 0.5:
        comm.allreduce(norm, op=MPI.SUM)  # HANG sum_if_needed 1-3
    comm.Recv(numpy.zeros(1), source=1, tag=5)  # HANG sum_if_needed 0


def requests_without_partner():
    """Each posts receives for all neighbours, and forgets one of the sends."""
    into = numpy.zeros((size, 100))
    requests = [comm.Irecv(into[i], source=i, tag=6) for i in range(size) if i != rank]
    requests += [comm.Isend(numpy.ones(100), dest=i, tag=6) for i in range(size - 1) if i != rank]
    MPI.Request.Waitall(requests)  # HANG requests_without_partner 3
    comm.Barrier()  # HANG requests_without_partner 0-2


BUGS = (wrong_source, objects_against_arrays, sum_if_needed, requests_without_partner)

if __name__ == "__main__":
    for bug in BUGS:
        if bug.__name__ == sys.argv[1]:
            bug()
