#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Python program with mpi4py must print under BCS what it prints natively.

TEST_MPI4PY names a Python interpreter that has mpi4py for Open MPI; without it the one
that runs this, and Debian's, are tried. Skipped if none has it. To these programs the MPI
library comes by dlopen.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys

import job
import modes

SKIPPED = 77
VARIABLE = "TEST_MPI4PY"
PROGRAM = pathlib.Path(__file__).resolve().parent / "mpi4py_program.py"
LIBRARY = "import mpi4py.MPI as m; print(m.Get_library_version().split(',')[0])"


def interpreter():
    """A Python interpreter whose mpi4py uses Open MPI, or None."""
    named = os.environ.get(VARIABLE)
    for path in [named] if named else [sys.executable, "/usr/bin/python3"]:
        try:
            answer = subprocess.run(
                [path, "-c", LIBRARY],
                capture_output=True,
                text=True,
                check=False,
                env=job.mpirun_environment(),
            )
        except OSError:
            continue
        if answer.stdout.startswith("Open MPI"):
            print(f"{path}: mpi4py with {answer.stdout.strip()}")
            return path
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--native-launcher", required=True)
    parser.add_argument("--ranks", default="1,3")
    parser.add_argument(
        "--modes", default="demand-inline-one-direct-eager,timed-threads-nodes1"
    )
    arguments = parser.parse_args()
    python = interpreter()
    if python is None:
        print(f"skipped: no mpi4py for Open MPI; {VARIABLE} may name a Python with it")
        return SKIPPED
    report = job.Report()
    for n_ranks in arguments.ranks.split(","):
        words = ["-n", n_ranks, python, "-B", PROGRAM]
        native = job.run(
            shlex.split(arguments.native_launcher) + words, job.mpirun_environment()
        )
        for mode in modes.select(arguments.modes):
            command = shlex.split(arguments.launcher) + words
            result = job.run(command, job.mpirun_environment(modes.ALL[mode]))
            problems = []
            if native.status != 0 or "passed" not in native.stdout:
                problems.append(f"natively {native.status}, {native.stderr[-300:]!r}")
            if result.status != native.status:
                problems.append(f"status {result.status}, {result.stderr[-300:]!r}")
            if result.stdout != native.stdout:
                problems.append(f"{result.stdout!r}, natively {native.stdout!r}")
            name = f"mpi4py, {n_ranks} ranks, {mode}"
            report.case(name, problems, job.shell_line(command, modes.ALL[mode]))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
