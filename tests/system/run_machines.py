#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs on the hosts of bcs-hosts, which have a network between them: the conformance programs
print what they print natively there; a deadlock over two hosts gets a verdict with the lines of
both; and a rank that is killed ends the job, and nothing is left.

Skipped where there can be no hosts.
"""

import argparse
import os
import shlex
import signal
import sys
import tempfile

import job
import run_hosts

N_RANKS_A_HOST = 2
# Open MPI 4.1 refuses their windows over TCP, natively too.
OF_ONE_MACHINE = ("passive_targets", "windows")
STUCK = "ring_of_synchronous_sends"
SKIPPED = 77


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", required=True, help="the program bcs-hosts")
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--n-hosts", type=int, default=2)
    parser.add_argument("--batch", required=True, help="the executable of all conformance programs")
    parser.add_argument("--deadlocks", required=True, help="the program deadlocks.c")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("programs", nargs="+", help="conformance programs")
    return parser.parse_args()


class Machines:
    """Hosts, and how to start a job on all of them."""

    def __init__(self, arguments, hosts):
        self.arguments = arguments
        self.hosts = hosts
        self.n_ranks = N_RANKS_A_HOST * arguments.n_hosts
        self.names = ",".join(f"bcs{i}:{N_RANKS_A_HOST}" for i in range(arguments.n_hosts))

    def command(self, launcher, *program):
        return [*self.hosts.program, "exec", "bcs0", *shlex.split(launcher), "--host", self.names,
                "-n", str(self.n_ranks), *program]

    def run(self, launcher, *program):
        return job.run(self.command(launcher, *program), job.mpirun_environment(), self.arguments.timeout)


def test_conformance(machines, report):
    """All programs at once, against what they print natively on the same hosts."""
    arguments = machines.arguments
    words = [arguments.batch, *(name for name in arguments.programs if name not in OF_ONE_MACHINE)]
    native = machines.run(arguments.native_launcher, *words)
    result = machines.run(arguments.launcher, *words)
    problems = [] if result.status == 0 else [f"{result.ending()}: {result.stderr[-1500:]!r}"]
    if not problems and result.stdout != native.stdout:
        problems.append(f"prints {result.stdout[-500:]!r}, not {native.stdout[-500:]!r}")
    report.case("conformance programs", problems)


def test_deadlocks(machines, report):
    """Ranks that follow each other are on two hosts, and each waits for the other, with its line."""
    for name in ("both_receive_first", "another_tag", "one_not_in_barrier", "root_of_long_bcast_receives"):
        result = machines.run(machines.arguments.launcher, "--map-by", "node", machines.arguments.deadlocks, name)
        problems = [] if result.status == 86 else [f"no verdict: {result.ending()}"]
        problems += [f"{text!r} is not told" for text in ("deadlocks.c:", "  0: MPI_", "  1") if text not in result.stderr]
        report.case(name, [*problems, result.stderr[-1500:]] if problems else [])


def test_death(machines, report):
    """A rank of another host than the launcher's is killed while all wait."""
    environment = job.mpirun_environment({"BCS_REFEREE": "report"})
    command = machines.command(machines.arguments.launcher, machines.arguments.deadlocks, STUCK)
    with tempfile.TemporaryDirectory() as folder:
        one = job.Job(command, {**environment, "TMPDIR": folder})
        try:
            problems = []
            if not one.await_that(lambda: "waits for" in one.errors_so_far(), machines.arguments.timeout):
                problems.append(f"no report: {one.errors_so_far()!r}")
            else:
                os.kill(one.find_rank(machines.n_ranks - 1), signal.SIGKILL)
                result = one.finish(machines.arguments.timeout)
                problems += [] if result.status not in (None, 0) else [f"status {result.status}"]
                problems += [f"left: {path}" for path in one.leftovers()]
        finally:
            one.close()
    report.case("a killed rank", problems)


def main():
    arguments = parse_arguments()
    why = run_hosts.why_skipped()
    if why is not None:
        print(f"skipped: {why}")
        return SKIPPED
    hosts = run_hosts.Hosts(arguments, os.path.join(tempfile.gettempdir(), f"machines-{os.getpid()}"))
    report = job.Report()
    hosts.call("up", str(arguments.n_hosts))
    try:
        machines = Machines(arguments, hosts)
        test_conformance(machines, report)
        test_deadlocks(machines, report)
        test_death(machines, report)
    finally:
        hosts.call("down")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
