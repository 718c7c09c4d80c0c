#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What job.py takes for a fault, with shell scripts in the place of jobs."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import job

# Ends as mpirun does if a rank was killed by SIGPIPE, the first so many times.
LOSES = """
n=$(cat "$0" 2>/dev/null || echo 0)
echo $((n + 1)) >"$0"
[ $n -ge $1 ] || { echo "mpirun noticed that rank 1 exited on signal 13 (Broken pipe)." >&2; exit 141; }
"""
# In a process of its own, which keeps what it sees.
LOOKS_FOR_OWN = """
import os, job
job.SharedMemory.separate()
one = job.Job(["touch", "/dev/shm/own"], job.clean_environment())
one.finish(60)
left = one.leftovers(0)
os.remove("/dev/shm/own")
print(left, one.leftovers())
one.close()
"""


def loads(*tasks):
    """Has a machine with one core say that it has so many tasks, time after time."""
    return (unittest.mock.patch("os.getloadavg", side_effect=[(n, 0, 0) for n in tasks]),
            unittest.mock.patch("os.sched_getaffinity", return_value={0}))


class JobTest(unittest.TestCase):
    def runs_that_lose(self, n_lost):
        """The status of a job that loses its race so often, and how often it has run."""
        with tempfile.TemporaryDirectory() as folder, \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            count = f"{folder}/count"
            result = job.run(["sh", "-c", LOSES, count, str(n_lost)])
            with open(count, encoding="ascii") as file:
                n_runs = int(file.read())
        self.assertEqual("run once more" in printed.getvalue(), n_runs > 1)
        return result.status, n_runs

    def test_a_race_that_open_mpi_loses_is_run_again_but_once(self):
        self.assertEqual(self.runs_that_lose(0), (0, 1))
        self.assertEqual(self.runs_that_lose(1), (0, 2))
        self.assertEqual(self.runs_that_lose(2), (141, 2))

    def test_a_guard_waits_for_longer_beside_load(self):
        clock = unittest.mock.patch("time.monotonic", side_effect=[0, 9, 11, 11, 49, 51])
        load, cores = loads(0.5, 0.5, 5, 5, 5)
        with clock, load, cores:
            guard = job.Guard(10)
            self.assertEqual([guard.is_over() for _ in range(5)], [False, True, False, False, True])

    def test_a_job_that_hangs_is_ended(self):
        load, cores = loads(*[0] * 9)
        with load, cores, contextlib.redirect_stdout(io.StringIO()):
            self.assertIsNone(job.run(["sleep", "1000"], timeout=0.1).status)

    def test_what_others_leave_is_not_of_the_job(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with tempfile.NamedTemporaryFile(dir=job.SHARED):
            told = subprocess.run([sys.executable, "-B", "-c", LOOKS_FOR_OWN], cwd=here, check=True,
                                  capture_output=True, text=True).stdout
        if told.startswith("skipped"):
            self.skipTest(told)
        self.assertEqual(told, "['/dev/shm/own'] []\n")


if __name__ == "__main__":
    unittest.main()
