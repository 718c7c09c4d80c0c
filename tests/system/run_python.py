#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with mpi4py. A verdict names the method for objects that hides the calls of MPI, and
tells nothing of hidden messages as if the program had sent them. The MDS, the lint and the look at
buffers tell lines of Python. Skipped without mpi4py.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

import job
import mds_runs
import run_mpi4py

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(FOLDER, "python_calls.py")
DEADLOCKED = 86
WORLD = "on MPI_COMM_WORLD"
MODES = {
    "inline": {},
    "threads, nodes of 1": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
    "timed": {"BCS_STROBE": "timed"},
}
# What an interpreter must tell, for the verdict, and for the rest.
ASK = ("import ctypes, sys; hasattr(ctypes.pythonapi, '_Py_DumpTraceback') or sys.exit('none');"
       "print('lines', sys.version_info[:2] in ((3, 11), (3, 12)) and 'calls')")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def place(function, words):
    return f"{function}, python_calls.py:{mds_runs.line_with(PROGRAM, words)}"


def at(function, words):
    """A place and its caller, as a report has it."""
    return f"at {place(function, words)}, called from <module>, python_calls.py:{last_line()}"


def last_line():
    return mds_runs.line_with(PROGRAM, "globals()[")


def reduced():
    barrier = place("barrier", "        reduce_it()")
    return (f"at {place('reduce_it', 'return comm.allreduce(')}, "
            f"called from {barrier}, <module>, python_calls.py:{last_line()}")


def verdicts():
    """{case: (lines that are there, words that are not)}"""
    return {
        "barrier": ([
            rf"  0: MPI_Barrier, without rank 1, {WORLD}, {at('barrier', '# alone')}, for",
            rf"  1: comm\.allreduce \(MPI_\w+\),.* rank 0,.* {WORLD}, {reduced()}, for",
            rf"  rank 0 is in MPI_Barrier {WORLD}, rank 1 is in comm\.allreduce$",
            r"  rank 1 has sent a message of a method for objects \(\d+ bytes\) to rank 0",
        ], ["near miss", "tag", "DUP"]),
        "first": ([
            rf"  0: comm\.recv \(MPI_Mprobe\), probe from rank 1, tag 5, {WORLD}, {at('first', 'before the first')}, for",
            rf"  1: comm\.allreduce \(MPI_Comm_dup\), without rank 0, {WORLD}, at {place('reduce_it', 'comm.allreduce(')}",
        ], ["near miss"]),
        "gather": ([
            rf"  0: comm\.recv \(MPI_Mprobe\), probe from rank 1, tag 5, {WORLD}, {at('gather', 'before the gather')}, for",
            rf"  1: comm\.gather \(MPI_Gather\),.* without rank 0, {WORLD}, {at('gather', 'gathered')}, for",
        ], ["near miss"]),
        "tags": ([
            rf"  near miss: rank 0 has sent tag 8 \(\d+ bytes\) to rank 1, which expects tag 7, "
            rf"in comm\.recv \(MPI_Mprobe\) at {place('tags', 'of another tag')}$",
        ], []),
        "hidden": ([
            rf"  0: MPI_Recv, receive from rank 1, tag 1, {WORLD}, {at('hidden', 'in place of')}, for",
            r"  rank 1 has sent a message of a method for objects \(\d+ bytes\) to rank 0, which has not been received$",
        ], ["near miss"]),
        "mixed": ([
            rf"  0: MPI_Barrier, without rank 1, {WORLD}, {at('mixed', 'a small barrier')}, for",
            rf"  1: MPI_Recv, receive from rank 0, tag 7, {WORLD}, {at('mixed', 'of no barrier')}, for",
        ], ["comm."]),
    }


def run(arguments, python, case, extra, *options):
    command = [*shlex.split(arguments.launcher), *options, "-n", "2", python, "-B", PROGRAM, case]
    return job.run(command, job.mpirun_environment(extra), arguments.timeout), job.shell_line(command, extra)


def test_verdict(arguments, report, python, case, mode):
    result, line = run(arguments, python, case, MODES[mode])
    wanted, unwanted = verdicts()[case]
    problems = [] if result.status == DEADLOCKED else [result.ending()]
    said = result.stderr
    problems += [f"not there: {words}" for words in wanted if not re.search(f"^{words}", said, re.MULTILINE)]
    problems += [f"there: {words}" for words in unwanted if words in said]
    if problems:
        problems.append(said)
    report.case(f"{case}, {mode}", problems, line)


def counted():
    """{(call, place): calls of both ranks}, of what is recorded in the case "record"."""
    bcast = place("record", "twice in a line")
    return {
        ("MPI_Send", place("exchange", "ping")): 7, ("MPI_Recv", place("exchange", "pong")): 7,
        ("MPI_Recv", place("exchange", "ping there")): 7, ("MPI_Send", place("exchange", "pong there")): 7,
        ("MPI_Bcast", bcast): 24,
        ("MPI_Barrier", place("record", "in a loop")): 6,
        **{("MPI_Barrier", f"<module>, <string>:{line + 1}"): 2 for line in range(40)},
    }


def rows_of(text):
    """{(call, place): calls} of the summary's table of places."""
    rows = re.findall(r"^(MPI_\w+) +(\d+)(?: +[\d.]+){5} +\d+ +[\d.]+  (.*)$", text, re.MULTILINE)
    return {(call, where): int(n) for call, n, where in rows}


def test_recorded(arguments, report, python):
    runs = mds_runs.Runs(arguments)
    mds_runs.N_RANKS = 2
    for settings in ("mmds", "trace"):
        folder, result = runs.record([python, "-B", PROGRAM, "record"], {"BCS_MDS": settings})
        problems = mds_runs.problems_of_end(folder, result)
        if not problems:
            problems = mds_runs.problems_of_check(runs, folder)
            seen = rows_of(runs.read("summary", folder, "--most", "99").stdout)
            problems += [f"{key}: {seen.get(key)}, not {n}" for key, n in counted().items() if seen.get(key) != n]
        if not problems and settings == "trace":
            told = runs.read("waits", folder, "--most", "99").stdout
            expected = f"MPI_Recv at {place('exchange', 'ping there')}, for MPI_Send at {place('exchange', 'ping')}"
            problems += [] if expected in told else [f"waits: {told}, not {expected}"]
        report.case(f"recorded, {settings}", problems)
    runs.close()


def test_stuck(arguments, report, python):
    """Where ranks stand is in the files of a run that was ended by a verdict."""
    runs = mds_runs.Runs(arguments)
    folder, result = runs.record([python, "-B", PROGRAM, "mixed"], {})
    problems = [] if result.status == DEADLOCKED and folder is not None else [result.ending()]
    if not problems:
        told = runs.read("summary", folder).stdout
        for call, words in (("MPI_Barrier", "a small barrier"), ("MPI_Recv", "of no barrier")):
            if not re.search(rf"^  \d: {call}, .*at {place('mixed', words)}, ", told, re.MULTILINE):
                problems.append(f"{words}: {told}")
    report.case("recorded, stuck", problems)
    runs.close()


def test_left(arguments, report, python):
    result, line = run(arguments, python, "leave", {}, "--lint")
    wanted = [f"ranks 0-1: 2 of MPI_Irecv at {place('leave', '# left')}, ",
              f"ranks 0-1: 2 of MPI_Comm_dup at {place('leave', 'left, too')}\n"]
    problems = [] if result.status == 0 else [result.ending()]
    problems += [f"{result.stderr!r}, not {words!r}" for words in wanted if words not in result.stderr]
    problems += [result.stderr] if "allreduce" in result.stderr or " of " not in result.stderr else []
    report.case("left", problems, line)


def test_buffers(arguments, report, python):
    result, line = run(arguments, python, "change", {"BCS_REFEREE_BUFFERS": "on"})
    wanted = (f"the send buffer of MPI_Isend at {place('change', 'posted')}, to rank 1, tag 4, {WORLD}, was changed "
              f"before the operation was completed by MPI_Wait at {place('change', 'completed')},")
    report.case("changed", [] if result.status == 0 and wanted in result.stderr else
                [f"{result.ending()}, {result.stderr!r}, not {wanted!r}"], line)


def main():
    arguments = parse_arguments()
    python = run_mpi4py.interpreter()
    if python is None:
        print(f"skipped: no mpi4py for Open MPI; {run_mpi4py.VARIABLE} may name a Python with it")
        return run_mpi4py.SKIPPED
    answer = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        print(f"skipped: {python} tells no lines: {answer.stderr.strip()}")
        return run_mpi4py.SKIPPED
    report = job.Report()
    for mode in MODES:
        for case in verdicts():
            test_verdict(arguments, report, python, case, mode)
    if "calls" in answer.stdout:
        test_recorded(arguments, report, python)
        test_stuck(arguments, report, python)
        test_left(arguments, report, python)
        test_buffers(arguments, report, python)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
