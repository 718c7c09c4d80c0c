# SPDX-License-Identifier: BSD-3-Clause
"""How messages and collectives scale with the number of ranks, one on each core: the rows,
tables and drawings of bcs-bench --only scaling.

Imported by bcs-bench. Ranks are bound to cores, neighbours to neighbours, natively and under
BCS alike; beyond the cores nothing is bound.
"""

import re
import statistics
from dataclasses import dataclass, replace

import bcs_document as document
from bcs_cores import cores_here, is_narrowed, trips_sort
from bcs_curves import DASHES, Curve, CurveChart, Point, curves_svg
from bcs_jobs import BenchError, job_run
from bcs_measure import job_command, pairs_text, rows_measure
from bcs_rows import HIGHER, LOWER, Row, line_row
from bcs_sides import DEMAND, NATIVE

BOUND = ("--map-by", "core", "--bind-to", "core:if-supported")
PAIRS = ("bench_pairs", "--min", "8", "--max", "1K", "--factor", "128")

PING_PONG, PING_PONG_1K = "ping-pong 8 B, one way", "ping-pong 1 KB, one way"
RATE, RATE_1K = "messages 8 B, all pairs", "messages 1 KB, all pairs"
BARRIER, ALLREDUCE, ALLTOALL = "barrier", "allreduce 8 B", "alltoall 8 B"

# The marked parts of the document.
TRIPS_PART, PAIRS_PART, COLLECTIVES_PART = (
    f"{what} of bcs-bench" for what in ("cache line", "pairs", "collectives"))
PARTS = (TRIPS_PART, PAIRS_PART, COLLECTIVES_PART)


# --- rows ---------------------------------------------------------------------------


def rank_counts(n_most):
    """Even numbers of ranks: 2, doubled as often as there is room, and the most."""
    n_most -= n_most % 2
    counts = [2]
    while counts[-1] * 2 <= n_most:
        counts.append(counts[-1] * 2)
    return sorted({*counts, n_most})


def pairs_row(n_ranks, line, n_bytes, title, unit, better):
    """A row of the program that runs all pairs at once."""
    return Row(name=f"{line}-{n_ranks}-{n_bytes}", title=title, n_ranks=n_ranks,
               command=PAIRS, pattern=rf"^{line} {n_bytes} (\S+) {unit}$", unit=unit,
               better=better)


def rank_rows(n_ranks, n_cores):
    """All rows with one number of ranks."""
    rows = [pairs_row(n_ranks, "pairs", 8, PING_PONG, "us", LOWER),
            pairs_row(n_ranks, "pairs", 1024, PING_PONG_1K, "us", LOWER),
            pairs_row(n_ranks, "pairs_rate", 8, RATE, "M/s", HIGHER),
            pairs_row(n_ranks, "pairs_rate", 1024, RATE_1K, "M/s", HIGHER),
            line_row("barrier", n_ranks, title=BARRIER),
            line_row("allreduce", n_ranks, 8, title=ALLREDUCE),
            line_row("alltoall", n_ranks, 8, title=ALLTOALL)]
    return [replace(row, launch=BOUND if n_ranks <= n_cores else ()) for row in rows]


def scaling_rows(n_most, n_cores):
    """All rows, from two ranks to the most."""
    return [row for n_ranks in rank_counts(n_most) for row in rank_rows(n_ranks, n_cores)]


# --- the cache line -----------------------------------------------------------------


def trips_find(output):
    """The trips in microseconds by pair of CPUs, in the output of bench_core_trips."""
    return {(int(cpu), int(other)): float(trip) for cpu, other, trip in
            re.findall(r"^core_trip_(\d+)_(\d+) 0 (\S+) us$", output, re.M)}


def trips_text(kinds):
    """The table of trips, by kind of pair."""
    rows = [[title, str(len(trips)), *(f"{document.number_text(value)} us" for value in
                                       (min(trips), statistics.median(trips), max(trips)))]
            for title, trips in kinds.items()]
    head = ["pairs of cores", "pairs", "least", "median", "largest"]
    return document.table_text(head, rows) if rows else "One core: there is no pair."


def trips_measure(places, cpus, options):
    """The table of the cache line's trips between these CPUs."""
    command = [places.program("bench_core_trips"), *map(str, cpus)]
    output = job_run(command, options.timeout).stdout if len(cpus) > 1 else ""
    text = trips_text(trips_sort(trips_find(output)))
    print(f"a cache line from core to core and back:\n\n{text}\n", flush=True)
    return text


# --- tables and drawings ------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """Some rows in a table and a drawing, against the number of pairs or of ranks."""

    name: str
    part: str
    title: str
    against: str
    n_each: int  # ranks that one of what it is drawn against has
    titles: tuple  # of the rows in the table
    drawn: tuple  # of those in the drawing
    axis: str


FIGURES = (
    Figure("pairs", PAIRS_PART, "All pairs at once", "pairs", 2,
           (PING_PONG, PING_PONG_1K, RATE, RATE_1K), (RATE, PING_PONG),
           "messages of all pairs, M/s"),
    Figure("collectives", COLLECTIVES_PART, "Collectives", "ranks", 1,
           (BARRIER, ALLREDUCE, ALLTOALL), (BARRIER, ALLREDUCE, ALLTOALL), "time, us"),
)


def growth_text(values, first):
    """A median in terms of that of the fewest ranks."""
    if not values or not first:
        return "-"
    return document.number_text(statistics.median(values) / statistics.median(first))


def figure_cells(row, result, first, figure, n_cores):
    """The cells of a row; first is the result with the fewest ranks."""
    count = str(row.n_ranks // figure.n_each)
    if row.n_ranks > n_cores:
        count += " (beyond the cores)"
    if result is None:
        return [row.title, count, "failed", "failed", *"---"]
    values = [result.base, result.bcs]
    medians = [f"{document.number_text(statistics.median(side))} {row.unit}" if side else
               "none" for side in values]
    ratio = result.ratio(row)
    growth = [growth_text(side, base) for side, base in
              zip(values, (first.base, first.bcs) if first else ([], []))]
    return [row.title, count, *medians, "-" if ratio is None else f"{ratio:.3f}", *growth]


def figure_table(measured, figure, n_cores):
    """The table of a figure, rows of one title below each other."""
    lines = []
    for title in figure.titles:
        chosen = [pair for pair in measured if pair[0].title == title]
        lines += [figure_cells(row, result, chosen[0][1], figure, n_cores)
                  for row, result in chosen]
    fewest = f"times that of {2 // figure.n_each}"
    head = ["measure", figure.against, "native", "BCS", "ratio (< 1: BCS is better)",
            f"native, {fewest}", f"BCS, {fewest}"]
    return document.table_text(head, lines)


def point_of(row, values, n_each):
    """A point of a curve. A time one way becomes the rate of all pairs, since both ranks of a
    pair take turns."""
    if row.title == PING_PONG:
        values = [row.n_ranks / 2 / value for value in values]
    return Point(row.n_ranks // n_each, statistics.median(values), min(values), max(values))


def figure_curves(measured, figure):
    """The curves of a figure, of both sides."""
    curves = []
    for title, dash in zip(figure.drawn, DASHES):
        rows = [pair for pair in measured if pair[0].title == title and pair[1]]
        for side, of in ((NATIVE, lambda result: result.base),
                         (DEMAND, lambda result: result.bcs)):
            points = [point_of(row, of(result), figure.n_each) for row, result in rows
                      if of(result)]
            name = "native" if side is NATIVE else "BCS"
            curves.append(Curve(f"{name}, {title}", side.colour, dash, points))
    return curves


def figure_outcome(measured, figure, n_cores, caption):
    """The table, the caption and the drawing of a figure."""
    chart = CurveChart(figure.title, figure.against, figure.axis,
                       figure_curves(measured, figure),
                       (n_cores // figure.n_each, "beyond the cores"))
    text = f"{figure_table(measured, figure, n_cores)}\n\n{caption}"
    return document.Outcome(text, curves_svg(chart))


# --- all of it ----------------------------------------------------------------------


def ranks_most(options, n_cores):
    """How many ranks to go to; BenchError if they could not be bound to these cores."""
    if is_narrowed():
        raise BenchError("--only scaling does not go with taskset, which mpirun does not heed: "
                         "limit the ranks by --cores")
    n_most = options.cores or n_cores
    if n_most < 2:
        raise BenchError("--only scaling needs two ranks: there is one core, see --cores")
    if n_most > n_cores:
        print(f"bcs-bench: {n_cores} cores: what goes beyond them is marked", flush=True)
    return n_most


def scaling_measure(places, options, conditions, progress):
    """Measure all. Returns the figure's name and the outcome by part, and whether all jobs
    have run."""
    cpus = cores_here()
    rows = scaling_rows(ranks_most(options, len(cpus)), len(cpus))
    for row in rows:
        job_command(places, row, True, [])
    trips = trips_measure(places, cpus, options)
    measured = rows_measure(places, rows, options, conditions, progress)
    notes = [f"pairs of runs: {pairs_text(rows, options)}",
             f"batches: {'short' if options.quick else 'full'}"]
    caption = document.caption_text(notes, conditions)
    outcomes = {TRIPS_PART: ("", document.Outcome(f"{trips}\n\n{caption}"))}
    for figure in FIGURES:
        outcome = figure_outcome(measured, figure, len(cpus), caption)
        outcomes[figure.part] = (figure.name, outcome)
    return outcomes, all(result for _, result in measured)


def scaling_write(path, outcomes):
    """Put the outcomes into the document, and their drawings beside it."""
    for part, (name, outcome) in outcomes.items():
        document.outcome_write(path, part, outcome, name)
