#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether overhead_measure and the OSU micro-benchmarks, which are not part of bcs, tell the same
times of a message without bytes and of a barrier: runs both in turns, natively or under BCS, and prints
a table for docs/overhead.md. It fails if a ratio of medians is beyond --within.

Times of two ranks come in kinds, by where the cores are, which OSU's programs do not tell. So with two
ranks only the faster half of the runs of each is compared. OSU reads the clock before and after each
barrier, so that the time of one reading is in its time; it is added to ours.
"""

import argparse
import json
import re
import shlex
import statistics
import sys

import job

HELP_TIMES = "how it is started; {n} is the number of ranks"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="mpirun -n {n}", help=HELP_TIMES)
    parser.add_argument("--measure", required=True, help="overhead_measure")
    parser.add_argument("--latency", required=True, help="osu_latency, and its options")
    parser.add_argument("--barrier", required=True, help="osu_barrier, and its options")
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


def compared(times, n_ranks):
    """The times that are compared; see above."""
    return sorted(times)[:(len(times) + 1) // 2] if n_ranks == 2 else times


def main():
    arguments = parse_arguments()
    reading = time_of_ours(arguments, 1, [1, 0], "clock", "--rounds", "3")
    rows = [("pingpong", 2, 0, arguments.latency, ["--max", "0"], 0)] + [
        ("barrier", n, n, arguments.barrier, [], reading)
        for n in map(int, arguments.ranks.split(","))]
    is_beyond = False
    print("| experiment | ranks | runs | OSU | overhead_measure | ratio |\n|---|---|---|---|---|---|")
    for experiment, n_ranks, point, of_osu, options, added in rows:
        osu, ours = [], []
        for i in range(arguments.runs):
            for is_ours in (False, True) if i % 2 == 0 else (True, False):
                if is_ours:
                    ours.append(time_of_ours(arguments, n_ranks, [point], experiment,
                                             "--iterations", "1000", *options))
                else:
                    osu.append(time_of_osu(arguments, n_ranks, of_osu))
        medians = [statistics.median(compared(times, n_ranks)) for times in (osu, ours)]
        medians[1] += added
        ratio = medians[1] / medians[0]
        is_beyond |= abs(ratio - 1) > arguments.within
        print(f"| {experiment} | {n_ranks} | {arguments.runs} | {medians[0]:.3f} us | "
              f"{medians[1]:.3f} us | {ratio:.3f} |", flush=True)
    return 1 if is_beyond else 0


if __name__ == "__main__":
    sys.exit(main())
