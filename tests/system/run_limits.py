#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reaches limits, set low, and looks whether what stops or fails says so.

It must say it once, at the usual level of the log, with the name of the setting or of
what else to do. What fails must give MPI_ERR_NO_MEM; what stops for want of receives is
ended here.
"""

import argparse
import re
import shlex
import sys

import job

MADE = "made one\n"  # what the program says of some that it got
# What the program reaches, the settings, what is said, and whether the program then stops.
CASES = (
    ("requests", {"BCS_DESCRIPTORS": "64"},
     r"descriptors-used: 64 operations of rank 0 .*BCS_DESCRIPTORS", False),
    ("requests", {"BCS_LIMITS": "requests=50"}, r"requests-used: rank 0 has 50 ", False),
    ("communicators", {"BCS_COMMUNICATORS": "4"},
     r"communicators-used: rank 0 leads 4 .*BCS_COMMUNICATORS", False),
    ("messages", {"BCS_LIMITS": "kept_sends=8,ring=4,link=4"},
     r"messages-kept: rank 0 keeps 8 .*BCS_DESCRIPTORS", True),
    ("blocks", {"BCS_LIMITS": "blocks=8"}, r"blocks-used: rank 0 .*MPI_Isend", True),
)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program reach_limit")
    parser.add_argument("--timeout", type=float, default=60)
    return parser.parse_args()


def wait_for_notice(started, notice, timeout):
    """Whether a job that runs says something in time; the limit is against hangs."""
    return started.await_that(lambda: re.search(notice, started.errors_so_far()), timeout)


def problems_of(arguments, command, environment, notice, stops):
    """What is wrong with one case, as a list of texts."""
    if stops:
        started = job.Job(command, environment)
        is_said = wait_for_notice(started, notice, arguments.timeout)
        errors = started.errors_so_far()
        started.close()
        return [] if is_said else [f"{errors!r} lacks {notice!r}"]
    result = job.run(command, environment, arguments.timeout)
    problems = []
    if result.status != 0 or result.stdout != "no memory\n":
        problems.append(f"status {result.status}, {result.stdout!r}")
    after_all = result.stderr.rpartition(MADE)[2]
    if len(re.findall(notice, result.stderr)) != 1 or not re.search(notice, after_all):
        problems.append(f"not once, after all is made, {notice!r}: {result.stderr!r}")
    return problems


def main():
    arguments = parse_arguments()
    report = job.Report()
    for what, settings, notice, stops in CASES:
        command = [*shlex.split(arguments.launcher), "-n", "1", arguments.program, what]
        environment = job.mpirun_environment(settings)
        problems = problems_of(arguments, command, environment, notice, stops)
        report.case(f"{what} {settings}", problems, job.shell_line(command, settings))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
