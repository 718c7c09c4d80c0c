#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program that verifies itself under BCS, in the usual modes or those named."""

import argparse
import shlex
import sys

import job
import modes


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="exits with 0 if all is well")
    parser.add_argument("--arguments", default="", help="of the program")
    parser.add_argument(
        "--modes",
        default=",".join(job.MODES),
        help="patterns, with commas; run_conformance.py --list-modes lists modes",
    )
    parser.add_argument("--ranks", default="2,3,7", help="numbers of ranks, with commas")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable besides the mode's")
    parser.add_argument("--timeout", type=float, default=120)
    arguments = parser.parse_args()
    try:
        arguments.modes = modes.select(arguments.modes)
    except ValueError as error:
        parser.error(str(error))
    return arguments


def problems_of(result):
    """What is wrong with one run, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s"]
    if result.status != 0:
        return [result.ending()]
    return []


def main():
    arguments = parse_arguments()
    report = job.Report()
    for n_ranks in arguments.ranks.split(","):
        for mode in arguments.modes:
            extra = {**modes.ALL[mode], **dict(one.split("=", 1) for one in arguments.set)}
            launcher = shlex.split(arguments.launcher)
            program = [arguments.program, *shlex.split(arguments.arguments)]
            command = [*launcher, "-n", n_ranks, *program]
            environment = job.mpirun_environment(extra)
            result = job.run(command, environment, arguments.timeout)
            report.case(
                f"{n_ranks} ranks, {mode}",
                problems_of(result),
                job.shell_line(command, extra),
            )
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
