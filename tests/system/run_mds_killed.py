#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills jobs whose slices are recorded in a folder, in the midst of their traffic: one rank, all of
them, the launcher, or all. What bcs-mds has shown of them while they ran is still there, agrees
with itself, and is told to be of a run that has not ended. A job that cannot begin leaves no folder.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import job
import mds_runs
import run_referee

ENOUGH = 2000  # messages before a kill
FOR_EVER = str(10**9)
N_RANKS = mds_runs.N_RANKS
TIMED = {"BCS_STROBE": "timed", "BCS_SLICE": "200us"}
MODES = {  # settings, nodes, and whether there is a strobe sender
    "timed, one node": (TIMED, 1, True),
    "timed, two nodes": ({**TIMED, "BCS_NODE_RANKS": "2"}, 2, True),
    "timed, coarse spans": ({**TIMED, "BCS_MDS_SLICES": "8"}, 1, True),
    "on demand, one node": ({}, 1, False),
    "on demand, four nodes": ({"BCS_NODE_RANKS": "1"}, 4, True),
    "threads, two nodes": ({"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"}, 2, True),
    # Timed: on demand nobody knows when the strobe sender comes to its next slice.
    "timed, some metrics from a slice on": (
        {**TIMED, "BCS_MDS_METRICS": "NP2PDEM,GTTS", "BCS_MDS_WINDOW": "3,1000000000", "BCS_NODE_RANKS": "2"}, 2, True),
    "one node of two": ({**TIMED, "BCS_NODE_RANKS": "2", "BCS_MDS_NODES": "1"}, 1, True),
    "no strobe sender wanted": ({**TIMED, "BCS_MDS_METRICS": "NP2PDEM"}, 1, False),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--traffic", required=True, help="slice_traffic, or slice_traffic_api")
    parser.add_argument("--api", action="store_true", help="it is on the BCS API")
    parser.add_argument("--has-report", action="store_true",
                        help="the report of a deadlock can be written")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def start(runs, settings, program):
    command = [*shlex.split(runs.arguments.launcher), "-n", str(N_RANKS), *program]
    return job.Job(command, job.mpirun_environment({"BCS_MDS_DIR": runs.parent, **settings}))


def total_of(runs, folder, metric):
    """What a metric comes to, and the title of its table; None if that cannot be read."""
    told = runs.read("slices", folder, "--metric", metric)
    lines = told.stdout.splitlines()
    if told.returncode != 0 or len(lines) < 3:
        return None, told.stderr
    rows = [line.split() for line in lines[2:]]
    return sum(float(row[6]) for row in rows if len(row) == 7), lines[0]


def await_traffic(runs, has_strobes):
    """Wait until some messages are seen in the folder, and slices of the strobe sender, if the clock
    makes it send some. On demand it may have none after the first ones, which are seen once an
    interval with others begins. Returns it, how many messages, and whether all has come."""
    guard, seen, folder, has_sent = job.Guard(runs.arguments.timeout), None, None, False
    while not guard.is_over() and ((seen or 0) < ENOUGH or has_strobes and not has_sent):
        for name in os.listdir(runs.parent):
            folder = os.path.join(runs.parent, name)
            seen, _ = total_of(runs, folder, "NP2PDEM")
            has_sent = bool(total_of(runs, folder, "GTTS")[0])
        time.sleep(0.02)
    return folder, seen or 0, (seen or 0) >= ENOUGH and has_sent >= has_strobes


def victims_of(runs, one, who):
    """The processes to be killed."""
    if who == "the launcher":
        return [one.process.pid]
    if who == "a rank":
        return [one.find_rank(2)]
    program = os.path.realpath(runs.arguments.traffic)
    all_of_it = one.processes()
    return all_of_it if who == "all" else [pid for pid in all_of_it if is_of(pid, program)]


def is_of(pid, program):
    try:
        return os.readlink(f"/proc/{pid}/exe") == program
    except OSError:
        return False


def kill(victims):
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def problems_of_names(folder, n_nodes, has_sender, is_one_of_two):
    """Whether the folder has what the job has recorded in, and nothing else."""
    names = sorted(os.listdir(folder))
    first = 1 if is_one_of_two else 0
    wanted = [f"node.{first + i:05}.live" for i in range(n_nodes)] + ["manifest.txt"]
    wanted += ["global.live"] if has_sender else []
    return [] if names == sorted(wanted) else [f"there is {names}, not {sorted(wanted)}"]


def problems_of_left(runs, folder, seen, n_nodes, has_strobes):
    """Whether what was seen is still there, of each node. has_strobes is None where the strobe sender
    may have sent some or none."""
    problems = mds_runs.problems_of_check(runs, folder)
    total, title = total_of(runs, folder, "NP2PDEM")
    if total is None or total < seen:
        problems.append(f"{total} messages of {seen}: {title}")
    n_files = "1 file" if n_nodes == 1 else f"{n_nodes} files"
    if f" of {n_files} of a run that has not ended; " not in title:
        problems.append(f"{title!r}, not of {n_files}")
    sent, title = total_of(runs, folder, "GTTS")
    if has_strobes is not None and (sent is not None and sent > 0) != has_strobes:
        problems.append(f"GTTS comes to {sent}: {title}")
    if ", of a run that has not ended\n" not in runs.read("summary", folder).stdout:
        problems.append("the summary does not tell")
    return problems


def test_kill(runs, report, name, who):
    """Returns whether anything was recorded: else others would wait as long for it."""
    settings, n_nodes, has_sender = MODES[name]
    has_strobes = has_sender if "BCS_STROBE" in settings else None if has_sender else False
    one = start(runs, {"BCS_MDS": "emds", **settings}, [runs.arguments.traffic, FOR_EVER, "1"])
    try:
        folder, seen, is_seen = await_traffic(runs, bool(has_strobes))
        problems = [] if is_seen else [f"{seen} messages: {one.errors_so_far()[-300:]}"]
        kill(victims_of(runs, one, who))
        one.finish(runs.arguments.timeout)
        guard = job.Guard(runs.arguments.timeout)
        while one.processes() and not guard.is_over():
            time.sleep(0.05)
        # With bcsrun and its keeper gone, the next bcsrun removes their folder. The kernel takes a
        # killed process's environment, by which it is found, before the files that it holds.
        guard = job.Guard(runs.arguments.timeout)
        left = ["all"]
        while left and not guard.is_over():
            job.run([*shlex.split(runs.arguments.launcher), "-n", "1", "true"],
                    job.mpirun_environment(), runs.arguments.timeout)
            left = one.leftovers(patience=0.1)
        problems += [f"left {what}" for what in left]
        if not problems:
            problems += problems_of_names(folder, n_nodes, has_sender, name == "one node of two")
            problems += problems_of_left(runs, folder, seen, n_nodes, has_strobes)
        report.case(f"{who} killed, {name}", problems)
    finally:
        one.close()
        for name in os.listdir(runs.parent):
            shutil.rmtree(os.path.join(runs.parent, name))
    return is_seen


def test_left_alone(runs, report):
    """Ranks that leave although something has gone wrong leave what was recorded as it is."""
    problems = []
    program = [runs.arguments.traffic, "50", "3", "disagree"]
    one = start(runs, {"BCS_MDS": "all", "BCS_NODE_RANKS": "1"}, program)
    try:
        one.await_that(lambda: one.output_so_far().count("left alone") == N_RANKS - 1,
                       runs.arguments.timeout)
        if one.output_so_far().count("left alone: 1\n") != N_RANKS - 1:
            problems.append(f"{one.output_so_far()!r} {one.errors_so_far()[-300:]!r}")
        folder = os.path.join(runs.parent, os.listdir(runs.parent)[0])
        names = sorted(os.listdir(folder))
        wanted = ["global.live", *(f"node.{i:05}.live" for i in range(N_RANKS)),
                  *(f"process.{i:05}.live" for i in range(N_RANKS)), "manifest.txt"]
        problems += [] if names == sorted(wanted) else [f"there is {names}, not {sorted(wanted)}"]
        problems += problems_of_left(runs, folder, 2 * 50 * N_RANKS, N_RANKS, True)
        report.case("left alone", problems)
    finally:
        one.close()
        for name in os.listdir(runs.parent):
            shutil.rmtree(os.path.join(runs.parent, name))


def test_stuck(runs, report):
    """The report of a deadlock is in the folder, beside what was recorded."""
    folder, result = runs.record([runs.arguments.traffic, "50", "3", "stuck"], {"BCS_MDS": "all"})
    told = run_referee.report_of(os.path.dirname(folder))
    problems = [] if result.status == run_referee.STATUS else [result.ending()]
    if told is None or len(told["job"]["ranks"]) != N_RANKS:
        problems.append(f"the report is {told}, of {os.listdir(folder)}")
    report.case("stuck", problems + problems_of_left(runs, folder, 2 * 50 * N_RANKS, 1, False))
    shutil.rmtree(folder)


def test_no_begin(runs, report):
    """A job that cannot begin takes the folder that it has made away again."""
    for mode in ("emds", "trace"):
        program = [runs.arguments.traffic, "1", "1"]
        command = [*shlex.split(runs.arguments.launcher), "-n", "1", *program, ":",
                   "-n", str(N_RANKS - 1), "env", "BCS_DESCRIPTORS=100", *program]
        environment = job.mpirun_environment(
            {"BCS_MDS": mode, "BCS_MDS_DIR": runs.parent, **TIMED})
        result = job.run(command, environment, runs.arguments.timeout)
        problems = [f"left {name}" for name in os.listdir(runs.parent)]
        if result.status == 0 or "rank 1 has other settings than rank 0" not in result.stderr:
            problems.append(result.ending())
        report.case(f"no begin, {mode}", problems)


def test_calls_alone(runs, report):
    """Without slices there are no files for them."""
    folder, result = runs.record([runs.arguments.traffic, "10", "1"], {"BCS_MDS": "mmds"})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        names = [name for name in os.listdir(folder) if not name.startswith(("process", "manifest"))]
        problems += [f"there is {names}"] if names else []
    report.case("no slices", problems)


def test_no_room(runs, report):
    """If there is no room for slices, one line says so, and they are recorded in memory alone."""
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own, "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: a full disk, as nothing can be mounted")
        return
    for mode, most in (("emds", "2m"), ("all", "6m"), ("all", "1m")):
        small = os.path.join(runs.parent, "small")
        os.mkdir(small)
        command = shlex.join([*shlex.split(runs.arguments.launcher), "-n", str(N_RANKS),
                              runs.arguments.traffic, "10", "1"])
        script = (f"mount -t tmpfs -o size={most} none {small} && {command}; status=$?; "
                  f"cp -r {small} {small}.kept; exit $status")
        environment = job.mpirun_environment({"BCS_MDS": mode, "BCS_MDS_DIR": small, **TIMED})
        result = job.run([*own, "sh", "-c", script], environment, runs.arguments.timeout)
        problems = [] if result.status == 0 else [result.ending()]
        if len(re.findall("unwritten: .*No space left", result.stderr)) != 1:
            problems.append(f"it is not said once: {result.stderr[:500]!r}")
        names = os.listdir(f"{small}.kept")
        if not problems and len(names) == 1:
            folder = os.path.join(f"{small}.kept", names[0])
            problems += mds_runs.problems_of_check(runs, folder)
            total, title = total_of(runs, folder, "NP2PDEM")
            if total != 2 * 10 * N_RANKS or "has not ended" in title:
                problems.append(f"{total} messages: {title}")
            problems += [f"left {name}" for name in os.listdir(folder)
                         if name.endswith((".live", ".part"))]
        report.case(f"no room, {mode}, {most}", problems)
        shutil.rmtree(small)
        shutil.rmtree(f"{small}.kept")


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    report = job.Report()
    runs = mds_runs.Runs(arguments)
    try:
        kills = [(name, "all") for name in MODES]
        for who in ("a rank", "all ranks", "the launcher"):
            kills += [("timed, two nodes", who), ("on demand, one node", who)]
        all(test_kill(runs, report, name, who) for name, who in kills)
        if arguments.api:
            test_left_alone(runs, report)
        if arguments.api and arguments.has_report:
            test_stuck(runs, report)
        test_no_begin(runs, report)
        test_calls_alone(runs, report)
        test_no_room(runs, report)
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
