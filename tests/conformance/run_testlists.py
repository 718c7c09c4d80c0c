#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a built MPI test suite natively and in modes of BCS, and tells what differs.

For suites in the manner of MPICH's test/mpi: each folder has a file "testlist" with
lines "program ranks [arg=A] [env=K=V] [resultTest=T]", and a program that passes ends
with status 0 and says "No Errors"; with a resultTest, its status counts alone. Nothing
of such a suite is here: build one with Open MPI's mpicc and name its folder. A program
that passes natively fails in a mode if it does not pass, or takes more than --slow
times as long and a second more.
"""

import argparse
import collections
import pathlib
import sys

import run_conformance  # makes job importable
import job

PASSES = "No Errors"

Case = collections.namedtuple("Case", "name command environment status_only")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--suite", required=True, help="the suite's built test/mpi")
    parser.add_argument("--lists", help="test/mpi with the testlists, if elsewhere")
    parser.add_argument("--slow", type=float, default=10, help="how much is too slow")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    run_conformance.add_mode_arguments(parser)
    parser.add_argument("folders", nargs="+", help="folders of the suite, or f/program")
    arguments = parser.parse_args()
    run_conformance.select_modes(parser, arguments)
    return arguments


def read_line(folder, title, line):
    """The case of one line of a folder's testlist, None if it has none that is built."""
    words = line.split("#")[0].split()
    program = folder / words[0] if words else None
    if program is None or not program.is_file():
        return None
    n_ranks = words[1] if len(words) > 1 and words[1].isdigit() else "2"
    options = [word.split("=", 1) for word in words[2:] if "=" in word]
    arguments = [value for name, value in options if name == "arg"]
    environment = dict(v.split("=", 1) for name, v in options if name == "env")
    return Case(
        " ".join([f"{title}/{words[0]}", n_ranks, *words[2:]]),
        ["-n", n_ranks, str(program), *arguments],
        environment,
        any(name == "resultTest" for name, _ in options),
    )


def find_cases(suite, lists, name):
    """The cases of a folder, or of one program in it, each once."""
    folder = suite / name
    wanted = None
    if not folder.is_dir():
        folder, wanted = folder.parent, folder.name
    title = folder.relative_to(suite)
    lines = (lists / title / "testlist").read_text(encoding="utf-8").splitlines()
    cases = filter(None, (read_line(folder, title, line) for line in lines))
    named = {case.name: case for case in cases}
    return [
        case
        for case_name, case in named.items()
        if wanted in (None, pathlib.PurePath(case_name.split()[0]).name)
    ]


def run_case(arguments, case, environment, option=()):
    """Run it once. Returns the result and whether the suite would call it passed."""
    launcher = pathlib.Path(arguments.build) / "apps/tools/launch/bcsrun"
    result = job.run(
        [str(launcher), *option, *case.command],
        job.clean_environment({**case.environment, **environment}),
        arguments.timeout,
    )
    return result, result.status == 0 and PASSES in result.stdout


def problems_of(case, native, result, has_passed, slow):
    """Texts that say how a run under BCS is worse than the native one."""
    if result.status is None:
        return [f"hangs, or takes more than {result.seconds:.0f} s"]
    if case.status_only and result.status == native.status:
        has_passed = True
    if not has_passed:
        return [f"status {result.status}: {(result.stdout + result.stderr)[-300:]}"]
    if result.seconds > slow * native.seconds + 1:
        return [f"{result.seconds:.1f} s, natively {native.seconds:.1f} s"]
    return []


def run_folder(arguments, name, report):
    """Run a folder natively and in all chosen modes, and print a line about it."""
    n_native, n_cases, failures = 0, 0, dict.fromkeys(arguments.modes, 0)
    suite = pathlib.Path(arguments.suite).resolve()
    for case in find_cases(suite, pathlib.Path(arguments.lists or suite), name):
        n_cases += 1
        native, has_passed = run_case(arguments, case, {}, ("--native",))
        if native.status is None or not (has_passed or case.status_only):
            continue
        n_native += 1
        for mode in arguments.modes:
            result, has_passed = run_case(arguments, case, job.modes.ALL[mode])
            found = problems_of(case, native, result, has_passed, arguments.slow)
            failures[mode] += bool(found)
            report.case(f"{case.name} {mode}", found)
    shown = ", ".join(f"{mode} {n_native - n}" for mode, n in failures.items())
    print(f"{name}: {n_cases} programs, pass natively {n_native}; {shown}", flush=True)


def main():
    arguments = parse_arguments()
    report = job.Report()
    for name in arguments.folders:
        run_folder(arguments, name, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
