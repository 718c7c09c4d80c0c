#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs of deadlocks.c on machines that are played on this one: the report says what it says
on one machine, word for word; nothing is said of programs that come to an end.
"""

import argparse
import re
import shlex
import sys

import job

# With so many ranks, each of which is needed for the verdict: others may have told by then, or not.
STUCK = {"another_tag": 2, "another_communicator": 2, "probed_and_not_received": 2,
         "ring_of_long_sends": 4, "last_one_comes_late": 4}
GOOD = {"late_end_of_long_messages": 4, "late_one_of_many": 4}
FAR = {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"}
STATUS = 86


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def words_of(result):
    """What a run has said, without times; each line of the library's alone."""
    lines = [re.sub(r"for \d+\.\d s", "for a while", line) for line in result.stderr.splitlines()]
    return [line for line in lines if line.startswith(("bcs[", "  "))
            and not line.startswith("  Process name")]


def test_case(arguments, report, name, status):
    n_ranks = {**STUCK, **GOOD}[name]
    command = [*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(n_ranks),
               arguments.program, name]
    near, far = [job.run(command, job.clean_environment(extra), arguments.timeout)
                 for extra in ({}, FAR)]
    problems = [result.ending() for result in (near, far) if result.status != status]
    if words_of(near) != words_of(far):
        problems.append(f"{words_of(far)} in place of {words_of(near)}")
    report.case(name, problems, job.shell_line(command, FAR))


def main():
    arguments = parse_arguments()
    report = job.Report()
    for name in [*STUCK, *GOOD]:
        test_case(arguments, report, name, STATUS if name in STUCK else 0)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
