# SPDX-License-Identifier: BSD-3-Clause
"""What the samples of a result come to: times of points, launch by launch, and which of the
samples were disturbed.

The time of a point in a launch is the median of its rounds, disturbed ones included: a
median bears them, and leaving them out would favour whoever is disturbed more. They are
counted and told. The first round, -1, is the first touch of all memory; it is kept apart.
"""

import statistics
from dataclasses import dataclass

FIRST_ROUND = -1
BUSY_PERCENT = 2  # of all cores' time, had by others than the job
LEAST_NS = 1e-6  # what a time of 0 counts as, where it is divided by or has a logarithm

MARKS = {
    "stolen": "the hypervisor took time",
    "paged": "a page came from disk",
    "preempted": "a rank had to leave its core",
}


def is_crowded(result, run):
    """Whether ranks share cores, so that they are preempted by each other."""
    return (run["ranks"] > len(result["machine"]["cores"])
            or len(set(zip(run["hosts"], run["cpus_begin"]))) < run["ranks"])


def sample_marks(result, run):
    """For each sample of a run what disturbed it: a list of names of MARKS."""
    names = ["stolen", "paged"] + ([] if is_crowded(result, run) else ["preempted"])
    columns = [run["samples"][name] for name in names]
    return [[name for name, value in zip(names, values) if value > 0]
            for values in zip(*columns)]


def good_runs(result, side, job):
    """The runs of a job on a side that have not failed, in the order of repetitions."""
    runs = [run for run in result["runs"]
            if (run["side"], run["job"]) == (side, job) and run["failure"] is None]
    return sorted(runs, key=lambda run: run["repetition"])


def point_times(run, is_first=False):
    """{point: nanoseconds of a unit}: medians of the rounds, or of the first one alone."""
    samples = run["samples"]
    values = {}
    for point, number, ns, units in zip(samples["point"], samples["round"], samples["ns"],
                                        samples["units"]):
        if (number == FIRST_ROUND) == is_first:
            values.setdefault(point, []).append(ns / units)
    return {tuple(run["points"][point]): statistics.median(found)
            for point, found in sorted(values.items())}


def launches_of(result, side, job):
    """{point: [nanoseconds in each launch]} of the points that all launches have."""
    times = [point_times(run) for run in good_runs(result, side, job)]
    common = [point for point in (times[0] if times else ())
              if all(point in other for other in times)]
    return {point: [other[point] for other in times] for point in common}


def medians_of(launches):
    """{point: median of the launches}."""
    return {point: statistics.median(values) for point, values in launches.items()}


def jobs_of(result, experiment, part=None):
    """The jobs of an experiment; part is how their names begin, if not like it."""
    return [job for job in result["plan"]["jobs"]
            if job["experiment"] == experiment and
            (job["name"] + "-").startswith(f"{part or experiment}-")]


@dataclass
class Disturbance:
    """What went on beside a job, on one side."""

    n_samples: int
    n_marked: dict  # by the names of MARKS
    n_any: int  # samples with any mark
    n_busy: int  # launches beside which others had BUSY_PERCENT or more
    n_launches: int
    n_failed: int
    first_ratio: float  # of the first round to the others; None without
    interrupts: float  # of the machine, per second of measured time
    others_percent: float  # the most of a launch
    stolen_percent: float
    programs: str  # what took most

    def is_any(self):
        """Whether anything at all was seen."""
        return self.n_any > 0 or self.n_busy > 0


def first_ratio(runs):
    """How much longer the first touch took than the others: a median of ratios, or None."""
    ratios = []
    for run in runs:
        usual, first = point_times(run), point_times(run, is_first=True)
        ratios += [first[point] / usual[point] for point in usual
                   if point in first and usual[point] > 0]
    return statistics.median(ratios) if ratios else None


def busiest(runs):
    """The names of the processes that took most beside these runs."""
    taken = {}
    for run in runs:
        for process in run["load"]["processes"]:
            taken[process["name"]] = taken.get(process["name"], 0) + process["cpu_seconds"]
    names = sorted(taken, key=taken.get, reverse=True)[:3]
    return ", ".join(f"{name} {taken[name]:.1f} s" for name in names if taken[name] >= 0.05)


def loads_of(runs):
    """The loads of these runs; some have none."""
    return [run["load"] for run in runs if run["load"]]


def count_busy(loads):
    """Of how many launches others had BUSY_PERCENT of the cores or more."""
    return sum(load["others_percent"] >= BUSY_PERCENT for load in loads)


def disturbance_of(result, side, job):
    """What went on beside a job on a side."""
    all_runs = [run for run in result["runs"] if (run["side"], run["job"]) == (side, job)]
    runs = good_runs(result, side, job)
    marks = [marks for run in runs for marks in sample_marks(result, run)]
    seconds = sum(sum(run["samples"]["ns"]) for run in runs) * 1e-9
    loads = loads_of(runs)
    return Disturbance(
        n_samples=len(marks), n_any=sum(map(bool, marks)),
        n_marked={name: sum(name in found for found in marks) for name in MARKS},
        n_busy=count_busy(loads),
        n_launches=len(all_runs), n_failed=len(all_runs) - len(runs),
        first_ratio=first_ratio(runs),
        interrupts=sum(sum(run["samples"]["interrupts"]) for run in runs) / (seconds or 1),
        others_percent=max((load["others_percent"] for load in loads), default=0),
        stolen_percent=max((load["stolen_percent"] for load in loads), default=0),
        programs=busiest([run for run in runs if run["load"]]))
