#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Smoke test of bcs-overhead: a tiny run natively and under BCS is whole; a run that is
killed in its midst leaves nothing behind and goes on; files that are no results, and words
that make no sense, are one line of error; reports and comparisons are made.

What the numbers are does not matter here.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import job
import overhead_results
import science

# Of each experiment few samples: words of overhead_measure.
SHORT = ["--iterations", "3", "--rounds", "1", "--max", "2048", "--step", "1024",
         "--matchings", "2"]
# Number of ranks, and of samples in the two rounds that there are with SHORT.
EXPERIMENTS = {"clock": (1, 16), "exchange": (2, 6), "pingpong": (2, 6), "barrier": (3, 2),
               "hypercube": (4, 6), "matchings": (4, 12), "contention": (4, 6)}
TINY = ["--quick", "--ranks", "2", "--repetitions", "1"]
# Without --all; each experiment runs by itself anyway.
FEW = ["exchange", "barrier", "matchings"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--all", action="store_true",
                        help="a run of all experiments, and no other case")
    parser.add_argument("--timeout", type=float, default=300)
    return parser.parse_args()


class Suite:
    """The cases; each method that starts with case_ is one or more of them."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        apps = pathlib.Path(arguments.build) / "apps" / "overhead"
        self.driver = str(apps / "bcs-overhead")
        self.program = str(apps / "overhead_measure")
        self.build = ["--build", arguments.build]
        self.report = job.Report()

    def file(self, name):
        """A path in the folder of the test."""
        return str(self.folder / name)

    def run_driver(self, *words):
        """Run bcs-overhead to its end: the result, and the line that repeats it."""
        command = [self.driver, *words]
        return (job.run(command, job.mpirun_environment(), self.arguments.timeout),
                job.shell_line(command))

    def run_program(self, launcher, n_ranks, words, extra=None):
        """Run overhead_measure to its end."""
        command = [*shlex.split(launcher), "-n", str(n_ranks), self.program, *words]
        return (job.run(command, job.mpirun_environment(extra), self.arguments.timeout),
                job.shell_line(command, extra))

    # --- the program ------------------------------------------------------------------

    def case_program(self):
        modes = list(job.MODES.items())
        for i, (name, (n_ranks, n_samples)) in enumerate(EXPERIMENTS.items()):
            mode, extra = modes[i % len(modes)]
            for launcher, side, settings in (
                    (self.arguments.native_launcher, "native", None),
                    (self.arguments.launcher, mode, extra)):
                result, line = self.run_program(launcher, n_ranks, [name, *SHORT], settings)
                problems = self.output_problems(result, n_samples)
                self.report.case(f"{name}, {side}", problems, line)

    def output_problems(self, result, n_samples):
        """What is wrong with what an experiment has printed."""
        if result.status != 0:
            return [f"status {result.status}: {result.stderr[:300]!r}"]
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        kinds = [line["overhead"] for line in lines]
        problems = [] if kinds[0] == "head" and kinds[-1] == "end" else [f"{kinds}"]
        samples = [line for line in lines if line["overhead"] == "sample"]
        if len(samples) != n_samples or lines[-1].get("wrong") != 0:
            problems.append(f"{len(samples)} samples, {lines[-1]}")
        if any(len(line["counted"]) != 7 or line["units"] < 1 for line in samples):
            problems.append("a sample without its counters")
        return problems

    def case_first_touch(self):
        """In the first round, and in no other, all pages are new that messages arrive in."""
        n_iterations, longest, page = 32, 16384, os.sysconf("SC_PAGE_SIZE")
        words = ["--iterations", str(n_iterations), "--rounds", "2", "--min", "4096", "--step",
                 "4096", "--max", str(longest)]
        for launcher, side in ((self.arguments.native_launcher, "native"),
                               (self.arguments.launcher, "demand")):
            result, line = self.run_program(launcher, 2, ["exchange", *words])
            samples = [one for one in map(json.loads, result.stdout.splitlines())
                       if one["overhead"] == "sample"]
            faults = [sum(one["counted"][2] for one in samples if one["round"] == number)
                      for number in (-1, 1)]
            n_pages = sum(2 * n_iterations * n // page for n in range(4096, longest + 1, 4096))
            is_right = faults[0] >= n_pages and faults[1] < n_pages // 10
            self.report.case(f"first touch, {side}",
                             [] if is_right else [f"{faults} faults, {n_pages} pages"], line)

    def case_placement(self):
        """Each rank is where it is told to be, and says so."""
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) < 2:
            print("skipped: placement (one CPU is allowed here)")
            return
        for wanted in (cpus, cpus[::-1]):
            words = ["barrier", *SHORT, "--cpus", ",".join(map(str, wanted))]
            result, line = self.run_program(self.arguments.native_launcher, 2, words)
            places = [one["cpus"] for one in map(json.loads, result.stdout.splitlines())
                      if one["overhead"] == "places"]
            is_right = result.status == 0 and places and all(one == wanted for one in places)
            self.report.case(f"placement {wanted}", [] if is_right else [f"{places}"], line)

    def case_program_rejects(self):
        bad = {"no experiment": ["nothing"], "exactly 2": ["exchange", "--rounds", "1"],
               "from 1 to": ["barrier", "--rounds", "x"], "--nonsense": ["barrier",
                                                                         "--nonsense", "1"],
               "is more than": ["barrier", "--min", "9", "--max", "8"],
               "without a value": ["barrier", "--seed"], "one for each": ["barrier", "--cpus",
                                                                          "0,0"],
               "numbers of CPUs": ["barrier", "--cpus", "a"],
               "even numbers": ["matchings", "--rounds", "1"],
               "may use": ["barrier", "--cpus", "60000,60000,60000"]}
        for words, options in bad.items():
            result, line = self.run_program(self.arguments.native_launcher, 3, options)
            is_right = result.status == 2 and words in result.stderr and not result.stdout
            said = f"{result.status}: {result.stderr[:300]!r}"
            self.report.case(f"overhead_measure {options}", [] if is_right else [said], line)

    # --- runs -------------------------------------------------------------------------

    def read(self, name):
        """A result of this test."""
        with open(self.file(name), encoding="utf-8") as file:
            return json.load(file)

    def case_runs(self):
        few = [] if self.arguments.all else [word for name in FEW for word in ("--only", name)]
        result, line = self.run_driver("run", *TINY, *few, "--side", "native", "--side",
                                       "demand", "--inject", "barrier=10", "--output",
                                       self.file("whole.json"), *self.build)
        problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[-800:]}"]
        if not problems:
            whole = self.read("whole.json")
            jobs = {one["name"] for one in whole["plan"]["jobs"]}
            got = {(run["job"], run["side"]) for run in whole["runs"]}
            if got != {(name, side) for name in jobs for side in ("native", "demand")}:
                problems.append(f"has {got}")
            problems += [f"{run['job']}: {run['failure']}" for run in whole["runs"]
                         if run["failure"] or not run["samples"]["ns"]]
            if not whole["is_complete"] or not whole["machine"]["cores"]:
                problems.append("not complete, or nothing of the machine")
        self.report.case("a run of two sides", problems, line)
        left = sorted(os.listdir(self.folder))
        self.report.case("its file alone", [] if left == ["whole.json"] else [str(left)])
        self.check_report()

    def check_report(self):
        """The report of the run, and its page."""
        result, line = self.run_driver("report", self.file("whole.json"), "--page",
                                       self.file("page"))
        if science.python_with_scipy():
            wanted = ("## Table 1", "| CS-2 (paper)", "| demand", "## Conditions",
                      "barrier: 10.0 % slower")
            problems = [f"no {words}" for words in wanted if words not in result.stdout]
            if result.status != 0 or not (self.folder / "page/index.html").exists():
                problems.append(f"{result.status}: {result.stderr[:500]!r}")
        else:
            is_right = result.status == 2 and "python3-scipy" in result.stderr
            problems = [] if is_right else [f"{result.status}: {result.stderr[:500]!r}"]
        self.report.case("a report", problems, line)

    def case_killed(self):
        """SIGKILL in the midst: no process is left, the file is whole, and the run goes on."""
        words = ["run", *TINY, "--only", "barrier", "--repetitions", "4", "--output",
                 self.file("killed.json"), *self.build]
        killed = job.Job([self.driver, *words], job.mpirun_environment())
        try:
            n_before = self.wait_for_runs(killed, "killed.json", 2)
            os.kill(killed.process.pid, signal.SIGKILL)
            killed.process.wait()
            left = killed.leftovers()
            problems = [f"left: {left}"] if left else []
        finally:
            killed.close()
        kept = self.read("killed.json")
        if kept["is_complete"] or len(kept["runs"]) < n_before:
            problems.append(f"{len(kept['runs'])} of {n_before} runs, or complete")
        self.report.case("killed", problems)
        result, line = self.run_driver(*words)
        is_right = result.status == 2 and "--resume" in result.stderr
        self.report.case("not overwritten", [] if is_right else [result.stderr[:300]], line)
        result, line = self.run_driver(*words, "--resume")
        whole = self.read("killed.json")
        is_right = (result.status == 0 and whole["is_complete"] and len(whole["runs"]) == 4
                    and whole["runs"][:len(kept["runs"])] == kept["runs"]
                    and not (self.folder / "killed.json.new").exists())
        self.report.case("goes on", [] if is_right else [result.stderr[:300]], line)
        os.remove(self.file("killed.json"))

    def wait_for_runs(self, running, name, n_wanted):
        """Wait until the file has so many runs; how many there are."""
        guard = job.Guard(self.arguments.timeout)
        while not guard.is_over() and running.process.poll() is None:
            if os.path.exists(self.file(name)):
                n_runs = len(self.read(name)["runs"])
                if n_runs >= n_wanted:
                    return n_runs
            time.sleep(0.01)
        raise RuntimeError(f"no {n_wanted} runs: {running.errors_so_far()[-500:]}")

    def case_foreign_launcher(self):
        command = f"{self.arguments.launcher} -n {{n}} {self.program}".replace('"', "")
        result, line = self.run_driver("run", *TINY, "--only", "barrier", "--only",
                                       "placement", "--launcher", f"mine={command}",
                                       "--output", self.file("mine.json"), *self.build)
        problems = [f"{result.status}: {result.stderr[:500]!r}"] if result.status else []
        if not problems and [run["side"] for run in self.read("mine.json")["runs"]] != ["mine"]:
            problems.append("other runs")
        self.report.case("another launcher", problems, line)
        result, line = self.run_driver("run", *TINY, "--only", "barrier", "--launcher",
                                       "no=/nowhere -n {n}", "--output",
                                       self.file("no.json"), *self.build)
        is_right = result.status == 2 and "/nowhere: No such file" in result.stderr
        self.report.case("a launcher that is not there",
                         [] if is_right else [f"{result.status}: {result.stderr[:300]}"], line)

    # --- comparisons, documents -------------------------------------------------------

    def case_compares(self):
        """Results whose difference is known."""
        for name, slow in (("a.json", None), ("b.json", {"barrier": 30})):
            made = overhead_results.result_make(len(name) + bool(slow), slow=slow,
                                                names=["pingpong", "barrier-2", "barrier-8"])
            (self.folder / name).write_text(json.dumps(made), encoding="utf-8")
        a, b = self.file("a.json"), self.file("b.json")
        for words, status, text in (
                ([a, b, "--check"], 1, "B is slower"), ([a, b], 0, "B is slower"),
                ([f"{a}:native", a, "--check", "--page", self.file("page")], 0,
                 "0 of 5 quantities differ"),
                ([a, f"{b}:fast"], 2, f"allowed are {b}:native"),
                ([a, self.file("nothing.json")], 2, "No such file")):
            if science.python_with_scipy() is None:
                status, text = 2, "python3-scipy"
            result, line = self.run_driver("compare", *words)
            is_right = result.status == status and text in result.stdout + result.stderr
            said = f"{result.status}: {result.stdout[-300:]!r} {result.stderr[:300]!r}"
            self.report.case(f"compare, status {status}", [] if is_right else [said], line)

    def case_reproduces(self):
        """A document is renewed as a whole; without its markers it is left alone."""
        source = pathlib.Path(__file__).resolve().parents[2]
        text = (source / "docs/reproduction-overhead.md").read_text(encoding="utf-8")
        document, broken = self.folder / "document.md", self.folder / "broken.md"
        document.write_text(text, encoding="utf-8")
        broken.write_text(text.replace("barrier of bcs-overhead: end", ""), encoding="utf-8")
        words = ["reproduce", *TINY, "--only", "clock", "--side", "native", "--output",
                 self.file("reproduced.json"), *self.build, "--write"]
        result, line = self.run_driver(*words, str(broken))
        is_right = result.status == 2 and not (self.folder / "reproduced.json").exists()
        self.report.case("no marker", [] if is_right else [result.stderr[:300]], line)
        result, line = self.run_driver(*words, str(document))
        renewed = document.read_text(encoding="utf-8")
        if science.python_with_scipy() is None or shutil.which("gnuplot") is None:
            is_right = result.status == 2 and "install the package" in result.stderr
        else:
            is_right = (result.status == 0 and "CLOCK_MONOTONIC, native" in renewed
                        and renewed.splitlines()[0] == text.splitlines()[0]
                        and set(re.findall("<!-- .* -->", renewed))
                        == set(re.findall("<!-- .* -->", text)))
        self.report.case("a document", [] if is_right else [result.stderr[:300]], line)

    # --- bad input --------------------------------------------------------------------

    def case_bad_files(self):
        text = json.dumps({"format": "bcs-overhead", "version": 3, "runs": []})
        bad = {"cut.json": text[:30], "foreign.json": '{"a": 1}', "list.json": "[]",
               "empty.json": "", "later.json": text.replace("3,", "4,"),
               "earlier.json": text.replace("3,", "2,"), "part.json": text,
               "bytes.json": "\udcff\udcfe"}
        for name, content in bad.items():
            (self.folder / name).write_bytes(content.encode(errors="surrogateescape"))
            self.must_be_rejected(name, ["report", self.file(name)])
            self.must_be_rejected(name, ["run", *TINY, "--resume", "--output",
                                         self.file(name), *self.build])
            os.remove(self.file(name))
        self.must_be_rejected("No such file", ["report", self.file("nothing.json")])

    def case_bad_words(self):
        bad = {
            "invalid choice": ["fly"],
            "required": [],
            "--nonsense": ["run", "--nonsense"],
            "--only": ["run", "--only", "nothing"],
            "--side": ["run", "--side", "fast"],
            "even numbers": ["run", "--ranks", "3"],
            "whole numbers": ["run", "--repetitions", "0"],
            "with {n}": ["run", "--launcher", "a=b"],
            "from 0 to 999": ["run", "--inject", "barrier"],
            "from 0 to 1000": ["compare", "a", "b", "--least", "-1"],
            "is not in": ["run", "--build", str(self.folder)],
            "can write to": ["run", "--output", "/nowhere/at/all.json", *self.build],
            "--write": ["reproduce"],
        }
        for word, options in bad.items():
            self.must_be_rejected(word, options)

    def must_be_rejected(self, word, options):
        """Status 2, the word, no traceback, nothing on standard output."""
        result, line = self.run_driver(*options)
        problems = [] if result.status == 2 else [f"status {result.status}"]
        if word not in result.stderr or "Traceback" in result.stderr or result.stdout:
            problems.append(f"said {result.stderr[:500]!r} {result.stdout[:100]!r}")
        self.report.case(f"rejects {word}: {options[:1]}", problems, line)

    def case_sources(self):
        """What a user compiles with another mpicc is all there: it needs nothing of ours."""
        source = pathlib.Path(__file__).resolve().parents[2]
        files = [*sorted((source / "apps/overhead/measure").glob("*.c")),
                 source / "apps/bench/line_trip.c"]
        text = "".join(path.read_text(encoding="utf-8") for path in files)
        wanted = set(re.findall(r'^#include "(.*)"', text, re.M))
        foreign = [name for name in wanted if not name.startswith(("apps/overhead/measure/",
                                                                   "apps/bench/"))]
        self.report.case("sources of the program", foreign)
        done = subprocess.run(["mpicc", "-O1", "-D_GNU_SOURCE", f"-I{source}", "-o",
                               self.file("measure"), *map(str, files)],
                              capture_output=True, text=True, check=False)
        self.report.case("mpicc", [done.stderr[:500]] if done.returncode else [])

    def run(self):
        # The run first: it looks at what is in the folder.
        names = [name for name in dir(self) if name.startswith("case_")]
        if self.arguments.all:
            names = ["case_runs"]
        for name in sorted(names, key=lambda name: name != "case_runs"):
            getattr(self, name)()
        return self.report.end()


def main():
    job.SharedMemory.separate()
    with tempfile.TemporaryDirectory(prefix="bcs-overhead-") as folder:
        return Suite(parse_arguments(), folder).run()


if __name__ == "__main__":
    sys.exit(main())
