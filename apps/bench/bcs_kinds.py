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


def runs_by_kind(runs_of_sides):
    """For each kind, in ascending order of trips, a list with the list of its runs of each side;
    None if some runs tell no trips. Runs whose cores moved are in none.

    runs_of_sides is a list with a list of Run for each side."""
    all_runs = [run for runs in runs_of_sides for run in runs]
    if any(run.trip_us is None for run in all_runs):
        return None
    return [[[run for run in runs if kind[0] <= run.trip_us <= kind[-1]]
             for runs in runs_of_sides] for kind in kinds_split(all_runs)]


def alike_choose(runs_of_sides):
    """Of each side the runs of the kind that has most of them on both sides, and the median
    of their trips; all runs and None if they tell no trips.

    runs_of_sides is a list with a list of Run for each side."""
    kinds = runs_by_kind(runs_of_sides)
    if kinds is None:
        return runs_of_sides, None
    best = max(kinds, key=lambda chosen: min(map(len, chosen)), default=[[]])
    if not all(best):
        return [[] for _ in runs_of_sides], None
    return best, statistics.median(run.trip_us for runs in best for run in runs)
