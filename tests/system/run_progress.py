#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has bcsrun --progress tell how a job gets on: that messages, bytes and collectives a second add up to
what the job has done, that nothing moves when nothing does, and who waits in what then. The job goes on, ends
as it would, and leaves nothing behind.
"""

import argparse
import os
import re
import shlex
import signal
import sys

import job
import modes
from run_patience import MODES

# What a turn of tests/system/standstills.c has: messages, their bytes, collectives.
TURNS = {"messages": (3, 4 + 8 + 8, 0), "longs": (3, 4 + 2 * (1 << 20), 0), "sums": (0, 0, 1),
         "barriers": (0, 0, 11)}
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
NUMBER = r"([0-9.]+)([kMG]?)"
LINE = re.compile(rf"bcsrun: (\S+): (?:{NUMBER} messages/s, {NUMBER}B/s, {NUMBER} collectives/s, {NUMBER} "
                  r"slices/s|nothing has moved for (\S+)); (.*)")
STANDS = re.compile(r"1 of 2 ranks wait: rank 0 in MPI_Wait from 1, tag 4, stand, .*, on MPI_COMM_WORLD")
MS = 1500
# What lines tell of what a job has done: their times are rounded, and of the lengths of messages some are
# guessed.
LEAST_SHARE, MOST_SHARE = 0.6, 1.5
ALSO = 50 # what a job has besides


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program standstills")
    modes.add_in_turn(parser)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def start(arguments, mode, interval, acts):
    command = [*shlex.split(arguments.launcher), f"--progress={interval}", "-n", "2",
               arguments.program, *acts]
    return job.Job(command, job.mpirun_environment(mode))


def seconds_of(text):
    """A time as a line has it."""
    if text.endswith("ms"):
        return float(text[:-2]) / 1000
    if text.endswith("s"):
        return float(text[:-1])
    minutes, seconds = text.split(":")
    return 60 * int(minutes) + int(seconds)


def lines_of(said):
    """[(time, (messages, bytes, collectives, slices) a second or None: nothing moves, words)]"""
    lines = []
    for text in said.splitlines():
        match = LINE.fullmatch(text)
        if match:
            parts = match.groups()
            rates = None if parts[1] is None else \
                [float(parts[i]) * UNITS[parts[i + 1]] for i in (1, 3, 5, 7)]
            lines.append((seconds_of(parts[0]), rates, parts[-1]))
    return lines


def problems_of_sums(act, said, turns):
    """Whether what the lines tell adds up to what the job has done, which is all between two of them."""
    lines = lines_of(said)
    problems = [f"it says {text!r}" for text in said.splitlines()
                if text.startswith("bcsrun:") and not LINE.fullmatch(text)]
    told = [0.0] * 4
    for (before, _, _), (now, rates, _) in zip(lines, lines[1:]):
        told = [one + (now - before) * rate for one, rate in zip(told, rates or [0] * 4)]
    for number, name in enumerate(("messages", "bytes", "collectives")):
        done = TURNS[act][number] * turns
        if not LEAST_SHARE * done <= told[number] <= MOST_SHARE * done + ALSO:
            problems.append(f"{told[number]:.0f} {name} told, {done:.0f} done: {said!r}")
    if act in ("messages", "longs") and told[3] == 0:
        problems.append("no slices")
    return problems


def is_still(line):
    return line[1] is None and STANDS.fullmatch(line[2])


def test_moving(arguments, report, name, mode, act):
    """Nothing moves before and after what is counted."""
    one = start(arguments, mode, "500ms", ["still", "0", act, str(MS), "still", "0"])
    try:
        problems = []
        for n_before in (0, 1):
            if not await_line(arguments, one, is_still) or \
                    not await_turns(arguments, one, 2 * n_before):
                problems.append("it does not come to a standstill")
            seen = len(lines_of(one.errors_so_far()))
            if n_before == 1 and not await_line(arguments, one, is_still, seen):
                problems.append("it does not come to a standstill again")
            one.process.send_signal(signal.SIGUSR2)
        result = one.finish(arguments.timeout)
        problems += [] if result.status == 0 else [result.ending()]
        turns = re.findall(r"turns: (\d+)", result.stdout)
        if not problems:
            problems = problems_of_sums(act, result.stderr, int(turns[1]))
        report.case(f"{act}, {name}", problems + [f"it leaves {left}" for left in one.leftovers()])
    finally:
        one.close()


def await_turns(arguments, one, count):
    """Wait until a job has ended so many of its acts."""
    return one.await_that(lambda: one.output_so_far().count("turns:") >= count,
                          arguments.timeout)


def await_line(arguments, one, is_wanted, n_before=0):
    """Wait for a line behind the first ones. Returns whether it has come."""
    return one.await_that(
        lambda: any(map(is_wanted, lines_of(one.errors_so_far())[n_before:])), arguments.timeout)


def test_still(arguments, report, name, mode):
    """Nothing moves, for longer from line to line; then something does."""
    one = start(arguments, mode, "100ms", ["still", "0", "messages", "1000"])
    try:
        problems = []
        if not await_line(arguments, one, is_still):
            problems.append(f"no standstill is told: {one.errors_so_far()!r}")
        # Before the ranks have met nothing moves either.
        since = one.errors_so_far().rsplit(" messages/s", 1)[-1]
        times = [seconds_of(text) for text in re.findall(r"nothing has moved for (\S+);", since)]
        if times != sorted(times):
            problems.append(f"it does not last longer and longer: {times}")
        one.process.send_signal(signal.SIGUSR2)
        if not await_line(arguments, one, lambda line: line[1] and line[1][0] > 0):
            problems.append(f"no messages are told: {one.errors_so_far()!r}")
        result = one.finish(arguments.timeout)
        problems += [] if result.status == 0 else [result.ending()]
        report.case(f"still, {name}", problems + [f"it leaves {left}" for left in one.leftovers()])
    finally:
        one.close()


def test_killed(arguments, report, which):
    """Nothing is left if bcsrun, or its keeper, is killed."""
    one = start(arguments, {}, "100ms", ["still", "0"])
    try:
        problems = [] if await_line(arguments, one, is_still) else ["nothing is told"]
        first = one.process.pid
        with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
            keeper = int(file.read().split()[0])
        os.kill(first if which == "bcsrun" else keeper, signal.SIGKILL)
        one.finish(arguments.timeout)
        report.case(f"{which} killed", problems + [f"it leaves {left}" for left in one.leftovers()])
    finally:
        one.close()


def test_bad(arguments, report):
    """What cannot be is one line that says what is allowed."""
    for option, words in (("--progress=3", "100ms to 604800s"), ("--progress=", "100ms to 604800s"),
                          ("--progress=99ms", "100ms to 604800s")):
        one = job.Job([*shlex.split(arguments.launcher), option, "-n", "1", "true"],
                      job.mpirun_environment({}))
        try:
            result = one.finish(arguments.timeout)
            good = result.status == 1 and words in result.stderr and result.stderr.count("\n") == 1
            report.case(option, [] if good else [result.ending()])
        finally:
            one.close()


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    report = job.Report()
    test_bad(arguments, report)
    for which in ("bcsrun", "keeper"):
        test_killed(arguments, report, which)
    for name, mode in MODES.items():
        test_still(arguments, report, name, mode)
    for i, act in enumerate(TURNS):
        for name in modes.of_case(list(MODES), i, arguments.in_turn):
            test_moving(arguments, report, name, MODES[name], act)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
