#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has bcsrun tell where the ranks of a job stand: with --patience once for each time that nothing
moves, also while a rank polls, and not while anything moves; and whenever it gets SIGURG. The job goes
on, ends as it would, and leaves nothing behind.
"""

import argparse
import os
import re
import shlex
import signal
import sys
import time

import job
import modes

MODES = {
    "inline": {},
    "inline, two nodes": {"BCS_NODE_RANKS": "1"},
    "threads, two nodes": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
    "timed": {"BCS_STROBE": "timed"},
}
TOLD = "nothing has moved in the job"
NO_VERDICT = "this proves nothing and is no verdict"
POLLS = re.compile(r"^  0: polls, by MPI_Test(?:, at \w+, standstills\.c:\d+|, at 0x\w+ in \S+)$", re.MULTILINE)
STANDS = "  0: MPI_Wait, receive from rank 1, tag 4, on MPI_COMM_WORLD"
OUTSIDE = re.compile(r"^  0: MPI_Win_fence, something of the MPI library, (?:at \w+, standstills\.c:\d+"
                     r"|at 0x\w+ in \S+)(?:, called from [^\n]*)?, for ", re.MULTILINE)
PATIENCE_S = 0.4
MOVING = ("barriers", "messages", "longs", "sums")
ATTEMPTS = 4


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program standstills")
    parser.add_argument("--mode", action="append", choices=MODES, help="(default: all)")
    modes.add_in_turn(parser)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def start(arguments, mode, patience_s, acts):
    option = [] if patience_s is None else ["--patience", f"{round(patience_s * 1000)}ms"]
    command = [*shlex.split(arguments.launcher), *option, "-n", "2", arguments.program, *acts]
    return job.Job(command, job.mpirun_environment(mode))


def await_text(arguments, one, text, count):
    """Wait until standard error has a text so often. Returns whether it has, and not more often."""
    return one.await_that(lambda: one.errors_so_far().count(text) >= count, arguments.timeout) \
        and one.errors_so_far().count(text) == count


def await_word(arguments, one, word):
    return one.await_that(lambda: word in one.output_so_far().split(), arguments.timeout)


def problems_of_end(arguments, one):
    """Let the job go on once more, to its end."""
    one.process.send_signal(signal.SIGUSR2)
    result = one.finish(arguments.timeout)
    problems = [] if result.status == 0 else [result.ending()]
    return problems + [f"it leaves {left}" for left in one.leftovers()]


def test_still(arguments, report, name, mode):
    """Two standstills, with messages between: each is told once."""
    one = start(arguments, mode, PATIENCE_S, ["still", "0", "poll", "0"])
    try:
        problems = []
        if not await_text(arguments, one, TOLD, 1):
            problems.append("the first standstill is not told once")
        # Were it told again, then within this time; whether it is short or long, none may come.
        time.sleep(3 * PATIENCE_S)
        said = one.errors_so_far()
        if said.count(TOLD) != 1 or NO_VERDICT not in said or STANDS not in said:
            problems.append(f"it says {said!r}")
        one.process.send_signal(signal.SIGUSR2)
        if not await_word(arguments, one, "poll") or not await_text(arguments, one, TOLD, 2):
            problems.append("polling in vain is not told as a standstill, once")
        if not one.await_that(lambda: POLLS.search(one.errors_so_far()), arguments.timeout):
            problems.append(f"of a rank that polls it says {one.errors_so_far()!r}")
        report.case(f"still, {name}", problems + problems_of_end(arguments, one))
    finally:
        one.close()


def test_outside(arguments, report, name, mode):
    """A rank in a call that the MPI library carries is told with the call and its place."""
    one = start(arguments, mode, PATIENCE_S, ["outside", "0"])
    try:
        problems = [] if await_text(arguments, one, TOLD, 1) else ["the standstill is not told once"]
        if not one.await_that(lambda: OUTSIDE.search(one.errors_so_far()), arguments.timeout):
            problems.append(f"it says {one.errors_so_far()!r}")
        report.case(f"outside, {name}", problems + problems_of_end(arguments, one))
    finally:
        one.close()


def test_long(arguments, report):
    """A standstill is told when it has lasted for as long as is asked, and not by how long the job has
    run."""
    patience_s = 5 * PATIENCE_S
    one = start(arguments, {}, patience_s, ["messages", str(round(2000 * patience_s)), "still", "0"])
    try:
        problems = [] if await_word(arguments, one, "still") else ["it does not begin"]
        begun = time.monotonic()
        problems += [] if await_text(arguments, one, TOLD, 1) else ["it is not told once"]
        seconds = time.monotonic() - begun
        # What is seen as begun may have been printed a while ago; the looks have a grain, too.
        if seconds < patience_s / 2:
            problems.append(f"it is told after {seconds:.2f} s, not {patience_s} s")
        report.case("long", problems + problems_of_end(arguments, one))
    finally:
        one.close()


def test_moving(arguments, report, name, mode, act):
    """Nothing is told while something moves. A machine may be so busy with other things that a job
    does stand still; then it is tried again with more patience."""
    for attempt in range(ATTEMPTS):
        patience_s = PATIENCE_S * 4**attempt
        one = start(arguments, mode, patience_s, [act, str(round(2500 * patience_s))])
        try:
            result = one.finish(arguments.timeout + 10 * patience_s)
        finally:
            one.close()
        if result.status != 0 or TOLD not in result.stderr:
            break
    problems = [] if result.status == 0 else [result.ending()]
    if TOLD in result.stderr:
        problems.append(f"it is told to stand still: {result.stderr!r}")
    report.case(f"{act}, {name}", problems)


def test_asked(arguments, report):
    """SIGURG: once, also if all processes of the name get it, with no option."""
    one = start(arguments, {}, None, ["still", "0"])
    problems = []
    try:
        if not await_word(arguments, one, "still"):
            problems.append("it does not begin")
        for pid in one.processes():
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                if file.read().strip() == "bcsrun":
                    os.kill(pid, signal.SIGURG)
        if not await_text(arguments, one, "Job of process", 1):
            problems.append(f"asked, it says {one.errors_so_far()!r}")
        if TOLD in one.errors_so_far():
            problems.append("it tells a standstill unasked")
        problems += problems_of_end(arguments, one)
        if "turns:" not in one.output_so_far():
            problems.append("the job has not gone on to its end")
        report.case("asked", problems)
    finally:
        one.close()


def test_killed(arguments, report, which):
    """Nothing is left if bcsrun, or the keeper, is killed while somebody watches the job."""
    one = start(arguments, {}, PATIENCE_S, ["still", "0"])
    problems = []
    try:
        if not await_text(arguments, one, TOLD, 1):
            problems.append("nothing is told")
        names = {}
        for pid in one.processes():
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                names.setdefault(file.read().strip(), []).append(pid)
        if "bcs-top" not in names:
            problems.append(f"nobody watches: {names}")
        first = one.process.pid
        victim = first if which == "bcsrun" else \
            next(pid for pid in names["bcsrun"] if pid != first)
        os.kill(victim, signal.SIGKILL)
        one.finish(arguments.timeout)
        problems += [f"it leaves {left}" for left in one.leftovers()]
        report.case(f"{which} killed", problems)
    finally:
        one.close()


def test_bad(arguments, report):
    """What cannot be is one line that says what is allowed."""
    for value, option, words in (("3", [], "10ms to 604800s"), ("1ms", [], "10ms to 604800s"),
                                 ("", [], "10ms to 604800s"), ("-5s", [], "10ms to 604800s"),
                                 ("1s", ["--native"], "not for --native")):
        command = [*shlex.split(arguments.launcher), "--patience", value, *option, "-n", "1", "true"]
        one = job.Job(command, job.mpirun_environment({}))
        try:
            result = one.finish(arguments.timeout)
            good = result.status == 1 and words in result.stderr and result.stderr.count("\n") == 1
            report.case(f"--patience {value!r} {option}", [] if good else [result.ending()])
        finally:
            one.close()


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    report = job.Report()
    test_bad(arguments, report)
    test_asked(arguments, report)
    test_long(arguments, report)
    for which in ("bcsrun", "keeper"):
        test_killed(arguments, report, which)
    names = arguments.mode or list(MODES)
    for name in names:
        test_still(arguments, report, name, MODES[name])
        test_outside(arguments, report, name, MODES[name])
    for i, act in enumerate(MOVING):
        for name in modes.of_case(names, i, arguments.in_turn):
            test_moving(arguments, report, name, MODES[name], act)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
