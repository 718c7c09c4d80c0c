#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what bcs-bench and bcs-reproduce conclude from numbers: which way a ratio is
turned, which bars are missed, which runs and sides are compared, which rounds are repeated.

Argument: the folder of the modules.
"""

import contextlib
import io
import math
import sys
import types
import unittest
from dataclasses import replace
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))

import bcs_document  # noqa: E402
import bcs_jobs  # noqa: E402
import bcs_kinds  # noqa: E402
import bcs_measure  # noqa: E402
import bcs_monitor  # noqa: E402
import bcs_plot  # noqa: E402
import bcs_rows  # noqa: E402


def row(better=bcs_rows.LOWER, bar=1.5):
    """A row that is never run."""
    return bcs_rows.Row("name", "title", 2, ("program",), "pattern", "us", better, bar)


def runs(*trips):
    """Runs with these trips, each with its place as its number."""
    return [bcs_kinds.Run((place,), trip) for place, trip in enumerate(trips)]


class Ratios(unittest.TestCase):
    """Less than 1 means that BCS is better, always."""

    def test_a_shorter_time_is_better(self):
        self.assertEqual(row().ratio_of(native=2.0, bcs=1.0), 0.5)

    def test_a_higher_rate_is_better(self):
        self.assertEqual(row(bcs_rows.HIGHER).ratio_of(native=1.0, bcs=2.0), 0.5)

    def test_some_numbers_have_no_ratio(self):
        self.assertIsNone(row(bcs_rows.NO_RATIO).ratio_of(1.0, 2.0))
        self.assertIsNone(row().ratio_of(0.0, 2.0))
        self.assertIsNone(row().ratio_of(1.0, -2.0))

    def test_a_bar_is_missed_above_it_and_without_a_ratio(self):
        self.assertFalse(row().is_missed(1.5))
        self.assertTrue(row().is_missed(1.501))
        self.assertTrue(row().is_missed(None))
        self.assertFalse(row(bar=None).is_missed(9.0))

    def test_a_row_with_timed_strobes_keeps_its_job(self):
        slower = bcs_rows.timed(row(), 1.05)
        self.assertEqual((slower.command, slower.n_ranks), (("program",), 2))
        self.assertEqual(slower.settings["BCS_STROBE"], "timed")
        self.assertNotEqual(slower.side(), row().side())
        self.assertEqual(slower.job(), row().job())

    def test_names_of_rows_are_unique(self):
        names = [row.name for row in bcs_rows.all_rows()]
        self.assertEqual(len(names), len(set(names)))


class Jobs(unittest.TestCase):
    """Rows of one job share its runs; each compares the sides that it names."""

    # by BCS_NODE_RANKS, None natively, with the name of another launcher
    SECONDS = {None: 1.0, "": 2.0, "1": 5.0, "before 1": 7.0}

    def setUp(self):
        self.row = replace(row(), pattern=r"^number (\S+)$")
        self.nodes = replace(self.row, name="nodes", settings={"BCS_NODE_RANKS": "1"})
        self.to_one_node = replace(self.nodes, name="to one node", base={})
        self.order = []

    def job_run(self, command, _timeout, settings):
        """A job whose number is ten times its seconds."""
        self.assertEqual(command == ["native"], settings is None)
        side = None if settings is None else settings.get("BCS_NODE_RANKS", "")
        side = f"before {side}" if command == ["before"] else side
        self.order.append(side)
        seconds = self.SECONDS[side]
        return bcs_jobs.JobResult(f"number {10 * seconds}\n", "", seconds)

    def call(self, function, rows, *more, **options):
        """What a function of the module makes of rows whose jobs run here."""
        places = types.SimpleNamespace(
            launch=lambda _n, _command, is_native, _options, launcher:
            ["native"] if is_native else [launcher or "bcs"])
        defaults = {"pairs": None, "quick": False, "timeout": 9}
        with mock.patch.object(bcs_measure, "job_run", self.job_run), mock.patch.object(
                bcs_jobs.Conditions, "stolen_percent", lambda _: 0):
            return function(places, rows, types.SimpleNamespace(**{**defaults, **options}),
                            bcs_jobs.Conditions(), *more)

    def measure(self, *rows, **options):
        """The results of rows of one job."""
        return self.call(bcs_measure.job_measure, rows, **options)

    def test_a_row_is_compared_with_native_runs(self):
        result, = self.measure(self.row, pairs=3)
        self.assertEqual((result.base, result.bcs), ([10.0] * 3, [20.0] * 3))
        self.assertEqual(self.order, [None, "", "", None, None, ""])

    def test_a_row_may_be_compared_with_other_settings(self):
        result, = self.measure(self.to_one_node, pairs=1)
        self.assertEqual((result.base, result.bcs), ([20.0], [50.0]))
        self.assertEqual(self.order, ["", "1"])

    def test_a_row_may_be_compared_with_another_library(self):
        result, = self.measure(bcs_rows.against(self.nodes, "before"), pairs=1)
        self.assertEqual((result.base, result.bcs), ([70.0], [50.0]))
        self.assertEqual(self.order, ["before 1", "1"])
        self.assertFalse(bcs_rows.against(self.nodes, "before").is_missed(9.0))

    def test_a_row_beside_load_shares_no_runs_with_others(self):
        loaded = replace(self.row, has_loops=True)
        loops = []

        @contextlib.contextmanager
        def busy_loops(n_loops):
            loops.append(n_loops)
            yield

        self.assertNotEqual(loaded.job(), self.row.job())
        with mock.patch.object(bcs_measure, "busy_loops", busy_loops):
            self.measure(self.row, pairs=1)
            self.measure(loaded, pairs=1)
        n_cores = bcs_measure.os.cpu_count()
        self.assertEqual(loops, [0, 0, n_cores, n_cores])

    def test_busy_loops_end(self):
        with bcs_jobs.busy_loops(1):
            pass
        self.assertRaises(ChildProcessError, bcs_jobs.os.wait)

    def test_rows_of_one_job_share_its_runs(self):
        results = self.measure(self.row, self.nodes, self.to_one_node, pairs=1)
        self.assertEqual([result.ratio(self.row) for result in results], [2.0, 5.0, 2.5])
        self.assertEqual(self.order, [None, "", "1"])

    def test_a_row_may_be_compared_with_a_number(self):
        result, = self.measure(replace(self.row, reference=4.0), pairs=1)
        self.assertEqual((result.base, result.bcs), ([4.0], [20.0]))
        self.assertEqual(self.order, [""])

    def test_a_row_without_a_pattern_is_the_time_of_the_whole_job(self):
        result, = self.measure(replace(self.row, pattern=None), pairs=1)
        self.assertEqual((result.base, result.bcs), ([1.0], [2.0]))

    def test_a_row_has_its_own_number_of_pairs_unless_told_otherwise(self):
        few = replace(self.row, n_pairs=2)
        self.assertEqual(len(self.measure(few)[0].bcs), 2)
        self.assertEqual(len(self.measure(few, quick=True)[0].bcs), 1)
        self.assertEqual(len(self.measure(few, quick=True, pairs=3)[0].bcs), 3)

    def test_rows_are_measured_job_by_job_and_kept_in_order(self):
        other = replace(self.row, name="other", n_ranks=8)
        failing = replace(self.row, name="failing", n_ranks=4, pattern="^nothing$")
        shown = []
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            measured = self.call(
                bcs_measure.rows_measure, [self.row, failing, other, self.nodes],
                lambda row, _: shown.append(row.name), pairs=1)
        self.assertEqual(shown, ["name", "nodes", "failing", "other"])
        self.assertEqual([row.name for row, _ in measured],
                         ["name", "failing", "other", "nodes"])
        self.assertEqual([result is None for _, result in measured],
                         [False, True, False, False])
        self.assertIn("failing", errors.getvalue())


class Monitor(unittest.TestCase):
    """What is made of what the monitoring system has seen."""

    def test_shares_are_those_of_the_paper(self):
        shares = bcs_monitor.shares_of(bcs_monitor.PAPER_SAGE)
        self.assertAlmostEqual(sum(calls for calls, _ in shares.values() if calls), 100)
        self.assertAlmostEqual(shares["MPI_Allreduce"][0], 100 * 7025 / 19726)
        self.assertAlmostEqual(shares["Comm Overhead"][1], 100 * 22587.242 / 115027.882)
        self.assertIsNone(shares["MPI_Isend"][1])
        blocking = [time for name, (calls, time) in shares.items() if calls and time]
        self.assertAlmostEqual(sum(blocking), 100)
        self.assertEqual(bcs_monitor.shares_of({}), {})

    def test_all_rows_of_the_paper_are_there_and_ours_besides(self):
        words = ["0.1", "0.3", "30.0", "100", "0.2"]
        rows = bcs_monitor.primitives_rows({
            "MPI_Reduce": words, "MPI_Allreduce": ["0.1", "0.3", "90.0", "300", "0.2"],
            "Comp Granularity": words, "Comm Overhead": words})
        self.assertEqual([row[0] for row in rows],
                         [*list(bcs_monitor.PAPER_SAGE)[:-2], "MPI_Reduce",
                          *bcs_monitor.PERIODS])
        found = {row[0]: row[1:] for row in rows}
        self.assertEqual(found["MPI_Reduce"], [*words, "-", "25.0 %", "-", "25.0 %"])
        self.assertEqual(found["MPI_Recv"], ["-", "-", "-", "0", "-", "0.1 %", "-", "0.0 %", "-"])
        self.assertEqual(found["Comm Overhead"], [*words, "-", "-", "19.6 %", "50.0 %"])

    def test_a_run_is_judged_by_all_its_nodes(self):
        told = "\n".join([
            "node 0: slices are within 20 us of their grid 1 of 10 times",
            "all nodes: slices are within 20 us of their grid 9 of 10 times",
            "node 0: NCOLLDEM comes every 9 slices 3 of 4 times",
            "node 1: NCOLLDEM comes every 9 slices 4 of 4 times",
            "node 0: NCOLLMSM comes every 9 slices 2 of 4 times", ""])
        case = types.SimpleNamespace(n_ranks=2)
        self.assertEqual(bcs_monitor.slices_row(case, 1, told),
                         ["2", "1", "9 of 10, 90.0 %", "7 of 8, 87.5 %", "2 of 4, 50.0 %"])
        self.assertEqual(bcs_monitor.slices_row(case, 1, "")[2:], ["-"] * 3)


class Captions(unittest.TestCase):
    """What stands under a table."""

    def commit_text(self, changes):
        """The commit with what git says to be changed; None: it fails."""
        def run(command, **_how):
            if changes is None:
                raise bcs_document.subprocess.CalledProcessError(128, command)
            return types.SimpleNamespace(
                stdout="1234567\n" if "rev-parse" in command else changes)

        with mock.patch.object(bcs_document.subprocess, "run", run):
            return bcs_document.commit_text()

    def test_the_commit_is_named(self):
        self.assertEqual(self.commit_text(""), "commit 1234567")
        self.assertEqual(self.commit_text(" M file\n"), "commit 1234567 with changes")
        self.assertEqual(self.commit_text(None), "commit not known")
        conditions = types.SimpleNamespace(n_repeated=0, n_disturbed=0, load=0.0,
                                           stolen_percent=lambda: 0.0)
        with mock.patch.object(bcs_document, "commit_text", lambda: "commit 1234567"):
            self.assertIn("; commit 1234567; ", bcs_document.caption_text([], conditions))


class Ticks(unittest.TestCase):
    """Of the axes of drawings."""

    def test_every_length_has_a_few(self):
        for i in range(1, 2000):
            for largest in (i / 100, i * 37.0):
                n_ticks = largest / bcs_plot.tick_step(largest)
                self.assertTrue(2.9 < n_ticks < 8.1, f"{n_ticks} ticks up to {largest}")


class Kinds(unittest.TestCase):
    """Runs of one kind are compared."""

    def chosen(self, native, bcs):
        """Places of the chosen runs, and the trip."""
        chosen, trip_us = bcs_kinds.alike_choose([runs(*native), runs(*bcs)])
        return [[run.values[0] for run in side] for side in chosen], trip_us

    def test_the_kind_that_both_sides_have_most_of_is_chosen(self):
        places, trip_us = self.chosen((0.33, 0.05, 0.34, 0.35), (0.05, 0.06, 0.33, 0.35))
        self.assertEqual(places, [[0, 2, 3], [2, 3]])
        self.assertAlmostEqual(trip_us, 0.34)

    def test_kinds_that_only_one_side_has_are_no_pairs(self):
        places, trip_us = self.chosen((0.33, 0.34), (0.05, 0.06))
        self.assertEqual(places, [[], []])
        self.assertIsNone(trip_us)

    def test_a_run_during_which_the_cores_moved_is_of_no_kind(self):
        places, _ = self.chosen((0.33, math.nan), (0.33, 0.33))
        self.assertEqual(places, [[0], [0, 1]])

    def test_without_trips_all_runs_count(self):
        places, trip_us = self.chosen((None, None), (None,))
        self.assertEqual((places, trip_us), ([[0, 1], [0]], None))

    def test_a_trip_is_found_in_an_output(self):
        text = "line_trip 8 0.5 us\nline_trip_spread 8 {} times\nlatency 8 1 us\n"
        self.assertEqual(bcs_kinds.trip_find(text.format("1.1")), 0.5)
        self.assertTrue(math.isnan(bcs_kinds.trip_find(text.format("3"))))
        self.assertIsNone(bcs_kinds.trip_find("latency 8 1 us\n"))


class Rounds(unittest.TestCase):
    """A disturbed round is run again, and which are kept all the same is told."""

    def run_rounds(self, n_rounds, stolen, first=0):
        """Rounds of two sides of which the hypervisor took these shares; what was kept, the
        order of all runs, the conditions and what was printed."""
        order, errors = [], io.StringIO()
        conditions = bcs_jobs.Conditions()

        def run(side):
            order.append(side)
            return len(order)

        shares = iter(stolen)
        with mock.patch.object(bcs_jobs.Conditions, "stolen_percent",
                               lambda _: next(shares)), contextlib.redirect_stderr(errors):
            results = bcs_jobs.rounds_run(("a", "b"), n_rounds, run, conditions,
                                          first)
        return results, "".join(order), conditions, errors.getvalue()

    def test_every_second_round_runs_the_other_way_round(self):
        results, order, conditions, errors = self.run_rounds(3, [0, 0, 0])
        self.assertEqual(order, "abbaab")
        self.assertEqual(results, {"a": [1, 4, 5], "b": [2, 3, 6]})
        self.assertEqual((conditions.n_repeated, conditions.n_disturbed), (0, 0))
        self.assertEqual(errors, "")

    def test_more_rounds_go_on_with_the_order(self):
        _, order, _, _ = self.run_rounds(2, [0, 0], first=3)
        self.assertEqual(order, "baab")

    def test_a_disturbed_round_does_not_count(self):
        results, order, conditions, _ = self.run_rounds(2, [0, 5, 0])
        self.assertEqual(order, "abbaba")
        self.assertEqual(results, {"a": [1, 6], "b": [2, 5]})
        self.assertEqual((conditions.n_repeated, conditions.n_disturbed), (1, 0))

    def test_rounds_that_are_kept_though_disturbed_are_told(self):
        results, _, conditions, errors = self.run_rounds(1, [5, 5])
        self.assertEqual(results, {"a": [3], "b": [4]})
        self.assertEqual((conditions.n_repeated, conditions.n_disturbed), (1, 1))
        self.assertIn("5.0 %", errors)


if __name__ == "__main__":
    unittest.main()
