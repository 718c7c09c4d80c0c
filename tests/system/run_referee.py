#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of deadlocks.c: those that are stuck end with status 86 and a report that names
their ranks, calls and lines; the others end as natively, and nothing is said of them.
"""

import argparse
import re
import shlex
import subprocess
import sys

import job

MODES = {
    "inline": {},
    "inline, nodes of 1": {"BCS_NODE_RANKS": "1"},
    "inline, nodes of 2": {"BCS_NODE_RANKS": "2"},
    "inline, pooled": {"BCS_COPY": "pooled"},
    "inline, recorded": {"BCS_MDS": "all"},
    "inline, limits": {"BCS_LIMITS": "least"},
    "threads": {"BCS_DRIVER": "threads"},
    "threads, nodes of 2": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"},
    "timed": {"BCS_STROBE": "timed"},
    "timed, nodes of 1": {"BCS_STROBE": "timed", "BCS_NODE_RANKS": "1"},
    "timed, threads, nodes of 2": {"BCS_STROBE": "timed", "BCS_DRIVER": "threads",
                                   "BCS_NODE_RANKS": "2"},
}
STATUS = 86
VERDICT = re.compile(r"deadlock: ranks? ([\d,-]+) can never go on")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--has-report", action="store_true", help="bcs-top is built")
    parser.add_argument("--ranks", default="4", help="with how many ranks")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these, not in all")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def cases_of(arguments):
    told = subprocess.run([arguments.program], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        name, n_ranks, ending = line.split()
        if arguments.only in name:
            yield name, int(n_ranks), ending == "stuck"


def problem_of(arguments, is_stuck, result):
    """What is wrong with a run, or None."""
    said = VERDICT.search(result.stderr)
    if not is_stuck:
        return None if result.status == 0 and said is None else "it comes to an end"
    if result.status != STATUS or said is None:
        return "no verdict"
    if arguments.has_report and not re.search(r"^  [\d,.-]+: MPI_\w+", result.stderr,
                                              re.MULTILINE):
        return "no report"
    return None


def is_good(arguments, case, n_ranks, mode):
    name, _, is_stuck = case
    result = job.run([*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(n_ranks),
                      arguments.program, name],
                     job.clean_environment(MODES[mode]), arguments.timeout)
    problem = problem_of(arguments, is_stuck, result)
    if problem:
        print(f"{name}, {n_ranks} ranks, {mode}: {problem}; {result.ending()}", flush=True)
    return not problem


def main():
    arguments = parse_arguments()
    runs = [(case, n_ranks, mode) for case in cases_of(arguments)
            for mode in arguments.mode or MODES
            for n_ranks in map(int, arguments.ranks.split(",")) if n_ranks >= case[1]]
    n_good = sum(is_good(arguments, *one) for one in runs * arguments.repeat)
    print(f"{len(runs) * arguments.repeat} runs, {n_good} as expected")
    return 0 if n_good == len(runs) * arguments.repeat > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
