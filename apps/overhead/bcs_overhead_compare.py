# SPDX-License-Identifier: BSD-3-Clause
"""Which differences of two results are beyond noise.

A quantity is a job, or those of its lengths that are 0, short or long. Its value in a
repetition is the mean, over its points, of the logarithm of the point's time. Launches are
what is drawn at random, not samples: samples of a launch are alike for reasons that the
next launch does not share.

The rule: if nothing differs, it does not matter which repetition belongs to which result. So
the repetitions are dealt anew to the two results, all ways or 9,999 random ones, whole: what
the jobs of a repetition have in common stays together. For each way the largest statistic of
all quantities is kept. A difference is beyond noise if its own statistic is larger than that
in 98 % of the ways, and it is LEAST_PERCENT or more. So of comparisons of equal results at
most one in fifty has a false difference, among all its quantities together (Westfall and
Young's step of the maximum).

The statistic is Yuen's: the difference of trimmed means, which a few slow launches do not
move, by its error.
"""

import math
import re
import statistics
from dataclasses import dataclass

from bcs_jobs import BenchError
from bcs_kinds import KIND_FACTOR, Run, alike_choose
from bcs_overhead_samples import good_runs, point_times
from bcs_overhead_science import numpy, scipy

LEVEL = 0.02
LEAST_PERCENT = 3.0
LEAST_REPETITIONS = 5
N_WAYS = 9999
SEED = 1
TRIMMED = 0.25  # of the values at each end
SHORT_BYTES = 4096
# Added to the error, as a part of the time: a difference counts for no more because a few
# launches happen to be alike.
ERROR_FLOOR = 0.01


@dataclass
class Difference:
    """What became of a quantity. ratio is B to A; p is adjusted for all quantities. reason
    tells why there is no verdict, else None."""

    name: str
    ratio: float = None
    p: float = None
    seen_percent: float = None  # a difference from here on would have been seen
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
        logs.setdefault(name, []).append(numpy.log(max(ns, 1e-6)))
    return {name: float(numpy.mean(values)) for name, values in logs.items()}


def trip_us(trips_ns):
    """The cache line's trip in a launch, NaN if the cores moved meanwhile; None without."""
    if not trips_ns:
        return None
    is_steady = max(trips_ns) <= KIND_FACTOR * min(trips_ns)
    return statistics.median(trips_ns) / 1e3 if is_steady else math.nan


def alike_runs(runs_of_sides):
    """Of each side the runs whose cores stood alike, of two ranks; see bcs_kinds."""
    wrapped = [[Run((run,), trip_us(run["trips_ns"])) for run in runs]
               for runs in runs_of_sides]
    chosen, _ = alike_choose(wrapped)
    return [[run.values[0] for run in runs] for runs in chosen]


def jobs_in_common(results):
    """The jobs of each of two results by name, and the names of those that may be compared."""
    jobs = [{job["name"]: job for job in result["plan"]["jobs"]} for result in results]
    return jobs, [name for name in jobs[0] if jobs[0][name] == jobs[1].get(name)]


def tables_of(results, sides):
    """For each of the two results {quantity: {repetition: value}}, and how many launches
    were left out since the cores stood otherwise, by title of the job."""
    jobs, common = jobs_in_common(results)
    tables, left_out = ({}, {}), {}
    for name in common:
        runs = [good_runs(result, side, name) for result, side in zip(results, sides)]
        chosen = alike_runs(runs)
        n_left = sum(map(len, runs)) - sum(map(len, chosen))
        if n_left:
            left_out[jobs[0][name]["title"]] = n_left
        for table, found in zip(tables, chosen):
            for run in found:
                for quantity, value in run_values(run, {name: jobs[0][name]["title"]}).items():
                    table.setdefault(quantity, {})[run["repetition"]] = value
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


def matrix_of(table, quantities):
    """Rows are quantities, columns repetitions; NaN where a launch is missing."""
    repetitions = sorted({r for values in table.values() for r in values})
    return numpy.array([[table.get(name, {}).get(r, numpy.nan) for r in repetitions]
                        for name in quantities], dtype=float).reshape(len(quantities), -1)


def trimmed_parts(values):
    """Trimmed mean along the last axis, the square of its error, and the number of values
    that it rests on; NaN are left out. [Yuen 1974]"""
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
        spread = numpy.where(is_there, (clipped - middle[..., None]) ** 2, 0).sum(axis=-1)
        error = spread / (n_kept * (n_kept - 1))
    return mean, error, n_kept


def statistic(a, b, axis=-1):
    """Yuen's statistic of each quantity, without its sign; 0 where there is none."""
    (mean_a, error_a, n_a), (mean_b, error_b, n_b) = (
        trimmed_parts(numpy.moveaxis(values, axis, -1)) for values in (a, b))
    with numpy.errstate(invalid="ignore"):
        found = numpy.abs(mean_b - mean_a) / numpy.sqrt(error_a + error_b
                                                        + ERROR_FLOOR ** 2)
    return numpy.where((n_a >= 2) & (n_b >= 2) & numpy.isfinite(found), found, 0.0)


def matrices_compare(a, b):
    """For each quantity, a row of both matrices: its statistic, its adjusted p, and from
    which statistic on it would have been beyond noise."""
    test = scipy.stats.permutation_test((a, b), statistic, permutation_type="independent",
                                        vectorized=True, n_resamples=N_WAYS, batch=500,
                                        alternative="greater", axis=-1, random_state=SEED)
    largest = test.null_distribution.max(axis=1)
    own = statistic(a, b)
    # Ways that are all of them have the true one among them, random ones do not.
    is_all = len(largest) < N_WAYS
    extra = 0 if is_all else 1
    p = [(float(numpy.sum(largest >= value * (1 - 1e-12))) + extra) / (len(largest) + extra)
         for value in own]
    return own, p, float(numpy.quantile(largest, 1 - LEVEL, method="higher"))


def quantity_judge(name, rows, found, least_percent):
    """The Difference of a quantity; rows are its values in both results, found its
    statistic, p and the limit of all."""
    (mean_a, error_a, _), (mean_b, error_b, _) = map(trimmed_parts, rows)
    n_a, n_b = (int(numpy.sum(~numpy.isnan(row))) for row in rows)
    if min(n_a, n_b) < LEAST_REPETITIONS:
        return Difference(name, n_a=n_a, n_b=n_b,
                          reason="too few launches that may be compared")
    own, p, limit = found
    ratio = float(numpy.exp(mean_b - mean_a))
    error = float(numpy.sqrt(error_a + error_b + ERROR_FLOOR ** 2))
    seen = max(100 * float(numpy.expm1(limit * error)), least_percent)
    is_large = abs(numpy.log(ratio)) >= numpy.log1p(least_percent / 100)
    return Difference(name, ratio, p, seen, bool(own > 0 and p <= LEVEL and is_large), n_a,
                      n_b)


def tables_compare(tables, least_percent=LEAST_PERCENT):
    """A Difference for each quantity that both have; BenchError if there is nothing to
    compare."""
    quantities = [name for name in tables[0] if name in tables[1]]
    if not quantities:
        raise BenchError("the results have no job in common: allowed are runs with the same "
                         "scale, --quick or not, and numbers of ranks")
    a, b = (matrix_of(table, quantities) for table in tables)
    if min(a.shape[1], b.shape[1]) < LEAST_REPETITIONS:
        raise BenchError(f"{a.shape[1]} and {b.shape[1]} repetitions: a comparison needs at "
                         f"least {LEAST_REPETITIONS} of each")
    own, p, limit = matrices_compare(a, b)
    return [quantity_judge(name, (a[i], b[i]), (own[i], p[i], limit), least_percent)
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
