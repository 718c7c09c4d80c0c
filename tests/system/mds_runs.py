# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with BCS_MDS_DIR and reads what they leave with bcs-mds, for the runners here."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile

import job

N_RANKS = 4


class Runs:
    """Runs of programs, each with a folder for what it records."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.parent = tempfile.mkdtemp(prefix="bcs-mds-")

    def close(self):
        shutil.rmtree(self.parent, ignore_errors=True)

    def record(self, program, extra, *options):
        """Run a program, with variables or with bcsrun's options. Returns its folder, None if
        there is none, and the result."""
        before = set(os.listdir(self.parent))
        words = shlex.split(self.arguments.launcher)
        settings = {"BCS_MDS": "mmds", "BCS_MDS_DIR": self.parent, **extra}
        if options:
            words, settings = [*words, *options], extra
        words += ["-n", str(N_RANKS), *program]
        result = job.run(words, job.mpirun_environment(settings), self.arguments.timeout)
        new = set(os.listdir(self.parent)) - before
        folder = os.path.join(self.parent, new.pop()) if len(new) == 1 else None
        return folder, result

    def read(self, *words):
        """Run bcs-mds."""
        return subprocess.run([self.arguments.reader, *words], capture_output=True,
                              text=True, errors="replace", timeout=600, check=False)


def problems_of_end(folder, result):
    """What is wrong with a run, before its files are read."""
    if result.status != 0:
        return [f"status {result.status}: {result.stderr[-300:]!r}"]
    if folder is None:
        return [f"there is no folder: {result.stderr[-300:]!r}"]
    problems = []
    named = re.search(r"recorded is in (\S+);", result.stderr)
    if named is None or os.path.realpath(named.group(1)) != os.path.realpath(folder):
        problems.append("the folder is not named")
    left = [name for name in os.listdir(folder) if name.endswith((".part", ".live"))]
    return problems + [f"left {name}" for name in left]


def problems_of_check(runs, folder):
    """What bcs-mds check finds."""
    told = runs.read("check", folder)
    return [] if told.returncode == 0 else [f"check: {told.stdout}{told.stderr}"]


def line_with(path, words):
    """The number of the line of a source that has some words."""
    with open(path, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if words in line)


def test_picture(runs, report, folder, verb, *words):
    """A verb's pictures are of the kinds that the names of their files say."""
    if shutil.which("gnuplot") is None:
        print("skipped: pictures, as gnuplot is not installed")
        return
    for ending, begin in {"svg": b"<?xml", "png": b"\x89PNG", "txt": b" "}.items():
        path = os.path.join(runs.parent, f"{verb}.{ending}")
        told = runs.read(verb, folder, *words, "-o", path)
        problems = [told.stderr] if told.returncode != 0 or told.stderr else []
        if not problems:
            with open(path, "rb") as file:
                content = file.read()
            if not content.lstrip(b"\f").startswith(begin) or len(content) < 500:
                problems.append(f"{len(content)} bytes, {content[:60]}")
        report.case(f"picture of {verb} as {ending}", problems)
    told = runs.read(verb, folder, *words, "-o", "picture.gif")
    is_refused = told.returncode == 2 and ".svg" in told.stderr
    report.case(f"picture of {verb} of no kind", [] if is_refused else [str(told)])
