#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs natively and under BCS and compares exit status and output.

Each program runs natively once for each number of ranks, then under BCS in all modes,
in those that --modes names, or, with --cover, in a few of them. Standard output must be
equal to the letter. The time limit is only a guard against hangs.
"""

import argparse
import dataclasses
import fnmatch
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import job  # noqa: E402  (found through the line above)
import modes  # noqa: E402


@dataclasses.dataclass
class Case:
    """What has come of one run; mode is None for the native one."""

    program: str
    n_ranks: str
    mode: str
    problems: list
    is_hung: bool
    repeat: str

    def __str__(self):
        return f"{self.program}, {self.n_ranks} ranks, {self.mode or 'native'}"


def parse_arguments(words):
    """The options in words; modes becomes a list of names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun", help="starts a job under BCS")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, with commas")
    add_mode_arguments(parser)
    parser.add_argument(
        "--cover",
        action="store_true",
        help="only a few runs, such that any two values, or a value and a number of "
        "ranks, that may meet do so in one of them",
    )
    parser.add_argument(
        "--needs-buffering",
        action="store_true",
        help="the programs rely on buffered standard sends: not in modes with none",
    )
    parser.add_argument(
        "--expect-failure",
        action="store_true",
        help="the programs must end with a status other than 0, not with the same one",
    )
    parser.add_argument(
        "--native-may-fail",
        action="store_true",
        help="where the MPI library itself fails a program, say so, and expect that the "
        "program ends well under BCS, without comparing its output",
    )
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one run"
    )
    parser.add_argument(
        "programs", nargs="*", help="a program, with arguments if quoted"
    )
    arguments = parser.parse_args(words)
    select_modes(parser, arguments)
    if not arguments.programs:
        parser.error("no program is named")
    return arguments


def add_mode_arguments(parser):
    """The options that choose modes."""
    parser.add_argument(
        "--modes",
        default="*",
        help="patterns of modes as for file names, with commas; a name without some "
        "kinds of values, as nodes1-pooled, has the usual ones of those",
    )
    parser.add_argument(
        "--list-modes", action="store_true", help="print the modes and what they set"
    )


def select_modes(parser, arguments):
    """Make a list of names of the option --modes, or print it and end."""
    try:
        arguments.modes = modes.select(arguments.modes)
    except ValueError as error:
        parser.error(str(error))
    if arguments.list_modes:
        print(modes.listing(arguments.modes))
        parser.exit()


def first_difference(native, carried):
    """A text that shows the first line in which two outputs differ."""
    native_lines, carried_lines = native.splitlines(), carried.splitlines()
    for number, (left, right) in enumerate(zip(native_lines, carried_lines), 1):
        if left != right:
            return f"line {number} is {right!r}, natively {left!r}"
    return f"{len(carried_lines)} lines of output, natively {len(native_lines)}"


def last_error_line(result):
    """The end of standard error, for the failure's line."""
    lines = [line for line in result.stderr.splitlines() if line.strip("- \t")]
    told = [line for line in lines if "not true" in line or line.startswith("bcs")]
    return (told or lines or ["nothing on standard error"])[0]


def problems_of(result, native, expect_failure):
    """What is wrong with a run under BCS, as a list of texts; native may be None."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s, output {result.stdout[-200:]!r}"]
    problems = []
    if expect_failure and result.status == 0:
        problems.append("ended with status 0")
    elif not expect_failure and result.status != (native.status if native else 0):
        problems.append(f"status {result.status}, {last_error_line(result)}")
    if native and result.stdout != native.stdout:
        problems.append(first_difference(native.stdout, result.stdout))
    return problems


def native_problems(result, expect_failure):
    """What is wrong with the native run, as a list of texts."""
    if result.status is None:
        return ["the native run hung"]
    if (result.status != 0) != expect_failure:
        return [f"native status {result.status}, {last_error_line(result)}"]
    return []


def planned(arguments, program):
    """The modes to run a program in, as a list for each number of ranks."""
    names = arguments.modes
    if arguments.needs_buffering:
        names = [name for name in names if not fnmatch.fnmatch(name, "*-none")]
    numbers = arguments.ranks.split(",")
    cases = [(n_ranks, *name.split("-")) for n_ranks in numbers for name in names]
    if arguments.cover:
        cases = modes.cover(cases, " ".join([name_of(program), *numbers]))
    plan = {n_ranks: [] for n_ranks, *_ in cases}
    for n_ranks, *values in cases:
        plan[n_ranks].append("-".join(values))
    return plan


def name_of(program):
    """A program's name, with its arguments, without its folder."""
    first, *others = shlex.split(program)
    return " ".join([pathlib.Path(first).name, *others])


def run_program(arguments, program, n_ranks, names):
    """Run a program natively, then in the modes of these names. Yields Cases."""
    words = ["-n", n_ranks, *shlex.split(program)]

    def case(mode, result, problems, command):
        is_hung = result.status is None
        repeat = job.shell_line(command, modes.ALL.get(mode))
        return Case(name_of(program), n_ranks, mode, problems, is_hung, repeat)

    command = shlex.split(arguments.native_launcher) + words
    native = job.run(command, job.mpirun_environment(), arguments.timeout)
    problems = native_problems(native, arguments.expect_failure)
    if problems and not arguments.native_may_fail:
        yield case(None, native, problems, command)
        return
    if problems:
        print(f"not compared: {name_of(program)}, {n_ranks} ranks: {problems[0]}")
        native = None
    command = shlex.split(arguments.launcher) + words
    for mode in names:
        environment = job.mpirun_environment(modes.ALL[mode])
        result = job.run(command, environment, arguments.timeout)
        problems = problems_of(result, native, arguments.expect_failure)
        yield case(mode, result, problems, command)


def main():
    arguments = parse_arguments(sys.argv[1:])
    report = job.Report()
    for program in arguments.programs:
        for n_ranks, names in planned(arguments, program).items():
            for case in run_program(arguments, program, n_ranks, names):
                report.case(str(case), case.problems, case.repeat)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
