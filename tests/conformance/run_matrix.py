#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all conformance programs of a build folder in the whole matrix of modes.

The programs and their options are those of Meson's suite "conformance". Prints a line
for each failure and each program, and at the end which programs failed under which
values. A run that hangs is killed and counted as failed.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import pathlib
import sys
import time

import run_conformance  # makes job importable
import job

RUNNER = "run_conformance.py"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, with commas")
    run_conformance.add_mode_arguments(parser)
    parser.add_argument(
        "--programs", default="*", help="patterns of programs' names, with commas"
    )
    parser.add_argument("--jobs", type=int, default=1, help="programs at the same time")
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one run"
    )
    arguments = parser.parse_args()
    run_conformance.select_modes(parser, arguments)
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    try:
        arguments.tests = find_tests(arguments)
    except OSError as error:
        parser.error(f"--build {arguments.build}: no build folder of Meson: {error}")
    except ValueError as error:
        parser.error(str(error))
    return arguments


def find_tests(arguments):
    """Options of run_conformance.py by name of the test, as Meson has written them."""
    path = pathlib.Path(arguments.build) / "meson-info" / "intro-tests.json"
    tests = {}
    for test in json.loads(path.read_text(encoding="utf-8")):
        is_ours = any(suite.endswith(":conformance") for suite in test["suite"])
        runners = [word for word in test["cmd"] if word.endswith(RUNNER)]
        if is_ours and runners:
            words = test["cmd"][test["cmd"].index(runners[0]) + 1 :]
            tests[test["name"]] = run_conformance.parse_arguments(words)
    chosen = set()
    for pattern in arguments.programs.split(","):
        fitting = fnmatch.filter(tests, pattern)
        if not fitting:
            raise ValueError(f"{path} has no conformance program {pattern!r}")
        chosen.update(fitting)
    return {name: test for name, test in tests.items() if name in chosen}


def run_test(arguments, name):
    """Run one program in the whole matrix. Returns its cases and how long it took."""
    test = arguments.tests[name]
    test.ranks, test.modes = arguments.ranks, arguments.modes
    test.timeout, test.cover = arguments.timeout, False
    start = time.monotonic()
    cases = []
    for program in test.programs:
        for n_ranks, names in run_conformance.planned(test, program).items():
            cases += run_conformance.run_program(test, program, n_ranks, names)
    return cases, time.monotonic() - start


def results_of(arguments):
    """Yields name, cases and seconds of each test as it ends. Nothing runs after it."""
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    names = {pool.submit(run_test, arguments, name): name for name in arguments.tests}
    try:
        for future in concurrent.futures.as_completed(names):
            yield names[future], *future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        job.stop_running()


def summary(failures):
    """A table: for each program that failed, how often under which value."""
    counts = collections.defaultdict(collections.Counter)
    for name, case in failures:
        values = case.mode.split("-") if case.mode else ["native"]
        counts[name].update(["failed", *values, f"n={case.n_ranks}"])
        counts[name]["hung"] += case.is_hung
    present = set().union(*counts.values())
    order = ["failed", "hung", "native", *run_conformance.modes.VALUES]
    ranks = sorted(present - set(order), key=lambda column: int(column[2:]))
    columns = [column for column in order if column in present] + ranks
    lines = [" ".join([f"{'failures':24}", *columns])]
    for name, row in sorted(counts.items()):
        cells = [f"{row[column]:{len(column)}}" for column in columns]
        lines.append(" ".join([f"{name:24}", *cells]))
    return "\n".join(lines)


def main():
    arguments = parse_arguments()
    report = job.Report()
    failures = []
    for name, cases, seconds in results_of(arguments):
        for case in cases:
            report.case(str(case), case.problems, case.repeat)
        wrong = [(name, case) for case in cases if case.problems]
        failures += wrong
        n_passed = len(cases) - len(wrong)
        print(f"{name:24} {n_passed:4} passed, {len(wrong):3} failed, {seconds:5.1f} s")
        sys.stdout.flush()
    if failures:
        print(summary(failures))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
