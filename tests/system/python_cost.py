# SPDX-License-Identifier: BSD-3-Clause
"""Prints how many ns of processor time a call of mpi4py takes, the least of seven turns: 8 bytes that a rank sends
to itself and receives. Run by hand on one rank, with BCS_MDS=off and mmds: docs/mds.md, Places in Python."""

import array
import sys
import time

from mpi4py import MPI


def turn(n):
    send, receive = MPI.COMM_SELF.Send, MPI.COMM_SELF.Recv
    out, into = ([array.array("b", bytes(8)), 8, MPI.BYTE] for _ in range(2))
    began = time.process_time()
    for _ in range(n):
        send(out, 0)
        receive(into, 0)
    return (time.process_time() - began) / (2 * n)


print(f"{min(turn(int(sys.argv[1])) for _ in range(7)) * 1e9:.1f}")
