#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Smoke test of bcs-reproduce: one figure on two ranks, written into a document with its
drawing; a side that fails is told and costs only itself; options that make no sense are
rejected.

What the numbers are does not matter here.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

import job

FIGURE = "6.2"
FEW = ["--quick", "--ranks", "2", "--cells", "24"]
TINY = [*FEW, "--only", FIGURE]
DOCUMENT = f"""text before
<!-- {FIGURE} of bcs-reproduce: begin -->
old
<!-- {FIGURE} of bcs-reproduce: end -->
text after
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--all", action="store_true", help="table 6.1, too, which takes a minute")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Suite:
    """The cases; each method that starts with case_ is one or more of them."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.build = ["--build", arguments.build]
        self.driver = str(pathlib.Path(arguments.build) / "apps/bench/bcs-reproduce")
        self.report = job.Report()

    def run_driver(self, options, extra=None):
        """Run to the end. Returns the result and the line that repeats it. What hangs is ended here: how
        long a job takes says nothing on a machine that others use."""
        command = [self.driver, "--timeout", "3600", *options]
        result = job.run(command, job.clean_environment(extra), self.arguments.timeout)
        return result, job.shell_line(command, extra)

    def document(self):
        """A new document to write to."""
        path = self.folder / "document.md"
        path.write_text(DOCUMENT, encoding="utf-8")
        return path

    def case_measures_and_writes(self):
        path = self.document()
        sides = ["--sides", "native", "--sides", "demand"]
        result, line = self.run_driver([*TINY, *sides, *self.build, "--write", str(path)])
        text = path.read_text(encoding="utf-8")
        problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[:500]}"]
        wanted = {
            "the ratio": r"^\| 2 +\| +\S+ s \| +\d+\.\d{3} \(\S+ to \S+\) \|$",
            "a step": r"^\| 2 +\| +2 x 1 \| +128 \| +1 \| +\S+ ms \| +\S+ ms \|$",
            "the grid": r"^Steps, native, with 24 x 24 cells a rank in each plane:$",
            "the drawing": r"^!\[Figure 6.2\]\(document/figure-6-2.svg\)$",
            "the text around": r"\Atext before\n(.|\n)*\ntext after\n\Z",
        }
        problems += [f"no {what}" for what, pattern in wanted.items()
                     if not re.search(pattern, text, re.M)]
        self.report.case("a figure", [*problems, text] if problems else [], line)
        self.check_drawing(self.folder / "document" / "figure-6-2.svg")

    def check_drawing(self, path):
        """The drawing must be XML with as many bars as legend entries."""
        try:
            root = xml.etree.ElementTree.parse(path).getroot()
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            self.report.case("the drawing", [str(error)])
            return
        n_boxes = sum(1 for element in root if element.tag.endswith("}rect"))
        self.report.case("the drawing", [] if n_boxes == 2 else [f"{n_boxes} boxes"])

    def case_strobes(self):
        """Not only sides have a row: what no strobe can be better than has one, too."""
        options = [*FEW, "--only", "5.3", *self.build]
        result, line = self.run_driver(options)
        problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[:500]}"]
        for title in ("timed 250 us", "timed 500 us", "none, polling 250 us"):
            row = (rf"^\| {title} +\| +2 \| +[1-9]\d* \| +\d+ \| +\d+ \| "
                   r"+\d+ us \(\d+ to \d+\) \| +\S+ % \|$")
            if not re.search(row, result.stdout, re.M):
                problems.append(f"no row of {title}")
        self.report.case("strobes", [*problems, result.stdout] if problems else [], line)

    def case_monitor(self):
        """Each part of the monitoring system's has what it is about."""
        n = r"\S+"
        wanted = {
            "5.3-slices": [rf"^\| 2 +\| +1 (\| +\d+ of [1-9]\d*, {n} % ){{3}}\|$",
                           r"^    all nodes: slices are within 20 us of their grid \d+ of [1-9]\d* ",
                           r"^    node 1: NCOLLDEM comes every 9 slices \d+ of [1-9]\d* times"],
            "table-5.3": [rf"^\| MPI_Allreduce +(\| +{n} ){{5}}\| +35.6 % \| +{n} % \| +82.5 % "
                          rf"\| +{n} % \|$", r"^\| Comm Overhead .* +19.6 % \|", r"^\| MPI_Recv ",
                          r"^Run time of all ranks together \S+ ms; .* by 0.00\d* %"],
            "table-6.1": [rf"^\| {program}, 2 ranks +\| +{side} \| +{mode} \| +{n} s \| +{n} s \| +{n} % "
                          rf"\({n} to {n}\) \| +\d+ x -?\d+ ns = {n} % \|$"
                          for program in ("timing_h", "sweep3d blocking")
                          for side in ("timed 500 us", "demand")
                          for mode in ("mmds", "trace", "emds")],
        }
        if not self.arguments.all:
            del wanted["table-6.1"]
        for figure, patterns in wanted.items():
            options = [*FEW, "--only", figure, *self.build]
            result, line = self.run_driver(options)
            problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[:500]}"]
            problems += [f"no {pattern}" for pattern in patterns
                         if not re.search(pattern, result.stdout, re.M)]
            self.report.case(figure, [*problems, result.stdout] if problems else [], line)

    def case_failing_side(self):
        path = self.document()
        options = [*TINY, "--sides", "native", "--sides", "demand", *self.build]
        result, line = self.run_driver([*options, "--write", str(path)],
                                       {"BCS_COPY": "nonsense"})
        text = path.read_text(encoding="utf-8")
        problems = [] if result.status == 2 else [f"status {result.status}"]
        if "nonsense" not in result.stderr or "BCS_STROBE=demand" not in result.stderr:
            problems.append(f"said {result.stderr[:500]!r}")
        for pattern in (r"^\| 2 +\| +\S+ s \| +failed \|$",
                        r"^- demand: .*nonsense.* \(ranks: 2\)$"):
            if not re.search(pattern, text, re.M):
                problems.append(f"no {pattern} in {text}")
        self.report.case("a side that fails", problems, line)

    def case_rejects(self):
        path = self.document()
        bad = {
            "--nonsense": (["--nonsense"], None),
            "--only": (["--only", "1.1"], None),
            "--ranks": (["--ranks", "3"], None),
            "--sides": (["--sides", "fast"], None),
            "argument --cells": (["--cells", "0"], None),
            "--rounds": (["--rounds", "0"], None),
            "nowhere.md": ([*TINY, *self.build, "--write", "nowhere.md"], None),
            "6.3": (["--only", "6.3", *self.build, "--write", str(path)], None),
            "bcsrun": ([*TINY, "--build", str(self.folder)], None),
            "BCS_STROBE": ([*TINY, *self.build], {"BCS_STROBE": "demand"}),
        }
        for word, (options, extra) in bad.items():
            result, line = self.run_driver(options, extra)
            problems = [] if result.status == 2 else [f"status {result.status}"]
            if word not in result.stderr or "Traceback" in result.stderr:
                problems.append(f"said {result.stderr[:500]!r}")
            self.report.case(f"rejects {word}", problems, line)
        is_same = path.read_text(encoding="utf-8") == DOCUMENT
        self.report.case("the document is left alone", [] if is_same else ["changed"])

    def case_lists(self):
        result, line = self.run_driver(["--list"])
        wanted = ("6.1", "6.2", "6.3", "5.3", "overlap", "native", "timed-250us", "demand")
        problems = [f"no {name}" for name in wanted if f" {name} " not in result.stdout]
        self.report.case("--list", problems, line)

    def run(self):
        for name in dir(self):
            if name.startswith("case_"):
                getattr(self, name)()
        return self.report.end()


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-reproduce-test-") as folder:
        return Suite(parse_arguments(), folder).run()


if __name__ == "__main__":
    sys.exit(main())
