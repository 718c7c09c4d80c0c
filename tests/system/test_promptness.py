#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What counts as late beside load and without, by starts that are made up."""

import unittest

import promptness


def starts(*measured):
    """A function that returns one after the other, pairs of seconds and of CPU seconds."""
    return iter(measured).__next__


def never():
    raise AssertionError("no other start is to be measured")


class PromptnessTest(unittest.TestCase):
    def test_on_a_quiet_machine_the_limit_is_what_is_promised(self):
        prompt = promptness.Promptness(starts((0.4, 0.3), (0.5, 0.3), (0.4, 0.3)))
        self.assertEqual(prompt.limit(3, 0.4), 3)
        self.assertEqual(prompt.limit(3, 0.2), 3)
        self.assertEqual(prompt.problems(2.9, 3, 0.4, never), [])
        self.assertEqual(len(prompt.problems(3.1, 3, 0.4, starts((0.4, 0.3)))), 1)

    def test_beside_load_it_grows_as_the_start_does(self):
        prompt = promptness.Promptness(starts(*[(0.5, 0.3)] * 3))
        self.assertEqual(prompt.limit(3, 2), 12)
        self.assertEqual(prompt.problems(11, 3, 2, never), [])
        self.assertEqual(len(prompt.problems(13, 3, 2, starts((1, 0.3)))), 1)

    def test_load_that_has_come_since_counts(self):
        prompt = promptness.Promptness(starts(*[(0.5, 0.3)] * 3))
        self.assertEqual(prompt.problems(5, 3, 0.5, starts((1, 0.3))), [])

    def test_load_that_was_there_from_the_beginning_counts(self):
        prompt = promptness.Promptness(starts((6, 0.3), (4, 0.25), (5, 0.3)))
        self.assertEqual(prompt.quiet_start, 0.5)
        self.assertEqual(prompt.limit(3, 5), 30)

    def test_what_is_late_is_tried_again_beside_load_only(self):
        prompt = promptness.Promptness(starts(*[(0.5, 0.3)] * 3))
        load = starts(*[(1, 0.3)] * 9)
        self.assertEqual(prompt.in_time(starts(([], 9, 1), ([], 5, 1)), 3, load), [])
        self.assertEqual(len(prompt.in_time(starts(*[([], 9, 1)] * 3), 3, load)), 1)
        self.assertEqual(prompt.in_time(starts((["hung"], 2, 1)), 3, load), ["hung"])
        quiet = starts((0.5, 0.3))
        self.assertEqual(len(prompt.in_time(starts(([], 9, 0.5)), 3, quiet)), 1)

    def test_a_start_is_measured_until_it_is_up(self):
        def wait(started):
            while "up" not in started.output_so_far():
                self.assertIsNone(started.process.poll())

        seconds, cpu = promptness.measure_start(["sh", "-c", "echo up; exec sleep 1000"], wait)
        self.assertGreater(seconds, 0)
        self.assertGreaterEqual(cpu, 0)

    def test_the_time_of_a_process_that_is_gone_is_none(self):
        self.assertEqual(promptness.cpu_seconds(0), 0)


if __name__ == "__main__":
    unittest.main()
