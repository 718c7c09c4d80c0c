#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What bcsrun promises: the same as mpirun with LD_PRELOAD, --native, --versus, exit
status, more ranks than cores, programs in scripts, arguments, nothing left behind.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import job


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--shim", required=True, help="path of libbcs_mpi.so")
    parser.add_argument("--greet", required=True, help="the program greet")
    parser.add_argument("--block", required=True, help="the program block")
    return parser.parse_args()


def greeting(n_ranks, arguments, preload):
    """What greet prints."""
    lines = [f"ranks {n_ranks} sum {n_ranks * (n_ranks - 1) // 2}"]
    lines += [f"argument {argument}" for argument in arguments]
    return "\n".join(lines + [f"preload {preload}", ""])


class Suite:
    """The cases; each method that starts with case_ is one or more of them."""

    def __init__(self, arguments, folder):
        self.bcsrun = arguments.bcsrun
        self.greet = arguments.greet
        self.block = arguments.block
        self.shim = os.path.realpath(arguments.shim)
        self.folder = pathlib.Path(folder)
        self.report = job.Report()

    def must_print(self, name, command, stdout, status=0, extra=None):
        """The command must end with this status and print this, and leave nothing."""
        running = job.Job(command, job.mpirun_environment(extra))
        try:
            result = running.finish(90)
            problems = []
            if result.status != status:
                problems.append(f"status {result.status}: {result.stderr[:300]!r}")
            if stdout is not None and result.stdout != stdout:
                problems.append(f"printed {result.stdout!r} instead of {stdout!r}")
            if result.status is not None:
                problems += [f"left {left}" for left in running.leftovers()]
        finally:
            running.close()
        self.report.case(name, problems, job.shell_line(command, extra))
        return result

    def case_same_as_mpirun(self):
        for n_ranks in (1, 2, 5):
            words = ["-n", str(n_ranks), self.greet, "a b", "-x", "*"]
            expected = greeting(n_ranks, words[3:], self.shim)
            self.must_print(f"bcsrun, {n_ranks}", [self.bcsrun, *words], expected)
            preload = {"LD_PRELOAD": self.shim}
            self.must_print(
                f"mpirun, {n_ranks}", ["mpirun", *words], expected, 0, preload
            )

    def case_native(self):
        run = [self.bcsrun, "--native", "-n", "3", self.greet]
        self.must_print("--native", run, greeting(3, [], "none"))
        self.must_print(
            "-np", [self.bcsrun, "-np", "3", self.greet], greeting(3, [], self.shim)
        )

    def case_many_ranks(self):
        run = [self.bcsrun, "-n", "12", self.greet]
        self.must_print("12 ranks", run, greeting(12, [], self.shim))

    def case_yields(self):
        """mpirun believes that there is a core for each rank; natively ranks keep it."""
        many = 2 * (os.cpu_count() or 1)
        for n_ranks, native, carried in ((1, "no", "no"), (many, "no", "yes")):
            run = ["mpirun", "--host", f"localhost:{n_ranks}", "--bind-to", "none", "-n",
                   str(n_ranks), self.greet, "yields"]
            for yields, preload in ((native, "none"), (carried, self.shim)):
                expected = greeting(n_ranks, ["yields"], preload) + f"yields {yields}\n"
                extra = {"LD_PRELOAD": preload} if preload != "none" else {}
                self.must_print(f"yields, {n_ranks}", run, expected, 0, extra)

    def case_exit_status(self):
        for status in (1, 3, 77):
            words = ["-n", "2", self.greet, "exit", str(status)]
            self.must_print(f"status {status}", [self.bcsrun, *words], None, status)
            native = [self.bcsrun, "--native", *words]
            self.must_print(f"native status {status}", native, None, status)

    def case_mpirun_options(self):
        run = [self.bcsrun, "-n", "2", "--tag-output", "-x", "TEXT=word", self.greet]
        result = self.must_print("mpirun's options pass", run, None)
        is_tagged = "[1,0]<stdout>:ranks 2" in result.stdout
        self.report.case("output is tagged", [] if is_tagged else [result.stdout])

    def case_script(self):
        script = self.folder / "script.sh"
        script.write_text(f'#!/bin/sh\nexec "{self.greet}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        run = [self.bcsrun, "-n", "2", str(script), "x y"]
        self.must_print("a script", run, greeting(2, ["x y"], self.shim))

    def case_program_from_the_path(self):
        extra = {"PATH": f"{os.path.dirname(self.greet)}:{os.environ['PATH']}"}
        run = [self.bcsrun, "-n", "2", os.path.basename(self.greet)]
        self.must_print("found in PATH", run, greeting(2, [], self.shim), 0, extra)

    def case_another_preload_stays(self):
        library = self.folder / "libother.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library],
            input=b"int other_preload;\n",
            check=True,
        )
        extra = {"LD_PRELOAD": str(library)}
        run = [self.bcsrun, "-n", "2", self.greet]
        self.must_print("a preload before", run, greeting(2, [], self.shim), 0, extra)

    def case_modes(self):
        for name, extra in job.MODES.items():
            run = [self.bcsrun, "-n", "4", self.greet]
            self.must_print(f"mode {name}", run, greeting(4, [], self.shim), 0, extra)

    def case_versus(self):
        run = [self.bcsrun, "--versus", "2", "-n", "2", self.greet]
        result = self.must_print("--versus", run, None)
        problems = []
        if not re.search(r"ratio|/native", result.stdout, re.IGNORECASE):
            problems.append(f"no ratio in {result.stdout!r}")
        if "preload" in result.stdout:
            problems.append("the program's output is shown")
        self.report.case("--versus prints a table", problems)
        run = [self.bcsrun, "--versus", "1", "-n", "2", self.greet, "exit", "9"]
        self.must_print("--versus of a failing program", run, None, 9)

    def case_interrupt(self):
        """A signal to bcsrun ends the whole job and leaves nothing."""
        for number in (signal.SIGINT, signal.SIGTERM):
            command = [self.bcsrun, "-n", "3", self.block, "recv", "1"]
            running = job.Job(command, job.mpirun_environment())
            problems = []
            try:
                until = time.monotonic() + 60
                while running.output_so_far().count("pid") < 3:
                    if time.monotonic() > until or running.process.poll() is not None:
                        problems.append("did not start")
                        break
                    time.sleep(0.01)
                running.process.send_signal(number)
                result = running.finish(20)
                if result.status in (None, 0):
                    problems.append(f"status {result.status}")
                problems += [f"left {left}" for left in running.leftovers()]
            finally:
                running.close()
            self.report.case(f"signal {number.name}", problems, job.shell_line(command))

    def case_help(self):
        for option in ("--help", "--version"):
            result = job.run([self.bcsrun, option])
            is_right = result.status == 0 and result.stdout and not result.stderr
            self.report.case(option, [] if is_right else [result.stderr])

    def run(self):
        for name in dir(self):
            if name.startswith("case_"):
                getattr(self, name)()
        return self.report.end()


def main():
    with tempfile.TemporaryDirectory(prefix="bcs-launcher-") as folder:
        return Suite(parse_arguments(), folder).run()


if __name__ == "__main__":
    sys.exit(main())
