#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cBSP: all calls on several numbers of processes, with both ways of copying; together with
MPI; errors that end a job, with what they must say; and nothing is left behind when a
process is killed.
"""

import argparse
import os
import re
import signal
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402

PROCESSES = (1, 2, 4, 8)
COPIES = ("auto", "pooled")

# Case: with how many processes, what all must return, what one of them must say.
FATAL = {
    "too_few": (
        (1, 2, 5),
        "EDEADLK",
        r"every process waits, and none can go on:(.|\n)*"
        r"process {last}, superstep 0: cBSP_nsync waits for {wanted} messages and has "
        r"{has}",
    ),
    "circle": (
        (1, 2, 4),
        "EDEADLK",
        r"process 0, superstep 0: cBSP_nsync waits for 1 messages and has 0$",
    ),
    "too_few_after_many": (
        (1, 3),
        "EDEADLK",
        r"cBSP_nsync waits for 20001 messages and has 20000",
    ),
    "too_many": (
        (1, 2, 4),
        "EPROTO",
        r"superstep 1: more messages than cBSP_nsync has counted",
    ),
    "too_late": ((2, 4), "EPROTO", r"more messages than cBSP_nsync has counted"),
    "mixed": ((2, 3), "EDEADLK|EPROTO", r"cBSP_gsync"),
    "lengths": ((2, 4), "EPROTO", r"cBSP_broadcast: another process calls it with"),
}
# Errors that only the process that notices them gets, as it leaves.
AT_END = {
    "late_and_last": ((2, 3), r"(process 0 has sent 1 messages that no|more messages)"),
    "handlers_at_end": ((1, 2), r"handlers have sent 1 messages that no superstep"),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--calls", required=True, help="the test program of all calls")
    parser.add_argument("--fatal", required=True)
    parser.add_argument("--with-mpi", required=True)
    parser.add_argument("--mpirun", default="mpirun")
    return parser.parse_args()


class Suite:
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.report = job.Report()

    def mpirun(self, n, *command):
        return [self.arguments.mpirun, "-n", str(n), *command]

    def succeed(self, name, command, wanted, n_lines, settings=None):
        """A job that must succeed and print n_lines lines that match wanted."""
        settings = settings or {}
        result = job.run(command, job.mpirun_environment(settings))
        found = re.findall(wanted, result.stdout, re.M)
        problems = []
        if result.status != 0:
            problems.append(f"status {result.status}: {result.stderr[-500:]!r}")
        if result.status != 0 or len(found) != n_lines:
            problems.append(f"printed {result.stdout[:1000]!r}")
        self.report.case(name, problems, job.shell_line(command, settings))

    def check_calls(self):
        for n in PROCESSES:
            wanted = rf"^process \d+ of {n}: \d+ checks, 0 wrong$"
            for copy in COPIES:
                command = self.mpirun(n, self.arguments.calls)
                settings = {"BCS_COPY": copy}
                self.succeed(f"calls, {copy}, {n}", command, wanted, n, settings)
        self.succeed("calls alone", [self.arguments.calls],
                     r"^process 0 of 1: \d+ checks, 0 wrong$", 1)
        command = [self.arguments.bcsrun, "-n", "3", self.arguments.calls]
        self.succeed("calls under bcsrun", command, r"of 3: \d+ checks, 0 wrong$", 3)

    def check_mpi(self):
        for n in (1, 2, 5):
            for native in (["--native"], []):
                for order in ([], ["outside"]):
                    command = [self.arguments.bcsrun, *native, "-n", str(n),
                               self.arguments.with_mpi, *order]
                    name = " ".join(["with MPI", *native, *order, str(n)])
                    self.succeed(name, command, rf"^process \d+ of {n}: 0 wrong$", n)

    def fail(self, name, command, said):
        """A job that must fail and say something. Returns what it has printed."""
        started = job.Job(command, job.mpirun_environment())
        try:
            result = started.finish(60)
            problems = [text for text in started.leftovers()
                        if not text.startswith("file")]
        finally:
            started.close()
        if result.status in (0, None):
            problems.append(f"status {result.status}")
        if not re.search(said, result.stderr, re.M):
            problems.append(f"said {result.stderr[:1000]!r}")
        return result, problems

    def check_fatal(self):
        for case, (numbers, error, said) in FATAL.items():
            for n in numbers:
                said_here = said.format(last=n - 1, wanted=2 * n + 1, has=2 * n)
                command = self.mpirun(n, self.arguments.fatal, case)
                result, problems = self.fail(case, command, said_here)
                # mpirun may end the others before they have printed theirs.
                if not re.search(rf"^process \d+: ended by ({error})$", result.stdout,
                                 re.M):
                    problems.append(f"printed {result.stdout[:500]!r}")
                if re.search(r"forgotten|ended by nothing", result.stdout):
                    problems.append(f"printed {result.stdout[:500]!r}")
                self.report.case(f"{case} on {n}", problems, job.shell_line(command, {}))

    def check_at_end(self):
        for case, (numbers, said) in AT_END.items():
            for n in numbers:
                command = self.mpirun(n, self.arguments.fatal, case)
                _, problems = self.fail(case, command, said)
                self.report.case(f"{case} on {n}", problems, job.shell_line(command, {}))

    def check_death(self):
        """Kill a process that waits, or one that others wait for."""
        for victim in range(3):
            command = self.mpirun(3, self.arguments.fatal, "wait_for_ever")
            started = job.Job(command, job.mpirun_environment())
            try:
                os.kill(started.find_rank(victim), signal.SIGKILL)
                result = started.finish(60)
                problems = [text for text in started.leftovers()
                            if not text.startswith("file")]
            finally:
                started.close()
            if result.status in (0, None):
                problems.append(f"status {result.status}")
            self.report.case(f"death of process {victim}", problems)

    def check_environment(self):
        command = self.mpirun(2, "env", "BCS_COPY=fast", self.arguments.calls)
        _, problems = self.fail("bad value", command, r"BCS_COPY.*pooled")
        self.report.case("a bad value", problems)


def main():
    suite = Suite(parse_arguments())
    suite.check_calls()
    suite.check_mpi()
    suite.check_fatal()
    suite.check_at_end()
    suite.check_death()
    suite.check_environment()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
