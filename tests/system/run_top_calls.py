#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks with bcs-top at ranks that wait in calls of many kinds: MPI_Waitany, MPI_Waitsome, MPI_Probe,
MPI_Mprobe, a long MPI_Send, two threads of one process, and programs in Fortran. Of each it names the call,
the partner, the tag, the communicator, and the line.
"""

import argparse
import re
import shlex
import sys

import job
import mds_runs
import run_top

IDLE = 6
ALL = {
    0: {("MPI_Waitany", "the grid", False, "any of two"): [("receive", 10), ("receive", 20)]},
    1: {("MPI_Waitsome", "the grid", False, "some of two"): [("receive", 11), ("receive", 21)]},
    2: {("MPI_Probe", "the grid", True, "to look"): [("probe", 12)]},
    3: {("MPI_Mprobe", "the grid", True, "to take"): [("probe", -1)]},
    4: {("MPI_Send", "the grid", True, "too long to buffer"): [("send", 14)]},
    5: {("MPI_Ssend", "MPI_COMM_WORLD", True, "one thread"): [("send", 51)],
        ("MPI_Recv", "the grid", True, "the other"): [("receive", 52)]},
}
FORTRAN = {0: {("MPI_Recv", "MPI_COMM_WORLD", True, "for a word"): [("receive", 9)]}}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", required=True, help="the program bcs-top")
    parser.add_argument("--ways", required=True, help="the program waiting_ways")
    parser.add_argument("--ways-source", required=True)
    parser.add_argument("--fortran", required=True, help="the program waiting_fortran")
    parser.add_argument("--fortran-source", required=True)
    parser.add_argument("--has-lines", action="store_true", help="bcs-top has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def expected_of(arguments, source, ways, idle):
    """{rank: {(call, communicator, all, place): ([(kind, peer, tag)], for whom)}}"""
    name = source.rpartition("/")[2]
    expected = {}
    for rank, waits in ways.items():
        expected[rank] = {}
        for (call, comm, needs_all, words), operations in waits.items():
            place = f"{name}:{mds_runs.line_with(source, words)}" if arguments.has_lines else None
            expected[rank][call, comm, needs_all, place] = \
                ([(kind, idle, tag) for kind, tag in operations], [idle])
    return {**expected, idle: {}}


def seen_of(arguments, one):
    """The same of a job. A place is without its function, which may have been inlined."""
    seen = {}
    for rank in one["ranks"]:
        seen[rank["rank"]] = {}
        for wait in rank["waits"]:
            place = re.sub(r"^\w+, ", "", wait["place"] or "") if arguments.has_lines else None
            seen[rank["rank"]][wait["call"], wait["communicator"], wait["needs_all"], place] = \
                ([(op["kind"], op["peer"], op["tag"]) for op in wait["operations"]],
                 wait["waits_for"])
    return seen


def test_ways(arguments, report, name, mode, program, expected):
    command = [*shlex.split(arguments.launcher), "-n", str(len(expected)), program]
    one = job.Job(command, job.mpirun_environment({**mode, "BCS_REFEREE": "off"}))
    try:
        guard = job.Guard(arguments.timeout)
        seen = None
        while seen != expected and not guard.is_over() and one.process.poll() is None:
            mine = run_top.jobs_with(run_top.look(arguments)[0], set(one.processes()))
            seen = seen_of(arguments, mine[0]) if len(mine) == 1 else mine
        problems = [] if seen == expected else [f"{seen}, not {expected}"]
        report.case(name, problems)
    finally:
        one.close()


def main():
    arguments = parse_arguments()
    report = job.Report()
    ways = expected_of(arguments, arguments.ways_source, ALL, IDLE)
    fortran = expected_of(arguments, arguments.fortran_source, FORTRAN, 1)
    for name, mode in run_top.MODES.items():
        test_ways(arguments, report, name, mode, arguments.ways, ways)
    test_ways(arguments, report, "Fortran", {}, arguments.fortran, fortran)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
