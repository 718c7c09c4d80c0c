#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at running jobs with bcs-top: it names the ranks that wait, their call, for whom, the tag, the
communicator and the line, in several modes; other users see nothing, and killed jobs are gone. Of a job of
another version, or whose memory is damaged, it says so.
"""

import argparse
import contextlib
import fcntl
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import job
import mds_runs

MODES = {
    "inline": {},
    "inline, two nodes, ports backwards": {"BCS_NODE_RANKS": "2", "BCS_FAR_MAP": "falling"},
    "threads": {"BCS_DRIVER": "threads"},
    "threads, two nodes": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"},
    "timed": {"BCS_STROBE": "timed"},
}
# As libbcs/fabric/ring/sign.h has it, which never changes.
SIGN = b"BCS-JOB\n"
LAYOUT_AT = 24
BOARD_AT = 32
BOARD_BYTES = 200 # of a board, its head at least
DAMAGES = 200


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", required=True, help="the program bcs-top")
    parser.add_argument("--stuck", required=True, help="the program stuck_ranks")
    parser.add_argument("--stuck-source", required=True, help="its source")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def look(arguments, *before):
    """Run bcs-top. Returns the jobs that could be looked at, and what it has said. Other runs on this
    machine may have jobs, and those of another build cannot be."""
    told = subprocess.run([*before, arguments.top, "--json"], capture_output=True, text=True,
                          timeout=600, check=False)
    return json.loads(told.stdout), told.stderr


def jobs_with(jobs, pids):
    return [one for one in jobs or [] if {rank["pid"] for rank in one["ranks"]} <= pids]


def brief(one):
    """What ranks wait for: {rank: (call, operations, for whom, all, communicator)}. A rank in a
    collective may name those who have come after it has told."""
    there = {rank["rank"]: {(wait["collective"], wait["communicator"])
                            for wait in rank["waits"] if wait["collective"]}
             for rank in one["ranks"]}
    return {rank["rank"]: [(wait["call"],
                            [(op["kind"], op["peer"], op["tag"]) for op in wait["operations"]],
                            [other for other in wait["waits_for"]
                             if (wait["collective"], wait["communicator"]) not in there[other]],
                            wait["needs_all"], wait["communicator"])
                           for wait in rank["waits"]]
            for rank in one["ranks"]}


def expected_of(option):
    barrier = [("collective", -1, -1)]
    alone = ("MPI_Waitall", [("receive", 2, 7)], [2], True, "the grid")
    if option:
        alone = ("MPI_Wait", [("receive", -1, -1)], [0, 1, 2, 3], True, "MPI_COMM_WORLD")
    return {0: [alone],
            1: [("MPI_Barrier", barrier, [0, 3], True, "the grid")],
            2: [("MPI_Barrier", barrier, [0, 3], True, "the grid")],
            3: []}


def problems_of_places(arguments, one, option):
    """Whether the lines are those of the source."""
    name = os.path.basename(arguments.stuck_source)
    words = {0: "anybody" if option else "rank 2", 1: "all but two", 2: "all but two"}
    problems = []
    for rank, part in words.items():
        line = mds_runs.line_with(arguments.stuck_source, part)
        pattern = rf"main, {re.escape(name)}:{line}" if arguments.has_lines else r"0x\w+ in .*"
        place = one["ranks"][rank]["waits"][0]["place"]
        if not re.fullmatch(pattern, place or ""):
            problems.append(f"rank {rank} at {place!r}, not {pattern}")
    return problems


def problems_of_roll_call(arguments, one, option):
    """Whether the same is told to people."""
    told = subprocess.run([arguments.top, "--once"], capture_output=True, text=True, timeout=600,
                          check=False).stdout
    place = ", at .*, for [0-9.]+ s"
    alone = "MPI_Wait, receive from any rank, any tag, on MPI_COMM_WORLD" if option else \
        "MPI_Waitall, receive from rank 2, tag 7, on the grid"
    lines = [rf"Job of process \d+, {len(one['ranks'])} ranks:",
             rf"  0: {alone}{place}",
             rf"  1-2: MPI_Barrier, without ranks 0,3, on the grid{place}",
             r"  3: not in a waiting MPI call \(.*\)"]
    return [] if re.search("^" + "\n".join(lines) + "$", told, re.M) else [f"it prints {told!r}"]


def problems_of_report(arguments, one):
    """Whether the report of a deadlock is a file that nothing was written over for."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        command = [arguments.top, "--stuck", "0", str(one["pid"]), path]
        done = [subprocess.run(command, capture_output=True, timeout=60, check=False)]
        problems = [] if os.listdir(folder) == ["report"] else ["no report"]
        with open(f"{path}.part", "w", encoding="ascii") as file:
            file.write("precious")
        done.append(subprocess.run(command, capture_output=True, timeout=60, check=False))
        with open(f"{path}.part", encoding="ascii") as file:
            problems += [] if file.read() == "precious" else ["another file is written over"]
        if [one.returncode for one in done] != [0, 1]:
            problems.append(f"reports end with {done}")
    return problems


# What the screen shows, too, of a job, of its ranks and of the machine; see docs/bcs-top.md.
NUMBERS = ("seconds", "interval", "messages_per_second", "bytes_per_second",
           "collectives_per_second", "slices_per_second", "n_waiting")
SHARES = ("computing", "communicating", "without_core")


def problems_of_screen(arguments, pids):
    """Whether JSON has what the screen shows, of a job whose ranks stand where they will stand."""
    told = subprocess.run([arguments.top, "--once", "--json"], capture_output=True, text=True,
                          timeout=60, check=False)
    mine = jobs_with(json.loads(told.stdout or "[]"), pids)
    if len(mine) != 1:
        return [f"--once --json: {told.returncode} {told.stderr}"]
    one, problems = mine[0], []
    problems += [f"{name}: {one[name]!r}" for name in NUMBERS
                 if not isinstance(one[name], (int, float)) or one[name] < 0]
    problems += [f"{name}: {what[name]!r}" for what, names in
                 ((one, SHARES), *((rank, ("communicating",)) for rank in one["ranks"]))
                 for name in names if what[name] is not None and not 0 <= what[name] <= 1]
    problems += [f"rank {rank['rank']} waits for {wait['seconds']} s, its job is there for "
                 f"{one['seconds']} s" for rank in one["ranks"] for wait in rank["waits"]
                 if not 0 <= wait["seconds"] <= one["seconds"] + 60]
    if not one["program"].startswith(arguments.stuck):
        problems.append(f"program {one['program']!r}")
    if one["n_waiting"] != sum(bool(rank["waits"]) for rank in one["ranks"]):
        problems.append(f"n_waiting {one['n_waiting']}")
    if one["pairs"] or one["has_moved"] or one["messages_per_second"] > 0:
        problems.append(f"it moves: {one['pairs']}")
    cores = one["machine"]["cores"]
    if any(not isinstance(rank["core"], int) or rank["cpu"] > cores + 1 for rank in one["ranks"]):
        problems.append("ranks without core")
    return problems


def await_look(arguments, one, expected):
    """Look until the ranks stand where they are to stand. Returns the job, or what was seen."""
    guard = job.Guard(arguments.timeout)
    seen = None
    while not guard.is_over():
        jobs, said = look(arguments)
        mine = jobs_with(jobs, set(one.processes()))
        seen = brief(mine[0]) if len(mine) == 1 else (jobs, said)
        if seen == expected:
            return mine[0], None
    return None, seen


def problems_of_end(arguments, pids):
    """A job that was killed is gone as soon as its processes have been taken down."""
    guard = job.Guard(arguments.timeout)
    while jobs_with(look(arguments)[0], pids):
        if guard.is_over():
            return ["it is seen after it was killed"]
    return []


def test_stuck(arguments, report, name, mode, option):
    command = [*shlex.split(arguments.launcher), "-n", "4", arguments.stuck,
               *filter(None, [option])]
    one = job.Job(command, job.mpirun_environment({**mode, "BCS_REFEREE": "off"}))
    try:
        found, seen = await_look(arguments, one, expected_of(option))
        problems = [] if found else [f"{seen}, not {expected_of(option)}"]
        if found:
            problems += problems_of_places(arguments, found, option)
            problems += problems_of_roll_call(arguments, found, option)
            problems += problems_of_report(arguments, found)
            problems += problems_of_screen(arguments, set(one.processes()))
        if found and os.geteuid() == 0:
            jobs, said = look(arguments, "setpriv", "--reuid=65534", "--clear-groups")
            if jobs != [] or "no job under BCS" not in said:
                problems.append(f"another user sees {jobs}, {said!r}")
        pids = set(one.processes())
        for pid in pids:
            with contextlib.suppress(ProcessLookupError): # another's death may have ended it
                os.kill(pid, signal.SIGKILL)
        one.process.wait()
        problems += problems_of_end(arguments, pids)
        report.case(f"{name} {option}", problems)
    finally:
        one.close()


def segment_of(pids):
    """What is in the segment of a job, by the descriptor that its first process keeps."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{number}"
                if os.readlink(path).startswith("/memfd:bcs "):
                    with open(path, "rb") as file:
                        if file.read(len(SIGN)) == SIGN:
                            file.seek(0)
                            return file.read()
    return None


@contextlib.contextmanager
def shown(content):
    """A segment as a job has one, in this process."""
    fd = os.memfd_create("bcs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.write(fd, content)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        yield
    finally:
        os.close(fd)


def test_damaged(arguments, report):
    """Jobs of another version, and memory that makes no sense, are errors, and never a crash."""
    one = job.Job([*shlex.split(arguments.launcher), "-n", "4", arguments.stuck],
                  job.mpirun_environment({"BCS_REFEREE": "off"}))
    try:
        found, seen = await_look(arguments, one, expected_of(""))
        content = segment_of(one.processes())
        problems = [] if found and content else [f"{seen}, no segment"]
        if not problems:
            board = int.from_bytes(content[BOARD_AT:BOARD_AT + 8], "little")
            other = bytearray(content)
            other[len(SIGN):len(SIGN) + 4] = b"9.9\0"
            other[LAYOUT_AT] ^= 1
            with shown(bytes(other)):
                told = subprocess.run([arguments.top, "--json"], capture_output=True, text=True,
                                      timeout=arguments.timeout, check=False)
            if told.returncode != 1 or "is of bcs 9.9 built otherwise" not in told.stderr:
                problems.append(f"of another version it says {told.stderr!r}")
            if not jobs_with(json.loads(told.stdout), set(one.processes())):
                problems.append("a job of another version hides others")
            problems += problems_of_damage(arguments, content, board)
        report.case("damaged", problems)
    finally:
        one.close()


def problems_of_damage(arguments, content, board):
    """Look at a job whose board is damaged, a word or the length of it at a time."""
    chance = random.Random(1)
    for _ in range(DAMAGES):
        damaged = bytearray(content)
        place = chance.randrange(BOARD_AT, board + BOARD_BYTES)
        place = chance.choice([BOARD_AT, board + 4 * chance.randrange(BOARD_BYTES // 4), place])
        damaged[place:place + 4] = chance.choice(
            [0, 1, 3, 1 << 16, 1 << 31, 0xffffffff, chance.getrandbits(32)]).to_bytes(4, "little")
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(damaged)):]
        with shown(bytes(damaged)):
            told = subprocess.run([arguments.top, "--once"], capture_output=True, text=True,
                                  timeout=arguments.timeout, check=False)
        if told.returncode not in (0, 1):
            return [f"4 bytes at {place} of {board}: status {told.returncode}, {told.stderr!r}"]
    return []


def main():
    arguments = parse_arguments()
    report = job.Report()
    for name, mode in MODES.items():
        for option in ("", "any"):
            test_stuck(arguments, report, name, mode, option)
    test_damaged(arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
