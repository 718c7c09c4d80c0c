#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a job that fork: a child that calls MPI, BCS, cBSP or BSPlib ends with one
line, one that does not ends as it likes, and the job goes on with its data untouched.
"""

import argparse
import re
import shlex
import sys

import job
import modes

# What a child calls, and its exit status.
MPI = {
    "MPI_Barrier": 1, "MPI_Send": 1, "100000 sends": 1, "MPI_Iprobe": 1, "MPI_Wait": 1,
    "MPI_Comm_dup": 1, "MPI_Win_allocate": 1, "MPI_Abort": 1, "MPI_Init": 1,
    "MPI_Finalize": 0, "MPI_Comm_rank": 0, "exit": 0, "a child of a child": 1,
}
N_SILENT = 2
MODES = ("demand-inline-one-direct-eager", "demand-inline-nodes1-pooled-eager",
         "timed-inline-one-direct-eager", "demand-threads-one-direct-eager")
# Exit statuses of the children, added up over 3 processes.
LIBRARIES = {"bcs": "3 3 3 0", "cbsp": "3 3 3 0", "bsp": "3 3 0"}
N_RANKS = 3
LINE = re.compile(r"^bcs(\[rank \d+\])?: .*: called by process \d+, a forked child of "
                  r"process \d+ of the job, which alone may call it; the job goes on "
                  r"without the child$")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program forked")
    parser.add_argument("--library", required=True, help="the program forked_library")
    return parser.parse_args()


def check(report, name, command, extra, stdout, n_lines):
    """The job must print this, and one line on standard error for each bad child."""
    result = job.run(command, job.mpirun_environment(extra))
    problems = []
    if result.status != 0:
        problems.append(f"status {result.status}")
    if result.stdout.strip() != stdout:
        problems.append(f"printed {result.stdout!r}")
    lines = result.stderr.splitlines()
    problems += [f"said {line!r}" for line in lines if not LINE.match(line)][:3]
    if len(lines) != n_lines:
        problems.append(f"{len(lines)} lines, not {n_lines}")
    report.case(name, problems, job.shell_line(command, extra))


def main():
    arguments = parse_arguments()
    report = job.Report()
    launch = [*shlex.split(arguments.launcher), "-n", str(N_RANKS)]
    wanted = "\n".join(f"{name}: {status}" for name, status in MPI.items())
    for mode in MODES:
        check(report, mode, [*launch, arguments.program], modes.ALL[mode], wanted,
              N_RANKS * (len(MPI) - N_SILENT))
    for library, statuses in LIBRARIES.items():
        n_lines = N_RANKS * statuses.count("3")
        check(report, library, [*launch, arguments.library, library], {}, statuses,
              n_lines)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
