#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs all conformance programs of a build folder in the whole matrix of modes.

The programs and their options are those of Meson's suite "conformance". Prints a line
for each failure and each mode in which a batch of programs or one program has run, and
at the end which programs failed under which values. A run that hangs is killed and
counted as failed.
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
import modes

RUNNER = "run_conformance.py"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, with commas")
    run_conformance.add_mode_arguments(parser)
    parser.set_defaults(modes="*")
    parser.add_argument(
        "--programs", default="*", help="patterns of programs' names, with commas"
    )
    parser.add_argument(
        "--late-in-turn", action="store_true",
        help="of two modes that differ in the arrival alone, one, in turn"
    )
    parser.add_argument("--jobs", type=int, default=1, help="jobs at the same time")
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one run"
    )
    arguments = parser.parse_args()
    run_conformance.select_modes(parser, arguments)
    if arguments.late_in_turn:
        arguments.modes = modes.taking_turns(arguments.modes)
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    try:
        arguments.tests = find_tests(arguments)
    except OSError as error:
        parser.error(f"--build {arguments.build}: no build folder of Meson: {error}")
    except ValueError as error:
        parser.error(str(error))
    return arguments


def read_tests(path):
    """Options of run_conformance.py by name of the test, as Meson has written them."""
    tests = {}
    for test in json.loads(path.read_text(encoding="utf-8")):
        is_ours = any(suite.endswith(":conformance") for suite in test["suite"])
        runners = [word for word in test["cmd"] if word.endswith(RUNNER)]
        if is_ours and runners:
            words = test["cmd"][test["cmd"].index(runners[0]) + 1 :]
            tests[test["name"]] = run_conformance.parse_arguments(words)
    return tests


def find_tests(arguments):
    """The tests to run in the whole matrix: a batch, and programs that run alone."""
    path = pathlib.Path(arguments.build) / "meson-info" / "intro-tests.json"
    tests = read_tests(path)
    batches = {name: test for name, test in tests.items() if test.batch}
    alone = {name: test for name, test in tests.items() if not test.batch}
    # Each batch is a part of the same whole.
    together = next(iter(batches.values()))
    names = [*together.programs, *alone]
    chosen = set()
    for pattern in arguments.programs.split(","):
        fitting = fnmatch.filter(names, pattern)
        if not fitting:
            raise ValueError(f"{path} has no conformance program {pattern!r}")
        chosen.update(fitting)
    together.programs = [name for name in together.programs if name in chosen]
    found = [together] if together.programs else []
    found += [test for name, test in alone.items() if name in chosen]
    for test in found:
        test.ranks, test.modes, test.timeout = (
            arguments.ranks,
            arguments.modes,
            arguments.timeout,
        )
        test.cover, test.only_ranks, test.only_modes = False, None, "*"
    return found


def run_mode(test, n_ranks, mode, natives):
    """Run a test's programs in one mode. Returns its name, cases and seconds."""
    start = time.monotonic()
    cases = list(run_conformance.run_in_mode(test, n_ranks, mode, natives))
    what = f"{len(natives)} programs" if len(natives) > 1 else cases[0].program
    return f"{what}, {n_ranks} ranks, {mode}", cases, time.monotonic() - start


def results_of(arguments):
    """Yields name, cases and seconds of each run as it ends. Nothing runs after it."""
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    futures = []
    try:
        for test in arguments.tests:
            for n_ranks, by_mode in run_conformance.launches(test).items():
                natives, failed = run_conformance.native_results(
                    test, n_ranks, test.programs
                )
                yield f"natively, {n_ranks} ranks", failed, 0.0
                for mode, names in by_mode.items():
                    compared = {name: natives[name] for name in names if name in natives}
                    if compared:
                        futures.append(
                            pool.submit(run_mode, test, n_ranks, mode, compared)
                        )
        for future in concurrent.futures.as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        job.stop_running()


def summary(failures):
    """A table: for each program that failed, how often under which value."""
    counts = collections.defaultdict(collections.Counter)
    for case in failures:
        values = modes.values_of(case.mode) if case.mode else ["native"]
        counts[case.program].update(["failed", *values, f"n={case.n_ranks}"])
        counts[case.program]["hung"] += case.is_hung
    present = set().union(*counts.values())
    order = ["failed", "hung", "native", *modes.VALUES]
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
        wrong = [case for case in cases if case.problems]
        failures += wrong
        if cases:
            print(f"{name}: {len(wrong)} of {len(cases)} failed, {seconds:.1f} s")
            sys.stdout.flush()
    if failures:
        print(summary(failures))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
