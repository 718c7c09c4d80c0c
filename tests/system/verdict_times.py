#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a verdict takes, from the last rank's call on: prints a table for docs/referee.md. It is no
test, since a time is no limit on a busy machine.

The report in the run's folder says for how long each rank has waited when it was made; the rank that
has waited for the shortest time made the last call. So the time of bcs-top, which makes the report
after the verdict, is in these times.
"""

import argparse
import shlex
import statistics
import sys
import tempfile

import job
from run_referee import MODES, STATUS, report_of

CASE = "all_receive_of_anybody"
MEASURED = ("inline", "inline, nodes of 1", "threads", "timed", "timed, nodes of 1")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--ranks", default="2,4,8,16", help="with how many ranks")
    parser.add_argument("--runs", type=int, default=20, help="runs of each")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def time_of(arguments, n_ranks, mode):
    """Seconds from the last call to the report of one run."""
    with tempfile.TemporaryDirectory() as folder:
        result = job.run([*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(n_ranks),
                          arguments.program, CASE],
                         job.mpirun_environment({**MODES[mode], "BCS_MDS_DIR": folder,
                                                 "BCS_MDS": "all"}), arguments.timeout)
        report = report_of(folder)
    if result.status != STATUS or report is None:
        sys.exit(f"{n_ranks} ranks, {mode}: no verdict: {result.ending()}")
    return min(wait["seconds"] for rank in report["job"]["ranks"] for wait in rank["waits"])


def main():
    arguments = parse_arguments()
    print("| mode | ranks | runs | median | most |\n|---|---|---|---|---|")
    for mode in MEASURED:
        for n_ranks in map(int, arguments.ranks.split(",")):
            times = [1e3 * time_of(arguments, n_ranks, mode) for _ in range(arguments.runs)]
            print(f"| {mode} | {n_ranks} | {len(times)} | {statistics.median(times):.0f} ms | "
                  f"{max(times):.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
