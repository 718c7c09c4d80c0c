# SPDX-License-Identifier: BSD-3-Clause
"""Runs the jobs of a plan and keeps what they print, so that a run which was interrupted,
by whatever, goes on where it was.

The file of the result is whole at any time; it grows by one run each time that a job has
ended. A job that was cut off is run again from its beginning.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from bcs_jobs import BenchError, job_stop
from bcs_overhead_machine import LoadWatch, machine_describe, program_version
from bcs_overhead_result import (COLUMNS, COUNTED, FORMAT, RUN, VERSION, fit_problem,
                                 result_read, result_write, run_problem, schema_problem)

PR_SET_PDEATHSIG = 1
# What must be the same for a run to be gone on with, besides the machine and all versions.
SAME = ("plan", "sides")


# --- one job --------------------------------------------------------------------------


def die_with_parent():
    """In a child, before its program: it ends when its parent does, however that happens."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def job_output(command, settings, timeout):
    """What a job has printed, and why it has failed or None."""
    environment = {name: value for name, value in {**os.environ, **settings}.items()
                   if value is not None}
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                                   errors="replace", stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment,
                                   start_new_session=True, preexec_fn=die_with_parent)
    except OSError as error:
        return "", f"{command[0]}: {error.strerror}"
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        return "", f"no end in {timeout} s"
    finally:
        if process.poll() is None:
            job_stop(process)
        process.stdout.close()
        process.stderr.close()
    if process.returncode:
        lines = [line for line in (errors or output).splitlines() if line.strip("- ")]
        return "", f"status {process.returncode}: {lines[0] if lines else 'no message'}"
    return output, None


def lines_of(output):
    """The objects that overhead_measure has printed; other lines are somebody else's."""
    for line in output.splitlines():
        if line.startswith('{"overhead":'):
            try:
                yield json.loads(line)
            except ValueError:
                raise BenchError(f"a line of output is damaged: {line[:60]}") from None


def output_read(output):
    """The part of a run that its output tells; BenchError if it is not whole."""
    found = {"trips_ns": [], "points": [], "samples": {column: [] for column in COLUMNS}}
    is_ended = False
    try:
        for line in lines_of(output):
            kind = line["overhead"]
            if kind == "head":
                found.update({key: line[key] for key in ("experiment", "ranks", "mpi",
                                                         "wtick_ns", "clock_ns",
                                                         "coordinates")})
            elif kind == "places":
                found["hosts"] = line["hosts"]
                found[f"cpus_{line['when']}"] = line["cpus"]
            elif kind == "point":
                found["points"].append(line["at"])
            elif kind == "trip":
                found["trips_ns"].append(line["ns"])
            elif kind == "sample":
                sample_add(found["samples"], line)
            is_ended = kind == "end"
    except (KeyError, TypeError) as error:
        raise BenchError(f"the output has a line without {error}") from None
    if not is_ended or len(set(found["samples"]["round"])) < 2:
        raise BenchError("the output ends too early")
    return found


def sample_add(samples, line):
    """Append a sample to the columns."""
    for column in COLUMNS[:4]:
        samples[column].append(line[column])
    for column, value in zip(COUNTED, line["counted"], strict=True):
        samples[column].append(value)


def failed_part(job):
    """What stands in place of the output of a job that has failed."""
    return {"experiment": job.experiment, "ranks": job.n_ranks, "mpi": "", "wtick_ns": 0,
            "clock_ns": 0, "trips_ns": [], "hosts": [], "cpus_begin": [], "cpus_end": [],
            "coordinates": [], "points": [],
            "samples": {column: [] for column in COLUMNS}}


def job_measure(job, side, repetition, injected, timeout):
    """One run, as the result has it; also of a job that fails."""
    watch = LoadWatch()
    begun, start = time.strftime("%Y-%m-%dT%H:%M:%S%z"), time.monotonic()
    slow = ["--slow", str(injected)] if injected else []
    output, failure = job_output(side.launch(job, slow), side.settings, timeout)
    run = {"job": job.name, "side": side.name, "repetition": repetition,
           "arguments": side.arguments(job), "begun": begun,
           "seconds": round(time.monotonic() - start, 3), "load": watch.end()}
    if failure is None:
        try:
            run |= {"failure": None, **output_read(output)}
            failure = (schema_problem(run, RUN) or run_problem(run, job.name)
                       or fit_problem(run, job.described(), job.name))
        except (BenchError, ValueError) as error:
            failure = str(error)
    return run if failure is None else {**run, "failure": failure, **failed_part(job)}


# --- all of them ----------------------------------------------------------------------


@contextlib.contextmanager
def file_claimed(path):
    """No other process works on this file meanwhile. The claim is a name of a socket that
    the kernel takes back however this process ends."""
    name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:32]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0bcs-overhead-{name}")
        except OSError:
            raise BenchError(f"{path}: another bcs-overhead writes to it") from None
        yield


class Progress:
    """A line that tells how far it is: renewed on a terminal, else one for each job."""

    def __init__(self, n_all, stream=None):
        self.n_all = n_all
        self.stream = stream or sys.stderr
        self.start = time.monotonic()
        self.n_done = 0

    def tell(self, n_before, title):
        """A job begins; n_before are done, of which this process may have done some."""
        left = ""
        if self.n_done:
            each = (time.monotonic() - self.start) / self.n_done
            seconds = round(each * (self.n_all - n_before))
            left = f", {seconds // 60}:{seconds % 60:02d} left"
        self.n_done += 1
        line = f"[{n_before + 1}/{self.n_all}] {title}{left}"
        if self.stream.isatty():
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\033[K{line[:width]}")
        else:
            self.stream.write(f"{line}\n")
        self.stream.flush()

    def end(self):
        """Take the line away."""
        if self.stream.isatty():
            self.stream.write("\r\033[K")
            self.stream.flush()


def file_digest(path):
    """The beginning of a file's SHA-256, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def digests_of(sides, libraries):
    """{"SIDE: NAME": digest} of the programs that a side's command names, and of libraries."""
    found = {(f"{side.name}: {os.path.basename(path)}", path)
             for side in sides for path in map(shutil.which, side.command) if path}
    found |= {(os.path.basename(path), path) for path in libraries}
    return {name: file_digest(path) for name, path in sorted(found)}


def result_new(jobs, sides, options):
    """A result without runs."""
    return {"format": FORMAT, "version": VERSION,
            "begun": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "is_complete": False,
            "machine": machine_describe(),
            "versions": {"bcs": options.version,
                         "mpirun": program_version(["mpirun", "--version"]),
                         "python": sys.version.split()[0],
                         **digests_of(sides, options.libraries)},
            "plan": {"is_quick": options.quick, "repetitions": options.repetitions,
                     "seed": options.seed, "injected": dict(options.inject),
                     "jobs": [job.described() for job in jobs]},
            "sides": [side.described() for side in sides], "runs": []}


def result_begin(path, jobs, sides, options):
    """The result to go on with, or a new one; BenchError if there is one that may not be
    touched."""
    new = result_new(jobs, sides, options)
    if not os.path.exists(path):
        return new
    if not options.resume:
        raise BenchError(f"{path}: exists; --resume goes on with it, or name another file")
    old = result_read(path)
    different = [key for key in SAME if old[key] != new[key]]
    different += [name for part in ("versions", "machine")
                  for name in sorted(old[part].keys() | new[part].keys())
                  if old[part].get(name) != new[part].get(name)]
    if different:
        raise BenchError(f"{path}: was begun with other options, on another machine or by "
                         f"another build; --resume needs the same ({', '.join(different)} "
                         "differ)")
    return old


def steps_of(jobs, sides, n_repetitions):
    """All runs in their order: every second repetition has the sides the other way round."""
    for repetition in range(n_repetitions):
        order = sides if repetition % 2 == 0 else sides[::-1]
        for job in jobs:
            for side in order:
                if not (side.is_foreign and job.part == "placement"):
                    yield job, side, repetition


def all_measure(path, jobs, sides, options):
    """Run what is still to be run. Returns the result, which is in the file, too."""
    with file_claimed(path):
        result = result_begin(path, jobs, sides, options)
        done = {(run["job"], run["side"], run["repetition"]) for run in result["runs"]}
        steps = list(steps_of(jobs, sides, options.repetitions))
        progress = Progress(len(steps))
        result_write(path, result)
        for job, side, repetition in steps:
            if (job.name, side.name, repetition) in done:
                continue
            progress.tell(len(done), f"{job.title}, {side.title}, repetition "
                                     f"{repetition + 1} of {options.repetitions}")
            run = job_measure(job, side, repetition, dict(options.inject).get(job.part, 0),
                              options.timeout)
            if run["failure"]:
                progress.end()
                print(f"bcs-overhead: {job.title}, {side.title}: {run['failure']}",
                      file=sys.stderr)
            result["runs"].append(run)
            done.add((job.name, side.name, repetition))
            result_write(path, result)
        progress.end()
        result["is_complete"] = True
        result_write(path, result)
        return result
