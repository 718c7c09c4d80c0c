#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The solvers of the paper on low latency messages: each way that a number can go from one
process to another gives the bits of the serial solution, on a core each and on more processes
than cores; wrong command lines and files are refused with a line that says what is allowed.

What the times are does not matter here.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402
import library_suite  # noqa: E402

N_PIPELINE_WAYS = 5
N_TRIANGLE_WAYS = 4
TIMES = r"^time: (?:iteration|computation|communication) -?\d+\.\d{4} us$"
TRIANGLE_TIMES = r"^time: (?:set-up|solve) \d+\.\d{4} ms$"

# Matrices as files: a pattern without order, and what a diagonal of zeros gives.
PATTERN = "\n".join(["%%MatrixMarket matrix coordinate pattern symmetric", "% of a test",
                     "60 60 111", *(f"{i} {1 + i * i % (i - 1)}" for i in range(3, 60)),
                     *(f"{i} {i // 2}" for i in range(6, 60))]) + "\n"
ZERO = "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 1\n2 1 1\n2 2 0\n"
SHORT = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n"

# Processes, program, options, words of the message.
REFUSED = (
    (1, "triangle", "--matrix {folder}/none.mtx", ("none.mtx", "No such file")),
    (2, "triangle", "--matrix {folder}/short.mtx", ("short.mtx:3:", "the file ends before")),
    (2, "triangle", "--matrix {folder}/zero.mtx", ("the pivot of row 2 is 0",)),
    (2, "triangle", "--grid 1500x1500 --by channels",
     ("numbers go from one process to another", "longer blocks")),
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

    def __init__(self, arguments, folder):
        super().__init__(arguments)
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        for name, text in (("pattern", PATTERN), ("zero", ZERO), ("short", SHORT)):
            (self.folder / f"{name}.mtx").write_text(text, encoding="ascii")
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
            ways = re.findall(r"^run: .*, by (.*)$", result.stdout, re.M)
            problems = [] if len(found) == times[1] else [f"times: {found}"]
            return problems + ([] if len(ways) == len(set(ways)) > 0 else [f"ways: {ways}"])

        where = "" if is_native else ", preload"
        self.succeed(f"{name} {' '.join(words)}, {n}{where}",
                     self.launch(n, name, words, is_native),
                     rf"^check solution +ok$|^channel_{name}: PASSED$", 2, look=look)

    def check_pipeline(self):
        for n, length in ((2, 512), (3, 3), (8, 64)):
            words = ["--by", "all", "--length", str(length), "--repeats", "2"]
            self.solve(n, "pipeline", words, (TIMES, 3 * N_PIPELINE_WAYS))
        words = ["--length", "64", "--repeats", "2"]
        self.solve(2, "pipeline", words, (TIMES, 3))
        self.solve(4, "pipeline", ["--by", "all", *words], (TIMES, 3 * N_PIPELINE_WAYS), False)

    def check_triangle(self):
        pattern = str(self.folder / "pattern.mtx")
        for n, options, is_native in (
                (1, ["--grid", "9x7"], True), (2, ["--grid", "40x30"], True),
                (3, ["--grid", "9x8x7", "--block", "5"], True),
                (4, ["--grid", "16x16", "--block", "16"], False),
                (8, ["--matrix", pattern], True),
                (3, ["--matrix", pattern, "--factor", "lower", "--block", "100"], True)):
            words = ["--by", "all", "--repeats", "2", *options]
            self.solve(n, "triangle", words, (TRIANGLE_TIMES, 2 * N_TRIANGLE_WAYS), is_native)

    def check_refusals(self):
        for n, name, options, words in REFUSED:
            options = options.format(folder=self.folder)
            command = self.launch(n, name, options.split())
            command = command if n > 1 else command[command.index("-n") + 2:]
            result = job.run(command, job.mpirun_environment(self.settings))
            lines = [line for line in result.stderr.splitlines()
                     if line.startswith(f"channel_{name}: ")]
            problems = [] if result.status == 2 else [
                f"status {result.status}: {result.stderr[-2000:]!r}"]
            if len(lines) != 1 or "PASSED" in result.stdout:
                problems.append(f"not one line: {result.stdout[:300]!r} "
                                f"{result.stderr[:300]!r}")
            problems += [f"{word!r} is not in {lines}" for word in words
                         if not any(word in line for line in lines)]
            self.report.case(f"refused: {name} {options}, {n}", problems,
                             job.shell_line(command))


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-solvers-") as folder:
        suite = Suite(parse_arguments(), folder)
        suite.check_pipeline()
        suite.check_triangle()
        suite.check_refusals()
        return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
