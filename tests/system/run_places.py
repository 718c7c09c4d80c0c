#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs whose ranks wait at the end of a chain of calls. The verdict tells the line that calls MPI
and two callers, with names as the source has them: of functions that the compiler has put into others, of
C++, Fortran and Python. Ranks at one line are told together, whoever has called. What BCS_PLACE_SKIP names
is left out.
"""

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile

import job
import mds_runs
import run_mpi4py
import run_top

MODES = {
    "inline": {},
    "threads, nodes of 1": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
    "two machines": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"},
}
DEADLOCKED = 86
FOLDER = os.path.dirname(os.path.abspath(__file__))
SKIP_BETWEEN = {"BCS_PLACE_SKIP": "+libplaces_between*"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", required=True, help="the program bcs-top")
    parser.add_argument("--program", required=True, help="the program places")
    parser.add_argument("--bare", required=True, help="the same without debug information")
    parser.add_argument("--fortran", required=True, help="the program places_fortran")
    parser.add_argument("--cxx", help="the program places_cxx; if there is C++")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def place(function, file, words):
    """A place as a report has it, by what stands in its line."""
    return f"{function}, {file}:{mds_runs.line_with(os.path.join(FOLDER, file), words)}"


def chain(*places):
    return ", at " + places[0] + (", called from " + ", ".join(places[1:]) if places[1:] else "")


def cases_of(arguments):
    """{name: (program, argument, environment, where all ranks are, as a pattern)}"""
    exchange, step = place("exchange", "places.c", "in exchange"), place("step", "places.c", "in step */")
    between = place("step_between", "places.c", "by a library")
    main_between = place("main", "places.c", "between by main")
    cases = {
        "called": ("called", {}, chain(exchange, step, place("main", "places.c", "called by main"))),
        "within": ("within", {}, chain(
            place("exchange_within", "places.c", "put into step"),
            place("step_within", "places.c", "in step_within"),
            place("main", "places.c", "put within by main"))),
        "deep": ("deep", {}, chain(exchange, step, place("deep", "places.c", "        step(word);"))),
        "two_ways": ("two_ways", {}, f", at {exchange}, called from several places"),
        "between": ("between", {}, chain(
            place("between_receive", "places_between.c", "of the library"), between, main_between)),
        "all skipped": ("called", {"BCS_PLACE_SKIP": "places_*"}, chain(exchange)),
        "between, skipped": ("between", SKIP_BETWEEN, chain(between, main_between)),
    }
    cases = {name: (arguments.program, way, extra, re.escape(text))
             for name, (way, extra, text) in cases.items()}
    bare = os.path.basename(arguments.bare)
    cases["bare"] = (arguments.bare, "called", {},
                     rf", at exchange\+0x\w+, {bare} \(compile with -g for lines\), called from "
                     rf"step\+0x\w+, {bare}, main\+0x\w+, {bare}")
    cases["Fortran"] = (arguments.fortran, "", {}, re.escape(chain(
        place("halo::swap", "places_fortran.f90", "in swap"),
        place("halo::step", "places_fortran.f90", "in step"),
        place("places_fortran", "places_fortran.f90", "in the program"))))
    if arguments.cxx is not None:
        file = "places_cxx.cpp"
        cases["C++"] = (arguments.cxx, "", {}, re.escape(chain(
            place("void halo::swap<long>(long*)", file, "in swap"),
            place("halo::grid::step()", file, "in step"), place("main", file, "in main"))))
    return cases


def test_verdict(arguments, report, name, mode, case):
    *program, way, extra, where = case
    command = [*shlex.split(arguments.launcher), "-n", "2", *program, way]
    environment = job.mpirun_environment({**mode, **extra})
    result = job.run(command, environment, arguments.timeout)
    wanted = rf"^  0-1: (?:MPI_\w+|comm\.recv \(MPI_\w+\)), (?:receive|probe) from any rank, tag 5, on MPI_COMM_WORLD{where}, for [\d.]+ s$"
    problems = [] if result.status == DEADLOCKED else [result.ending()]
    if not re.search(wanted, result.stderr, re.MULTILINE):
        problems.append(f"it says {result.stderr!r}, not {wanted}")
    report.case(name, problems, job.shell_line(command, {**mode, **extra}))


def python_chain():
    return [place("exchange", "places.py", "in exchange"), place("step", "places.py", "in step"),
            place("<module>", "places.py", "in the module")]


def test_top(arguments, report, python):
    """bcs-top tells lines of Python of a job that goes on."""
    command = [*shlex.split(arguments.launcher), "-n", "2", python, "-B",
               os.path.join(FOLDER, "places.py"), "called"]
    one = job.Job(command, job.mpirun_environment({"BCS_REFEREE": "off"}))
    wanted, seen = python_chain(), None
    guard = job.Guard(arguments.timeout)
    try:
        while seen != [wanted] * 2 and not guard.is_over() and one.process.poll() is None:
            mine = run_top.jobs_with(run_top.look(arguments)[0], set(one.processes()))
            seen = [[wait["place"], *wait["callers"]]
                    for other in mine for rank in other["ranks"] for wait in rank["waits"]]
        report.case("Python, bcs-top", [] if seen == [wanted] * 2 else [f"{seen}, not {wanted} twice"])
    finally:
        one.close()


def test_python(arguments, report):
    python = run_mpi4py.interpreter()
    if python is None:
        print(f"skipped: lines of Python, as there is no mpi4py; {run_mpi4py.VARIABLE} may name a Python with it")
        return
    program = os.path.join(FOLDER, "places.py")
    for name, mode in MODES.items():
        test_verdict(arguments, report, f"Python, called, {name}", mode,
                     (python, "-B", program, "called", {}, re.escape(chain(*python_chain()))))
    deep = place("deep" + 56 * "y", "places.py", "        step(comm)")
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.join(folder, *(3 * [120 * "z"]))
        os.makedirs(folder)
        test_verdict(arguments, report, "Python, deep", {},
                     (python, "-B", shutil.copy(program, folder), "deep", {},
                      re.escape(chain(*python_chain()[:2], deep))))
    test_verdict(arguments, report, "Python, skipped", {},
                 (python, "-B", program, "called", {"BCS_PLACE_SKIP": "+places.py"},
                  r", at [^,]*(?: in |, )MPI\.[\w.-]*so.*"))
    test_top(arguments, report, python)


def main():
    arguments = parse_arguments()
    report = job.Report()
    if arguments.has_lines:
        cases = cases_of(arguments)
        for name, case in cases.items():
            test_verdict(arguments, report, name, {}, case)
        for mode in list(MODES)[1:]:
            test_verdict(arguments, report, f"called, {mode}", MODES[mode], cases["called"])
    test_python(arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
