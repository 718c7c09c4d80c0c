#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the folder that the fuzzer runs in goes away: after its end, and when all who use it are killed."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import run_fuzz

PATIENCE_S = 600
# As run_fuzz.py does it, with a child in place of the fuzzer.
USER = """
import run_fuzz, subprocess, sys
with run_fuzz.scratch() as (folder, held):
    child = subprocess.Popen(["sh", "-c", "mkdir a.part && touch a.part/file && echo made && cat"],
                             cwd=folder, pass_fds=[held], preexec_fn=run_fuzz.die_with_parent,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    print(folder, child.pid, flush=True)
    sys.stdin.readline()
    child.stdin.close()
    child.wait()
"""


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Folder(unittest.TestCase):
    """The folder of a process that uses it, with a child."""

    def setUp(self):
        self.process = subprocess.Popen([sys.executable, "-c", USER], text=True,
                                        cwd=pathlib.Path(run_fuzz.__file__).parent,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        folder, child = self.process.stdout.readline().split()
        self.folder, self.child = pathlib.Path(folder), int(child)

    def tearDown(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def await_end(self):
        end = time.monotonic() + PATIENCE_S
        while (self.folder.exists() or is_alive(self.child)) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertFalse(self.folder.exists())
        self.assertFalse(is_alive(self.child))

    def test_it_is_there_while_it_is_used(self):
        self.assertTrue((self.folder / "a.part" / "file").exists())
        os.kill(self.child, signal.SIGKILL)
        self.assertTrue(self.folder.exists())

    def test_it_is_gone_at_the_end(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.assertEqual(self.process.wait(PATIENCE_S), 0)
        self.await_end()

    def test_it_is_gone_when_all_are_killed(self):
        self.process.kill()
        self.await_end()


if __name__ == "__main__":
    unittest.main()
