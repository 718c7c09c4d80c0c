# SPDX-License-Identifier: BSD-3-Clause
"""Finds and runs the jobs of bcs-bench and bcs-reproduce, and reads their numbers.

Imported by both from the folder that they stand in or that the programs are installed in.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


# The share of the cores' time that spoils a measurement if others than the job have it.
DISTURBED_PERCENT = 2


class BenchError(Exception):
    """A fault that is told in one line."""


class JobError(BenchError):
    """A job that has failed; reason is the fault without the command."""

    def __init__(self, command, reason):
        super().__init__(f"{' '.join(command)}: {reason}")
        self.reason = reason


# --- finding ------------------------------------------------------------------------


class Places:
    """Where programs and inputs are: below a build folder, or where they are installed."""

    def __init__(self, build, here, program_dir, data_dir):
        self.build = build
        self.program_dirs = [here, Path(program_dir), here / "../libexec/bcs"]
        shares = [Path(data_dir), here / "../share/bcs"]
        self.data_dirs = [here] + [share / application for share in [*shares, here / ".."]
                                   for application in ("sweep3d", "sage")]

    def program(self, name):
        """Path of a program; BenchError if there is none."""
        if self.build:
            found = self.below_build(name)
        else:
            folders = os.pathsep.join(map(str, self.program_dirs))
            found = shutil.which(name, path=folders) or shutil.which(name)
        if not found:
            where = f"in {self.build}" if self.build else "installed; see --build"
            raise BenchError(f"{name} is not {where}")
        return found

    def below_build(self, name):
        """The first executable file of this name in the build folder, or None."""
        for folder, folders, files in os.walk(self.build):
            folders.sort()
            path = os.path.join(folder, name)
            if name in files and os.access(path, os.X_OK):
                return os.path.abspath(path)
        return None

    def library(self, name):
        """Path of a library of ours, or None."""
        if self.build:
            return self.below_build(name)
        found = [path for folder in self.program_dirs
                 for path in sorted((folder / "..").glob(f"lib*/**/{name}"))]
        return str(found[0].resolve()) if found else None

    def data(self, name):
        """Path of an input file of an application; BenchError if there is none."""
        for folder in self.data_dirs:
            if (folder / name).is_file():
                return str((folder / name).resolve())
        raise BenchError(f"the input file {name} is not there")

    def launch(self, n_ranks, command, is_native, options=(), launcher=None):
        """The full command of a job, bcsrun or another launcher first, with options of mpirun."""
        program, *arguments = command
        words = [launcher or self.program("bcsrun")] + (["--native"] if is_native else [])
        return [*words, *options, "-n", str(n_ranks), self.program(program), *arguments]


# --- running ------------------------------------------------------------------------


def job_stop(process):
    """End the process group of a job; it gets some seconds to clean up."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signal_number)
            process.wait(timeout=10)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


@dataclass(frozen=True)
class JobResult:
    """What a job has written, and how long it took from the start of its launcher to the
    launcher's end."""

    stdout: str
    stderr: str
    seconds: float


def job_run(command, timeout_seconds, settings=None):
    """Run a job with settings added to the environment; what is None there is taken away.
    Returns a JobResult; JobError if it fails or does not end."""
    environment = {**os.environ, **(settings or {})}
    environment = {name: value for name, value in environment.items() if value is not None}
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=timeout_seconds)
        seconds = time.monotonic() - start
    except subprocess.TimeoutExpired:
        raise JobError(command, f"no end in {timeout_seconds} s") from None
    finally:
        if process.poll() is None:
            job_stop(process)
    if process.returncode:
        lines = [line for line in (errors or output).splitlines() if line.strip("- ")]
        reason = lines[0] if lines else "no message"
        raise JobError(command, f"status {process.returncode}: {reason}")
    return JobResult(output, errors, seconds)


@contextlib.contextmanager
def busy_loops(n_loops):
    """So many processes that take what they get of a core, meanwhile."""
    loops = []
    try:
        for _ in range(n_loops):
            loops.append(subprocess.Popen(["sh", "-c", "while :; do :; done"]))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def number_find(pattern, text, what):
    """The number that the pattern finds in a text; BenchError if there is none."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise BenchError(f"the output has no line for {what}")
    return float(found.group(1))


class Conditions:
    """How quiet the machine is from now on, while something is measured, and what was done
    about it."""

    def __init__(self):
        self.load = os.getloadavg()[0]
        self.total, self.stolen = self.ticks()
        self.n_repeated = self.n_disturbed = 0

    @staticmethod
    def ticks():
        """Ticks of all cores so far: all of them, and those that the hypervisor gave to
        other machines while there was work here."""
        values = [int(word) for word in Path("/proc/stat").read_text().split()[1:9]]
        return sum(values), values[7]

    def busy_warn(self, program):
        """Warn if the machine was busy at the start."""
        if self.load > 0.5:
            print(f"{program}: the machine is busy (load average {self.load:.2f}); the "
                  "ratios will be unreliable", file=sys.stderr)

    def stolen_percent(self):
        """How much of the cores' time since the start the hypervisor took."""
        total, stolen = self.ticks()
        return 100 * (stolen - self.stolen) / max(total - self.total, 1)


def is_repeated(stolen_percent, n_left, conditions):
    """Whether a round is to be run again, as the hypervisor took DISTURBED_PERCENT or more
    of it; if so and n_left more may not be, says so. Counts both in the conditions."""
    if stolen_percent < DISTURBED_PERCENT:
        return False
    if n_left > 0:
        conditions.n_repeated += 1
        return True
    conditions.n_disturbed += 1
    print(f"kept, though the hypervisor took {stolen_percent:.1f} % of the cores' time: "
          "as many rounds as there are have been repeated", file=sys.stderr)
    return False


def rounds_run(sides, n_rounds, run, conditions, first=0):
    """What run(side) returns, in a list with an entry for each round, by side; None for a
    side for which it has returned None.

    Each round runs each side once, every second one in the other order, so that a drift of
    the machine favours neither end; first is the number of rounds
    that these go on from. A round of which the hypervisor took DISTURBED_PERCENT or more is
    run again, up to n_rounds of them; the conditions count those, and the disturbed ones that
    are kept after that."""
    results = {side: [] for side in sides}
    n_repeats = number = 0
    while number < n_rounds:
        order = sides if (first + number) % 2 == 0 else reversed(sides)
        round_conditions = Conditions()
        found = {side: run(side) for side in order if results[side] is not None}
        if is_repeated(round_conditions.stolen_percent(), n_rounds - n_repeats, conditions):
            n_repeats += 1
            continue
        for side, result in found.items():
            results[side] = None if result is None else [*results[side], result]
        number += 1
    return results


# --- the command line -----------------------------------------------------------------


def positive(text):
    """A whole number of at least 1."""
    if not re.fullmatch("0*[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text}: allowed are whole numbers from 1")
    return int(text)


def program_run(name, main, status_failed):
    """Run main() as the program of this name; ends the process with its status."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:  # whoever read this has gone, head say; nothing is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except BenchError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(status_failed)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
