#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conformance programs, as they were built, under another Open MPI, where there is one.

TEST_OPEN_MPI names the prefix of its installation, in which there is bin/mpirun. Without
it the test is skipped. It is for Open MPI 5 beside a build with Open MPI 4: both have the
same ABI, and the same preload is to carry programs of both. All arguments are those of
run_conformance.py.
"""

import os
import pathlib
import subprocess
import sys

SKIPPED = 77
PREFIX = "TEST_OPEN_MPI"
RUNNER = pathlib.Path(__file__).resolve().parent / "run_conformance.py"


def main(words):
    prefix = os.environ.get(PREFIX)
    if not prefix:
        print(f"skipped: {PREFIX} does not name the prefix of another Open MPI")
        return SKIPPED
    mpirun = pathlib.Path(prefix) / "bin/mpirun"
    if not os.access(mpirun, os.X_OK):
        print(f"{PREFIX}={prefix}: there is no bin/mpirun")
        return 1
    os.environ["PATH"] = f"{mpirun.parent}:{os.environ['PATH']}"
    library = f"{prefix}/lib:{os.environ.get('LD_LIBRARY_PATH', '')}"
    os.environ["LD_LIBRARY_PATH"] = library.rstrip(":")
    os.environ.setdefault("OMPI_MCA_pml", "")  # as that library chooses, see job.py
    print(subprocess.check_output([mpirun, "--version"], text=True).split("\n")[0])
    command = [sys.executable, "-B", RUNNER, *words]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
