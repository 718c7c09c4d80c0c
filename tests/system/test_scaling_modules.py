#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what bcs-bench --only scaling makes of numbers: which ranks are run and bound, which
cores share a cache, what stands in the tables and drawings. No job is run.

Argument: the folder of the modules.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

sys.path.insert(0, sys.argv.pop(1))

import bcs_cores  # noqa: E402
import bcs_curves  # noqa: E402
import bcs_document  # noqa: E402
import bcs_jobs  # noqa: E402
import bcs_measure  # noqa: E402
import bcs_scaling  # noqa: E402

DOCUMENT = "".join("before\n{}\nold\n{}\nafter\n".format(*bcs_document.markers(part))
                   for part in bcs_scaling.PARTS)


class Cores(unittest.TestCase):
    """Four cores of two threads each, two with one last cache."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for cpu in range(8):
            core, pair = cpu % 4, cpu % 4 // 2 * 2
            self.write(cpu, "topology/thread_siblings_list", f"{core},{core + 4}\n")
            self.write(cpu, "cache/index2/shared_cpu_list", f"{core},{core + 4}\n")
            self.write(cpu, "cache/index10/shared_cpu_list",
                       f"{pair}-{pair + 1},{pair + 4}-{pair + 5}\n")

    def write(self, cpu, name, text):
        path = self.root / f"cpu{cpu}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")

    def test_lists_of_cpus_are_read(self):
        self.assertEqual(bcs_cores.cpus_parse("0-2,5\n"), {0, 1, 2, 5})
        self.assertEqual(bcs_cores.cpus_parse("\n"), frozenset())

    def test_a_core_counts_once(self):
        self.assertEqual(bcs_cores.cores_here(range(8), self.root), [0, 1, 2, 3])
        self.assertEqual(bcs_cores.cores_here([1, 4, 5, 7], self.root), [1, 4, 7])

    def test_what_the_kernel_does_not_tell_is_a_core_of_its_own(self):
        self.assertEqual(bcs_cores.cores_here([8, 9], self.root), [8, 9])
        self.assertEqual(bcs_cores.last_cache_of(9, self.root), {9})

    def test_pairs_are_told_apart_by_their_last_cache(self):
        trips = {(0, 1): 0.1, (0, 2): 0.4, (0, 3): 0.5, (2, 7): 0.2}
        self.assertEqual(bcs_cores.trips_sort(trips, self.root), {
            "of one last cache": [0.1, 0.2], "of different caches": [0.4, 0.5],
            "all": [0.1, 0.4, 0.5, 0.2]})
        self.assertNotIn("of different caches",
                         bcs_cores.trips_sort({(0, 1): 0.1}, self.root))


    def test_it_is_noticed_when_only_some_cpus_may_be_used(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        if len(allowed) > 1:
            os.sched_setaffinity(0, {min(allowed)})
            self.assertTrue(bcs_cores.is_narrowed())
            self.assertEqual(os.sched_getaffinity(0), {min(allowed)})
            with self.assertRaises(bcs_jobs.BenchError):
                bcs_scaling.ranks_most(types.SimpleNamespace(cores=2), 2)
        os.sched_setaffinity(0, range(bcs_cores.MANY_CPUS))
        self.assertFalse(bcs_cores.is_narrowed())


class Rows(unittest.TestCase):
    """Which jobs are run."""

    def test_ranks_double_and_end_with_the_most(self):
        self.assertEqual(bcs_scaling.rank_counts(2), [2])
        self.assertEqual(bcs_scaling.rank_counts(3), [2])
        self.assertEqual(bcs_scaling.rank_counts(16), [2, 4, 8, 16])
        self.assertEqual(bcs_scaling.rank_counts(24), [2, 4, 8, 16, 24])

    def test_ranks_are_bound_as_long_as_there_are_cores(self):
        rows = bcs_scaling.scaling_rows(8, 4)
        self.assertEqual({row.n_ranks for row in rows if row.launch}, {2, 4})
        self.assertEqual({row.n_ranks for row in rows if not row.launch}, {8})

    def test_names_are_unique_and_rows_of_a_program_are_one_job(self):
        rows = bcs_scaling.scaling_rows(16, 16)
        self.assertEqual(len({row.name for row in rows}), len(rows))
        self.assertEqual(len({row.job() for row in rows}), 4 * 4)

    @mock.patch.object(bcs_scaling, "is_narrowed", lambda: False)
    def test_how_far_to_go_is_told(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(bcs_scaling.ranks_most(types.SimpleNamespace(cores=None), 4), 4)
            self.assertEqual(output.getvalue(), "")
            self.assertEqual(bcs_scaling.ranks_most(types.SimpleNamespace(cores=8), 4), 8)
            self.assertIn("4 cores", output.getvalue())
        with self.assertRaises(bcs_jobs.BenchError):
            bcs_scaling.ranks_most(types.SimpleNamespace(cores=None), 1)


class Whole(unittest.TestCase):
    """A whole measurement of jobs whose times are known: natively n ranks take n us, under BCS
    half of that; rates are n and 2 n; programs that move 1 KB take three times as long."""

    def job_run(self, command, _timeout, settings=None):
        if command[0] == "bench_core_trips":
            cpus = list(map(int, command[1:]))
            text = "".join(f"core_trip_{a}_{b} 0 {0.1 * (a + b):.1f} us\n"
                           for a in cpus for b in cpus if a < b)
            return bcs_jobs.JobResult(text, "", 0.0)
        n_ranks, program = command[:2]
        if (n_ranks, program) == (4, "bench_alltoall"):
            raise bcs_jobs.JobError(["bench_alltoall"], "status 1: wrong")
        time = n_ranks if settings is None else n_ranks / 2
        rate = n_ranks if settings is None else n_ranks * 2
        lines = [f"{program[len('bench_'):]} 8 {time} us", f"barrier 0 {time} us",
                 f"pairs 1024 {3 * time} us", f"pairs_rate 8 {rate} M/s",
                 f"pairs_rate 1024 {rate / 3} M/s"]
        return bcs_jobs.JobResult("\n".join(lines), "", 0.0)

    def measure(self, n_cores, **options):
        """Outcomes by part, and whether all jobs have run; rows go to self.shown."""
        places = types.SimpleNamespace(
            program=lambda name: name,
            launch=lambda n_ranks, command, is_native, *_: [n_ranks, command[0], is_native])
        self.shown = []
        defaults = {"pairs": 1, "quick": False, "timeout": 9, "cores": None}
        with mock.patch.object(bcs_measure, "job_run", self.job_run), \
                mock.patch.object(bcs_scaling, "job_run", self.job_run), \
                mock.patch.object(bcs_scaling, "is_narrowed", lambda: False), \
                mock.patch.object(bcs_scaling, "cores_here", lambda: list(range(n_cores))), \
                mock.patch.object(bcs_document, "machine_text", lambda: "a machine"), \
                mock.patch.object(bcs_jobs.Conditions, "stolen_percent", lambda _: 0), \
                contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            return bcs_scaling.scaling_measure(
                places, types.SimpleNamespace(**{**defaults, **options}),
                bcs_jobs.Conditions(), lambda row, _: self.shown.append(row.name))

    def cells(self, outcome, title, count):
        """The cells of a line of a table, but for the first two."""
        line, = re.findall(rf"^\| {re.escape(title)} +\| +{re.escape(count)} \|(.*)\|$",
                           outcome.text, re.M)
        return [cell.strip() for cell in line.split("|")]

    def test_a_table_has_both_sides_and_how_they_grow(self):
        outcomes, is_whole = self.measure(2)
        self.assertTrue(is_whole)
        _, pairs = outcomes[bcs_scaling.PAIRS_PART]
        self.assertEqual(self.cells(pairs, bcs_scaling.PING_PONG, "1"),
                         ["2.00 us", "1.00 us", "0.500", "1.00", "1.00"])
        outcomes, _ = self.measure(8)
        _, pairs = outcomes[bcs_scaling.PAIRS_PART]
        self.assertEqual(self.cells(pairs, bcs_scaling.PING_PONG_1K, "4"),
                         ["24.0 us", "12.0 us", "0.500", "4.00", "4.00"])
        self.assertEqual(self.cells(pairs, bcs_scaling.RATE, "2"),
                         ["4.00 M/s", "8.00 M/s", "0.500", "2.00", "2.00"])
        _, collectives = outcomes[bcs_scaling.COLLECTIVES_PART]
        self.assertEqual(self.cells(collectives, bcs_scaling.BARRIER, "8"),
                         ["8.00 us", "4.00 us", "0.500", "4.00", "4.00"])

    def test_what_goes_beyond_the_cores_is_marked(self):
        outcomes, _ = self.measure(2, cores=8)
        _, pairs = outcomes[bcs_scaling.PAIRS_PART]
        self.assertEqual(len(self.cells(pairs, bcs_scaling.RATE, "1")), 5)
        self.assertEqual(len(self.cells(pairs, bcs_scaling.RATE, "4 (beyond the cores)")), 5)
        self.assertIn(">beyond the cores<", pairs.svg)
        self.assertNotIn(">beyond the cores<",
                         self.measure(8)[0][bcs_scaling.PAIRS_PART][1].svg)

    def test_a_job_that_fails_costs_its_row_only(self):
        outcomes, is_whole = self.measure(8)
        self.assertFalse(is_whole)
        _, collectives = outcomes[bcs_scaling.COLLECTIVES_PART]
        self.assertEqual(self.cells(collectives, bcs_scaling.ALLTOALL, "4")[:3],
                         ["failed", "failed", "-"])
        self.assertEqual(self.cells(collectives, bcs_scaling.ALLTOALL, "8")[0], "8.00 us")
        self.assertEqual(len(self.shown), 3 * 7)

    def test_a_ping_pong_is_drawn_as_the_rate_of_all_pairs(self):
        row = bcs_scaling.rank_rows(8, 8)[0]
        self.assertEqual(bcs_scaling.point_of(row, [2.0, 4.0], 2),
                         bcs_curves.Point(4, 1.5, 1.0, 2.0))

    def test_trips_have_a_table_with_what_they_are(self):
        outcomes, _ = self.measure(4)
        _, trips = outcomes[bcs_scaling.TRIPS_PART]
        self.assertEqual(self.cells(trips, "all", "6"), ["0.100 us", "0.300 us", "0.500 us"])
        self.assertIn("no pair", self.measure(1, cores=2)[0][bcs_scaling.TRIPS_PART][1].text)

    def test_all_parts_of_the_document_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scaling.md"
            path.write_text(DOCUMENT, encoding="utf-8")
            bcs_scaling.scaling_write(path, self.measure(4)[0])
            text = path.read_text(encoding="utf-8")
            self.assertNotIn("old", text)
            self.assertEqual(text.count("before\n"), 3)
            for name in ("pairs", "collectives"):
                self.assertIn(f"(scaling/figure-{name}.svg)", text)
                root = xml.etree.ElementTree.parse(f"{folder}/scaling/figure-{name}.svg")
                n_points = len(root.getroot().findall("{*}circle"))
                self.assertEqual(n_points, {"pairs": 2 * 2 * 2, "collectives": 5 * 2}[name])


class Curves(unittest.TestCase):
    """Drawings against logarithms."""

    def chart(self, *points):
        """A chart of one curve."""
        curve = bcs_curves.Curve("a & b", "red", "none", list(points))
        return bcs_curves.CurveChart("title", "x", "y", [curve])

    def test_ticks_enclose_all_values(self):
        self.assertEqual(bcs_curves.decade_ticks(0.3, 4), [0.2, 0.5, 1, 2, 5])
        self.assertEqual(bcs_curves.decade_ticks(1, 10), [1, 2, 5, 10])
        self.assertEqual(bcs_curves.decade_ticks(3, 3), [2, 5])

    def test_doubling_is_as_far_everywhere(self):
        place = bcs_curves.scale(1, 16, 0, 400)
        self.assertEqual([place(x) for x in (1, 2, 4, 8, 16)], [0, 100, 200, 300, 400])
        self.assertEqual(bcs_curves.scale(2, 2, 0, 400)(2), 200)

    def test_a_drawing_is_xml_with_all_points(self):
        chart = self.chart(bcs_curves.Point(1, 2, 1, 3), bcs_curves.Point(2, 4, 4, 5))
        root = xml.etree.ElementTree.fromstring(bcs_curves.curves_svg(chart))
        self.assertEqual(len(root.findall("{*}circle")), 2)
        self.assertIn("a & b", [text.text for text in root.findall("{*}text")])

    def test_without_points_there_is_no_drawing(self):
        self.assertIsNone(bcs_curves.curves_svg(self.chart()))


if __name__ == "__main__":
    unittest.main()
