#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A job takes little more memory than it does natively, before it communicates.

The program adds up the resident memory of all ranks, what they share counted once.
"""

import argparse
import re
import shlex
import sys

import job

MOST = 1.3  # times native


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="bcsrun")
    parser.add_argument("--native-launcher", required=True, help="bcsrun --native")
    parser.add_argument("--program", required=True, help="bench_resident")
    parser.add_argument("--ranks", type=int, required=True)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    report = job.Report()
    words = ["-n", str(arguments.ranks), arguments.program]

    def resident(launcher):
        """MB, or None after a case that has failed."""
        command = shlex.split(launcher) + words
        result = job.run(command, job.mpirun_environment(), timeout=1800)
        line = re.fullmatch(r"resident 0 (\d+\.\d) MB\n", result.stdout)
        if result.status == 0 and line:
            return float(line[1])
        report.case(
            launcher,
            [f"status {result.status}, {result.stdout[-200:]!r} {result.stderr[-500:]!r}"],
            job.shell_line(command, {}),
        )
        return None

    native, ours = resident(arguments.native_launcher), resident(arguments.launcher)
    if native and ours:
        ratio = ours / native
        name = f"{arguments.ranks} ranks: {ours} MB, natively {native}: {ratio:.3f}"
        report.case(name, [] if ratio <= MOST else [f"more than {MOST}"], "")
        print(name)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
