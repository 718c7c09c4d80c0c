#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs whose ranks are dealt to three machines, played on this one, in turn or unevenly:
they print what they print natively, and what is recorded names the ranks that it names on one
machine.
"""

import argparse
import glob
import itertools
import os
import shlex
import subprocess
import sys
import tempfile

import job

N_RANKS = 5
PROGRAMS = ["collective_order", "communicators", "intercommunicators",
            "intercommunicator_messages", "message_order", "nonblocking_collectives",
            "reduce_operations", "scan_and_scatter", "topologies", "wildcards"]
RECORDED = ["message_order", "communicators"]
STROBES = {"on demand": {}, "timed": {"BCS_STROBE": "timed", "BCS_SLICE": "100us"}}
NODES = {"nodes as large as machines": {}, "nodes of 1": {"BCS_NODE_RANKS": "1"},
         "nodes of 2": {"BCS_NODE_RANKS": "2"}}
MAPS = {"in turn": {"BCS_FAR": "3", "BCS_FAR_MAP": "cyclic"},
        "unevenly": {"BCS_FAR": "3", "BCS_FAR_MAP": "uneven"}}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--batch", required=True, help="the program conformance_batch")
    parser.add_argument("--reader", required=True, help="bcs-mds")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def combinations(*tables):
    """Each entry of a table with each of the others: name and variables."""
    for parts in itertools.product(*(table.items() for table in tables)):
        yield ", ".join(name for name, _ in parts), {
            variable: value for _, settings in parts for variable, value in settings.items()}


def run(arguments, launcher, program, extra):
    command = [*shlex.split(launcher), "-n", str(N_RANKS), *program]
    result = job.run(command, job.mpirun_environment(extra), arguments.timeout)
    return command, result


def test_outputs(arguments, report):
    program = [arguments.batch, *PROGRAMS]
    _, native = run(arguments, arguments.native_launcher, program, {})
    if native.status != 0:
        report.case("natively", [native.ending()])
        return
    for name, extra in combinations(MAPS, NODES, STROBES):
        command, result = run(arguments, arguments.launcher, program, extra)
        problems = [] if result.status == 0 else [result.ending()]
        if result.stdout != native.stdout:
            problems.append(f"printed {result.stdout[-300:]!r}")
        report.case(name, problems, job.shell_line(command, extra))


def recorded(arguments, extra):
    """Who has sent how much to whom, as bcs-mds tells it, or a text of what went wrong."""
    with tempfile.TemporaryDirectory() as parent:
        extra = {"BCS_MDS": "mmds", "BCS_MDS_DIR": parent, **extra}
        _, result = run(arguments, arguments.launcher, [arguments.batch, *RECORDED], extra)
        folders = glob.glob(os.path.join(parent, "*"))
        if result.status != 0 or len(folders) != 1:
            return result.ending()
        told = subprocess.run([arguments.reader, "matrix", folders[0]], text=True,
                              check=False, capture_output=True)
    return told.stdout + told.stderr


def test_records(arguments, report):
    expected = recorded(arguments, {})
    for name, extra in list(combinations(MAPS, NODES, STROBES))[2::3]:
        found = recorded(arguments, extra)
        report.case(f"{name}, recorded",
                    [] if found == expected else [f"{found} in place of {expected}"])


def main():
    arguments = parse_arguments()
    report = job.Report()
    test_outputs(arguments, report)
    test_records(arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
