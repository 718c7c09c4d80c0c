#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Smoke test of channel-reproduce: on two processes it writes its tables and drawings into a
document; options that make no sense are refused.

What the numbers are does not matter here.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402

# A matrix as a file.
PATTERN = "\n".join(["%%MatrixMarket matrix coordinate pattern symmetric", "% of a test",
                     "60 60 111", *(f"{i} {1 + i * i % (i - 1)}" for i in range(3, 60)),
                     *(f"{i} {i // 2}" for i in range(6, 60))]) + "\n"

# Options of channel-reproduce, and a word of what it says.
REFUSED = (
    ("--only nothing", "--only"),
    ("--ranks 3", "--ranks"),
    ("--rounds 0", "--rounds"),
    ("--matrix nowhere.mtx", "nowhere.mtx: there is no such file"),
    ("--write nowhere.md", "nowhere.md"),
    ("--build {folder}", "bcsrun is not in"),
)
DOCUMENT = "".join(f"<!-- {part} of channel-reproduce: begin -->\nold\n"
                   f"<!-- {part} of channel-reproduce: end -->\n"
                   for part in ("bounce", "pipeline", "triangle"))
TIME = r"[0-9.]+ [mu]s"
RATIO = r"[0-9.]+ \([0-9.]+ to [0-9.]+\)"
WRITTEN = {
    "bounces of MPI": r"^\| MPI, native +\| +70 us \| +[0-9.]+ us \| +1.00 \| +1.00 \(1.00 to 1.00\) \|$",
    "bounces by a channel": rf"^\| channel left open +\| +25 us \| +[0-9.]+ us \| +0.357 \| +{RATIO} \|$",
    "a cache line": rf"^\| a cache line alone +\| +- \| +[0-9.]+ us \| +- \| +{RATIO} \|$",
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
    parser.add_argument("--build", required=True, help="the build folder")
    return parser.parse_args()


class Suite:
    """The cases; each method is a group of them."""

    def __init__(self, build, folder):
        self.build = build
        self.folder = pathlib.Path(folder)
        self.programs = pathlib.Path(build) / "apps" / "channel"
        self.report = job.Report()
        (self.folder / "pattern.mtx").write_text(PATTERN, encoding="ascii")

    def reproduce(self, options):
        """Run channel-reproduce. Returns the result and the line that repeats it."""
        command = [str(self.programs / "channel-reproduce"), *options]
        return job.run(command, job.mpirun_environment(), 240), job.shell_line(command)

    def check_reproduction(self):
        path = self.folder / "document.md"
        path.write_text(DOCUMENT, encoding="utf-8")
        result, line = self.reproduce(
            ["--build", self.build, "--quick", "--ranks", "2", "--write", str(path),
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

    def check_refusals(self):
        for options, said in REFUSED:
            options = options.format(folder=self.folder).split()
            if "--build" not in options:
                options += ["--build", self.build]
            result, line = self.reproduce(["--quick", *options])
            problems = [] if result.status == 2 else [f"status {result.status}"]
            if said not in result.stderr or "Traceback" in result.stderr:
                problems.append(f"said {result.stderr[:500]!r}")
            self.report.case(f"channel-reproduce refuses {said}", problems, line)


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-channel-reproduce-") as folder:
        suite = Suite(parse_arguments().build, folder)
        suite.check_reproduction()
        suite.check_refusals()
        return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
