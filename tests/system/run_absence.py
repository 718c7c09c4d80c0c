#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bcsrun tells that BCS is not in the job, once, with the reason: a wrapper has replaced LD_PRELOAD or
removed it, MPI_Init was reached past the preload, or the program is static. It says nothing of a job that
BCS carries, of a program that has not called MPI_Init yet, of one without MPI, and natively.
"""

import argparse
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import time

import job

TOLD = "bcsrun: BCS is not in this job"
SHAPE = ("bcsrun: why: ", "bcsrun: what to do: ", "bcsrun: see docs/")
PATIENCE = ["--patience", "200ms"]
SILENT_S = 1  # five times the patience
N_RANKS = 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--program", required=True, help="the program handles")
    parser.add_argument("--module", required=True, help="its module")
    parser.add_argument("--static", help="the program pretended_mpi")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Suite:
    """The cases; each has a job that waits until it is told to go on."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.bcsrun = shlex.split(arguments.launcher)
        self.folder = pathlib.Path(folder)
        self.report = job.Report()
        self.begins = [arguments.program, "libmpi.so.40", "local", "wait"]

    def wrapper(self, name, line):
        """A script that does something and becomes the program of its arguments."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\n{line}\nexec "$@"\n', encoding="ascii")
        path.chmod(0o755)
        return str(path)

    def start(self, options, program):
        command = [*self.bcsrun, *options, "-n", str(N_RANKS), *program]
        return job.Job(command, job.mpirun_environment())

    def end(self, name, one, problems):
        """Let the job go on to its end, and look at that."""
        if one.output_so_far():
            one.process.send_signal(signal.SIGUSR2)
        result = one.finish(self.arguments.timeout)
        problems += [] if result.status == 0 else [result.ending()]
        problems += [f"it leaves {left}" for left in one.leftovers()]
        self.report.case(name, problems)
        return result

    def must_tell(self, name, program, words, options=(), asked=False):
        """The message comes while the job waits, with these words, and does not come again."""
        one = self.start(options, program)
        try:
            begun = one.await_that(lambda: one.output_so_far().count("begun") == N_RANKS,
                                   self.arguments.timeout)
            problems = [] if begun else [f"it does not begin: {one.errors_so_far()!r}"]
            if asked:
                one.process.send_signal(signal.SIGURG)
            if not one.await_that(lambda: SHAPE[-1] in one.errors_so_far(), self.arguments.timeout):
                problems.append("it is not told")
            result = self.end(name, one, problems)
            said = result.stderr
            problems = [f"{word!r} is not in it" for word in (TOLD, *SHAPE, *words) if word not in said]
            if said.count(TOLD) != 1 or said.count("bcsrun: ") != 1 + len(SHAPE):
                problems.append("it is not told once")
            self.report.case(f"{name}, words", [*problems, said] if problems else [])
        finally:
            one.close()

    def must_be_silent(self, name, program, options=(), word=None):
        """Nothing is told while the job waits, nor at its end."""
        one = self.start([*PATIENCE, *options] if "--native" not in options else options, program)
        try:
            problems = []
            if word:
                if not one.await_that(lambda: one.output_so_far().count(word) == N_RANKS,
                                      self.arguments.timeout):
                    problems.append("it does not begin")
                time.sleep(SILENT_S)  # were it told, then within this time
            result = self.end(name, one, problems)
            said = TOLD in result.stderr
            self.report.case(f"{name}, silence", [result.stderr] if said else [])
        finally:
            one.close()

    def run_told(self):
        replaced = self.wrapper("replaces", "export LD_PRELOAD=libm.so.6")
        removed = self.wrapper("removes", "unset LD_PRELOAD")
        lost = self.wrapper("loses", "export LD_PRELOAD=/nowhere/libbcs_mpi.so")
        self.must_tell("replaced", [replaced, *self.begins],
                       ('"libm.so.6", without libbcs_mpi.so', f"none of {N_RANKS} MPI processes"))
        self.must_tell("patience", [replaced, *self.begins], ("libm.so.6",), PATIENCE)
        self.must_tell("asked", [replaced, *self.begins], ("libm.so.6",), asked=True)
        self.must_tell("removed", [removed, *self.begins], ('is "", without libbcs_mpi.so',))
        one = "names libbcs_mpi.so, but the dynamic linker has not loaded it"
        self.must_tell("lost", [lost, *self.begins], (one,))
        deep = [self.arguments.program, self.arguments.module, "deep", "wait"]
        self.must_tell("passed by", deep, ("past libbcs_mpi.so", "libmpi_bcs.so"))
        if self.arguments.static:
            static = [self.wrapper("static", ":"), self.arguments.static, str(self.folder)]
            self.must_tell("static", static, ("is a static program",))
        else:
            print("skipped: a static program (cannot be linked)")

    def run_silent(self):
        removed = self.wrapper("removes", "unset LD_PRELOAD")
        before = [self.arguments.program, "libmpi.so.40", "local", "before"]
        self.must_be_silent("carried", self.begins, word="begun")
        self.must_be_silent("before MPI_Init", before, word="loaded")
        self.must_be_silent("native", [removed, *self.begins], ["--native"], "begun")
        self.must_be_silent("no MPI", ["sleep", str(SILENT_S)])
        self.must_be_silent("no MPI, no preload", [removed, "sleep", str(SILENT_S)])

    def run(self):
        self.run_told()
        self.run_silent()
        return self.report.end()


def main():
    job.SharedMemory.separate()
    with tempfile.TemporaryDirectory(prefix="bcs-absence-") as folder:
        return Suite(parse_arguments(), os.path.realpath(folder)).run()


if __name__ == "__main__":
    sys.exit(main())
