#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the fits and comparisons of bcs-overhead on times whose formulas and differences
are known, under noise with heavy tails; and the report that is made of them.

Arguments: --all for 100 pairs of results in place of 40; the folders of the modules. Status 77,
skipped, where Python has no scipy.
"""

import json
import math
import os
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import science

science.scipy_take()
N_PAIRS = 100 if "--all" in sys.argv else 40
sys.path[:0] = [word for word in sys.argv[1:] if word != "--all"]
del sys.argv[1:]

import bcs_overhead_compare as compare  # noqa: E402
import bcs_overhead_figures as figures  # noqa: E402
import bcs_overhead_fit as fit  # noqa: E402
import bcs_overhead_report as report  # noqa: E402
import bcs_overhead_tables as tables  # noqa: E402
import overhead_results  # noqa: E402
from bcs_jobs import BenchError  # noqa: E402

N_WAYS = 499
SLOWED = ("pingpong", "barrier", "hypercube", "matchings", "memcpy")


def line_launches(seed, level=1.0, name="exchange"):
    """{length: nanoseconds of each launch} of a job."""
    result = overhead_results.result_make(seed, level, names=[name])
    return tables.by_length(tables.launches_of(result, "native", name))


class Lines(unittest.TestCase):
    """a + b m."""

    def test_two_lines_and_their_break_are_found(self):
        found = fit.line_fit(line_launches(1))
        self.assertEqual(found.formulas[1].text, "two lines")
        self.assertGreater(found.formulas[1].weight, 0.99)
        self.assertEqual(found.break_bytes.value, 8500)
        for value, true in zip((*found.small, *found.large), (300, 0.05, 900, 0.12)):
            self.assertAlmostEqual(value.value, true, delta=0.15 * true)
        self.assertAlmostEqual(found.zero.value, 250, delta=10)

    def test_intervals_hold_the_truth_in_most_cases(self):
        n_held = n_all = 0
        for seed in range(10):
            found = fit.line_fit(line_launches(seed))
            for value, true in zip((*found.small, *found.large), (300, 0.05, 900, 0.12)):
                n_all += 1
                n_held += value.low <= true <= value.high
        # Intervals of so few launches are somewhat too short.
        self.assertGreaterEqual(n_held, 0.8 * n_all)

    def test_one_line_is_not_taken_for_two(self):
        times = {n: [200 + 0.1 * n + 0.5 * ((n // 1000 * 7 + k * 3) % 5) for k in range(5)]
                 for n in range(1000, 16001, 1000)}
        found = fit.line_fit(times)
        self.assertIsNone(found.large)
        self.assertAlmostEqual(found.small[1].value, 0.1, delta=0.002)
        self.assertIsNone(found.zero)

    def test_two_lines_are_seldom_seen_in_the_noise_of_one(self):
        with mock.patch.object(fit, "N_RESAMPLES", 1):
            n_seen = sum(fit.line_fit(line_launches(seed, name="pingpong")).large is not None
                         for seed in range(40))
        self.assertLessEqual(n_seen, 4)

    def test_without_noise_the_residuals_are_nothing(self):
        found = fit.line_fit(line_launches(1, level=0))
        self.assertLess(max(map(abs, found.residuals)), 1e-6)
        self.assertAlmostEqual(found.predict(16000), 900 + 0.12 * 16000, places=3)

    def test_too_few_lengths_have_no_fit(self):
        self.assertIsNone(fit.line_fit({0: [1.0], 8: [2.0], 16: [3.0]}))

    def test_two_launches_have_no_interval(self):
        found = fit.line_fit({n: [n + 5.0, n + 5.1] for n in range(1, 9)})
        self.assertIsNone(found.small[0].low)


class Counts(unittest.TestCase):
    """Against the number of processes."""

    def check(self, function, name):
        launches = {n: [function(n) * (1 + 0.01 * ((k * 7 + n) % 3 - 1)) for k in range(6)]
                    for n in (2, 4, 8, 16, 32)}
        found = fit.count_fit(launches)
        self.assertEqual(found.name, name)
        self.assertEqual(max(found.formulas, key=lambda one: one.weight).text, name)
        return found

    def test_the_right_formula_is_chosen(self):
        found = self.check(lambda n: 400 * (n.bit_length() - 1) + 100, "a d + b")
        self.assertAlmostEqual(found.parameters[0].value, 400, delta=12)
        self.check(lambda n: 50 * n + 100, "a n + b")
        self.check(lambda n: 50 * n * (n.bit_length() - 1) + 100, "a n d + b")
        self.check(lambda n: 70 * n ** 1.6, "a n^c")

    def test_the_estimate_is_of_what_its_interval_is_of(self):
        factors = [1 + 0.001 * k for k in range(-4, 5)] + [0.3, 0.3]
        found = fit.count_fit({n: [(400 * n.bit_length() - 300) * factor
                                   for factor in factors] for n in (2, 4, 8, 16)})
        for parameter in found.parameters:
            self.assertLessEqual(parameter.low, parameter.value)
            self.assertLessEqual(parameter.value, parameter.high)

    def test_the_longest_time_does_not_decide_a_power(self):
        numbers = fit.numpy.array([2.0, 4, 8, 16, 32, 64])
        times = 70 * numbers ** 1.6
        times[-1] *= 1.2
        (_, exponent), _ = fit.power_solve(numbers, times)
        self.assertAlmostEqual(exponent, 1.6, delta=0.05)

    def test_two_numbers_have_no_formula(self):
        self.assertIsNone(fit.count_fit({2: [1.0] * 5, 4: [2.0] * 5}))


class Comparisons(unittest.TestCase):
    """Whether differences are beyond noise."""

    def compare(self, a, b, n_ways=N_WAYS):
        """The differences of two results."""
        with mock.patch.object(compare, "N_WAYS", n_ways):
            return compare.tables_compare(compare.tables_of((a, b), ("native",) * 2)[0])

    def test_equal_results_are_equal_in_19_of_20_pairs(self):
        n_false = sum(any(one.is_beyond for one in self.compare(
            overhead_results.result_make(2 * pair), overhead_results.result_make(2 * pair + 1)))
            for pair in range(N_PAIRS))
        print(f"a false difference in {n_false} of {N_PAIRS} pairs")
        self.assertLess(n_false, 0.05 * N_PAIRS)

    def scale(self, run, factor):
        """Make a launch take so much longer."""
        run["samples"]["ns"] = [factor * ns for ns in run["samples"]["ns"]]

    def with_states(self, seed):
        """A result of a machine whose speed is another one after every four repetitions."""
        result = overhead_results.result_make(seed, n_repetitions=40, names=["barrier-4"])
        levels = random.Random(seed)
        states = [math.exp(levels.gauss(0, 0.1)) for _ in range(10)]
        for run in result["runs"]:
            self.scale(run, states[run["repetition"] // 4])
        return result

    def test_states_that_last_for_some_repetitions_are_no_difference(self):
        n_pairs = N_PAIRS // 2
        n_false = sum(self.compare(self.with_states(2 * pair), self.with_states(2 * pair + 1))
                      [0].is_beyond for pair in range(n_pairs))
        print(f"a false difference in {n_false} of {n_pairs} pairs")
        self.assertLess(n_false, 0.1 * n_pairs)

    def test_stretches_have_what_followed_each_other(self):
        found = compare.stretches_of(compare.numpy.arange(7.0).reshape(1, 1, 7), 3)
        self.assertEqual(found.shape, (1, 1, 3, 3))
        self.assertEqual(found[0, 0, :, 1].tolist(), [3, 4, 5])
        self.assertEqual(found[0, 0, 0, :].tolist(), [0, 3, 6])
        self.assertEqual(int(compare.numpy.isnan(found).sum()), 2)

    def test_ten_per_cent_of_one_experiment_are_found_in_19_of_20_pairs(self):
        n_found = n_elsewhere = 0
        for pair in range(N_PAIRS):
            slowed = SLOWED[pair % len(SLOWED)]
            found = self.compare(
                overhead_results.result_make(5000 + 2 * pair),
                overhead_results.result_make(5001 + 2 * pair, slow={slowed: 10}))
            beyond = [one for one in found if one.is_beyond]
            n_found += any(slowed in one.name and one.ratio > 1 for one in beyond)
            n_elsewhere += any(slowed not in one.name for one in beyond)
        print(f"found in {n_found} of {N_PAIRS} pairs, elsewhere in {n_elsewhere}")
        self.assertGreaterEqual(n_found, 0.95 * N_PAIRS)
        self.assertLess(n_elsewhere, 0.05 * N_PAIRS)

    def test_a_file_is_equal_to_itself(self):
        result = overhead_results.result_make(1, n_repetitions=5)
        for one in self.compare(result, result):
            self.assertFalse(one.is_beyond)
            self.assertEqual((one.ratio, one.p), (1.0, 1.0))

    def test_faster_is_told_from_slower(self):
        a = overhead_results.result_make(1, slow={"barrier": 30})
        beyond = [one for one in self.compare(a, overhead_results.result_make(2))
                  if one.is_beyond]
        self.assertTrue(beyond)
        self.assertTrue(all("barrier" in one.name and one.ratio < 1 for one in beyond))
        self.assertEqual(report.verdict_of(beyond[0]), "B is faster")

    def test_small_differences_do_not_count(self):
        a = overhead_results.result_make(1, level=0.01)
        b = overhead_results.result_make(2, level=0.01, slow={"barrier": 2})
        self.assertFalse(any(one.is_beyond for one in self.compare(a, b)))

    def test_cores_that_stand_otherwise_are_not_compared(self):
        a, b = (overhead_results.result_make(seed, names=["exchange", "barrier-4"])
                for seed in (1, 2))
        for run in b["runs"]:
            run["trips_ns"] = [900.0 for _ in run["trips_ns"]]
        _, left_out = compare.tables_of((a, b), ("native",) * 2)
        self.assertEqual(left_out, {"title of exchange": 20})
        self.assertEqual({one.name for one in self.compare(a, b)}, {"title of barrier-4"})

    def of_two_kinds(self, seed, n_far, **how):
        """A result of barriers, in the last n_far of whose 20 repetitions the cores were far
        from each other."""
        result = overhead_results.result_make(seed, n_repetitions=20, names=["barrier-2"], **how)
        for run in result["runs"][20 - n_far:]:
            run["trips_ns"] = [300.0, 310.0]
            self.scale(run, 2.5)
        return result

    def test_launches_are_compared_within_their_kind(self):
        a = self.of_two_kinds(1, 14)
        one, = self.compare(a, self.of_two_kinds(2, 6))
        self.assertFalse(one.is_beyond)
        self.assertLess(one.seen_percent, 10)
        self.assertEqual((one.n_a, one.n_b), (20, 20))
        one, = self.compare(a, self.of_two_kinds(2, 6, slow={"barrier": 10}))
        self.assertTrue(one.is_beyond)
        self.assertAlmostEqual(one.ratio, 1.1, delta=0.03)

    def test_kinds_weigh_as_their_launches(self):
        kinds = [0.0] * 8 + [1.0] * 2
        a, b = (compare.numpy.array([[values], [kinds]])
                for values in ([0.0] * 10, [0.1] * 8 + [1.0] * 2))
        difference, error = compare.difference_of(a, b)
        # Of eight launches four are trimmed, of two none.
        self.assertAlmostEqual(float(difference[0]), (2 * 0.1 + 1 * 1.0) / 3)
        self.assertAlmostEqual(float(error[0]), compare.ERROR_FLOOR)

    def test_a_kind_that_one_result_has_once_is_left_out(self):
        a, b = self.of_two_kinds(1, 14), self.of_two_kinds(2, 1)
        _, left_out = compare.tables_of((a, b), ("native",) * 2)
        self.assertEqual(left_out, {"title of barrier-2": 15})
        one, = self.compare(a, b)
        self.assertEqual((one.n_a, one.n_b), (6, 19))

    def test_cores_that_moved_are_of_no_kind(self):
        self.assertIsNone(compare.trip_us([]))
        self.assertEqual(compare.trip_us([100.0, 140.0]), 0.12)
        self.assertTrue(compare.math.isnan(compare.trip_us([100.0, 160.0])))

    def test_too_few_launches_have_no_verdict(self):
        a, b = (overhead_results.result_make(seed, names=["barrier-4", "barrier-8"])
                for seed in (1, 2))
        for run in b["runs"][:14:2]:
            run["failure"] = "status 1"
        found = {one.name: one for one in self.compare(a, b)}
        self.assertIn("too few", found["title of barrier-4"].reason)
        self.assertIsNone(found["title of barrier-8"].reason)

    def test_what_cannot_be_compared_is_an_error(self):
        few = overhead_results.result_make(1, n_repetitions=3)
        with self.assertRaisesRegex(BenchError, "at least 5"):
            self.compare(few, few)
        one, other = (overhead_results.result_make(1, names=[name])
                      for name in ("exchange", "pingpong"))
        with self.assertRaisesRegex(BenchError, "no job in common"):
            self.compare(one, other)

    def test_what_one_result_has_alone_is_told(self):
        a, b = (overhead_results.result_make(1, names=["exchange", "barrier-4", name])
                for name in ("clock", "memcpy"))
        self.assertEqual(self.apart_of(a, b), ["Only A has the job: title of clock.",
                                               "Only B has the job: title of memcpy."])
        a["plan"]["jobs"].pop()
        b["plan"]["jobs"].pop()
        self.assertEqual(self.apart_of(a, b), [])
        for run in a["runs"]:
            run["arguments"] = ["--rounds", "2"] if run["job"] == "exchange" else []
        for run in b["runs"]:
            run["failure"] = "status 1" if run["job"] == "barrier-4" else None
        self.assertEqual(self.apart_of(a, b), [
            "Only A has launches of: title of barrier-4.",
            "title of exchange: A and B were run with other rounds or matchings."])
        b["plan"]["jobs"][0]["arguments"] = ["--max", "8"]
        self.assertIn("title of exchange: not compared, A and B were asked for it in "
                      "another way.", self.apart_of(a, b))

    def apart_of(self, a, b):
        """What a comparison has not."""
        sides = ("native",) * 2
        for result in (a, b):
            names = {job["name"] for job in result["plan"]["jobs"]}
            result["runs"] = [run for run in result["runs"] if run["job"] in names]
        return compare.not_compared((a, b), sides, compare.tables_of((a, b), sides)[0])

    def test_what_was_not_alike_beside_them_is_told(self):
        a, b = (overhead_results.result_make(seed, names=["exchange", "barrier-4"])
                for seed in (1, 2))
        line = ("A cache line went from core to core and back in 100 ns (A) and {} ns (B), "
                "medians of the launches of two ranks.")
        self.assertEqual(compare.conditions_of((a, b), ("native",) * 2), [line.format(100)])
        for run in b["runs"][:6]:
            run["load"] = {**run["load"], "others_percent": 2.0}
        b["runs"][0]["load"]["stolen_percent"] = 0.1
        for i, run in enumerate(b["runs"]):
            trips = [150.0, 300.0] if i < 16 else [120.0, 120.0]
            run["trips_ns"] = trips if run["trips_ns"] else []
        self.assertEqual(compare.conditions_of((a, b), ("native",) * 2), [
            "B was not alone: beside 6 of its 20 launches others had 2 % of the cores or more, "
            "and from 1 the hypervisor took time.", line.format(120)])
        a["runs"][0]["load"] = None  # not known
        self.assertEqual(len(compare.conditions_of((a, b), ("native",) * 2)), 2)
        a, b = (overhead_results.result_make(seed, names=["barrier-4"]) for seed in (1, 2))
        self.assertEqual(compare.conditions_of((a, b), ("native",) * 2), [])

    def test_a_word_may_name_a_side(self):
        self.assertEqual(compare.path_split("a.json:native", lambda _: False),
                         ("a.json", "native"))
        self.assertEqual(compare.path_split("a:b", lambda path: path == "a:b"), ("a:b", None))
        result = overhead_results.result_make(1, n_repetitions=1)
        self.assertEqual(compare.side_choose(result, "a", None), "native")
        with self.assertRaisesRegex(BenchError, "allowed are a:native"):
            compare.side_choose(result, "a", "other")


class Reports(unittest.TestCase):
    """What is made of a result."""

    @classmethod
    def setUpClass(cls):
        cls.result = overhead_results.result_make(3)

    def test_table_1_has_the_paper_and_us(self):
        section = tables.table1_section(self.result)
        self.assertEqual([row[0] for row in section.rows],
                         ["Paragon (paper)", "SP2 (paper)", "CS-2 (paper)", "native"])
        ours = section.rows[-1]
        self.assertRegex(ours[1], r"^0\.0000\d+ \(")
        self.assertRegex(ours[2], r"^0\.0000[89]\d* \(")
        self.assertRegex(ours[3], r"^0\.\d+ \(.*\) d \+ 0\.\d+ \(")
        self.assertRegex(ours[7], r"^8500 \(")

    def test_every_part_has_rows(self):
        for part, make in report.PARTS.items():
            section = make(self.result)
            if part not in ("figure 2", "placement"):
                self.assertTrue(section.rows, part)
            self.assertTrue(all(len(row) == len(section.head) for row in section.rows), part)

    def test_the_load_is_shown_before_and_after(self):
        runs = json.loads(json.dumps(self.result["runs"]))
        run = next(run for run in runs if run["job"] == "exchange")
        run["load"].update(load_average=1.5, clock_mhz_before=[1000.0, 2100.0],
                           clock_mhz_after=[900.0])
        section = tables.load_section({**self.result, "runs": runs})
        self.assertEqual(section.rows[0],
                         ["title of exchange, native", "0.10 to 1.50", "1000 to 2100",
                          "900 to 2000", "3", "5"])

    def test_a_result_without_runs_has_a_report(self):
        empty = {**self.result, "runs": []}
        text = report.terminal_text(report.sections_of(empty), False)
        self.assertIn("Not measured.", text)

    def test_the_page_needs_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            self.result["machine"] = {**self.result["machine"], "processor": "<b>&"}
            report.folder_write(folder, "a title", report.sections_of(self.result), False)
            page = (Path(folder) / "index.html").read_text(encoding="utf-8")
        self.assertIn("&lt;b&gt;&amp;", page)
        self.assertFalse(re.search(r"(src|href)=\"(?!#|data:)|https?://|url\(", page))

    def test_a_page_replaces_nothing_but_a_page(self):
        sections = report.sections_of(self.result)
        with tempfile.TemporaryDirectory() as folder:
            report.folder_write(folder, "a title", sections, False)
            report.folder_write(folder, "another", sections, False)
            page = Path(folder) / "index.html"
            self.assertIn("another", page.read_text(encoding="utf-8"))
            page.write_text("<title>mine</title>", encoding="utf-8")
            with self.assertRaisesRegex(BenchError, "no page of bcs-overhead"):
                report.folder_write(folder, "a title", sections, False)
            self.assertEqual(page.read_text(encoding="utf-8"), "<title>mine</title>")
            page.rename(Path(folder) / "figure-1.svg")
            with self.assertRaisesRegex(BenchError, "no page of bcs-overhead"):
                report.folder_write(folder, "a title", sections, False)
            self.assertEqual(os.listdir(folder), ["figure-1.svg"])

    @unittest.skipUnless(figures.is_there(), "gnuplot is not installed")
    def test_figures_are_drawn(self):
        drawn = [figure for section in report.sections_of(self.result)
                 for figure in section.figures]
        self.assertEqual(len({figure.name for figure in drawn}), len(drawn))
        self.assertLessEqual({"figure-1", "residuals", "barrier", "memcpy", "figure-3-native",
                              "figure-4-native", "figure-5-native"},
                             {figure.name for figure in drawn})
        for figure in drawn:
            self.assertIn(b"<svg", figures.figure_draw(figure, "svg"))
        self.assertTrue(figures.figure_draw(drawn[0], "png").startswith(b"\x89PNG"))
        self.assertTrue(figures.figure_draw(drawn[0], "txt").strip())

    def test_a_title_is_no_command_of_gnuplot(self):
        curve = figures.Curve("it's `date` $d\nplot 1", [(0, 1), (1, 2)])
        script = figures.script_of(figures.Figure("a", "b", "c", "d", [curve]), "svg")
        self.assertIn("title 'it''s `date` $d plot 1'", script)


if __name__ == "__main__":
    unittest.main()
