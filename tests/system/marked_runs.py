# SPDX-License-Identifier: BSD-3-Clause
"""What run_lint.py and run_buffers.py have in common: programs with faults, whose lines are known
by marks in their sources, in C and in Fortran; and checks, of which each says what is wrong.
"""

import os
import re
import shlex

import job

MODES = {
    "inline": {},
    "inline, nodes of 1": {"BCS_NODE_RANKS": "1"},
    "inline, nodes of 2, pooled": {"BCS_NODE_RANKS": "2", "BCS_COPY": "pooled"},
    "inline, limits": {"BCS_LIMITS": "least"},
    "threads": {"BCS_DRIVER": "threads"},
    "threads, nodes of 1": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
    "timed": {"BCS_STROBE": "timed"},
    "timed, nodes of 1": {"BCS_STROBE": "timed", "BCS_NODE_RANKS": "1"},
    "timed, threads": {"BCS_STROBE": "timed", "BCS_DRIVER": "threads"},
    "timed, threads, nodes of 1": {"BCS_STROBE": "timed", "BCS_DRIVER": "threads",
                                   "BCS_NODE_RANKS": "1"},
}
RANKS = 4


def add_arguments(parser, program, is_required=True):
    """Options of both; program is the name of that in C, that in Fortran ends in _f."""
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=is_required, help=f"the program {program}")
    parser.add_argument("--source", required=is_required, help="its source")
    parser.add_argument("--fortran", help=f"the program {program}_f")
    parser.add_argument("--fortran-source", help="its source")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top is built, and knows lines")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these, not in all")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--timeout", type=float, default=120)


def lines_after_marks(source):
    """{mark: the lines on which the call behind it may be}."""
    with open(source, encoding="utf-8") as file:
        text = file.read().splitlines()
    found = {}
    for number, line in enumerate(text, 1):
        mark = re.search(r"mark: (\w+)", line)
        if mark:
            found[mark.group(1)] = range(number + 1, number + 4)
    return found


def launch(arguments, words, extra=None, options=()):
    """The result of a job: options of the launcher, words of the program with its path."""
    return job.run([*shlex.split(arguments.launcher), *options, "--oversubscribe", "-n", str(RANKS),
                    *words], job.clean_environment(extra), arguments.timeout)


class Runner:
    """Runs a program whose source has marks."""

    def __init__(self, arguments, program, source):
        self.arguments = arguments
        self.program = program
        self.name = os.path.basename(source)
        self.marks = lines_after_marks(source)

    def launch(self, words, extra, options=()):
        """The result of a job of the program."""
        return launch(self.arguments, [self.program, *words], extra, options)


def run_checks(checks):
    """Run checks, pairs of a name and a function that says what is wrong, or None. Returns the exit
    status: 1 also when there is none."""
    n_runs = n_good = 0
    for name, check in checks:
        problem = check()
        n_runs += 1
        n_good += problem is None
        if problem:
            print(f"{name}: {problem}", flush=True)
    print(f"{n_runs} runs, {n_good} as expected")
    return 0 if n_good == n_runs > 0 else 1
