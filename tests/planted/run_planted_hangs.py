#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with 20 bugs that make them hang, in C, C++, Fortran (mpi and mpi_f08), Python with mpi4py and
numpy, and Rust. Each must end, and its report must name the lines that have a comment HANG with the
bug's name, with the ranks of that comment, and no other line.

A verdict may come before all ranks have told where they wait; those are then missing. A run
whose report has only part of the lines or ranks is repeated, and the parts are put together: of two
circles of ranks each may be the first to be told.

Skipped are Python without mpi4py and numpy, and Rust if cargo cannot build the crate mpi without a network.
"""

import argparse
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import job  # noqa: E402
import run_mpi4py  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
ENDINGS = {86: "a verdict", 87: "misuse"}
# What the referee cannot judge, as the MPI library carries it: --patience tells.
BY_PATIENCE = ("fence_left_out",)
# Of ranks of another machine --patience sees only what the referee knows, and misuse is told without places.
OF_ONE_MACHINE = (*BY_PATIENCE, "skipped_collective", "local_convergence")
MODES = {
    "inline": {},
    "threads, nodes of 2": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"},
    "two machines": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"},
}
N_RANKS, N_TRIES = 4, 20
MARK = re.compile(r"HANG (\w+) ([\d,-]+)")
CARGO = """[package]
name = "planted_hangs"
version = "0.0.0"
edition = "2021"
[[bin]]
name = "planted_hangs"
path = "{source}"
[dependencies]
mpi = {{ version = "0.8", default-features = false }}
[profile.release]
debug = true
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", action="append", default=[], nargs=2, metavar=("SOURCE", "PROGRAM"),
                        help="a source in this folder, and what was built of it")
    parser.add_argument("--folder", help="where to build the program in Rust; without it Rust is skipped")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these (default: in all)")
    parser.add_argument("--only", default="", help="bugs whose names contain this")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def ranks_of(text):
    """The ranks of a text such as 0,2-3."""
    ranges = (part.split("-") for part in text.split(","))
    return {rank for ends in ranges for rank in range(int(ends[0]), int(ends[-1]) + 1)}


def bugs_of(source):
    """{bug: {line: ranks}} by the comments of a source."""
    bugs = {}
    for number, line in enumerate((FOLDER / source).read_text(encoding="utf-8").splitlines(), 1):
        for bug, ranks in MARK.findall(line):
            bugs.setdefault(bug, {})[number] = ranks_of(ranks)
    return bugs


def told_of(source, text):
    """{line: ranks} by a report: of each group of ranks the first place that is in the source."""
    told = {}
    for ranks, rest in re.findall(r"^  ([\d,-]+): (?:comm\.\w+ \()?MPI_\w+(.*)$", text, re.MULTILINE):
        place = re.search(rf"{re.escape(source)}:(\d+)", rest)
        line = int(place.group(1)) if place else rest
        told.setdefault(line, set()).update(ranks_of(ranks))
    return told


def together(*parts):
    """What several reports of a bug tell."""
    lines = set().union(*parts)
    return {line: set().union(*(told.get(line, set()) for told in parts)) for line in lines}


def is_part(told, wanted):
    return all(ranks <= wanted.get(line, set()) for line, ranks in told.items())


def run_by_patience(command, environment, source, wanted, timeout):
    """Run until the report of what stands still is there. @return what it tells"""
    one = job.Job([*command[:1], "--patience", "3s", *command[1:]], environment)
    try:
        one.await_that(lambda: told_of(source, one.errors_so_far()) == wanted, timeout)
        return told_of(source, one.errors_so_far()), one.errors_so_far()
    finally:
        one.close()


def test_bug(arguments, report, mode, source, program, bug, wanted):
    command = [*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(N_RANKS), *program, bug]
    environment = job.mpirun_environment(MODES[mode])
    problems, told, n_tries = [], {}, 0
    if bug in BY_PATIENCE:
        told, text = run_by_patience(command, environment, source, wanted, arguments.timeout)
        n_tries = N_TRIES
    while told != wanted and is_part(told, wanted) and n_tries < N_TRIES and not problems:
        n_tries += 1
        result = job.run(command, environment, arguments.timeout)
        text, told = result.stderr, together(told, told_of(source, result.stderr))
        problems = [] if result.status in ENDINGS else [f"no verdict: {result.ending()}"]
    if told != wanted:
        problems.append(f"it tells {told}, not {wanted}: {text!r}")
    report.case(f"{source}, {bug}, {mode}", problems, job.shell_line(command, MODES[mode]))


def build_rust(folder):
    """Build the program in Rust. @return it, or None"""
    if folder is None:
        print("skipped: Rust, as there is no --folder")
        return None
    manifest = pathlib.Path(folder) / "Cargo.toml"
    manifest.parent.mkdir(exist_ok=True)
    manifest.write_text(CARGO.format(source=FOLDER / "planted_hangs.rs"), encoding="utf-8")
    command = ["cargo", "build", "--release", "--quiet", "--offline", "--manifest-path", manifest, "--target-dir", folder]
    try:
        built = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"skipped: Rust, as cargo cannot be run: {error}")
        return None
    if built.returncode != 0:
        print(f"skipped: Rust, as the crate mpi is not here: {built.stderr.strip()[-200:]!r}")
        return None
    return [str(pathlib.Path(folder) / "release" / "planted_hangs")]


def python_program():
    """How to run the program in Python, or None."""
    python = run_mpi4py.interpreter()
    if python is None or subprocess.run([python, "-c", "import numpy"], check=False,
                                        stderr=subprocess.DEVNULL).returncode != 0:
        print(f"skipped: Python, as there is no mpi4py with numpy; {run_mpi4py.VARIABLE} may name one that has them")
        return None
    return [python, "-B", str(FOLDER / "planted_hangs_numpy.py")]


def modes_of(arguments, bug):
    """In which modes a bug is tried."""
    return [mode for mode in arguments.mode or MODES
            if bug not in OF_ONE_MACHINE or "BCS_FAR" not in MODES[mode]]


def main():
    arguments = parse_arguments()
    report = job.Report()
    programs = {source: [program] for source, program in arguments.program}
    programs["planted_hangs_numpy.py"] = python_program()
    programs["planted_hangs.rs"] = build_rust(arguments.folder)
    for source, program in programs.items():
        for bug, wanted in bugs_of(source).items():
            if program is not None and arguments.only in bug:
                for mode in modes_of(arguments, bug):
                    test_bug(arguments, report, mode, source, program, bug, wanted)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
