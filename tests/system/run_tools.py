#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A profiling tool above and below the preload counts what it counts without bcs.

Each program runs natively with the tool, then with the tool in front of the preload and
behind it. Output, which has the tool's counts at its end, must be the same.
"""

import argparse
import pathlib
import shlex
import sys

import job


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="bcsrun")
    parser.add_argument("--native-launcher", required=True, help="bcsrun --native")
    parser.add_argument("--shim", required=True, help="path of libbcs_mpi.so")
    parser.add_argument("--tool", required=True, help="path of the tool")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("programs", nargs="+")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    report = job.Report()
    native = shlex.split(arguments.native_launcher)
    ways = {
        "above": (shlex.split(arguments.launcher), arguments.tool),
        "below": (native, f"{arguments.shim}:{arguments.tool}"),
    }

    def run(launcher, preload, program):
        words = ["-n", arguments.ranks, "-x", f"LD_PRELOAD={preload}", program]
        command = launcher + words
        return command, job.run(command, job.mpirun_environment())

    for program in arguments.programs:
        _, plain = run(native, arguments.tool, program)
        for way, (launcher, preload) in ways.items():
            command, result = run(launcher, preload, program)
            problems = []
            # Fortran's functions call PMPI_ names only: the tool sees nothing of them.
            is_seen = "MPI_Send " in plain.stdout or "fortran" in program
            if plain.status != 0 or not is_seen:
                problems.append(f"natively status {plain.status}, {plain.stderr[:200]!r}")
            if result.status != plain.status:
                problems.append(f"status {result.status}, {result.stderr[:200]!r}")
            if result.stdout != plain.stdout:
                problems.append(f"{result.stdout!r}, natively {plain.stdout!r}")
            name = f"{pathlib.Path(program).name}, the tool {way}"
            report.case(name, problems, job.shell_line(command))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
