#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs sweep3d on several process grids, blocking and non-blocking, natively and under
BCS: all that it prints must be equal to what one rank prints, to the last bit.

Lines that begin with "run:" or "time:" tell how the program was run and do not count.
Each grid runs natively and in one mode of BCS, which takes turns; with --all in all modes.
"""

import argparse
import itertools
import re
import shlex
import sys

import job

GRIDS = ("1x1", "2x1", "1x2", "2x2", "4x1", "3x2", "2x3")
WAYS = {"--blocking": "blocking", "--nonblocking": "non-blocking"} # as the program tells them


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--sweep3d", required=True, help="the program sweep3d")
    parser.add_argument("--input", required=True, help="its input file")
    parser.add_argument("--all", action="store_true", help="every grid in all modes")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def results_of(stdout):
    """The lines that must not depend on how the program was run."""
    lines = stdout.splitlines()
    return [line for line in lines if not line.startswith(("run:", "time:"))]


def problems_of(result, expected, is_carried, way):
    """What is wrong with one run, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s"]
    if result.status != 0:
        return [result.ending()]
    if is_carried and "Passed to the MPI library: nothing" not in result.stderr:
        return ["the report does not say that BCS has carried everything"]
    if not re.search(rf"^run: .*, {WAYS[way]}$", result.stdout, re.MULTILINE):
        return [f"no line of a run that is {WAYS[way]}: {result.stdout[:300]!r}"]
    pairs = itertools.zip_longest(results_of(result.stdout), expected)
    return [f"{line!r} instead of {other!r}" for line, other in pairs if line != other]


class Suite:
    """Runs the cases and compares each with the same reference."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.report = job.Report()
        self.expected = None

    def run_one(self, grid, way, mode):
        """One job: mode is a name of job.MODES, or None for a native run."""
        columns, rows = map(int, grid.split("x"))
        launcher = self.arguments.launcher if mode else self.arguments.native_launcher
        program = [self.arguments.sweep3d, way, "--grid", grid, self.arguments.input]
        command = [*shlex.split(launcher), "-n", str(columns * rows), *program]
        extra = {"BCS_MDS": "mmds", **job.MODES[mode]} if mode else {}
        environment = job.mpirun_environment(extra)
        result = job.run(command, environment, self.arguments.timeout)
        if self.expected is None:
            self.expected = results_of(result.stdout)
        problems = problems_of(result, self.expected, bool(mode), way)
        name = f"{grid} {way}, {mode or 'native'}"
        self.report.case(name, problems, job.shell_line(command, extra))
        return not problems

    def run(self):
        """The first run, on one rank, is the reference."""
        modes = itertools.cycle(job.MODES)
        for grid, way in itertools.product(GRIDS, WAYS):
            is_native = self.arguments.all or way == "--blocking"
            if is_native and not self.run_one(grid, way, None):
                break
            chosen = list(job.MODES) if self.arguments.all else [next(modes)]
            for mode in chosen:
                self.run_one(grid, way, mode)
        return self.report.end()


if __name__ == "__main__":
    sys.exit(Suite(parse_arguments()).run())
