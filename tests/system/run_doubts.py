#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of doubts.c: where a handler or a thread could go on, one line says so, and
the job goes on, with exit status 0; where none could, there is a verdict. A thread that MPI does not
allow to call is told of.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

import job
import modes
import run_referee

# The process that looks has the first port, which is not rank 0 where ports run backwards.
SUSPICION = re.compile(r"^bcs\[rank \d+\]: suspicion: these ranks wait for each other: (.*?)\. It is no "
                       r"proof of a deadlock, as rank 0 could still act: (.*)\. The job goes on$",
                       re.MULTILINE)
MISUSE = re.compile(r"^bcs\[rank 0\]: .*\n(?:  \d.*\n)*  MPI-3\.1, 12\.4\.3: .*$", re.MULTILINE)
PLACES = r"^  0: MPI_(Send|Recv).* at \w+, doubts\.c:\d+"
RECEIVES = "0-1 in MPI_Recv"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program doubts")
    parser.add_argument("--has-report", action="store_true", help="bcs-top is built")
    parser.add_argument("--mode", choices=run_referee.MODES, action="append",
                        help="in these, not in all")
    modes.add_in_turn(parser)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def cases_of(arguments):
    told = subprocess.run([arguments.program], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        name, suspicion, misuse = line.split("\t")
        if arguments.only in name:
            yield name, suspicion, misuse


def run(arguments, name, mode):
    """Run a case; it may go on as soon as a suspicion has been told."""
    command = [*shlex.split(arguments.launcher), "--oversubscribe", "-n", "2", arguments.program,
               name]
    started = job.Job(["sh", "-c", 'exec "$@" "$TMPDIR/go-on"', "sh", *command],
                      job.clean_environment(run_referee.MODES[mode]))
    try:
        if started.await_that(lambda: "suspicion" in started.errors_so_far(), arguments.timeout):
            with open(os.path.join(started.folder, "go-on"), "w", encoding="ascii"):
                pass
        return started.finish(arguments.timeout)
    finally:
        started.close()


def problem_of_words(found, expected):
    """What is wrong with what has been told of one kind, or None."""
    if expected == "-":
        return f"it says {found}" if found else None
    if len(found) != 1 or not re.search(expected, found[0]):
        return f"it does not say {expected!r} once, but {found}"
    return None


def problem_of(arguments, case, result):
    """What is wrong with a run, or None."""
    _, suspicion, misuse = case
    found = SUSPICION.findall(result.stderr)
    if suspicion == "stuck":
        if result.status != run_referee.STATUS or not run_referee.VERDICT.search(result.stderr):
            return "no verdict"
        return "a suspicion" if found else None
    if result.status != 0 or run_referee.VERDICT.search(result.stderr):
        return "it comes to an end"
    if any(calls != RECEIVES for calls, _ in found):
        return f"it names other calls: {found}"
    told = MISUSE.findall(result.stderr)
    if arguments.has_report and told and not re.search(PLACES, result.stderr, re.MULTILINE):
        return "it does not say where the thread calls"
    return problem_of_words([words for _, words in found], suspicion) \
        or problem_of_words(told, misuse)


def is_good(arguments, case, mode):
    result = run(arguments, case[0], mode)
    problem = problem_of(arguments, case, result)
    if problem:
        print(f"{case[0]}, {mode}: {problem}; {result.ending()}", flush=True)
    return not problem


def main():
    arguments = parse_arguments()
    names = arguments.mode or list(run_referee.MODES)
    runs = [(case, mode) for i, case in enumerate(cases_of(arguments))
            for mode in modes.of_case(names, i, arguments.in_turn)]
    n_good = sum(is_good(arguments, *one) for one in runs)
    print(f"{len(runs)} runs, {n_good} as expected")
    return 0 if n_good == len(runs) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
