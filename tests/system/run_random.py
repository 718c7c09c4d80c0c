#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random_pattern with many seeds, on 2 to 8 ranks, through all modes in turn.

Every run verifies itself. With --native-every n, every n-th seed also runs natively,
and the two reports must be equal.
"""

import argparse
import random
import shlex
import sys

import job
import modes


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--program", required=True, help="the program random_pattern")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seeds", type=int, default=40, help="number of seeds")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--native-every", type=int, default=8)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def problems_of(result):
    """What is wrong with one run, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s"]
    if result.status != 0 or not result.stdout.endswith("passed\n"):
        lines = [line for line in result.stderr.splitlines() if line.strip("- \t")]
        return [f"status {result.status}, {lines[0] if lines else result.stdout!r}"]
    return []


def main():
    arguments = parse_arguments()
    report = job.Report()
    all_modes = list(modes.ALL.items())
    random.Random("modes").shuffle(all_modes)
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        n_ranks = 2 + seed % 7
        mode, extra = all_modes[seed % len(all_modes)]
        words = [
            "-n",
            str(n_ranks),
            arguments.program,
            str(seed),
            str(arguments.rounds),
        ]
        command = shlex.split(arguments.launcher) + words
        result = job.run(command, job.mpirun_environment(extra), arguments.timeout)
        problems = problems_of(result)
        if not problems and seed % arguments.native_every == 0:
            native = job.run(
                shlex.split(arguments.native_launcher) + words,
                job.mpirun_environment(),
                arguments.timeout,
            )
            if native.stdout != result.stdout:
                problems = [f"{result.stdout!r} but natively {native.stdout!r}"]
        report.case(
            f"seed {seed}, {n_ranks} ranks, {mode}",
            problems,
            job.shell_line(command, extra),
        )
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
