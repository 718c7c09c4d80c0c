#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Drives the full-screen view of bcs-top on a pseudo terminal: what it shows of jobs at several sizes, all
of its keys, another size meanwhile, jobs that begin and end; and that the terminal is as it was however it
ends, by a key, by signals, by kill -9 of either of its two processes.
"""

import argparse
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import job
import terminal

UP, DOWN, RIGHT, LEFT = "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD"
PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[5~", "\x1b[6~", "\x1bOH", "\x1bOF"
FOOT = "q quit"
# Of waiting_ways, at 80 columns: what each rank waits in.
WAYS = ["MPI_Waitany from 6, tag 10, or 1 more", "MPI_Waitsome from 6, tag 11, or 1 more",
        "MPI_Probe from 6, tag 12, waiting_ways.c:", "MPI_Mprobe from 6, any tag, waiting_ways.c:",
        "MPI_Send to 6, tag 14, waiting_ways.c:", "MPI_Ssend to 6, tag 51, waiting_ways.c:",
        "MPI_Recv from 6, tag 52, waiting_ways.c:"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", required=True, help="the program bcs-top")
    parser.add_argument("--is-missing", action="store_true", help="bcs-top has no ncurses")
    parser.add_argument("--ways", help="the program waiting_ways")
    parser.add_argument("--moving", help="the program standstills")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class View:
    """bcs-top on a terminal, and what was not as it should be."""

    def __init__(self, arguments, n_lines=24, n_columns=80):
        self.timeout = arguments.timeout
        self.on = terminal.Terminal([arguments.top], job.clean_environment(), n_lines, n_columns)
        self.problems = []

    def shows(self, *words):
        """Wait until all of some words are on the screen."""
        return self.wait(lambda: all(word in self.on.screen.text() for word in words),
                         f"{words} is not shown")

    def shows_not(self, word):
        return self.wait(lambda: word not in self.on.screen.text(), f"{word!r} stays")

    def wait(self, is_so, what):
        guard = job.Guard(self.timeout)
        while not is_so():
            self.on.read(0.05)
            if guard.is_over() or self.on.process.poll() is not None:
                self.on.read(0)
                if is_so():
                    return True
                self.problems.append(f"{what}: {self.on.screen.text()!r}")
                return False
        return True

    def press(self, keys, *words):
        self.on.send(keys)
        return self.shows(*words)

    def stays(self, seconds):
        """Nothing that is shown may change for so long."""
        before, end = self.on.screen.text(), time.monotonic() + seconds
        while time.monotonic() < end:
            self.on.read(0.05)
        if self.on.screen.text() != before:
            self.problems.append(f"{before!r} has become {self.on.screen.text()!r}")

    def ends(self, status):
        """Wait for the end, which puts the terminal right."""
        guard = job.Guard(self.timeout)
        while self.on.process.poll() is None and not guard.is_over():
            self.on.read(0.05) # it waits until all is written
        if self.on.process.poll() != status:
            self.problems.append(f"status {self.on.process.poll()}, not {status}")
        self.wait_restored()

    def wait_restored(self):
        guard = job.Guard(self.timeout)
        while not self.on.is_restored() and not guard.is_over():
            self.on.read(0.05)
        if not self.on.is_restored():
            self.problems.append("the terminal is not as it was")

    def children(self):
        """Its processes besides the first one."""
        pid = self.on.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]


@contextlib.contextmanager
def running(arguments, n_ranks, *command):
    """A job, with the process of its first rank once that has attached."""
    one = job.Job([*shlex.split(arguments.launcher), "-n", str(n_ranks), *command],
                  job.mpirun_environment({"BCS_REFEREE": "off"}))
    try:
        yield one
    finally:
        one.close()


@contextlib.contextmanager
def viewing(arguments, report, name, n_lines=24, n_columns=80):
    view = View(arguments, n_lines, n_columns)
    try:
        yield view
        report.case(name, view.problems)
    finally:
        view.on.close()


def shown_job(view):
    """What the screen says whose job it shows."""
    match = re.search(r"process (\d+)", view.on.screen.text())
    return match and match[1]


def turn(view, key):
    """To another job, if there is one. All keys before this one have been obeyed when the help is there."""
    view.press(key + "?", "any key goes back")
    view.press("x", FOOT)


def choose(view, pid, key="j"):
    """Go to the job of a process, of those that there are: other runs on this machine may have some."""
    guard = job.Guard(view.timeout)
    while shown_job(view) != str(pid) and not guard.is_over():
        turn(view, key)
    return view.shows(f"process {pid}")


def test_sizes(arguments, report, ways, pid):
    """A line for each wait, with what there is room for."""
    for n_lines, n_columns in ((24, 80), (50, 200)):
        with viewing(arguments, report, f"{n_columns}x{n_lines}", n_lines, n_columns) as view:
            choose(view, pid)
            words = [way.rpartition(",")[0] if ".c:" in way else way for way in WAYS]
            if arguments.has_lines and n_columns == 80:
                words = WAYS
            view.shows("7 ranks, 1 node, inline, demand", arguments.ways, "6 of 7 ranks wait",
                       "nothing has moved for", "machine: ", *words)
            # CPU% and COMM%: rank 0 waits all the time, rank 6 never.
            for row in (r"^ +0 +\d+ +\d+ +100 .*MPI_Waitany", r"^ +6 +\d+ +\d+ +0 "):
                view.wait(lambda row=row: re.search(row, view.on.screen.text(), re.M),
                          f"no row {row}")
            lines = view.on.screen.lines()
            if not lines[-1].startswith(FOOT):
                view.problems.append(f"the last line is {lines[-1]!r}")
            if n_columns == 200:
                view.shows("MPI_Waitsome from 6, tag 11, or 1 more, ", ", on the grid", "BYTE/S",
                           *["wait_for_some, waiting_ways.c:", "send_in_a_thread, waiting_ways.c:"]
                           [:2 * arguments.has_lines])
            view.press("q")
            view.ends(0)


def test_keys(arguments, report, pid):
    with viewing(arguments, report, "keys") as view:
        choose(view, pid)
        view.shows("sorted by rank", "RANK CORE")
        for order in ("waiting time", "cpu", "communication", "messages", "rank"):
            view.press("s", f"sorted by {order}")
        view.press("g", "RANKS                N", "g ranks")
        view.press("g", "RANK CORE", "g groups")
        view.press("?", "what the ranks of a job do", "any key goes back")
        view.press("x", FOOT)
        view.press("p", ", PAUSED,", "p go on")
        view.stays(2.5) # longer than two looks
        view.press("p", "p pause")
        view.shows_not("PAUSED")
        view.press(RIGHT, " any from 6, tag 10") # of MPI_Waitany
        view.press(LEFT, " MPI_Waitany from 6")
        view.press("xyz\x1b[Z\x01") # of no meaning
        view.press("?", "any key goes back")
        view.press("q")
        view.ends(0)


def test_scrolling(arguments, report, pid):
    """Eight rows, of which four are seen."""
    with viewing(arguments, report, "scrolling", 12, 80) as view:
        choose(view, pid)
        view.shows("1-4 of 8", "MPI_Waitany from")
        view.press(DOWN, "2-5 of 8", "MPI_Send")
        view.shows_not("MPI_Waitany from")
        view.press(UP, "1-4 of 8", "MPI_Waitany from")
        view.press(UP, "1-4 of 8")
        view.press(END, "5-8 of 8", "MPI_Recv from 6, tag 52")
        view.press(DOWN, "5-8 of 8")
        view.press(HOME + END + UP, "4-7 of 8") # nothing is drawn between them
        view.press(HOME, "1-4 of 8")
        view.press(PAGE_DOWN, "5-8 of 8")
        view.press(PAGE_UP, "1-4 of 8")
        view.press("q")
        view.ends(0)


def test_resizing(arguments, report, pid):
    with viewing(arguments, report, "resizing") as view:
        choose(view, pid)
        view.shows(FOOT)
        for n_lines, n_columns in ((50, 200), (3, 20), (1, 1), (24, 80), (12, 132), (40, 80)):
            view.on.resize(n_lines, n_columns)
            if n_columns >= 80:
                view.wait(lambda: view.on.screen.lines()[-1].startswith(FOOT),
                          f"{n_columns}x{n_lines} has no last line")
                view.shows(f"process {pid}")
        view.press("q")
        view.ends(0)


def test_jobs(arguments, report, pids):
    """To the next job, and back."""
    with viewing(arguments, report, "jobs") as view:
        for pid in pids:
            choose(view, pid)
        for key in "jk":
            for pid in pids:
                choose(view, pid, key)
        view.press("q")
        view.ends(0)


def test_rates(arguments, report):
    with running(arguments, 2, arguments.moving, "messages", "600000") as one:
        pid = one.find_rank(0)
        with viewing(arguments, report, "rates", 24, 120) as view:
            choose(view, pid)
            view.shows("heaviest pairs: 0>1 ", "computing", "communicating", " slices/s")
            view.shows_not("computing 0%, communicating 0%")
            view.shows_not(" 0 msg/s")
            # The job ends while it is looked at.
            os.kill(pid, signal.SIGKILL)
            view.shows("The job has ended", ", ENDED,", f"process {pid}")
            view.press("s", "The job has ended")
            view.press("q")
            view.ends(0)


def test_beginning(arguments, report):
    """The view is there before the job. Others of this machine may have some."""
    with viewing(arguments, report, "beginning") as view:
        view.wait(lambda: view.on.screen.text().strip() != "", "nothing is shown")
        with running(arguments, 2, arguments.moving, "still", "0") as one:
            choose(view, one.find_rank(0))
            view.shows("1 of 2 ranks wait", "MPI_Wait from 1, tag 4")
        view.shows("The job has ended")
        view.press("q")
        view.ends(0)


def test_ends(arguments, report, pid):
    """The terminal is as it was, whatever ends the view; and nobody is left."""
    for name, victim in (("SIGINT", "first"), ("SIGTERM", "first"), ("SIGHUP", "first"),
                         ("SIGQUIT", "first"), ("SIGKILL", "first"), ("SIGKILL", "child"),
                         ("SIGSEGV", "child"), ("SIGTERM", "child")):
        number = getattr(signal, name)
        with viewing(arguments, report, f"{name} to the {victim} process") as view:
            choose(view, pid)
            children = view.children()
            os.kill(view.on.process.pid if victim == "first" else children[0], number)
            view.ends(-number)
            guard = job.Guard(arguments.timeout)
            while any(map(job.is_alive, children)) and not guard.is_over():
                view.on.read(0.05)
            view.problems += [f"process {child} is left" for child in children
                              if job.is_alive(child)]
    with viewing(arguments, report, "Ctrl-C") as view:
        choose(view, pid)
        view.on.send("\x03")
        view.ends(-signal.SIGINT)
    with viewing(arguments, report, "hang up") as view:
        choose(view, pid)
        children = view.children()
        view.on.hang_up()
        view.on.process.wait(arguments.timeout)
        view.problems += [f"process {child} is left" for child in children if job.is_alive(child)]


def test_no_terminal(arguments, report):
    told = subprocess.run([arguments.top], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=arguments.timeout, check=False)
    good = told.returncode == 1 and "use --once or --json" in told.stderr and told.stdout == ""
    report.case("no terminal", [] if good else [f"{told}"])


def test_refusal(arguments, report, name, words, command):
    """One line says that there is no view of the whole screen, and what there is."""
    one = terminal.Terminal(command, job.clean_environment())
    try:
        one.process.wait(arguments.timeout)
        one.read(0)
        text = "".join("".join(line) for line in one.screen.cells).strip() # it may be long
        good = one.process.returncode == 1 and words in text and "--once or --json" in text
        report.case(name, [] if good and one.is_restored() else [f"{one.process.returncode} {text!r}"])
    finally:
        one.close()


def main():
    arguments = parse_arguments()
    report = job.Report()
    test_no_terminal(arguments, report)
    if arguments.is_missing:
        test_refusal(arguments, report, "no ncurses", "built without ncurses", [arguments.top])
        return report.end()
    test_refusal(arguments, report, "unknown terminal", "no terminal of a known type",
                 ["env", "TERM=no-such-terminal", arguments.top])
    test_beginning(arguments, report)
    test_rates(arguments, report)
    with running(arguments, 7, arguments.ways) as ways, \
            running(arguments, 2, arguments.moving, "still", "0") as still:
        pid = ways.find_rank(0)
        test_sizes(arguments, report, ways, pid)
        test_keys(arguments, report, pid)
        test_scrolling(arguments, report, pid)
        test_resizing(arguments, report, pid)
        test_jobs(arguments, report, [pid, still.find_rank(0)])
        test_ends(arguments, report, pid)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
