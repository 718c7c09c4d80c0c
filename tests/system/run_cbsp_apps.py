#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The applications of the cBSP paper on several numbers of processes, with both ways to
synchronize: what they print is the same as on one process, the checks pass, and as many
counts are known as the documentation says. The measurements run, and cbsp-reproduce
writes its tables.

What the times are does not matter here.
"""

import argparse
import itertools
import pathlib
import re
import shlex
import sys
import tempfile

import job

PROCESSES = (1, 2, 4, 8)
ODD_PROCESSES = (1, 3, 7)
SYNCS = ("global", "counting")

# Name, options, supersteps, per cent of them of which the count is known, processes. More
# processes than rows, columns or bodies must do, too.
PROBLEMS = (
    ("gauss", "--equations 100", 101, 100, PROCESSES),
    ("gauss", "--equations 3 --seed 7", 4, 100, ODD_PROCESSES),
    ("lu", "--size 50", 250, 100, PROCESSES),
    ("lu", "--size 50 --count-swaps 0", 250, 80, ODD_PROCESSES),
    ("lu", "--size 2", 10, 100, ODD_PROCESSES),
    ("ocean", "--grid 32 --steps 2", None, 100, PROCESSES),
    ("ocean", "--grid 4 --steps 1 --digits 5", None, 100, ODD_PROCESSES),
    ("nbody", "--bodies 600 --steps 4", 20, 80, PROCESSES),
    ("nbody", "--bodies 5 --steps 3 --seed 2", 15, 80, ODD_PROCESSES),
)

# Program and options, and what each line of its numbers looks like with how many there are.
MEASUREMENTS = (
    ("cbsp_latency --max 16 --supersteps 20 --batches 2",
     r"^(pingpong|alltoall)_[gn]sync \d+ \d+\.\d+ us$", 12),
    ("cbsp_probe --batches 1", r"^[gn]sync (L|g|empty|T\(\d+\)) \S+ us \S+ flop$", 24),
    ("bsplib_probe 1", r"^bsplib (L|g|empty|T\(\d+\)) \S+ us \S+ flop$", 12),
)
DOCUMENT = "".join(f"<!-- {part} of cbsp-reproduce: begin -->\nold\n"
                   f"<!-- {part} of cbsp-reproduce: end -->\n"
                   for part in ("2", "3", "parameters"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="bcsrun --native")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def results_of(stdout):
    """The lines that must not depend on how the program was run."""
    lines = stdout.splitlines()
    return [line for line in lines if not line.startswith(("run:", "time:"))]


def known_problems(stdout, n_supersteps, per_cent):
    """What is wrong with the line on supersteps."""
    found = re.search(r"^run: supersteps (\d+), count known in \d+, (\S+) %$", stdout, re.M)
    if not found:
        return ["no line on supersteps"]
    problems = []
    if n_supersteps is not None and int(found.group(1)) != n_supersteps:
        problems.append(f"{found.group(1)} supersteps instead of {n_supersteps}")
    if float(found.group(2)) != per_cent:
        problems.append(f"{found.group(2)} % instead of {per_cent} %")
    return problems


class Suite:
    """Runs the cases and compares each with what one process prints."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.programs = pathlib.Path(arguments.build) / "apps" / "cbsp"
        self.report = job.Report()

    def launch(self, n_processes, name, words):
        """One job. Returns its result and the line that repeats it."""
        command = [*shlex.split(self.arguments.launcher), "-n", str(n_processes),
                   str(self.programs / name), *words]
        environment = job.mpirun_environment()
        return job.run(command, environment, self.arguments.timeout), job.shell_line(command)

    def run_problem(self, problem):
        """One problem with all numbers of processes and both synchronizations."""
        name, options, n_supersteps, per_cent, processes = problem
        expected = None
        for n_processes, sync in itertools.product(processes, SYNCS):
            words = [*options.split(), "--sync", sync]
            result, repeat = self.launch(n_processes, name, words)
            if expected is None:
                expected = results_of(result.stdout)
            if result.status != 0 or f"{name}: PASSED" not in result.stdout:
                problems = [f"status {result.status}: {result.stderr[:300]!r}"]
            else:
                problems = known_problems(result.stdout, n_supersteps, per_cent)
                pairs = itertools.zip_longest(results_of(result.stdout), expected)
                problems += [f"{line!r} instead of {other!r}"
                             for line, other in pairs if line != other]
            self.report.case(f"{name} {options}, {n_processes}, {sync}", problems, repeat)

    def run_measurement(self, measurement):
        """A measurement prints what it should, on two processes and on three."""
        command, pattern, n_lines = measurement
        name, *words = command.split()
        for n_processes in (2, 3):
            result, repeat = self.launch(n_processes, name, words)
            n_found = len(re.findall(pattern, result.stdout, re.M))
            problems = [] if result.status == 0 else [f"status {result.status}"]
            if n_found != n_lines:
                problems.append(f"{n_found} lines: {result.stdout[:500]!r}")
            self.report.case(f"{name}, {n_processes}", problems, repeat)

    def run_reproduction(self):
        """The driver fills all parts of a document, another library's probe included."""
        path = self.folder / "document.md"
        path.write_text(DOCUMENT, encoding="utf-8")
        script = self.folder / "probe"
        script.write_text("#!/bin/sh\nprintf 'bsplib s 1000.0 Mflop/s\\nbsplib L 2.5 us 1\\n"
                          "bsplib g 0.5 us 1\\nbsplib empty 1.5 us 1\\n'\n", encoding="utf-8")
        script.chmod(0o755)
        command = [str(self.programs / "cbsp-reproduce"), "--build", self.arguments.build,
                   "--quick", "--processes", "2", "--write", str(path),
                   "--library", f"Other={script} {{n}}"]
        result = job.run(command, job.clean_environment(), 2 * self.arguments.timeout)
        text = path.read_text(encoding="utf-8")
        wanted = {
            "latencies": r"^\| 512 +\|( +\d+\.\d+ us \| +\d+\.\d+ us \| +\d+\.\d+ \|){2}",
            "an application": r"^\| gauss +\| +2 \| +1025 \| +201 \| .* \(\S+ to \S+\) \|$",
            "a probe": r"^\| cBSP, nsync +\| +2 \| .* us \|$",
            "our BSPlib": r"^\| BSPlib on cBSP \| +2 \| .* us \|$",
            "another library": r"^\| Other +\| +2 \| +1000 \| +2.50 us \| +2500 \|",
            "the drawing": r"^!\[Figure 4\]\(document/figure-4.svg\)$",
        }
        problems = [] if result.status == 0 else [f"{result.status}: {result.stderr[:500]}"]
        problems += [f"no {what}" for what, pattern in wanted.items()
                     if not re.search(pattern, text, re.M)]
        if not (self.folder / "document" / "figure-4.svg").exists():
            problems.append("no file of the drawing")
        self.report.case("cbsp-reproduce", [*problems, text] if problems else [],
                         job.shell_line(command))

    def run(self):
        """All cases."""
        for problem in PROBLEMS:
            self.run_problem(problem)
        for measurement in MEASUREMENTS:
            self.run_measurement(measurement)
        self.run_reproduction()
        return self.report.end()


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="bcs-cbsp-") as folder:
        return Suite(arguments, folder).run()


if __name__ == "__main__":
    sys.exit(main())
