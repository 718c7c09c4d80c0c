#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a job of eight ranks that are in different places: the calls of all of them are a tree, by
bcs-top, when nothing moves, in the report of a deadlock and in that of an error. So they are if the ranks
are on two machines, which are played.
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import job
import mds_runs
import run_referee
import run_top

MODES = {
    "inline": {},
    "threads, nodes of 2": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"},
    "two machines": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"},
}
N_RANKS = 8
TITLE = "  all ranks by call path, the outermost call first:"
ACTS = "not in a waiting MPI call"
PATIENCE = "300ms"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", required=True, help="the program bcs-top")
    parser.add_argument("--program", required=True, help="the program call_paths")
    parser.add_argument("--source", required=True, help="its source")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these, not in all")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def paths_of(arguments, *ways):
    """Lines of a tree, each of ranks and the steps to where they are: a function with words in its line."""
    name = os.path.basename(arguments.source)

    def step(way):
        if not isinstance(way, tuple):
            return way
        return f"{way[0]}, {name}:{mds_runs.line_with(arguments.source, way[1])}"

    return [f"{ranks}: " + " > ".join(map(step, steps)) for ranks, *steps in ways]


def others(arguments):
    """Where the ranks from 2 on are, in the order of a tree."""
    finish = ("5-6", ("main", "main finishes"), ("finish", "in finish */"), "MPI_Barrier")
    return paths_of(
        arguments,
        ("2", ("main", "main spins"), ("spin", "in spin */"), "polls by MPI_Test"),
        ("4", ("main", "main gathers"), ("gather", "in gather */"), ("receive", "in receive */"), "MPI_Recv"),
        ("7", ("main", "in main */"), "MPI_Barrier"), finish)


def before(arguments):
    """The tree before anything is wrong: ranks 0, 1 and 3 do not wait."""
    return [*others(arguments), f"0-1,3: {ACTS}"]


def deadlocked(arguments):
    poll, gather, barrier, finish = others(arguments)
    return [poll, f"3: {ACTS}", gather, barrier, *paths_of(
        arguments, ("0-1", ("go_wrong", "in go_wrong */"), ("exchange", "in exchange */"),
                    ("receive", "in receive */"), "MPI_Recv")), finish]


def failed(arguments):
    wrong = paths_of(arguments, ("0", ("main", "main goes wrong"), ("go_wrong", "/* wrong"), "MPI_Bcast"))
    *single, finish = others(arguments)
    return [*wrong, *single, f"1,3: {ACTS}", finish]


def block(lines, indent, title):
    """A tree as it is printed."""
    return "\n".join([title, *(" " * indent + line for line in lines)]) + "\n"


def said_by(arguments, one):
    """Standard error so far. A rank that polls, and has had no core for a second, is taken for one
    that has."""
    spins = others(arguments)[0]
    return re.sub(rf"2: {ACTS}, has polled last by MPI_Test at .*", lambda _: spins, one.errors_so_far())


def ways_of_lines(lines):
    """What lines tell: of each the ranks, and the text of the way."""
    ways = []
    for line in lines:
        ranks, way = line.split(": ", 1)
        found = [re.fullmatch(r"(\d+)(?:-(\d+))?", part) for part in ranks.split(",")]
        ways.append(([rank for one in found for rank in range(int(one[1]), int(one[2] or one[1]) + 1)], way))
    return ways


def is_as(tree, lines):
    """Whether a tree of JSON, in which no ways part, is as lines tell, but for the first one, of a rank
    that polls: it may have had no core for a second."""
    ways = []
    for node in tree:
        steps, ranks = [node["step"]], node["ranks"]
        while len(node["below"]) == 1:
            node, = node["below"]
            steps.append(node["step"])
        ways.append((ranks, " > ".join(steps)))
    return ways[1:] == ways_of_lines(lines)[1:]


def start(arguments, mode, *words):
    command = [*shlex.split(arguments.launcher), "--patience", PATIENCE, "-n", str(N_RANKS),
               arguments.program, *words]
    return job.Job(command, job.mpirun_environment(mode))


def problems_of_top(arguments, one):
    """What bcs-top prints at any time, for people and for programs."""
    wanted = before(arguments)
    text = block(wanted, 2, f", {N_RANKS} ranks:")

    def told(option):
        return subprocess.run([arguments.top, option], capture_output=True, text=True, timeout=600,
                              check=False).stdout

    if not one.await_that(lambda: text in told("--tree"), arguments.timeout):
        return [f"--tree prints {told('--tree')!r}, not {text!r}"]
    trees = [found["tree"]
             for found in run_top.jobs_with(json.loads(told("--json")), set(one.processes()))]
    return [] if any(is_as(tree, wanted) for tree in trees) else [f"--json has {trees}"]


def problems_of_patience(arguments, one):
    """Whether the report of a job in which nothing moves has the tree. It comes once, when ranks may
    not be where they will be, and whenever bcsrun is asked."""
    text = block(before(arguments), 4, TITLE)
    n_asked = 0

    def is_said():
        nonlocal n_asked
        is_there = text in said_by(arguments, one)
        if not is_there and one.errors_so_far().count("Job of process") > n_asked:
            n_asked += 1
            one.process.send_signal(signal.SIGURG)
        return is_there

    if one.await_that(is_said, arguments.timeout):
        return []
    return [f"it says {one.errors_so_far()!r}, not {text!r}"]


def problems_of_end(arguments, one, lines, status):
    """Whether the report has the tree when it goes wrong."""
    wanted = block(lines, 4, TITLE)
    one.process.send_signal(signal.SIGUSR2)
    result = one.finish(arguments.timeout)
    if result.status == status and wanted in said_by(arguments, one):
        return []
    return [f"status {result.status}, {result.stderr!r}, not {wanted!r}"]


def test_case(arguments, report, name, words, lines, status):
    """Look at the ranks while nothing is wrong, and then have it go wrong."""
    one = start(arguments, MODES[name], *words)
    try:
        problems = problems_of_top(arguments, one) or problems_of_patience(arguments, one) \
            or problems_of_end(arguments, one, lines, status)
    finally:
        one.close()
    report.case(f"{' '.join(words) or 'deadlock'}, {name}", problems)


def test_file(arguments, report):
    """The report in the folder of a run has the tree, too."""
    with tempfile.TemporaryDirectory() as folder:
        one = start(arguments, {"BCS_MDS_DIR": folder, "BCS_MDS": "all"})
        try:
            problems = problems_of_top(arguments, one)
            one.process.send_signal(signal.SIGUSR2)
            one.finish(arguments.timeout)
            found = run_referee.report_of(folder)
        finally:
            one.close()
    if not found or not is_as(found["job"]["tree"], deadlocked(arguments)):
        problems.append(f"it has {found}")
    report.case("deadlock.json", problems)


def main():
    arguments = parse_arguments()
    report = job.Report()
    for name in arguments.mode or MODES:
        test_case(arguments, report, name, [], deadlocked(arguments), run_referee.STATUS)
        test_case(arguments, report, name, ["argument"], failed(arguments), 8)
    test_file(arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
