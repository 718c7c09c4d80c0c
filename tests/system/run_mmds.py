#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with BCS_MDS=mmds and adds up the report: in each process computation and
communication must make up the run time within 0.01 %, as docs/mds.md promises.

The table has three decimals of a millisecond; the sum of three rounded numbers may be
off by ROUNDING_MS, which is allowed on top. With timed strobes, the report must account for
each point of the clock, and while all ranks compute next to no strobe may be sent.
"""

import argparse
import re
import shlex
import sys

import job

TOLERANCE = 1e-4
ROUNDING_MS = 0.0015
# A run must be long enough for the tolerance to say something beside the rounding.
SHORTEST_RUN_MS = 50
# Start and end of the clock and of the run are not the same.
STROBE_TOLERANCE, STROBE_TOLERANCE_MS = 0.1, 100
# Of the points of the clock, in a run of which nearly all is computation.
NEEDED_AT_MOST = 0.2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--sweep3d", required=True, help="the program sweep3d")
    parser.add_argument("--input", required=True, help="its input file")
    parser.add_argument("--random-program", required=True, help="that program")
    parser.add_argument("--disturb", required=True, help="that program")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Account:
    """The numbers of one table of the report."""

    def __init__(self, title, text):
        self.title = title
        self.computation_ms, self.n_computations = self.interval(
            text, "Comp Granularity"
        )
        self.communication_ms, self.n_communications = self.interval(
            text, "Comm Overhead"
        )
        self.run_ms = float(re.search(r"^Run time (\S+) ms", text, re.M).group(1))
        self.gap = float(re.search(r"gap (\S+) %", text).group(1)) / 100

    @staticmethod
    def interval(text, name):
        """Total milliseconds and count of a row."""
        row = re.search(rf"^{name}(( +\S+){{5}})$", text, re.M).group(1).split()
        return float(row[2]), int(row[3])

    def problems(self):
        """What does not add up, as a list of texts."""
        problems = []
        sum_ms = self.computation_ms + self.communication_ms
        allowed_ms = TOLERANCE * self.run_ms + ROUNDING_MS
        if abs(sum_ms - self.run_ms) > allowed_ms:
            problems.append(f"{sum_ms:.3f} ms of {self.run_ms:.3f} ms accounted for")
        if self.gap > TOLERANCE:
            problems.append(f"the report says a gap of {self.gap:.4%}")
        if self.run_ms < SHORTEST_RUN_MS:
            problems.append(f"{self.run_ms} ms are too short to tell")
        if self.n_computations != self.n_communications + 1:
            problems.append(
                f"{self.n_computations} computation intervals around "
                f"{self.n_communications} blocking calls"
            )
        return [f"{self.title}: {problem}" for problem in problems]


def accounts_of(stderr):
    """The tables of the processes, and the one over all of them."""
    parts = re.split(r"^MMDS, (.*)$", stderr, flags=re.M)[1:]
    accounts = [Account(*pair) for pair in zip(parts[::2], parts[1::2])]
    return accounts[1:], accounts[0] if accounts else None


def strobe_problems(stderr, run_ms, computes):
    """What is wrong with the account of timed strobes, as a list of texts."""
    line = re.search(r"^Strobes (\d+) every (\d+) us, not needed (\d+), left out (\d+);",
                     stderr, re.M)
    if not line:
        return ["no account of the strobes"]
    n_sent, slice_us, n_idle, n_left_out = map(int, line.groups())
    n_points = n_sent + n_idle + n_left_out
    clock_ms = n_points * slice_us / 1000
    problems = []
    if abs(clock_ms - run_ms) > STROBE_TOLERANCE * run_ms + STROBE_TOLERANCE_MS:
        problems.append(f"{n_points} points of the clock in a run of {run_ms} ms")
    if computes and n_sent > NEEDED_AT_MOST * n_points:
        problems.append(f"{n_sent} of {n_points} strobes sent to ranks that compute")
    return problems


def problems_of(result, n_ranks, mode, computes):
    """What is wrong with one run, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s"]
    if result.status != 0:
        return [result.ending()]
    try:
        processes, together = accounts_of(result.stderr)
    except (AttributeError, IndexError, ValueError):
        return [f"the report cannot be read: {result.stderr[:300]!r}"]
    if len(processes) != n_ranks:
        return [f"{len(processes)} tables for {n_ranks} processes"]
    problems = [problem for process in processes for problem in process.problems()]
    longest_ms = max(process.run_ms for process in processes)
    if mode.get("BCS_STROBE") == "timed":
        problems += strobe_problems(result.stderr, longest_ms, computes)
    if longest_ms > result.seconds * 1000:
        problems.append("a run time is longer than the whole job")
    sum_ms = sum(process.run_ms for process in processes)
    if abs(sum_ms - together.run_ms) > 0.001 * (n_ranks + 1):
        problems.append(f"all processes: {together.run_ms} ms instead of {sum_ms:.3f}")
    return problems


def main():
    arguments = parse_arguments()
    report = job.Report()
    sweep = [arguments.sweep3d, arguments.input]
    disturb = [arguments.disturb, "--blocks", "20"]
    mixture = [arguments.random_program, "1", "3"]
    cases = (
        ("sweep3d, blocking", 2, [sweep[0], "--blocking", sweep[1]], {}),
        ("sweep3d, non-blocking", 4, [sweep[0], "--nonblocking", sweep[1]], {}),
        *((f"mixture, {mode}", 4, mixture, job.MODES[mode]) for mode in job.MODES),
        ("mixture, 8 ranks", 8, mixture, {}),
        *((f"computation, timed, {driver}", 2, disturb,
           {"BCS_STROBE": "timed", "BCS_DRIVER": driver})
          for driver in ("inline", "threads")),
    )
    for name, n_ranks, program, mode in cases:
        extra = {"BCS_MDS": "mmds", **mode}
        command = [*shlex.split(arguments.launcher), "-n", str(n_ranks), *program]
        environment = job.mpirun_environment(extra)
        result = job.run(command, environment, arguments.timeout)
        repeat = job.shell_line(command, extra)
        problems = problems_of(result, n_ranks, mode, program is disturb)
        report.case(name, problems, repeat)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
