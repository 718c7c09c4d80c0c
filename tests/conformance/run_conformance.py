#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs natively and under BCS and compares exit status and output.

Each program runs natively once for each number of ranks, then under BCS in every mode
(one node, nodes of 1 and of 2 ranks; direct and pooled copies). Standard output must be
equal to the letter. The time limit is only a guard against hangs.
"""

import argparse
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import job  # noqa: E402  (found through the line above)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun", help="starts a job under BCS")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, with commas")
    parser.add_argument(
        "--modes",
        default=",".join(job.MODES),
        help="with commas, from: " + ", ".join(job.MODES),
    )
    parser.add_argument(
        "--expect-failure",
        action="store_true",
        help="the programs must end with a status other than 0, not with the same one",
    )
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one run"
    )
    parser.add_argument(
        "programs", nargs="+", help="a program, with arguments if quoted"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.modes.split(",")) - set(job.MODES)
    if unknown:
        parser.error(f"unknown mode {', '.join(sorted(unknown))}")
    return arguments


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
    """What is wrong with a run under BCS, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s, output {result.stdout[-200:]!r}"]
    problems = []
    if expect_failure and result.status == 0:
        problems.append("ended with status 0")
    elif not expect_failure and result.status != native.status:
        problems.append(f"status {result.status}, {last_error_line(result)}")
    if result.stdout != native.stdout:
        problems.append(first_difference(native.stdout, result.stdout))
    return problems


def native_problems(result, expect_failure):
    """What is wrong with the native run, as a list of texts."""
    if result.status is None:
        return ["the native run hung"]
    if (result.status != 0) != expect_failure:
        return [f"native status {result.status}, {last_error_line(result)}"]
    return []


def main():
    arguments = parse_arguments()
    report = job.Report()
    for program in arguments.programs:
        name = pathlib.Path(shlex.split(program)[0]).name
        for n_ranks in arguments.ranks.split(","):
            words = ["-n", n_ranks, *shlex.split(program)]
            command = shlex.split(arguments.native_launcher) + words
            native = job.run(command, job.mpirun_environment(), arguments.timeout)
            problems = native_problems(native, arguments.expect_failure)
            if problems:
                report.case(
                    f"{name}, {n_ranks} ranks", problems, job.shell_line(command)
                )
                continue
            command = shlex.split(arguments.launcher) + words
            for mode in arguments.modes.split(","):
                extra = job.MODES[mode]
                environment = job.mpirun_environment(extra)
                result = job.run(command, environment, arguments.timeout)
                report.case(
                    f"{name}, {n_ranks} ranks, {mode}",
                    problems_of(result, native, arguments.expect_failure),
                    job.shell_line(command, extra),
                )
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
