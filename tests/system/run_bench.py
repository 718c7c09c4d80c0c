#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Smoke test of the benchmarks: each program runs a few exchanges natively and under BCS
and prints numbers; bcs-bench measures a row and rejects options that make no sense.

What the numbers are does not matter here.
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import job

SHORT = ["--batches", "2", "--batch-ms", "1"]
LENGTHS = ["--min", "8", "--max", "16K"]
# Options of each program beside SHORT, and how many lines it prints.
PROGRAMS = {
    "latency": (LENGTHS, 12),
    "bandwidth": ([*LENGTHS, "--window", "4"], 12),
    "pairs": (["--factor", "128", "--window", "4"], 4),
    "message_rate": (["--min", "8", "--max", "8", "--window", "4"], 1),
    "barrier": ([], 1),
    "polling": ([], 3),
    "bcast": (LENGTHS, 12),
    "allreduce": (LENGTHS, 12),
    "alltoall": (LENGTHS, 12),
    "overlap": (["--min", "1M", "--max", "1M", "--compute", "0.1"], 1),
}
# Programs without these options: one that does nothing, one that instructions are counted of, one
# that run_resident.py tests, one that is started without a launcher.
EMPTY, STEPS, RESIDENT, TRIPS = "empty", "window_steps", "resident", "core_trips"
# One row of bcs-bench, which takes two short jobs. It has a number on any machine, while two
# ranks beside other load may have no two runs of one kind.
ROW = "barrier-8"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def is_measurement(line):
    """Whether a line is "name n_bytes value unit" with a number."""
    return re.fullmatch(r"\w+ \d+ -?\d+(\.\d+)?(e[+-]?\d+)? \S+", line) is not None


class Suite:
    """The cases; each method that starts with case_ is one or more of them."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.programs = pathlib.Path(arguments.build) / "apps" / "bench"
        self.driver = [str(self.programs / "bcs-bench")]
        self.build = ["--build", arguments.build]
        self.report = job.Report()

    def run_job(self, command, extra=None):
        """Run to the end. Returns the result."""
        environment = job.mpirun_environment(extra)
        return job.run(command, environment, self.arguments.timeout)

    def must_measure(self, name, command, n_lines, extra=None):
        """The command must end with 0 and print at least n_lines numbers."""
        result = self.run_job(command, extra)
        lines = result.stdout.splitlines()
        problems = [f"{line!r} is no number" for line in lines if not is_measurement(line)]
        if result.status != 0:
            problems.append(f"status {result.status}: {result.stderr[:300]!r}")
        if len(lines) < n_lines:
            problems.append(f"{len(lines)} lines instead of {n_lines}")
        self.report.case(name, problems, job.shell_line(command, extra))

    def must_be_rejected(self, name, command, word):
        """The command must end with 2 and one line of error that has the word."""
        result = self.run_job(command)
        problems = []
        if result.status != 2:
            problems.append(f"status {result.status}")
        if word not in result.stderr or result.stdout:
            problems.append(f"said {result.stderr[:300]!r}, {result.stdout[:300]!r}")
        if "Traceback" in result.stderr:
            problems.append("a traceback")
        self.report.case(name, problems, job.shell_line(command))

    def case_programs(self):
        modes = list(job.MODES.items())
        for i, (name, (options, n_lines)) in enumerate(PROGRAMS.items()):
            words = ["-n", "2", str(self.programs / f"bench_{name}"), *SHORT, *options]
            native = [*shlex.split(self.arguments.native_launcher), *words]
            self.must_measure(f"{name}, native", native, n_lines)
            mode, extra = modes[i % len(modes)]
            carried = [*shlex.split(self.arguments.launcher), *words]
            self.must_measure(f"{name}, {mode}", carried, n_lines, extra)

    def case_silent(self):
        for name, n_ranks, is_good in ((EMPTY, "2", True), (STEPS, "2", True), (STEPS, "3", False)):
            command = [*shlex.split(self.arguments.launcher), "-n", n_ranks,
                       str(self.programs / f"bench_{name}")]
            result = self.run_job(command)
            said = f"{result.status}: {result.stdout[:300]!r} {result.stderr[:300]!r}"
            is_right = (result.status == 0) == is_good and not result.stdout
            self.report.case(f"{name}, {n_ranks} ranks", [] if is_right else [said],
                             job.shell_line(command))

    def case_core_trips(self):
        program = str(self.programs / f"bench_{TRIPS}")
        cpus = sorted(os.sched_getaffinity(0))
        some = cpus[:3]
        result = self.run_job([program, *map(str, some)])
        trips = re.findall(r"^core_trip_(\d+)_(\d+) 0 \d\S* us$", result.stdout, re.M)
        wanted = [(str(a), str(b)) for i, a in enumerate(some) for b in some[i + 1:]]
        problems = [] if result.status == 0 and trips == wanted else [result.stdout[:300]]
        self.report.case("trips of some cores", problems)
        for words in (["x"], ["-1"], ["1", ""], [str(cpus[0]), "1023"]):
            result = self.run_job([program, *words])
            is_right = result.status not in (0, None) and result.stderr
            said = f"{result.status}: {result.stdout[:300]!r}"
            self.report.case(f"trips of {words}", [] if is_right else [said])

    def case_programs_are_all(self):
        built = {path.name for path in self.programs.glob("bench_*") if path.is_file()}
        known = {f"bench_{name}" for name in [*PROGRAMS, EMPTY, STEPS, RESIDENT, TRIPS]}
        different = sorted(built ^ known)
        self.report.case("all programs", [f"{name}?" for name in different])

    def case_program_rejects(self):
        run = [*shlex.split(self.arguments.launcher), "-n", "1"]
        for options in (["--min", "x"], ["--nonsense"], ["--batches", "0"]):
            program = [str(self.programs / "bench_bcast"), *options]
            result = self.run_job([*run, *program])
            # mpirun adds lines of its own about ranks that fail.
            is_right = result.status == 2 and options[0] in result.stderr
            problems = [] if is_right else [f"{result.status}: {result.stderr[:300]!r}"]
            self.report.case(f"bench_bcast {options}", problems)

    def case_driver_rejects(self):
        (self.folder / "no_markers.md").write_text("text\n", encoding="utf-8")
        bad = {
            "--nonsense": ["--nonsense"],
            "argument": ["something"],
            "--pairs": ["--pairs", "0"],
            "--pairs: ": ["--pairs", "many"],
            "--timeout": ["--timeout", "-1"],
            "--only nothing": ["--only", "nothing", *self.build],
            "with --quick": ["--quick", "--only", "startup-256", *self.build],
            "--only scaling": ["--only", "scaling", "--only", ROW, *self.build],
            "allowed is a bcsrun": ["--only", ROW, "--against", "nothing", *self.build],
            "--against": ["--only", ROW, "--against", "bcsrun", "--check", *self.build],
            "--cores": ["--cores", "2", "--only", ROW, *self.build],
            "cache line": ["--only", "scaling", "--write",
                           str(self.folder / "no_markers.md"), *self.build],
            "--write": ["--only", ROW, "--write", "a.md", *self.build],
            "nowhere.md": ["--write", str(self.folder / "nowhere.md"), *self.build],
            "no_markers.md": ["--write", str(self.folder / "no_markers.md"), *self.build],
            "--build": ["--only", ROW, "--build"],
            "bcsrun": ["--only", ROW, "--build", str(self.folder)],
        }
        for word, options in bad.items():
            command = self.driver + options
            self.must_be_rejected(f"bcs-bench {options}", command, word.split(": ")[0])
        text = (self.folder / "no_markers.md").read_text(encoding="utf-8")
        self.report.case("the file is left alone", [] if text == "text\n" else [text])

    def case_reader_goes(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([*self.driver, "--list"], stdout=writer, stderr=subprocess.PIPE,
                                timeout=self.arguments.timeout, check=False)
        os.close(writer)
        is_quiet = result.returncode == 128 + signal.SIGPIPE and not result.stderr
        problems = [] if is_quiet else [f"{result.returncode}: {result.stderr[-300:]!r}"]
        self.report.case("bcs-bench --list, which nobody reads", problems)

    def case_driver_measures(self):
        rows = self.run_job([*self.driver, "--list"])
        is_listed = rows.status == 0 and f"\n{ROW} " in "\n" + rows.stdout
        self.report.case("bcs-bench --list", [] if is_listed else [rows.stdout[:300]])
        command = [*self.driver, "--quick", "--only", ROW, *self.build]
        result = self.run_job(command)
        is_measured = re.search(rf"^{ROW} .* ratio +\d", result.stdout, re.M)
        problems = [] if is_measured and result.status == 0 else [result.stdout[:300]]
        self.report.case("bcs-bench measures", problems, job.shell_line(command))

    def run(self):
        for name in dir(self):
            if name.startswith("case_"):
                getattr(self, name)()
        return self.report.end()


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-bench-") as folder:
        return Suite(parse_arguments(), folder).run()


if __name__ == "__main__":
    sys.exit(main())
