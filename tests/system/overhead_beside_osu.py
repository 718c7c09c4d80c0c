#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether overhead_measure and the OSU micro-benchmarks, which are not part of bcs, tell the same
times of a message without bytes and of a barrier: runs both in turns, natively or under BCS, and prints
a table for docs/overhead.md. It fails if a ratio of medians is beyond --within.

Times of two ranks come in kinds, by where the cores are, which OSU's programs do not tell. So
bench_core_trips looks before and after each run of two ranks, and only runs of the kind are compared that
has most of both. OSU reads the clock before and after each barrier, so that the time of one reading is in
its time; it is added to ours. Ours makes as many barriers as a full run of bcs-overhead; where ranks share
a core, their times change with the age of the job, so that OSU's must make as many: osu_barrier -i 100000.
"""

import argparse
import json
import math
import pathlib
import re
import shlex
import statistics
import sys

import job

APPS = pathlib.Path(__file__).resolve().parents[2] / "apps"
sys.path[:0] = [str(APPS / "bench"), str(APPS / "overhead")]
from bcs_kinds import KIND_FACTOR, Run, alike_choose
from bcs_overhead_plan import FULL

HELP_TIMES = "how it is started; {n} is the number of ranks"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="mpirun -n {n}", help=HELP_TIMES)
    parser.add_argument("--measure", required=True, help="overhead_measure")
    parser.add_argument("--latency", required=True, help="osu_latency, and its options")
    parser.add_argument("--barrier", required=True, help="osu_barrier, and its options")
    parser.add_argument("--trips", required=True, help="bench_core_trips, and two CPUs")
    parser.add_argument("--ranks", default="2,4", help="of the barriers")
    parser.add_argument("--runs", type=int, default=15, help="runs of each")
    parser.add_argument("--within", type=float, default=0.1, help="difference that is allowed")
    parser.add_argument("--timeout", type=float, default=300)
    return parser.parse_args()


def output_of(arguments, n_ranks, words):
    command = shlex.split(arguments.launcher.replace("{n}", str(n_ranks))) + words
    result = job.run(command, job.mpirun_environment(), arguments.timeout)
    if result.status != 0:
        sys.exit(f"{shlex.join(command)}: {result.ending()}")
    return result.stdout


def time_of_osu(arguments, n_ranks, words):
    """Microseconds in the first row of its table."""
    output = output_of(arguments, n_ranks, shlex.split(words))
    found = re.search(r"^ *(?:0\s+)?([0-9.]+)\s*$", output, re.MULTILINE)
    if found is None:
        sys.exit(f"{words}: no row of a time: {output!r}")
    return float(found.group(1))


def time_of_ours(arguments, n_ranks, wanted, *words):
    """Microseconds at a point of overhead_measure, the median of the rounds but the first."""
    output = output_of(arguments, n_ranks, [arguments.measure, *words])
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    points = [line["at"] for line in lines if line["overhead"] == "point"]
    return statistics.median(
        line["ns"] / line["units"] / 1e3 for line in lines
        if line["overhead"] == "sample" and line["round"] >= 0 and points[line["point"]] == wanted)


def trip_of(arguments):
    """Microseconds of a cache line there and back now."""
    result = job.run(shlex.split(arguments.trips), timeout=arguments.timeout)
    found = re.search(r"^core_trip_\S+ 0 (\S+) us$", result.stdout, re.MULTILINE)
    if found is None:
        sys.exit(f"{arguments.trips}: no trip: {result.ending()}")
    return float(found.group(1))


def run_of(arguments, n_ranks, measure):
    """The time that a function gives, and with two ranks of which kind it is."""
    if n_ranks != 2:
        return Run((measure(),))
    before = trip_of(arguments)
    time = measure()
    after = trip_of(arguments)
    is_steady = max(before, after) < KIND_FACTOR * min(before, after)
    return Run((time,), (before + after) / 2 if is_steady else math.nan)


def main():
    arguments = parse_arguments()
    reading = time_of_ours(arguments, 1, [1, 0], "clock", "--rounds", "3")
    rows = [("pingpong", 2, 0, arguments.latency, ["--iterations", "1000", "--max", "0"], 0)] + [
        ("barrier", n, n, arguments.barrier, FULL.barrier, reading)
        for n in map(int, arguments.ranks.split(","))]
    is_beyond = False
    print("| experiment | ranks | runs compared | cache line | OSU | overhead_measure | ratio |\n"
          "|---|---|---|---|---|---|---|")
    for experiment, n_ranks, point, of_osu, options, added in rows:
        sides = [lambda words=of_osu, n=n_ranks: time_of_osu(arguments, n, words),
                 lambda at=point, n=n_ranks, words=(experiment, *options):
                 time_of_ours(arguments, n, [at], *words)]
        runs = [[], []]
        for i in range(arguments.runs):
            for side in (0, 1) if i % 2 == 0 else (1, 0):
                runs[side].append(run_of(arguments, n_ranks, sides[side]))
        alike, trip = alike_choose(runs)
        if not all(alike):
            sys.exit(f"{experiment}, {n_ranks} ranks: no kind of runs has some of both")
        medians = [statistics.median(run.values[0] for run in side) for side in alike]
        medians[1] += added
        ratio = medians[1] / medians[0]
        is_beyond |= abs(ratio - 1) > arguments.within
        print(f"| {experiment} | {n_ranks} | {len(alike[0])} and {len(alike[1])} of {arguments.runs} | "
              f"{'' if trip is None else f'{trip:.3f} us'} | {medians[0]:.3f} us | "
              f"{medians[1]:.3f} us | {ratio:.3f} |", flush=True)
    return 1 if is_beyond else 0


if __name__ == "__main__":
    sys.exit(main())
