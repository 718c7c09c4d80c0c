#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that open the MPI library themselves and look up MPI's functions in it are carried: they
print what they print natively, and a deadlock is found. So are those that name libmpi_bcs.so as their MPI
library, also without bcsrun. All other look-ups are what they are without BCS.
"""

import argparse
import pathlib
import shlex
import sys

import job

PYTHON_PROGRAM = pathlib.Path(__file__).resolve().parent / "handles_program.py"
LIBRARY = "libmpi.so.40"
DEADLOCK = 86
N_RANKS = 2
SUMS = [f"rank {rank} of {N_RANKS}, sum {sum(range(N_RANKS))}" for rank in range(N_RANKS)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--shim", required=True, help="path of libbcs_mpi.so")
    parser.add_argument("--named", required=True, help="path of libmpi_bcs.so")
    parser.add_argument("--program", required=True, help="the program handles")
    parser.add_argument("--other", required=True, help="a library that is no MPI library")
    parser.add_argument("--has-report", action="store_true", help="bcs-top is built")
    return parser.parse_args()


def problems_of(arguments, result, status):
    problems = [] if result.status == status else [result.ending()]
    if sorted(result.stdout.split("\n"))[1:] != SUMS:
        problems.append(f"printed {result.stdout!r}")
    if arguments.has_report and status == DEADLOCK and "MPI_Recv, receive from rank 1, tag 3" not in result.stderr:
        problems.append(f"said {result.stderr[:500]!r}")
    return problems


def test_carried(arguments, report, program, launch, library, scopes=("local", "global")):
    """A program's ways to open a library."""
    for scope in scopes:
        for act, status in (("sum", 0), ("dead", DEADLOCK)):
            command = [*launch, "-n", str(N_RANKS), *program, library, scope, act]
            result = job.run(command, job.mpirun_environment())
            name = f"{pathlib.Path(program[-1]).name}, {launch[0]}, {library}, {scope}, {act}"
            report.case(name, problems_of(arguments, result, status), job.shell_line(command))


def look_up(arguments, library, extra):
    command = [arguments.program, library, "local", "lookups"]
    result = job.run(command, job.mpirun_environment(extra))
    return result, result.stdout.splitlines()


def test_lookups(arguments, report):
    """What does not ask the MPI library for a function that BCS has is answered as without it."""
    preload = {"LD_PRELOAD": arguments.shim}
    _, plain = look_up(arguments, LIBRARY, {})
    result, preloaded = look_up(arguments, LIBRARY, preload)
    # What comes next behind the program is the preload; behind the preload it would be the C library.
    ours = [f"{name}: libbcs_mpi.so" for name in ("handle MPI_Send", "handle PMPI_Send", "next dlsym")]
    n = len(ours)
    problems = [] if result.status == 0 and preloaded[:n] == ours else [result.ending(), *preloaded[:n]]
    if preloaded[n:] != plain[n:] or len(plain) < 9:
        problems.append(f"{preloaded[n:]}, without BCS {plain[n:]}")
    report.case("look-ups", problems)
    # The name of the library that a function was found in decides.
    plain, preloaded = (look_up(arguments, arguments.other, extra)[1] for extra in ({}, preload))
    report.case("look-ups in another library",
                [] if plain[:2] == preloaded[:2] and "handles_other" in plain[0] else [f"{preloaded}"])


def main():
    arguments = parse_arguments()
    report = job.Report()
    bcsrun = shlex.split(arguments.launcher)
    python = [sys.executable, "-B", str(PYTHON_PROGRAM)]
    for program in ([arguments.program], python):
        test_carried(arguments, report, program, bcsrun, LIBRARY)
        test_carried(arguments, report, program, bcsrun, arguments.named)
        test_carried(arguments, report, program, ["mpirun"], arguments.named)
    test_carried(arguments, report, python, bcsrun, LIBRARY, ["deep"])
    test_lookups(arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
