#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The solvers of the paper on low latency messages: each way that a number can go from one
process to another gives the bits of the serial solution, on a core each and on more processes
than cores; wrong command lines are refused with a line that says what is allowed.

What the times are does not matter here.
"""

import argparse
import os
import pathlib
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402
import library_suite  # noqa: E402

N_WAYS = 4
TIMES = r"^time: (?:iteration|computation|communication) -?\d+\.\d{4} us$"

# Processes, program, options, words of the message.
REFUSED = (
    (1, "pipeline", "--by magic", ("--by is 'magic'", "mpi, reopened, open, handlers or all")),
    (1, "pipeline", "--by", ("--by", "needs a value")),
    (1, "pipeline", "--length 0", ("--length is '0'", "from 1 to 1048576")),
    (1, "pipeline", "--length 2k", ("--length is '2k'", "whole number")),
    (1, "pipeline", "--length -8", ("--length is '-8'", "whole number")),
    (1, "pipeline", "--repeats 1001", ("--repeats is '1001'", "from 1 to 1000")),
    (1, "pipeline", "--rows 3", ("--rows", "not an option", "--length N")),
    (1, "pipeline", "2048", ("'2048'", "not an option")),
    (1, "pipeline", "", ("1 processes", "2 or more")),
    (3, "pipeline", "--length 32", ("3 processes and --length 32", "a multiple")),
)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--programs", required=True, help="the folder that they are in")
    library_suite.add_arguments(parser)
    return parser.parse_args()


class Suite(library_suite.LibrarySuite):
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments
        self.programs = pathlib.Path(arguments.programs)

    def launch(self, n, name, words, is_native=True):
        """The command of one of the programs."""
        mode = ["--native"] if is_native else []
        return [self.arguments.bcsrun, *mode, "-n", str(n),
                str(self.programs / f"channel_{name}"), *words]

    def solve(self, n, name, words, times, is_native=True):
        """A solve must pass, and print its times."""
        def look(result):
            found = re.findall(times[0], result.stdout, re.M)
            return [] if len(found) == times[1] else [f"times: {found}"]

        where = "" if is_native else ", preload"
        self.succeed(f"{name} {' '.join(words)}, {n}{where}",
                     self.launch(n, name, words, is_native),
                     rf"^check solution +ok$|^channel_{name}: PASSED$", 2, look=look)

    def check_pipeline(self):
        for n, length in ((2, 512), (3, 3), (8, 64)):
            words = ["--by", "all", "--length", str(length), "--repeats", "2"]
            self.solve(n, "pipeline", words, (TIMES, 3 * N_WAYS))
        words = ["--length", "64", "--repeats", "2"]
        self.solve(2, "pipeline", words, (TIMES, 3))
        self.solve(4, "pipeline", ["--by", "all", *words], (TIMES, 3 * N_WAYS), False)

    def check_refusals(self):
        for n, name, options, words in REFUSED:
            command = self.launch(n, name, options.split())
            command = command if n > 1 else command[command.index("-n") + 2:]
            result = job.run(command, job.mpirun_environment(self.settings))
            lines = [line for line in result.stderr.splitlines()
                     if line.startswith(f"channel_{name}: ")]
            problems = [] if result.status == 2 else [f"status {result.status}"]
            if len(lines) != 1 or result.stdout:
                problems.append(f"not one line: {result.stdout[:300]!r} "
                                f"{result.stderr[:300]!r}")
            problems += [f"{word!r} is not in {lines}" for word in words
                         if not any(word in line for line in lines)]
            self.report.case(f"refused: {name} {options}, {n}", problems,
                             job.shell_line(command))


def main():
    suite = Suite(parse_arguments())
    suite.check_pipeline()
    suite.check_refusals()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
