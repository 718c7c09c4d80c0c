#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cBSP: all calls on several numbers of processes, with both ways of copying; together with
MPI; errors that end a job, with what they must say; and nothing is left behind when a
process is killed. With --large messages of more than 4 GiB instead, which take 4 GiB of
memory.
"""

import argparse
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import library_suite  # noqa: E402

GROUPS = ("calls", "rights", "mpi", "fatal", "at_end", "death", "environment")
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
    "behind": (
        (2, 3),
        "EPROTO",
        r"process [12] calls cBSP_gsync in superstep 1, process 0 in superstep 0",
    ),
    "mixed": ((2, 3), "EDEADLK|EPROTO", r"cBSP_gsync"),
    "lengths": ((2, 4), "EPROTO", r"cBSP_broadcast: another process calls it with"),
}
# Errors that only the process that notices them gets, as it leaves.
AT_END = {
    "late_and_last": ((2, 3), r"(process 0 has sent 1 messages that no|more messages)"),
    "late_and_met": ((2, 3), r"(more messages|process 0 has sent 1 messages that no)"),
    "handlers_at_end": ((1, 2), r"handlers have sent 1 messages that no superstep"),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--calls", required=True, help="the test program of all calls")
    parser.add_argument("--fatal", required=True)
    parser.add_argument("--with-mpi", required=True)
    parser.add_argument("--large", action="store_true",
                        help="send large messages, and do nothing else")
    parser.add_argument("--groups", default=",".join(GROUPS), help="what to check")
    parser.add_argument("--processes", type=int,
                        help="only the cases with this number of processes")
    library_suite.add_arguments(parser)
    return parser.parse_args()


class Suite(library_suite.LibrarySuite):
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments

    def chosen(self, *numbers):
        """Those numbers of processes that are to be tried."""
        return [n for n in numbers if self.arguments.processes in (None, n)]

    def check_calls(self):
        for n in self.chosen(*PROCESSES):
            wanted = rf"^process \d+ of {n}: \d+ checks, 0 wrong$"
            for copy in COPIES:
                command = self.mpirun(n, self.arguments.calls)
                self.succeed(f"calls, {copy}, {n}", command, wanted, n,
                             {"BCS_COPY": copy})
        for n in self.chosen(1):
            self.succeed("calls alone", [self.arguments.calls],
                         r"^process 0 of 1: \d+ checks, 0 wrong$", n)
        for n in self.chosen(3):
            command = [self.arguments.bcsrun, "-n", str(n), self.arguments.calls]
            self.succeed("calls under bcsrun", command, r"of 3: \d+ checks, 0 wrong$", n)

    def check_rights(self):
        """The first of a machine to be refused says so, for all of it."""
        n_machines = 2 if self.arguments.far else 1
        said = re.compile(r"^bcs\[.*\]: copy-refused: process \d may not read the memory of "
                          r"process \d: .*", re.M)

        def look(result):
            n_said = len(said.findall(result.stderr))
            return [] if n_said == n_machines else [f"said {n_said} times: {result.stderr[:500]!r}"]

        for n in self.chosen(4):
            command = self.mpirun(n, self.arguments.calls, "rights")
            self.succeed("rights are lost", command,
                         r"^process \d of 4: \d+ checks, 0 wrong$", n,
                         {"BCS_COPY": "direct"}, look=look)

    def check_large(self):
        for copy in COPIES:
            command = self.mpirun(2, self.arguments.calls, "large")
            self.succeed(f"large messages, {copy}", command,
                         r"^process \d of 2: \d+ checks, 0 wrong$", 2,
                         {"BCS_COPY": copy})

    def check_mpi(self):
        for n in self.chosen(1, 2, 5):
            for native in (["--native"], []):
                for order in ([], ["outside"]):
                    command = [self.arguments.bcsrun, *native, "-n", str(n),
                               self.arguments.with_mpi, *order]
                    name = " ".join(["with MPI", *native, *order, str(n)])
                    self.succeed(name, command, rf"^process \d+ of {n}: 0 wrong$", n)

    def check_fatal(self):
        for case, (numbers, error, said) in FATAL.items():
            # mpirun may end the others before they have printed theirs.
            ended = re.compile(rf"^process \d+: ended by ({error})$", re.M)

            def look(result, ended=ended):
                is_right = ended.search(result.stdout) and not re.search(
                    r"forgotten|ended by nothing", result.stdout)
                return [] if is_right else [f"printed {result.stdout[:500]!r}"]

            for n in self.chosen(*numbers):
                said_here = said.format(last=n - 1, wanted=2 * n + 1, has=2 * n)
                self.fail(f"{case} on {n}", self.mpirun(n, self.arguments.fatal, case),
                          said_here, look=look)

    def check_at_end(self):
        for case, (numbers, said) in AT_END.items():
            for n in self.chosen(*numbers):
                self.fail(f"{case} on {n}", self.mpirun(n, self.arguments.fatal, case),
                          said)

    def check_death(self):
        """Kill a process that waits, or one that others wait for."""
        self.die(3, self.arguments.fatal, "wait_for_ever")

    def check_environment(self):
        command = self.mpirun(2, "env", "BCS_COPY=fast", self.arguments.calls)
        self.fail("a bad value", command, r"BCS_COPY.*pooled")


def main():
    suite = Suite(parse_arguments())
    if suite.arguments.large:
        suite.check_large()
        return suite.report.end()
    for group in suite.arguments.groups.split(","):
        getattr(suite, f"check_{group}")()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
