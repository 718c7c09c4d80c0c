# SPDX-License-Identifier: BSD-3-Clause
"""Runs the jobs of rows in rounds and finds what each row compares.

Imported by bcs-bench. A side of a job is a way to run it: natively, or under BCS with the
settings of a row. Rows of one job share its runs.
"""

import os
import statistics
import sys
from collections import Counter
from dataclasses import dataclass

from bcs_jobs import BenchError, busy_loops, job_run, number_find, rounds_run
from bcs_kinds import Run, alike_choose, trip_find
from bcs_rows import INPUTS, NATIVE

# A pair whose runs are not of one kind is no pair: so many times as many rounds are run
# until there are enough alike.
MAX_ROUNDS_FACTOR = 4


@dataclass
class Result:
    """Both sides of a row, runs of one kind: one value a run, the least of both numbers of
    runs pairs. trip_us tells the kind, None where there are none."""

    base: list
    bcs: list
    trip_us: float = None

    def ratio(self, row):
        """The ratio of the medians; None if there is none."""
        if not self.base or not self.bcs:
            return None
        return row.ratio_of(statistics.median(self.base), statistics.median(self.bcs))

    def ratio_range(self, row):
        """The least and the largest ratio of a pair, or None."""
        ratios = [row.ratio_of(*pair) for pair in zip(self.base, self.bcs)]
        return None if not ratios or None in ratios else (min(ratios), max(ratios))


def n_pairs_of(row, options):
    """How many pairs of runs a row is to have."""
    return options.pairs or (1 if options.quick else row.n_pairs)


def pairs_text(rows, options):
    """How many pairs of runs rows have."""
    numbers = [n_pairs_of(row, options) for row in rows]
    return ", ".join(f"{n} ({count} rows)" if count > 1 else f"{n} (1 row)"
                     for n, count in Counter(numbers).most_common())


def job_command(places, row, launcher, program_options):
    """The full command of one job; launcher is NATIVE, the path of a bcsrun, or None."""
    command = [places.data(word) if word in INPUTS else word for word in row.command]
    if row.command[0].startswith("bench_"):
        command += program_options
    return places.launch(row.n_ranks, command, launcher == NATIVE, row.launch,
                         None if launcher == NATIVE else launcher)


def row_value(row, result):
    """The number of a row in what has come of its job."""
    if row.pattern is None:
        return result.seconds
    return number_find(row.pattern, result.stdout, f"{row.name} of {row.command[0]}")


def result_of(row, position, runs):
    """The Result of a row, the one at this position of its job's rows, from all runs."""
    bcs = runs[row.side()]
    if row.reference is not None:
        return Result([row.reference] * len(bcs), [run.values[position] for run in bcs])
    (base, bcs), trip_us = alike_choose([runs[row.base_side()], bcs])
    return Result([run.values[position] for run in base],
                  [run.values[position] for run in bcs], trip_us)


def sides_of(rows):
    """The sides of a job, each with its launcher and its settings, None natively, those first
    that others are compared with."""
    bases = {row.base_side(): (NATIVE if row.base is None else row.base_launcher, row.base)
             for row in rows if row.reference is None}
    return {**bases, **{row.side(): (None, row.settings) for row in rows}}


def job_measure(places, rows, options, conditions):
    """Run the one job of these rows on all their sides, in turn, until all have as many
    pairs of one kind as are wanted; a Result for each row."""
    program_options = ["--batches", "3", "--batch-ms", "5"] if options.quick else []
    ways = sides_of(rows)
    sides = list(ways)
    runs = {side: [] for side in sides}

    has_loops = rows[0].has_loops  # then a trip is the time of the core's queue

    def run(side):
        launcher, settings = ways[side]
        command = job_command(places, rows[0], launcher, program_options)
        with busy_loops(os.cpu_count() if has_loops else 0):
            result = job_run(command, options.timeout, settings)
        return Run(tuple(row_value(row, result) for row in rows),
                   None if has_loops else trip_find(result.stdout))

    n_pairs = max(n_pairs_of(row, options) for row in rows)
    n_wanted = n_pairs
    for _ in range(MAX_ROUNDS_FACTOR):
        found = rounds_run(sides, n_wanted, run, conditions, first=len(runs[sides[0]]))
        for side in sides:
            runs[side] += found[side]
        results = [result_of(row, position, runs) for position, row in enumerate(rows)]
        n_alike = min(min(len(result.base), len(result.bcs)) for result in results)
        n_wanted = n_pairs - n_alike
        if n_wanted <= 0:
            break
    return results


def rows_measure(places, rows, options, conditions, progress):
    """Measure all rows, job by job; each row with its result, None if its job has failed, which
    costs only its own rows. Calls progress(row, result) for each as soon as it is there."""
    jobs = {}
    results = {}
    for row in rows:
        jobs.setdefault(row.job(), []).append(row)
    for job_rows in jobs.values():
        try:
            found = job_measure(places, job_rows, options, conditions)
        except BenchError as error:
            print(f"bcs-bench: {error}", file=sys.stderr)
            found = [None] * len(job_rows)
        for row, result in zip(job_rows, found):
            progress(row, result)
            results[row.name] = result
    return [(row, results[row.name]) for row in rows]
