#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests stacks.py on a process that stands still."""

import os
import subprocess
import time
import unittest

import job
import stacks


class Stacks(unittest.TestCase):
    """Of a process that sleeps and calls itself rank 7."""

    def setUp(self):
        self.process = subprocess.Popen(
            ["sleep", "1000"], env={**os.environ, "PMIX_RANK": "7"}
        )
        while not job.is_asleep(self.process.pid):
            time.sleep(0.01)

    def tearDown(self):
        self.process.kill()
        self.process.wait()

    def test_a_rank_is_named_with_where_it_stands(self):
        text = stacks.describe([self.process.pid, os.getpid()])
        self.assertIn(f"rank 7, process {self.process.pid}, stands in\n      ", text)
        self.assertNotIn(f"process {os.getpid()},", text)

    def test_the_kernel_tells_what_it_waits_in(self):
        self.assertRegex(stacks.of_kernel(self.process.pid)[0], "^stat S, syscall .*wchan")

    def test_a_debugger_tells_the_calls(self):
        lines = stacks.of_debugger(self.process.pid)
        if not lines:
            self.skipTest("there is no debugger, or it may not attach")
        self.assertIn("nanosleep", "\n".join(lines))

    def test_one_that_is_gone_is_left_out(self):
        self.tearDown()
        self.assertEqual(stacks.describe([self.process.pid]), "")


if __name__ == "__main__":
    unittest.main()
