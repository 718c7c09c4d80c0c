# SPDX-License-Identifier: BSD-3-Clause
"""Fits formulas to times, with the evidence for each: Table 1 of the overhead paper.

Linear systems are solved by numpy, curves by scipy. All fits are weighted by the inverse of
the time, so that 1 % counts the same anywhere. Which of several formulas fits best is
decided by AICc, Akaike's criterion for few points, which makes up for the number of
parameters. Intervals are those of 95 % of fits to launches that are drawn from all launches
with replacement: what differs from launch to launch is in them, what differs from day to
day is not.
"""

import functools
import warnings
from dataclasses import dataclass

from bcs_overhead_samples import LEAST_NS
from bcs_overhead_science import numpy, scipy

N_RESAMPLES = 200
SEED = 1
LEAST_LAUNCHES = 3  # for an interval
LEAST_PIECE = 4  # points


@dataclass
class Value:
    """A parameter with its interval, None if there are too few launches."""

    value: float
    low: float = None
    high: float = None


@dataclass
class Formula:
    """A candidate: its text, AICc and share of the evidence."""

    text: str
    aicc: float
    weight: float = 0.0


@dataclass
class LineFit:
    """Time against length. small and large are pairs (a, b) of Values in nanoseconds and
    nanoseconds a byte; large and break_bytes are None where one line fits better."""

    zero: Value
    small: tuple
    large: tuple
    break_bytes: Value
    formulas: list
    residual_lengths: list
    residuals: list  # relative to the time

    def predict(self, n_bytes):
        """The formula at a length."""
        a, b = (self.small if self.large is None or n_bytes < self.break_bytes.value
                else self.large)
        return a.value + b.value * n_bytes


@dataclass
class CountFit:
    """Time against a number of processes: the formula that fits best, and all."""

    name: str
    parameters: list  # Values
    formulas: list
    residuals: list


def times_table(rows):
    """Times that can be divided by; rows has one for each point, the table one for each
    launch."""
    return numpy.maximum(numpy.array(rows, dtype=float).T, LEAST_NS)


def aicc(weighted_rss, n_points, n_parameters):
    """The criterion; the variance of the residuals is one parameter more."""
    k = n_parameters + 1
    if n_points <= k + 1:
        return numpy.inf
    size = max(weighted_rss / n_points, 1e-24)
    return n_points * numpy.log(size) + 2 * k + 2 * k * (k + 1) / (n_points - k - 1)


def weights_share(formulas):
    """Give each formula its share of the evidence; those that cannot be judged have none."""
    finite = [formula.aicc for formula in formulas if numpy.isfinite(formula.aicc)]
    likely = {id(f): numpy.exp((min(finite) - f.aicc) / 2) if numpy.isfinite(f.aicc) else 0
              for f in formulas} if finite else {}
    total = sum(likely.values()) or 1
    for formula in formulas:
        formula.weight = float(likely.get(id(formula), 0) / total)


def linear_solve(columns, times):
    """Weighted least squares. Returns the parameters and the sum of the squares of the
    relative residuals."""
    matrix = numpy.column_stack(columns) / times[:, None]
    parameters = numpy.linalg.lstsq(matrix, numpy.ones(len(times)), rcond=None)[0]
    rest = matrix @ parameters - 1
    return parameters, float(rest @ rest)


def line_solve(lengths, times):
    """a + b m."""
    return linear_solve([numpy.ones(len(lengths)), lengths], times)


def pieces_solve(lengths, times):
    """Two lines with a break between two lengths: (parameters, rss, break), None if there
    are too few points. All breaks are tried."""
    best = None
    for i in range(LEAST_PIECE, len(lengths) - LEAST_PIECE + 1):
        small, small_rss = line_solve(lengths[:i], times[:i])
        large, large_rss = line_solve(lengths[i:], times[i:])
        if best is None or small_rss + large_rss < best[1]:
            best = ([*small, *large], small_rss + large_rss,
                    (lengths[i - 1] + lengths[i]) / 2)
    return best


def intervals(launches, solve):
    """The low and the high end of each parameter that solve(times) returns, times being
    medians of launches drawn anew. launches is an array, a row for each launch."""
    n_launches = len(launches)
    if n_launches < LEAST_LAUNCHES:
        return None
    random = numpy.random.default_rng(SEED)
    found = [solve(numpy.median(launches[random.integers(n_launches, size=n_launches)],
                                axis=0))
             for _ in range(N_RESAMPLES)]
    return numpy.percentile(numpy.array(found), [2.5, 97.5], axis=0)


def values_of(parameters, ends):
    """Parameters with their intervals."""
    if ends is None:
        return [Value(float(value)) for value in parameters]
    return [Value(float(value), float(low), float(high))
            for value, low, high in zip(parameters, *ends)]


def middle_of(launches):
    """The median of some launches' values, with its interval."""
    table = numpy.array(launches, dtype=float)[:, None]
    middle = [float(numpy.median(table))]
    return values_of(middle, intervals(table, lambda times: times))[0]


def line_fit(launches):
    """The fit of {length: [nanoseconds in each launch]}; None if there are too few
    lengths. Zero bytes stand for themselves, as in the paper."""
    return line_fit_kept(tuple((length, tuple(launches[length]))
                               for length in sorted(launches)))


@functools.lru_cache(maxsize=None)
def line_fit_kept(items):
    """line_fit() of the items of a dictionary; drawing launches anew takes a while."""
    launches = dict(items)
    lengths = numpy.array([length for length in sorted(launches) if length > 0], dtype=float)
    if len(lengths) < 3:
        return None
    table = times_table([launches[length] for length in sorted(launches) if length > 0])
    times = numpy.median(table, axis=0)
    line, line_rss = line_solve(lengths, times)
    pieces = pieces_solve(lengths, times)
    formulas = [Formula("a + b m", aicc(line_rss, len(lengths), 2))]
    if pieces:
        formulas.append(Formula("two lines", aicc(pieces[1], len(lengths), 5)))
    weights_share(formulas)
    small, large, break_bytes = None, None, None
    if pieces and formulas[1].aicc < formulas[0].aicc:
        ends = intervals(table, lambda drawn: pieces_flat(pieces_solve(lengths, drawn)))
        found = values_of(pieces_flat(pieces), ends)
        small, large, break_bytes = tuple(found[:2]), tuple(found[2:4]), found[4]
    else:
        small = tuple(values_of(line, intervals(
            table, lambda drawn: line_solve(lengths, drawn)[0])))
    zero = middle_of(launches[0]) if 0 in launches else None
    fit = LineFit(zero, small, large, break_bytes, formulas,
                  [int(length) for length in lengths], [])
    fit.residuals = [float(time / fit.predict(length) - 1)
                     for length, time in zip(lengths, times)]
    return fit


def pieces_flat(pieces):
    """All parameters of two lines, the break last."""
    return [*pieces[0], pieces[2]]


# --- against the number of processes --------------------------------------------------

# Name, columns of the linear system for so many processes.
COUNT_FORMULAS = {
    "a": lambda n: [numpy.ones(len(n))],
    "a d + b": lambda n: [numpy.log2(n), numpy.ones(len(n))],
    "a n + b": lambda n: [n, numpy.ones(len(n))],
    "a n d + b": lambda n: [n * numpy.log2(n), numpy.ones(len(n))],
}
POWER = "a n^c"


def power_solve(numbers, times):
    """a n^c, by scipy, with the sum of squares; None if it finds nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, _ = scipy.optimize.curve_fit(
                lambda n, a, c: a * n ** c, numbers, times, p0=(times.min(), 0.5),
                sigma=times, maxfev=5000)
    except (RuntimeError, ValueError):
        return None
    rest = found[0] * numbers ** found[1] / times - 1
    return found, float(rest @ rest)


def count_solve(name, numbers, times):
    """(parameters, rss) of a formula, or None."""
    if name == POWER:
        return power_solve(numbers, times)
    return linear_solve(COUNT_FORMULAS[name](numbers), times)


def count_fit(launches):
    """The fit of {number of processes: [nanoseconds in each launch]}; each launch is a
    point of its own when a formula is chosen, since there are too few numbers to judge by;
    its parameters, as their intervals, are those of the medians of the launches. None if
    there are fewer than three numbers."""
    return count_fit_kept(tuple((n, tuple(launches[n])) for n in sorted(launches)))


@functools.lru_cache(maxsize=None)
def count_fit_kept(items):
    """count_fit() of the items of a dictionary."""
    launches = dict(items)
    if len(launches) < 3:
        return None
    numbers = numpy.array(sorted(launches), dtype=float)
    flat_numbers = numpy.concatenate([[n] * len(launches[n]) for n in sorted(launches)])
    flat_times = numpy.concatenate([launches[n] for n in sorted(launches)])
    flat_numbers = flat_numbers.astype(float)
    flat_times = numpy.maximum(flat_times.astype(float), LEAST_NS)
    solved = {}
    for name in (*COUNT_FORMULAS, POWER):
        found = count_solve(name, flat_numbers, flat_times)
        if found is not None:
            solved[name] = (found[0], aicc(found[1], len(flat_times), len(found[0])))
    formulas = [Formula(name, value) for name, (_, value) in solved.items()]
    weights_share(formulas)
    best = min(formulas, key=lambda formula: formula.aicc)
    n_launches = min(map(len, launches.values()))
    table = times_table([launches[int(n)][:n_launches] for n in numbers])
    medians = times_table([[numpy.median(launches[int(n)])] for n in numbers])[0]
    parameters = again(best.text, numbers, medians, solved[best.text][0])
    ends = intervals(table, lambda drawn: again(best.text, numbers, drawn, parameters))
    return CountFit(best.text, values_of(parameters, ends), formulas,
                    [float(time / count_value(best.text, parameters, n) - 1)
                     for n, time in zip(numbers, medians)])


def again(name, numbers, times, otherwise):
    """The parameters for other times; what was found before where there are none."""
    found = count_solve(name, numbers, times)
    return otherwise if found is None else found[0]


def count_value(name, parameters, number):
    """What a formula says for a number of processes."""
    if name == POWER:
        return parameters[0] * number ** parameters[1]
    columns = COUNT_FORMULAS[name](numpy.array([float(number)]))
    return float(sum(p * column[0] for p, column in zip(parameters, columns)))
