# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1 to 5 of the overhead paper, from a result, each with its table."""

import statistics

from bcs_overhead_figures import Curve, Figure
from bcs_overhead_fit import count_fit, count_value
from bcs_overhead_page import Section, factor, number, percent_above
from bcs_overhead_samples import jobs_of, launches_of, medians_of
from bcs_overhead_tables import (NS_PER_US, barrier_launches, by_length, fits_of,
                                 named_sides)


def curve_points(result, side, job):
    """(bytes, microseconds) of a job whose points are lengths."""
    medians = medians_of(by_length(launches_of(result, side, job)))
    return [(length, ns * NS_PER_US) for length, ns in medians.items()]


def fit_points(fit):
    """The formula as a curve, with its jump."""
    lengths = fit.residual_lengths
    ends = [lengths[0], lengths[-1]]
    if fit.large is not None:
        at = fit.break_bytes.value
        ends[1:1] = [at - 1e-3, at]
    return [(length, fit.predict(length) * NS_PER_US) for length in ends]


def length_section(result, title, jobs, figure, fits=None):
    """Times against length of some jobs with titles, on all sides."""
    rows = []
    for words, job in jobs:
        for name, side_title in named_sides(result):
            points = curve_points(result, name, job)
            if not points:
                continue
            colour = len(rows)
            figure.curves.append(Curve(f"{words}, {side_title}", points, colour, "points"))
            fit = (fits or {}).get(job, {}).get(name)
            if fit:
                figure.curves.append(Curve(None, fit_points(fit), colour, "lines"))
            middle = points[len(points) // 2]
            rows.append([f"{words}, {side_title}",
                         *(f"{x}: {number(y)}" for x, y in (points[0], middle, points[-1]))])
    head = ["what, side", "bytes: us, shortest", "middle", "longest"]
    return Section(title, head, rows, [], [figure] if rows else [])


def figure1_section(result):
    """Communication times: exchange and ping-pong."""
    figure = Figure("figure-1", "Communication time", "bytes", "us")
    fits = {name: fits_of(result, name) for name in ("exchange", "pingpong")}
    return length_section(result, "Figure 1: time against length", [("exchange", "exchange"),
                                               ("ping-pong", "pingpong")], figure, fits)


def figure2_section(result):
    """Short messages in detail."""
    figure = Figure("figure-2", "Communication time of short messages", "bytes", "us")
    section = length_section(result, "Figure 2: short messages", [("exchange", "exchange-short")], figure)
    if not section.rows:
        section.notes.append("Only full runs have it.")
    return section


def barrier_section(result):
    """Barriers with the formula that fits best."""
    rows, curves = [], []
    for colour, (name, title) in enumerate(named_sides(result)):
        launches = barrier_launches(result, name)
        points = [(n, ns * NS_PER_US) for n, ns in sorted(medians_of(launches).items())]
        curves.append(Curve(title, points, colour, "points"))
        fit = count_fit(launches)
        if fit:
            parameters = [value.value for value in fit.parameters]
            curves.append(Curve(fit.name, [
                (n, NS_PER_US * count_value(fit.name, parameters, n))
                for n, _ in points], colour, "lines"))
        rows += [[f"{n} processes, {title}", f"{number(us)} us"] for n, us in points]
    figure = Figure("barrier", "Barrier", "processes", "us", curves, is_x_log=True)
    return Section("Barrier", ["barrier", "time"], rows, [], [figure] if rows else [])


def growth_section(result, title, experiment, words, figure_name):
    """Hypercube or chain: time by length for each number of processes, and how it grows."""
    rows, drawn = [], []
    for name, side_title in named_sides(result):
        figure = Figure(f"{figure_name}-{name}", f"{words}, {side_title}", "bytes", "us")
        base = None
        for colour, job in enumerate(jobs_of(result, experiment)):
            points = curve_points(result, name, job["name"])
            if not points:
                continue
            figure.curves.append(Curve(f"{job['ranks']} processes", points, colour))
            longest = points[-1]
            base = base or longest[1]
            cores = len(result["machine"]["cores"])
            rows.append([f"{job['ranks']} processes, {side_title}",
                         growth_label(experiment, job["ranks"]),
                         f"{number(points[0][1])} us", f"{number(longest[1])} us",
                         factor(longest[1], base),
                         "yes" if job["ranks"] > cores else "no"])
        drawn += [figure] if figure.curves else []
    what = "dimensions" if experiment == "hypercube" else "pairs over the middle"
    return Section(title, [words, what, "shortest", "longest message",
                           "longest, to 2 processes", "ranks share cores"], rows, [], drawn)


def growth_label(experiment, n_ranks):
    """Dimensions, or level of contention."""
    return str(n_ranks.bit_length() - 1 if experiment == "hypercube" else n_ranks // 2)


def figure3_section(result):
    """Hypercube."""
    section = growth_section(result, "Figure 3: hypercube", "hypercube", "hypercube", "figure-3")
    section.notes.append("A true hypercube would need as many times as long as it has "
                         "dimensions.")
    return section


def figure5_section(result):
    """Contention."""
    section = growth_section(result, "Figure 5: contention", "contention", "chain", "figure-5")
    section.notes.append("The paper's Paragon takes almost 3 times as long at a contention "
                         "of 16.")
    return section


def figure4_section(result):
    """Random matchings: how much the pairing matters, for each length."""
    rows, drawn = [], []
    for name, title in named_sides(result):
        figure = Figure(f"figure-4-{name}", f"Random matchings, {title}", "bytes", "us")
        for job in jobs_of(result, "matchings"):
            by_bytes = {}
            for (_, length), ns in medians_of(launches_of(result, name,
                                                          job["name"])).items():
                by_bytes.setdefault(length, []).append(ns * NS_PER_US)
            figure.curves.append(Curve(None, [(length, us) for length, found
                                              in by_bytes.items() for us in found], 0,
                                       "points"))
            rows += [[f"{length} bytes, {job['ranks']} processes, {title}",
                      str(len(found)), f"{number(min(found))} us",
                      f"{number(statistics.median(found))} us",
                      f"{number(max(found))} us",
                      percent_above(max(found), min(found))]
                     for length, found in by_bytes.items()]
        drawn += [figure] if any(curve.points for curve in figure.curves) else []
    head = ["length, side", "matchings", "fastest", "median", "slowest",
            "slowest over fastest"]
    return Section("Figure 4: random matchings", head, rows,
                   ["The paper has some 60 % of variation on the Paragon, 25 % on the CS-2, "
                    "more than 100 % on the SP2."], drawn)
