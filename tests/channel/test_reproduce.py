#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what channel-reproduce makes of numbers: which runs it compares, ratios, bars, speed-ups,
and what it says where there are none. No job is run.

Argument: the source of channel-reproduce.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import types
import unittest
from unittest import mock

LOADER = importlib.machinery.SourceFileLoader("channel_reproduce", sys.argv.pop(1))
reproduce = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
sys.modules[LOADER.name] = reproduce
LOADER.exec_module(reproduce)

TIMES = reproduce.PIPELINE_TIMES


def output(iteration, communication, trip_us=None):
    """What channel_pipeline prints."""
    lines = [f"time: iteration {iteration} us", "time: computation 0.0030 us",
             f"time: communication {communication} us"]
    if trip_us is not None:
        lines += [f"line_trip 8 {trip_us} us", "line_trip_spread 8 1.0 times"]
    return "\n".join(lines) + "\n"


class Jobs(unittest.TestCase):
    """A session whose jobs print what they are told to."""

    def setUp(self):
        self.options = types.SimpleNamespace(build=None, rounds=2, quick=False, timeout=1,
                                             ranks=[2, 8], matrix=[])
        self.session = reproduce.Session(self.options)
        self.session.places = types.SimpleNamespace(
            launch=lambda n_ranks, command, is_native: [n_ranks, command[-1], is_native])
        self.outputs = {}
        for name, function in {"job_run": self.job_run, "is_repeated": lambda *_: False}.items():
            owner = reproduce if name == "job_run" else sys.modules["bcs_jobs"]
            patch = mock.patch.object(owner, name, function)
            patch.start()
            self.addCleanup(patch.stop)

    def job_run(self, command, _timeout, _settings):
        """The next output of a command, or the last one again."""
        texts = self.outputs[tuple(command)]
        text = texts.pop(0) if len(texts) > 1 else texts[0]
        if text is None:
            raise reproduce.JobError(list(map(str, command)), "broken")
        return types.SimpleNamespace(stdout=text)

    def measure(self):
        """All ways of the pipeline on two processes."""
        with contextlib.redirect_stderr(io.StringIO()):
            return self.session.measure(reproduce.PIPELINE_WAYS[:2], 2, ["x"], TIMES)

    def test_only_runs_of_one_kind_are_compared(self):
        self.outputs[2, "mpi", True] = [output(9, 9, 0.3), output(1, 1, 0.1)]
        self.outputs[2, "mpi", False] = [output(2, 2, 0.1)]
        found, trip_us = self.measure()
        self.assertEqual([run["iteration"] for run in found["MPI, native"]], [1, 1])
        self.assertEqual(trip_us, 0.1)

    def test_without_runs_of_one_kind_there_is_no_number(self):
        self.outputs[2, "mpi", True] = [output(9, 9, 0.3)]
        self.outputs[2, "mpi", False] = [output(2, 2, 0.1)]
        found, _ = self.measure()
        self.assertEqual(found["MPI, native"], [])
        cells = reproduce.pipeline_cells(reproduce.PIPELINE_WAYS[0], 2, [], None)
        self.assertIn("no runs of one kind", cells)

    def test_a_way_that_fails_costs_only_itself(self):
        self.outputs[2, "mpi", True] = [output(4, 3)]
        self.outputs[2, "mpi", False] = [None]
        found, trip_us = self.measure()
        self.assertEqual(list(found), ["MPI, native"])
        self.assertEqual(found["MPI, native"],
                         [{"iteration": 4, "computation": 0.003, "communication": 3}] * 2)
        self.assertIsNone(trip_us)
        self.assertEqual(self.session.failures, ["MPI, BCS, 2 processes: broken"])
        cells = reproduce.pipeline_cells(reproduce.PIPELINE_WAYS[1], 2, None, None)
        self.assertIn("failed", cells)

    def test_bounces_are_one_way_and_in_microseconds(self):
        launched = []
        self.session.places.launch = lambda n_ranks, command, is_native: (
            launched.append(command) or (command[0], is_native))
        trip = "line_trip 8 0.1 us\nline_trip_spread 8 1.0 times\n"
        self.outputs = {
            ("bench_latency", True): [f"{trip}latency 8 0.2 us\n"],
            ("bench_latency", False): [f"{trip}latency 8 0.15 us\n"],
            ("channel_ping_pong", True): [
                f"cache line, one way   40.0\nword, one way     50.0\n{trip}"]}
        with contextlib.redirect_stdout(io.StringIO()):
            text = reproduce.bounce_measure(self.session).text
        for cells in (r"MPI, native +\| +70 us \| +0.200 us \| +1.00 \| +1.00 ",
                      r"MPI, BCS +\| +- \| +0.150 us \| +- \| +0.750 ",
                      r"channel left open +\| +25 us \| +0.050 us \| +0.357 \| +0.250 ",
                      r"a cache line alone +\| +- \| +0.040 us \| +- \| +0.200 ",
                      r"compared: 2 processes: 0.100 us"):
            self.assertRegex(text, cells)
        self.assertEqual(launched[0], ["bench_latency", "--min", "8", "--max", "8"])
        self.options.ranks = [8]
        self.assertIn("takes 2 processes", reproduce.bounce_measure(self.session).text)

    def test_the_page_has_ratios_to_native_and_to_the_paper_s(self):
        for n_ranks in (2, 8):
            for way in reproduce.PIPELINE_WAYS:
                self.outputs[n_ranks, way.by, way.is_native] = [output(2, 1)]
        self.outputs[2, "open", True] = [output(1, 0.25)]
        self.outputs[8, "open", True] = [output(1.5, 0.5)]
        with contextlib.redirect_stdout(io.StringIO()):
            text = reproduce.pipeline_measure(self.session).text
        for cells in (r"channel left open +\| +2 \| +4 us \| +1.00 us \| +0.003 us \| +0.250 us"
                      r" \| +0.00844 \| +0.250 \(0.250 to 0.250\) \|",
                      r"native: communication +\| +2 \| +0.35 \| +0.250 \| +met \|",
                      r"native: iteration +\| +8 \| +0.50 \| +0.750 \| +missed \|"):
            self.assertRegex(text, cells)


class Numbers(unittest.TestCase):
    """What is made of the runs of a way."""

    def test_a_speed_up_is_the_serial_time_over_that_of_a_solve(self):
        runs = [{"serial": 4.0, "solve": 2.0}, {"serial": 4.0, "solve": 1.0},
                {"serial": 4.0, "solve": 8.0}]
        bar = reproduce.speed_up_bar(runs)
        self.assertEqual((bar.value, bar.least, bar.largest), (2, 0.5, 4))
        self.assertIsNone(reproduce.speed_up_bar([]))

    def test_small_ratios_keep_their_figures(self):
        self.assertEqual(reproduce.ratio_text(0.00123), "0.00123")
        self.assertEqual(reproduce.ratio_text(0.25), "0.250")

    def test_files_are_dealt_out_row_by_row(self):
        options = types.SimpleNamespace(quick=False, matrix=["a/b.mtx"])
        problems = reproduce.problems_of(options)
        self.assertEqual([problem.block for problem in problems], [1, 500, 1, 3600, 1])
        self.assertEqual(problems[-1].options, ("--matrix", "a/b.mtx"))


if __name__ == "__main__":
    unittest.main()
