#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes sends back whose receivers are on another machine, played on this one: with each driver and
kind of strobes, on nodes as large as machines and on nodes of one.
"""

import argparse
import shlex
import sys

import job
import run_far

# Of the program deadlocks: rank 0 sends to rank 1. Each ends with 1 if what should be taken back is
# not, or the other way round.
CASES = ["cancelled_sends", "cancelled_again_and_again", "cancelled_too_late"]
DRIVERS = {"processes": {}, "threads": {"BCS_DRIVER": "threads"}}
NODES = {name: run_far.NODES[name] for name in ("nodes as large as machines", "nodes of 1")}
LATE = {"BCS_DEFER": "1"}
# So many that some of their neighbours are near, whatever the number of machines.
TRAFFIC_RANKS = 4
MACHINES = ["2", "3"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--cases", required=True, help="the program deadlocks")
    parser.add_argument("--traffic", required=True, help="the program known_traffic")
    parser.add_argument("--timeout", type=float, default=60)
    return parser.parse_args()


def check(arguments, report, name, n_ranks, program, extra):
    """The program ends well, and says nothing."""
    command = [*shlex.split(arguments.launcher), "-n", str(n_ranks), *program]
    result = job.run(command, job.mpirun_environment(extra), arguments.timeout)
    problems = [] if result.status == 0 else [result.ending()]
    if result.stdout:
        problems.append(f"printed {result.stdout[-300:]!r}")
    report.case(name, problems, job.shell_line(command, extra))


def main():
    arguments = parse_arguments()
    report = job.Report()
    for name, extra in run_far.combinations(DRIVERS, run_far.STROBES, NODES):
        for case in CASES:
            check(arguments, report, f"{case}, {name}", 2, [arguments.cases, case],
                  {"BCS_FAR": "2", **extra})
        check(arguments, report, f"{CASES[0]}, {name}, late", 2, [arguments.cases, CASES[0]],
              {"BCS_FAR": "2", **LATE, **extra})
        for n in MACHINES:
            check(arguments, report, f"known_traffic on {n} machines, {name}", TRAFFIC_RANKS,
                  [arguments.traffic], {"BCS_FAR": n, **extra})
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
