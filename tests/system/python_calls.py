# SPDX-License-Identifier: BSD-3-Clause
"""Programs with mpi4py for two ranks, by the name of a case; for run_python.py. First those that are deadlocked."""

import array
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
numbers = array.array("d", [0.0])


def reduce_it():
    return comm.allreduce(
        {"value": rank})  # hidden in two lines


def barrier():
    """Rank 1 reduces while rank 0 is elsewhere; both have done so before."""
    comm.allreduce([rank])
    if rank == 0:
        comm.Barrier()  # alone
    else:
        reduce_it()


def first():
    """The same, for the first time on this communicator."""
    if rank == 0:
        comm.recv(source=1, tag=5)  # before the first
    else:
        reduce_it()


def gather():
    call = comm.gather  # by another name
    if rank == 0:
        comm.recv(source=1, tag=5)  # before the gather
    else:
        call([rank], root=1)  # gathered


def tags():
    """A near miss of messages that the program sees."""
    if rank == 0:
        comm.send({"a": 1}, 1, tag=8)
        comm.recv(source=1, tag=3)  # of nobody
    else:
        comm.recv(source=0, tag=7)  # of another tag


def hidden():
    """Rank 1 has sent its part of a reduction, whose tag the program does not know."""
    comm.reduce([rank], root=0)
    if rank == 0:
        comm.Recv(numbers, source=1, tag=1)  # in place of the reduction
    else:
        comm.reduce([rank], root=0)
        comm.recv(source=0, tag=9)  # after the reduction


def mixed():
    """No objects: the calls are the program's own."""
    if rank == 0:
        comm.barrier()  # a small barrier
    else:
        comm.Recv(numbers, source=0, tag=7)  # of no barrier


def exchange():
    if rank == 0:
        comm.Send(numbers, 1, 5)  # ping
        comm.Recv(numbers, 1, 6)  # pong
    else:
        comm.Recv(numbers, 0, 5)  # ping there
        comm.Send(numbers, 0, 6)  # pong there


def record():
    """Ends. Each line calls a known number of times."""
    for _ in range(7):
        exchange()
    for _ in range(3):
        for word in ("one", "two"): comm.bcast(word)  # twice in a line
        comm.Barrier()  # in a loop
    exec(40 * "comm.Barrier()\n", {"comm": comm})  # so many lines


def leave():
    """Ends, and leaves something."""
    comm.Irecv(numbers, MPI.ANY_SOURCE, 77)  # left
    comm.Dup()  # left, too
    comm.allreduce([rank])  # leaves nothing of the program's


def change():
    """Ends, and has changed a buffer."""
    request = comm.Isend(numbers, 1 - rank, 4)  # posted
    numbers[0] = 1.0
    comm.Recv(array.array("d", [0.0]), 1 - rank, 4)
    request.Wait()  # completed


globals()[sys.argv[1]]()
