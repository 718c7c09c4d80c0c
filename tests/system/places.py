# SPDX-License-Identifier: BSD-3-Clause
"""All ranks receive, and nobody sends, in functions of Python; for run_places.py."""

import sys

from mpi4py import MPI


def exchange(comm):
    comm.recv(source=MPI.ANY_SOURCE, tag=5)  # in exchange


def step(comm):
    exchange(comm)  # in step


def deep(comm, n):
    if n == 0:
        step(comm)
    else:
        deep(comm, n - 1)


if sys.argv[1] == "called":
    step(MPI.COMM_WORLD)  # in the module
else:
    # Its traceback is longer than a pipe has room for.
    deep.__code__ = deep.__code__.replace(co_name="deep" + 400 * "y")
    deep(MPI.COMM_WORLD, 300)
