# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of runs of two ranks, and the choice of those that may be compared.

On a virtual machine the time of a cache line from core to core and back depends on where
the hypervisor has put the two cores, by up to a factor of six, and stays for the life of a
process or longer. Whatever two ranks do depends on it. The programs measure it between
their batches; runs whose trips are alike are of one kind, and only those are compared."""

import math
import re
import statistics
from dataclasses import dataclass

# Trips of one kind differ by less than this factor from one to the next larger one.
KIND_FACTOR = 1.5


@dataclass(frozen=True)
class Run:
    """What one run of a program has shown: its numbers, and its trip or None."""

    values: tuple
    trip_us: float = None


def trip_find(output):
    """The time of the cache line's trip in the output of a program, or None if it has none;
    NaN if the cores moved during the run, so that it is of no kind."""
    trips = re.findall(r"^line_trip \d+ (\S+) us$", output, re.M)
    spreads = re.findall(r"^line_trip_spread \d+ (\S+) times$", output, re.M)
    if not trips:
        return None
    if max(map(float, spreads)) > KIND_FACTOR:
        return math.nan
    return statistics.median(map(float, trips))


def kinds_split(runs):
    """The kinds of these runs as lists of trips, in ascending order."""
    kinds = []
    for trip in sorted(run.trip_us for run in runs if not math.isnan(run.trip_us)):
        if not kinds or trip > kinds[-1][-1] * KIND_FACTOR:
            kinds.append([])
        kinds[-1].append(trip)
    return kinds


def alike_choose(runs_of_sides):
    """Of each side the runs of the kind that has most of them on both sides, and the median
    of their trips; all runs and None if they tell no trips.

    runs_of_sides is a list with a list of Run for each side."""
    all_runs = [run for runs in runs_of_sides for run in runs]
    if any(run.trip_us is None for run in all_runs):
        return runs_of_sides, None
    best = [[] for _ in runs_of_sides]
    trip_us = None
    for kind in kinds_split(all_runs):
        chosen = [[run for run in runs if kind[0] <= run.trip_us <= kind[-1]]
                  for runs in runs_of_sides]
        if min(map(len, chosen)) > min(map(len, best)):
            best, trip_us = chosen, statistics.median(kind)
    return best, trip_us
