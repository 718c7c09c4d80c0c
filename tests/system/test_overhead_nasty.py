#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what bcs-overhead makes of numbers as a busy machine has them, and worse ones, drawn at
random: each report and comparison says what can be said, in words that can be read.

Arguments: the folders of the modules. Status 77, skipped, where Python has no scipy.
"""

import json
import math
import random
import sys
import unittest
import warnings
from unittest import mock

import science

science.scipy_take()
sys.path[:0] = sys.argv[1:]
del sys.argv[1:]

import bcs_overhead_compare as compare  # noqa: E402
import bcs_overhead_fit as fit  # noqa: E402
import bcs_overhead_report as report  # noqa: E402
import bcs_overhead_result as result_file  # noqa: E402
import overhead_results  # noqa: E402
from bcs_jobs import BenchError  # noqa: E402

NASTY_NS = (0, 1e-300, 1e-3, 1, 17.5, 1e3, 1e9, 10 ** 18)


def nasty_result(chance):
    """A result that is whole, and whose numbers are as no quiet machine has them."""
    names = chance.sample(list(overhead_results.JOBS), chance.randint(1, 6))
    result = overhead_results.result_make(chance.random(), chance.choice((0, 1, 20, 60)),
                                          chance.choice((1, 5, 8)), names=names)
    how = chance.choice(("wild", "alike", "spikes", "as it is"))
    for run in result["runs"]:
        values = run["samples"]["ns"]
        for i, ns in enumerate(values):
            values[i] = (chance.choice(NASTY_NS) if how == "wild" else 5 if how == "alike"
                         else ns * 10 ** chance.choice((0, 0, 0, 9)) if how == "spikes"
                         else ns)
            values[i] = min(values[i], 10 ** 18)
        if run["trips_ns"]:
            run["trips_ns"] = [chance.choice((0, 90.0, 100.0, 700.0))] * 2
        if chance.random() < 0.1:
            run["failure"], run["coordinates"], run["points"] = "status 1", [], []
        if chance.random() < 0.1 or run["failure"]:
            run["samples"] = {name: [] for name in run["samples"]}
        elif chance.random() < 0.1:
            run["samples"] = {name: column[:2] for name, column in run["samples"].items()}
    return result


class NastyResults(unittest.TestCase):
    """Whatever was measured, there is a report, and a comparison or one line of error."""

    def setUp(self):
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        warnings.simplefilter("error")

    def compare(self, a, b):
        """The table of a comparison; None if there is nothing to compare."""
        with mock.patch.object(compare, "N_WAYS", 99):
            try:
                differences = compare.tables_compare(
                    compare.tables_of((a, b), ("native",) * 2)[0])
            except BenchError:
                return None
        return report.comparison_section(("a", "b"), differences, [], 3.0)

    def check_section(self, section):
        """All its cells are words or numbers that can be read."""
        for row in section.rows:
            self.assertEqual(len(row), len(section.head))
            for cell in row:
                self.assertNotRegex(cell, r"\b(nan|inf)\b|\d{25}|\de[+-]?\d", section.title)

    def test_a_comparison_says_what_it_can(self):
        n_compared = n_noisy = 0
        for seed in range(150):
            chance = random.Random(seed)
            a, b = nasty_result(chance), nasty_result(chance)
            if chance.random() < 0.7:
                b = json.loads(json.dumps(a))
                for run in b["runs"]:
                    chance.shuffle(run["samples"]["ns"])
            for result in (a, b):
                self.assertIsNone(result_file.result_problem(result))
            section = self.compare(a, b)
            if section is None:
                continue
            self.check_section(section)
            n_compared += 1
            seen = [row[3] for row in section.rows if row[3] not in ("-", "over a factor of 2")]
            self.assertTrue(all(float(cell.split()[0]) <= 100 for cell in seen), seen)
            n_noisy += any("too noisy: no difference below a factor of 2" in note
                           for note in section.notes)
        self.assertGreater(n_compared, 50)
        self.assertGreater(n_noisy, 20)

    def test_a_report_says_what_it_can(self):
        with mock.patch.object(fit, "N_RESAMPLES", 5):
            for seed in range(60):
                result = nasty_result(random.Random(seed))
                for make in report.PARTS.values():
                    self.check_section(make(result))

    def test_a_result_that_is_too_noisy_is_called_so(self):
        a, b = (overhead_results.result_make(seed, level=60, names=["barrier-4"])
                for seed in (1, 2))
        section = self.compare(a, b)
        self.assertEqual([row[3:] for row in section.rows],
                         [["over a factor of 2", "10 and 10", "too noisy to tell"]])
        self.assertIn("1 of 1 quantities are too noisy", section.notes[2])
        quiet = self.compare(*(overhead_results.result_make(seed, names=["barrier-4"])
                               for seed in (1, 2)))
        self.assertFalse(any("too noisy" in note for note in quiet.notes))

    def test_a_difference_beyond_all_noise_is_one(self):
        one = compare.Difference("a", 1e9, 0.001, None, True, 9, 9)
        self.assertEqual(report.comparison_rows([one]), [
            ["a", "over 1000", "0.0010", "over a factor of 2", "9 and 9", "B is slower"]])
        one.ratio = 1e-9
        self.assertEqual(report.comparison_rows([one])[0][1], "below 0.001")

    def test_quantities_without_a_common_kind_have_no_verdict(self):
        a, b = ({"alone": {r: (0.0, kind) for r in range(5)},
                 "both": {r: (0.0, 0) for r in range(5)}} for kind in (0, 1))
        with mock.patch.object(compare, "N_WAYS", 99):
            alone, both = compare.tables_compare((a, b))
        self.assertIn("too few launches", alone.reason)
        self.assertIsNone(both.reason)

    def test_what_is_seen_is_at_least_what_counts(self):
        for noise, least, percent in ((0.0, 3, 3), (math.log(1.5), 3, 50), (0.01, 200, 200),
                                      (math.log(2), 3, None), (33.6, 3, None), (1e9, 3, None)):
            found = compare.seen_percent(noise, least)
            self.assertEqual(found if found is None else round(found, 6), percent)


if __name__ == "__main__":
    unittest.main()
