#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job takes little more memory than it does natively, before it communicates.

Adds up the resident memory of all ranks, what they share counted once.
"""

import argparse
import shlex
import sys

import job

MOST = 1.3  # times native


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="bcsrun")
    parser.add_argument("--native-launcher", required=True, help="bcsrun --native")
    parser.add_argument("--growth", required=True, help="that program")
    parser.add_argument("--ranks", type=int, required=True)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    report = job.Report()
    words = ["-n", str(arguments.ranks), arguments.growth, "memory"]

    def resident(launcher):
        """KB, or None after a case that has failed."""
        command = shlex.split(launcher) + words
        result = job.run(command, job.mpirun_environment(), timeout=1800)
        n_kb, _, end = result.stdout.partition(" KB\n")
        if result.status == 0 and n_kb.isdigit() and end == "ok\n":
            return int(n_kb)
        report.case(
            launcher,
            [f"status {result.status}, {result.stdout[-200:]!r} {result.stderr[-500:]!r}"],
            job.shell_line(command, {}),
        )
        return None

    native, ours = resident(arguments.native_launcher), resident(arguments.launcher)
    if native and ours:
        ratio = ours / native
        name = f"{arguments.ranks} ranks: {ours} KB, natively {native}: {ratio:.3f}"
        report.case(name, [] if ratio <= MOST else [f"more than {MOST}"], "")
        print(name)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
