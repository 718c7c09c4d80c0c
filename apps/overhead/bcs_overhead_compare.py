# SPDX-License-Identifier: BSD-3-Clause
"""Which differences of two results are beyond noise.

A quantity is a job, or those of its lengths that are 0, short or long. Its value in a
repetition is the mean, over its points, of the logarithm of the point's time. Launches are
what is drawn at random, not samples: samples of a launch are alike for reasons that the
next launch does not share.

The rule: if nothing differs, it does not matter which repetition belongs to which result. So
the repetitions are dealt anew to the two results, all ways or 9,999 random ones, whole: what
the jobs of a repetition have in common stays together. A machine has states that last for
longer than a repetition; so if there are many, those that followed each other are dealt
together, in N_STRETCHES stretches or fewer of each result. For each way the largest statistic of
all quantities is kept. A difference is beyond noise if its own statistic is larger than that
in 98 % of the ways, and it is LEAST_PERCENT or more (Westfall and Young's step of the maximum).
So a false difference, in any quantity, is found in at most one in fifty comparisons of equal
results whose repetitions could be exchanged. States of a machine that last as long as a
result are not covered.

The statistic is Yuen's: the difference of trimmed means, which a few slow launches do not
move, by its error. Launches of two ranks are compared within each kind, that is where a cache
line takes as long from core to core, and the differences of the kinds are joined, weighted by
the launches that are not trimmed.
"""

import math
import re
import statistics
from dataclasses import dataclass

from bcs_jobs import BenchError
from bcs_kinds import KIND_FACTOR, Run, runs_by_kind
from bcs_overhead_samples import (BUSY_PERCENT, LEAST_NS, count_busy, good_runs, loads_of,
                                  point_times)
from bcs_overhead_science import numpy, scipy

LEVEL = 0.02
LEAST_PERCENT = 3.0
LEAST_REPETITIONS = 5
LEAST_OF_KIND = 2  # launches of each result
N_STRETCHES = 10
N_WAYS = 9999
SEED = 1
TRIMMED = 0.25  # of the values at each end
SHORT_BYTES = 4096
# Added to the error, as a part of the time: a difference counts for no more because a few
# launches happen to be alike.
ERROR_FLOOR = 0.01
# Where only larger differences would be seen, a result is too noisy to tell anything.
MOST_SEEN_FACTOR = 2.0


@dataclass
class Difference:
    """What became of a quantity. ratio is B to A; p is adjusted for all quantities. reason
    tells why there is no verdict, else None."""

    name: str
    ratio: float = None
    p: float = None
    # A difference from here on would have been seen; None: from MOST_SEEN_FACTOR or more.
    seen_percent: float = None
    is_beyond: bool = False
    n_a: int = 0
    n_b: int = 0
    reason: str = None


def bands_of(run):
    """Name of a band of lengths by point: 0, short, long; one band without lengths."""
    if "length" not in run["coordinates"] or run["experiment"] == "memcpy":
        return lambda point: ""
    place = run["coordinates"].index("length")
    return lambda point: (", 0 bytes" if point[place] == 0 else ", short"
                          if point[place] <= SHORT_BYTES else ", long")


def run_values(run, titles):
    """{quantity: mean logarithm of the times} of a run."""
    band_of = bands_of(run)
    logs = {}
    for point, ns in point_times(run).items():
        if run["experiment"] == "clock" and point[1] != 0:
            continue  # what interrupts a rank is noise itself
        name = f"{titles[run['job']]}{band_of(point)}"
        logs.setdefault(name, []).append(numpy.log(max(ns, LEAST_NS)))
    return {name: float(numpy.mean(values)) for name, values in logs.items()}


def trip_us(trips_ns):
    """The cache line's trip in a launch, NaN if the cores moved meanwhile; None without."""
    if not trips_ns:
        return None
    is_steady = max(trips_ns) <= KIND_FACTOR * min(trips_ns)
    return statistics.median(trips_ns) / 1e3 if is_steady else math.nan


def runs_numbered(runs_of_sides):
    """Of each side its runs as (run, number of the kind), of two ranks; see bcs_kinds. Those
    are left out whose cores moved, or of whose kind a side has too few."""
    sides = [[Run((run,), trip_us(run["trips_ns"])) for run in runs] for runs in runs_of_sides]
    kinds = runs_by_kind(sides)
    if kinds is None:
        return [[(run, 0) for run in runs] for runs in runs_of_sides]
    found = [[] for _ in sides]
    for number, chosen in enumerate(kinds):
        if min(map(len, chosen)) >= LEAST_OF_KIND:
            for own, runs in zip(found, chosen):
                own += [(run.values[0], number) for run in runs]
    return found


def jobs_in_common(results):
    """The jobs of each of two results by name, and the names of those that may be compared."""
    jobs = [{job["name"]: job for job in result["plan"]["jobs"]} for result in results]
    return jobs, [name for name in jobs[0] if jobs[0][name] == jobs[1].get(name)]


def tables_of(results, sides):
    """For each of the two results {quantity: {repetition: (value, number of the kind)}}, and how
    many launches were left out since the cores stood otherwise, by title of the job."""
    jobs, common = jobs_in_common(results)
    tables, left_out = ({}, {}), {}
    for name in common:
        runs = [good_runs(result, side, name) for result, side in zip(results, sides)]
        chosen = runs_numbered(runs)
        n_left = sum(map(len, runs)) - sum(map(len, chosen))
        if n_left:
            left_out[jobs[0][name]["title"]] = n_left
        for table, found in zip(tables, chosen):
            for run, kind in found:
                for quantity, value in run_values(run, {name: jobs[0][name]["title"]}).items():
                    table.setdefault(quantity, {})[run["repetition"]] = value, kind
    return tables, left_out


def arguments_of(result, side, name):
    """With which arguments a job was run on a side."""
    return {tuple(run["arguments"]) for run in result["runs"]
            if (run["side"], run["job"]) == (side, name)}


def not_compared(results, sides, tables):
    """What one result has and the comparison has not, or not on equal terms, a line each."""
    jobs, common = jobs_in_common(results)
    titles = [[job["title"] for name, job in own.items() if name not in other]
              for own, other in (jobs, jobs[::-1])]
    quantities = [[name for name in own if name not in other]
                  for own, other in (tables, tables[::-1])]
    lines = [f"Only {side} has {what}: {'; '.join(names)}."
             for what, parts in (("the job", titles), ("launches of", quantities))
             for side, names in zip("AB", parts) if names]
    lines += [f"{job['title']}: not compared, A and B were asked for it in another way."
              for name, job in jobs[0].items() if name in jobs[1] and name not in common]
    lines += [f"{jobs[0][name]['title']}: A and B were run with other rounds or matchings."
              for name in common
              if arguments_of(results[0], sides[0], name)
              != arguments_of(results[1], sides[1], name)]
    return lines


def conditions_of(results, sides):
    """What may make two results differ though nothing of theirs does, a line each."""
    _, common = jobs_in_common(results)
    lines, trips = [], []
    for letter, result, side in zip("AB", results, sides):
        runs = [run for name in common for run in good_runs(result, side, name)]
        n_stolen = sum(load["stolen_percent"] > 0 for load in loads_of(runs))
        n_busy = count_busy(loads_of(runs))
        if n_stolen or n_busy:
            lines.append(f"{letter} was not alone: beside {n_busy} of its {len(runs)} launches "
                         f"others had {BUSY_PERCENT} % of the cores or more, and from "
                         f"{n_stolen} the hypervisor took time.")
        found = (trip_us(run["trips_ns"]) for run in runs if run["trips_ns"])
        trips.append([trip for trip in found if not math.isnan(trip)])
    if all(trips):
        a, b = (1e3 * statistics.median(one) for one in trips)
        lines.append(f"A cache line went from core to core and back in {a:.0f} ns (A) and "
                     f"{b:.0f} ns (B), medians of the launches of two ranks.")
    return lines


def matrix_of(table, quantities):
    """Values and kinds, of both a row for each quantity and a column for each repetition; NaN
    where a launch is missing."""
    repetitions = sorted({r for values in table.values() for r in values})
    missing = (numpy.nan, numpy.nan)
    rows = [[table.get(name, {}).get(r, missing) for r in repetitions] for name in quantities]
    return numpy.moveaxis(numpy.array(rows, dtype=float).reshape(len(quantities), -1, 2), -1, 0)


def stretches_of(matrix, length):
    """The same with repetitions that followed each other in a row of the axis before the
    last one, and a column for each such stretch; the last one is filled with NaN."""
    n_more = -matrix.shape[-1] % length
    filled = numpy.pad(matrix, ((0, 0), (0, 0), (0, n_more)), constant_values=numpy.nan)
    return numpy.moveaxis(filled.reshape(*matrix.shape[:-1], -1, length), -1, -2)


def trimmed_parts(values):
    """Trimmed mean along the last axis, the sum of squares that its error comes from, and the
    number of values that it rests on; NaN are left out. [Yuen 1974]"""
    n = numpy.sum(~numpy.isnan(values), axis=-1)
    n_cut = numpy.floor(TRIMMED * n).astype(int)
    ordered = numpy.sort(values, axis=-1)  # NaN come last
    places = numpy.arange(values.shape[-1])
    is_kept = (places >= n_cut[..., None]) & (places < (n - n_cut)[..., None])
    n_kept = n - 2 * n_cut
    safe = numpy.where(is_kept, ordered, 0)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        mean = safe.sum(axis=-1) / n_kept
        last = ordered.shape[-1] - 1
        low = numpy.take_along_axis(ordered, numpy.clip(n_cut, 0, last)[..., None], -1)
        high = numpy.take_along_axis(ordered,
                                     numpy.clip(n - n_cut - 1, 0, last)[..., None], -1)
        clipped = numpy.clip(ordered, low, high)
        is_there = places < n[..., None]
        middle = numpy.where(is_there, clipped, 0).sum(axis=-1) / n
    squares = numpy.where(is_there, (clipped - middle[..., None]) ** 2, 0).sum(axis=-1)
    return mean, squares, n_kept


def difference_of(a, b):
    """The difference of each quantity, logarithm of B to A, and its error; NaN where there is
    none. a, b: values and kinds, as matrix_of has them."""
    difference = squares = weights = freedom = 0
    for kind in numpy.unique(numpy.concatenate((a[..., 1, :, :], b[..., 1, :, :]), axis=-1)):
        (mean_a, squares_a, n_a), (mean_b, squares_b, n_b) = (
            trimmed_parts(numpy.where(one[..., 1, :, :] == kind, one[..., 0, :, :], numpy.nan))
            for one in (a, b))
        is_there = (n_a >= LEAST_OF_KIND) & (n_b >= LEAST_OF_KIND)
        weight = numpy.where(is_there, n_a * n_b / numpy.maximum(n_a + n_b, 1), 0)
        weights = weights + weight
        difference = difference + numpy.where(is_there, weight * (mean_b - mean_a), 0)
        squares = squares + numpy.where(is_there, squares_a + squares_b, 0)
        freedom = freedom + numpy.where(is_there, n_a + n_b - 2, 0)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return (difference / weights,
                numpy.sqrt(squares / freedom / weights + ERROR_FLOOR ** 2))


def statistic(a, b, axis=-1):
    """Yuen's statistic of each quantity, without its sign; 0 where there is none. a, b: as
    stretches_of has them."""
    flat = (numpy.moveaxis(one, axis, -1) for one in (a, b))
    difference, error = difference_of(*(one.reshape(*one.shape[:-2], -1) for one in flat))
    found = numpy.abs(difference) / error
    return numpy.where(numpy.isfinite(found), found, 0.0)


def matrices_compare(a, b):
    """For each quantity of both matrices its statistic and its adjusted p; and from which
    statistic on it would have been beyond noise."""
    length = -(-max(a.shape[-1], b.shape[-1]) // N_STRETCHES)
    a, b = (stretches_of(one, length) for one in (a, b))
    test = scipy.stats.permutation_test((a, b), statistic, permutation_type="independent",
                                        vectorized=True, n_resamples=N_WAYS, batch=500,
                                        alternative="greater", axis=-1, random_state=SEED)
    largest = test.null_distribution.max(axis=1)
    own = test.statistic
    # Ways that are all of them have the true one among them, random ones do not.
    is_all = len(largest) < N_WAYS
    extra = 0 if is_all else 1
    p = [(float(numpy.sum(largest >= value * (1 - 1e-12))) + extra) / (len(largest) + extra)
         for value in own]
    return own, p, float(numpy.quantile(largest, 1 - LEVEL, method="higher"))


def seen_percent(noise, least_percent):
    """From which difference on one would have been seen; None: too noisy. noise is the
    logarithm of the least factor beyond noise, of any size."""
    if noise >= math.log(MOST_SEEN_FACTOR):
        return None
    return max(100 * math.expm1(noise), least_percent)


def quantity_judge(name, table, found, least_percent):
    """The Difference of a quantity. table: its values and kinds in both results; found: its
    difference, error, statistic and p, and the limit of all."""
    n_a, n_b = (int(numpy.sum(~numpy.isnan(values))) for values, _ in table)
    difference, error, own, p, limit = map(float, found)
    if min(n_a, n_b) < LEAST_REPETITIONS or math.isnan(difference):
        return Difference(name, n_a=n_a, n_b=n_b,
                          reason="too few launches that may be compared")
    is_large = abs(difference) >= math.log1p(least_percent / 100)
    return Difference(name, math.exp(difference), p, seen_percent(limit * error, least_percent),
                      own > 0 and p <= LEVEL and is_large, n_a, n_b)


def tables_compare(tables, least_percent=LEAST_PERCENT):
    """A Difference for each quantity that both have; BenchError if there is nothing to
    compare."""
    quantities = [name for name in tables[0] if name in tables[1]]
    if not quantities:
        raise BenchError("the results have no job in common: allowed are runs with the same "
                         "scale, --quick or not, and numbers of ranks")
    a, b = (matrix_of(table, quantities) for table in tables)
    if min(a.shape[-1], b.shape[-1]) < LEAST_REPETITIONS:
        raise BenchError(f"{a.shape[-1]} and {b.shape[-1]} repetitions: a comparison needs at "
                         f"least {LEAST_REPETITIONS} of each")
    own, p, limit = matrices_compare(a, b)
    difference, error = difference_of(a, b)
    return [quantity_judge(name, (a[:, i], b[:, i]),
                           (difference[i], error[i], own[i], p[i], limit), least_percent)
            for i, name in enumerate(quantities)]


def side_choose(result, path, name):
    """The side of a result that FILE or FILE:SIDE means."""
    names = [side["name"] for side in result["sides"]]
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        said = "which side" if name is None else f"no side {name}"
        raise BenchError(f"{path}: {said}: allowed are "
                         f"{', '.join(f'{path}:{one}' for one in names)}")
    return name


def path_split(word, exists):
    """(path, side or None) of FILE or FILE:SIDE; exists tells whether a file is there."""
    match = re.fullmatch(r"(.+):([\w.+-]+)", word, re.S)
    return (match[1], match[2]) if match and not exists(word) else (word, None)
