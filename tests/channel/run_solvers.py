#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The solvers of the paper on low latency messages: each way that a number can go from one
process to another gives the bits of the serial solution, on a core each and on more processes
than cores; wrong command lines and files are refused with a line that says what is allowed; and
channel-reproduce writes its tables and drawings.

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
    (1, "pipeline", "--by magic", ("--by is 'magic'", "mpi, reopened, open, handlers, fetch or all")),
    (1, "pipeline", "--by", ("--by", "needs a value")),
    (1, "pipeline", "--length 0", ("--length is '0'", "from 1 to 1048576")),
    (1, "pipeline", "--length 2k", ("--length is '2k'", "whole number")),
    (1, "pipeline", "--length -8", ("--length is '-8'", "whole number")),
    (1, "pipeline", "--repeats 1001", ("--repeats is '1001'", "from 1 to 1000")),
    (1, "pipeline", "--rows 3", ("--rows", "not an option", "--length N")),
    (1, "pipeline", "2048", ("'2048'", "not an option")),
    (1, "pipeline", "", ("1 processes", "2 or more")),
    (1, "triangle", "--by open", ("--by is 'open'", "mpi, channels, levels, fetch or all")),
    (1, "triangle", "--grid 12", ("--grid is '12'", "NXxNY or NXxNYxNZ")),
    (1, "triangle", "--grid 4x1", ("--grid is '4x1'", "2 or more")),
    (1, "triangle", "--grid 4x4x4x4", ("--grid is '4x4x4x4'", "2 or more")),
    (1, "triangle", "--grid 4x4x", ("--grid is '4x4x'", "2 or more")),
    (1, "triangle", "--grid 5000x5000", ("--grid is", "16777216 points at most")),
    (1, "triangle", "--factor lu", ("--factor is 'lu'", "ilu or lower")),
    (1, "triangle", "--block 0", ("--block is '0'", "from 1 to 16777216")),
    (1, "triangle", "--matrix {folder}/none.mtx", ("none.mtx", "No such file")),
    (2, "triangle", "--matrix {folder}/short.mtx", ("short.mtx:3:", "the file ends before")),
    (2, "triangle", "--matrix {folder}/zero.mtx", ("the pivot of row 2 is 0",)),
    (2, "triangle", "--grid 1500x1500 --by channels",
     ("numbers go from one process to another", "longer blocks")),
    (3, "pipeline", "--length 32", ("3 processes and --length 32", "a multiple")),
)

# Options of channel-reproduce, and a word of what it says.
REPRODUCE_REFUSED = (
    ("--only nothing", "--only"),
    ("--ranks 3", "--ranks"),
    ("--rounds 0", "--rounds"),
    ("--matrix nowhere.mtx", "nowhere.mtx: there is no such file"),
    ("--write nowhere.md", "nowhere.md"),
    ("--build {folder}", "bcsrun is not in"),
)
DOCUMENT = "".join(f"<!-- {part} of channel-reproduce: begin -->\nold\n"
                   f"<!-- {part} of channel-reproduce: end -->\n"
                   for part in ("pipeline", "triangle"))
TIME = r"[0-9.]+ [mu]s"
RATIO = r"[0-9.]+ \([0-9.]+ to [0-9.]+\)"
WRITTEN = {
    "native MPI": rf"^\| MPI, native +\| +2 \| +474 us \|( +{TIME} \|){{3}} +1.00 \| +"
                  r"1.00 \(1.00 to 1.00\) \|$",
    "MPI of BCS": rf"^\| MPI, BCS +\| +2 \| +- \|( +{TIME} \|){{3}} +- \| +{RATIO} \|$",
    "an open channel": rf"^\| channel left open +\| +2 \| +4 us \|( +{TIME} \|){{3}} +"
                       rf"0.00844 \| +{RATIO} \|$",
    "a bar": r"^\| channel left open / MPI, native: communication +\| +2 \| +0.35 \| +"
             r"[0-9.]+ \| +(met|missed) \|$",
    "levels of a grid": rf"^\| 2-D, 60x60 +\| +60 \| +2 \| +levels, MPI, native \|"
                        rf"( +{TIME} \|){{3}} +{RATIO} \|$",
    "fetches of a file": rf"^\| pattern.mtx +\| +1 \| +2 \| +fetch on condition \|"
                         rf"( +{TIME} \|){{3}} +{RATIO} \|$",
    "a drawing": r"^!\[Figure pipeline\]\(document/figure-pipeline.svg\)$",
    "the other drawing": r"^!\[Figure triangle\]\(document/figure-triangle.svg\)$",
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--build", required=True, help="the build folder")
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
        self.programs = pathlib.Path(arguments.build) / "apps" / "channel"

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
            problems = [] if result.status == 2 else [f"status {result.status}"]
            if len(lines) != 1 or "PASSED" in result.stdout:
                problems.append(f"not one line: {result.stdout[:300]!r} "
                                f"{result.stderr[:300]!r}")
            problems += [f"{word!r} is not in {lines}" for word in words
                         if not any(word in line for line in lines)]
            self.report.case(f"refused: {name} {options}, {n}", problems,
                             job.shell_line(command))

    def reproduce(self, options):
        """Run channel-reproduce. Returns the result and the line that repeats it."""
        command = [str(self.programs / "channel-reproduce"), *options]
        return job.run(command, job.mpirun_environment(), 240), job.shell_line(command)

    def check_reproduction(self):
        path = self.folder / "document.md"
        path.write_text(DOCUMENT, encoding="utf-8")
        result, line = self.reproduce(
            ["--build", self.arguments.build, "--quick", "--ranks", "2", "--write", str(path),
             "--matrix", str(self.folder / "pattern.mtx")])
        text = path.read_text(encoding="utf-8")
        problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[:500]}"]
        problems += [f"no {what}" for what, pattern in WRITTEN.items()
                     if not re.search(pattern, text, re.M)]
        bar = re.search(r"communication +\| +2 \| +0.35 \| +([0-9.]+) \| +(\w+) \|$", text, re.M)
        if bar and bar.group(2) != ("met" if float(bar.group(1)) <= 0.35 else "missed"):
            problems.append(f"the bar is told to be {bar.group(2)}")
        problems += [f"no file of {name}" for name in ("pipeline", "triangle")
                     if not (self.folder / "document" / f"figure-{name}.svg").exists()]
        self.report.case("channel-reproduce", [*problems, text] if problems else [], line)
        for options, said in REPRODUCE_REFUSED:
            options = options.format(folder=self.folder).split()
            if "--build" not in options:
                options += ["--build", self.arguments.build]
            result, line = self.reproduce(["--quick", *options])
            problems = [] if result.status == 2 else [f"status {result.status}"]
            if said not in result.stderr or "Traceback" in result.stderr:
                problems.append(f"said {result.stderr[:500]!r}")
            self.report.case(f"channel-reproduce refuses {said}", problems, line)


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-solvers-") as folder:
        suite = Suite(parse_arguments(), folder)
        suite.check_pipeline()
        suite.check_triangle()
        suite.check_refusals()
        suite.check_reproduction()
        return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
