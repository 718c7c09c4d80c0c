#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to look at jobs, and what the jobs notice of it: prints tables for docs/bcs-top.md. It is
no test, since a time is no limit on a busy machine. No other job should run that bcs-top may look at.

First a ping-pong of 8 bytes, runs without and with each way of looking in turn, in an order that turns,
too; a run is one batch, so that all looks are in its time. The ratio of each run is to the one without
of the same round. Then the processor time that bcs-top takes of a job with many ranks, by the kernel's
count in nanoseconds.
"""

import argparse
import contextlib
import glob
import os
import re
import shlex
import statistics
import subprocess
import sys
import threading
import time

import job
import terminal

WARM_SECONDS = 3  # until bcs-top has found the job, and looked at it
MOST_SECONDS = 10  # of a batch of bench_latency
SLOW_NS, QUICK_NS = 1000000000, 100000000  # the second is the least of bcsrun --progress


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--top", default="bcs-top", help="the program bcs-top")
    parser.add_argument("--latency", required=True, help="the program bench_latency")
    parser.add_argument("--crowd", required=True,
                        help="a program with many ranks, and its options, that runs for long")
    parser.add_argument("--ranks", type=int, default=64, help="of the crowd")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each way")
    parser.add_argument("--seconds", type=float, default=10, help="of a run, and of looking; 10 at most")
    parser.add_argument("--timeout", type=float, default=120, help="of anything, beside that")
    arguments = parser.parse_args()
    if not 0 < arguments.seconds <= MOST_SECONDS or arguments.rounds < 1:
        parser.error(f"--seconds goes up to {MOST_SECONDS}, --rounds from 1 on")
    return arguments


def nanoseconds_of(pid):
    """Of a processor that a process has had, and its children that live, or -1: it is gone."""
    total = 0
    try:
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return total + sum(nanoseconds_of(int(child)) for child in file.read().split())
    except OSError:
        return -1


class Looker:
    """Somebody who looks at the job all the time. Without a way: nobody."""

    def __init__(self, arguments, starter):
        self.arguments, self.starter = arguments, starter

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def nanoseconds(self):
        return 0


class Screen(Looker):
    """The whole screen, which is drawn once a second, with twenty glances."""

    def __enter__(self):
        self.terminal = terminal.Terminal([self.arguments.top], job.clean_environment())
        self.is_over = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        return self

    def read(self):
        while not self.is_over.is_set():
            self.terminal.read(0.2)

    def __exit__(self, *_):
        self.is_over.set()
        self.reader.join()
        if self.terminal.process.poll() is not None:
            sys.exit(f"bcs-top has ended: {self.terminal.screen.text()!r}")
        self.terminal.close()

    def nanoseconds(self):
        return nanoseconds_of(self.terminal.process.pid)


class Progress(Looker):
    """What bcsrun --progress runs, a line each so many nanoseconds."""

    interval_ns = SLOW_NS

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.arguments.top, "--progress", str(self.interval_ns), str(self.starter)],
            env=job.clean_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def nanoseconds(self):
        return nanoseconds_of(self.process.pid)


class Quick(Progress):
    interval_ns = QUICK_NS


class Json(Looker):
    """A process a second that prints all that is known. Its time is known when it has ended."""

    def __enter__(self):
        self.seconds = 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        next_at = time.monotonic()
        while not self.is_over.wait(max(0, next_at - time.monotonic())):
            next_at += 1
            with subprocess.Popen([self.arguments.top, "--json"], env=job.clean_environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds += usage.ru_utime + usage.ru_stime

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def nanoseconds(self):
        return self.seconds * 1e9


WAYS = {
    "nobody": Looker,
    "bcs-top": Screen,
    "bcs-top --json, once a second": Json,
    "bcsrun --progress=1s": Progress,
    "bcsrun --progress=100ms": Quick,
}


@contextlib.contextmanager
def running(arguments, n_ranks, words):
    """A job, from when it has begun on."""
    started = job.Job([*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(n_ranks),
                       *words], job.mpirun_environment())
    try:
        yield started
    finally:
        started.kill()


def latency_beside(arguments, way):
    """Microseconds one way, of one batch."""
    words = [arguments.latency, "--min", "8", "--max", "8", "--batches", "1", "--batch-ms",
             str(1000 * arguments.seconds)]
    with running(arguments, 2, words) as started, way(arguments, started.process.pid):
        result = started.finish(arguments.seconds + arguments.timeout)
    found = re.search(r"^latency 8 (\S+) us$", result.stdout, re.MULTILINE)
    if result.status != 0 or found is None:
        sys.exit(f"{shlex.join(words)}: {result.ending()}")
    return float(found.group(1))


def measure_latency(arguments):
    names = list(WAYS)
    times = {name: [] for name in names}
    for i in range(arguments.rounds):
        turn = i % len(names)
        for name in names[turn:] + names[:turn]:
            times[name].append(latency_beside(arguments, WAYS[name]))
    print("| who looks | runs | one way, median | median of ratios | least and most |\n"
          "|---|---|---|---|---|")
    for name, its in times.items():
        ratios = [one / other for one, other in zip(its, times["nobody"])]
        print(f"| {name} | {len(its)} | {statistics.median(its):.4f} us | "
              f"{statistics.median(ratios):.4f} | {min(ratios):.4f} to {max(ratios):.4f} |",
              flush=True)


def await_job(arguments, started):
    """Until all ranks are there."""
    guard = job.Guard(arguments.timeout)
    while len(started.processes()) < arguments.ranks:
        if guard.is_over() or started.process.poll() is not None:
            sys.exit(f"the crowd is not there: {started.errors_so_far()}")
        time.sleep(0.2)
    time.sleep(WARM_SECONDS)


def measure_time(arguments):
    print(f"| who looks at {arguments.ranks} ranks | seconds | of a core |\n|---|---|---|")
    for name, way in WAYS.items():
        if way is Looker:
            continue
        with running(arguments, arguments.ranks, shlex.split(arguments.crowd)) as started:
            await_job(arguments, started)
            with way(arguments, started.process.pid) as looker:
                time.sleep(WARM_SECONDS)
                before, begin = looker.nanoseconds(), time.monotonic()
                time.sleep(arguments.seconds)
                taken, seconds = looker.nanoseconds() - before, time.monotonic() - begin
            if started.process.poll() is not None:
                sys.exit("the crowd has ended before it was looked at for long enough")
        print(f"| {name} | {seconds:.1f} | {100 * taken / 1e9 / seconds:.2f} % |", flush=True)


def main():
    arguments = parse_arguments()
    measure_latency(arguments)
    print()
    measure_time(arguments)


if __name__ == "__main__":
    main()
