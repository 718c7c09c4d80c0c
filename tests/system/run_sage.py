#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs sage on several numbers of ranks, natively and under BCS: all that it prints must
be equal to what one rank prints, to the last bit. Wrong decks must be refused.

Lines that begin with "run:" or "time:" tell how the program was run and do not count.
With --all larger problems run, too, in all modes of BCS, and more numbers of ranks.
"""

import argparse
import itertools
import pathlib
import shlex
import sys
import tempfile

import job

RANKS = (1, 3, 8)
MANY_RANKS = (1, 2, 3, 4, 8)
MODES = {
    "native": None,
    "default": {},
    "nodes1": {"BCS_NODE_RANKS": "1"},
    "pooled": {"BCS_COPY": "pooled"},
}
MANY_MODES = {"native": None, **job.MODES}

SMALL = {"cells_x": 5, "cells_y": 6, "cells_z": 7, "cycles": 12, "adapt_every": 3}
LARGER = {"cycles": 40, "adapt_every": 4, "imbalance": 1.1}
TUBE = {
    "problem": "shock_tube",
    "cells_x": 48,
    "cells_y": 2,
    "cells_z": 3,
    "cell_width": 0.02,
    "interface": 0.5,
    "inner_pressure": 1,
    "outer_density": 0.125,
    "outer_pressure": 0.1,
    "end_time": 0.15,
    "cycles": 1000,
}
# Name, deck, settings.
PROBLEMS = (
    ("hydrodynamics", "timing_h.input", SMALL),
    ("conduction", "timing_c.input", SMALL),
)
MORE_PROBLEMS = (
    ("large hydrodynamics", "timing_h.input", LARGER),
    ("large conduction", "timing_c.input", LARGER),
    ("shock tube", "timing_h.input", TUBE),
    ("fixed mesh", "timing_c.input", {**SMALL, "adapt_every": 0}),
)
# Name, text of a deck or None for a deck that is right, options, words of the message.
REFUSED = (
    ("no deck", None, ["--set", "cycles=1"], ("deck", "not named")),
    ("an empty deck", "", [], ("problem", "not set", "blast, shock_tube")),
    ("a deck of words", "two by two\n", [], (":1", "KEY = VALUE")),
    ("a deck of noise", "\0\1\2\3=\x7f" * 100, [], (":1",)),
    ("a long line", "x" * 9000 + "\n", [], (":1", "too long")),
    ("an unknown key", "problem = blast\nspeed = 1\n", [], (":2", "speed", "cells_x")),
    ("a key twice", "cycles = 1\ncycles = 2\n", [], (":2", "cycles", "twice")),
    ("no value", "cycles =\n", [], (":1", "cycles", "1 to 100000000")),
    ("bad reductions", None, ["--set", "reductions=2"], ("reductions", "combined, single")),
    ("a bad problem", None, ["--set", "problem=war"], ("problem", "blast, shock_tube")),
    ("a negative number", None, ["--set", "cells_x=-1"], ("cells_x", "1 to 4096")),
    ("half a cell", None, ["--set", "cells_x=2.5"], ("cells_x", "whole")),
    ("a number with a tail", None, ["--set", "cfl=0.5x"], ("cfl", "0.01 to 0.9")),
    ("infinity", None, ["--set", "cfl=1e999"], ("cfl", "0.01 to 0.9")),
    ("too many levels", None, ["--set", "max_level=9"], ("max_level", "0 to 8")),
    ("a sphere too large", None, ["--set", "interface=9"], ("interface", "the walls")),
    ("a sphere too small", None, ["--set", "interface=0.001"], ("interface", "finest")),
    ("limits crossed", None, ["--set", "coarsen_below=0.5"], ("coarsen_below",)),
    ("a setting alone", None, ["--set", "cycles"], ("--set", "KEY = VALUE")),
    ("an unknown option", None, ["--fast"], ("--fast", "--cells")),
    ("a folder for cells", None, ["--cells", "/"], ("--cells",)),
    (
        "more ranks than cells",
        None,
        ["--set", "cells_x=1", "--set", "cells_y=1", "--set", "cells_z=1"]
        + ["--set", "interface=0.03"],
        ("2 ranks", "cells"),
    ),
)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--sage", required=True, help="the program sage")
    parser.add_argument("--decks", required=True, help="folder of its decks")
    parser.add_argument("--all", action="store_true", help="more problems, modes and numbers of ranks")
    parser.add_argument("--timeout", type=float, default=180)
    return parser.parse_args()


def results_of(stdout):
    """The lines that must not depend on how the program was run."""
    lines = stdout.splitlines()
    return [line for line in lines if not line.startswith(("run:", "time:"))]


def problems_of(result, expected, is_carried):
    """What is wrong with one run, as a list of texts."""
    if result.status is None:
        return [f"hung after {result.seconds:.0f} s"]
    if result.status != 0:
        return [f"status {result.status}, {result.stderr[:300]!r}"]
    if "sage: PASSED" not in result.stdout:
        return [f"the checks have not passed: {result.stdout[-300:]!r}"]
    if is_carried and "Passed to the MPI library: nothing" not in result.stderr:
        return ["the report does not say that BCS has carried everything"]
    pairs = itertools.zip_longest(results_of(result.stdout), expected)
    return [f"{line!r} instead of {other!r}" for line, other in pairs if line != other]


def option_words(settings):
    """Settings as words of the command line."""
    return [word for item in settings.items() for word in ("--set", "%s=%s" % item)]


class Suite:
    """Runs the cases and compares each with what one native rank prints."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.decks = pathlib.Path(arguments.decks)
        self.folder = pathlib.Path(folder)
        self.report = job.Report()

    def launch(self, n_ranks, words, mode=None):
        """One job; mode holds settings of BCS, None is native. Also its shell line."""
        is_native = mode is None
        launcher = self.arguments.launcher
        if is_native:
            launcher = self.arguments.native_launcher
        command = [*shlex.split(launcher), "-n", str(n_ranks), self.arguments.sage]
        command += [str(word) for word in words]
        extra = {} if is_native else {"BCS_MDS": "mmds", **mode}
        environment = job.mpirun_environment(extra)
        result = job.run(command, environment, self.arguments.timeout)
        return result, job.shell_line(command, extra)

    def run_problem(self, problem, modes):
        """One problem on all numbers of ranks, in all modes."""
        name, deck, settings = problem
        words = [*option_words(settings), self.decks / deck]
        expected = None
        for n_ranks, mode in itertools.product(MANY_RANKS if self.arguments.all else RANKS, modes):
            result, repeat = self.launch(n_ranks, words, modes[mode])
            if expected is None:
                expected = results_of(result.stdout)
            problems = problems_of(result, expected, mode != "native")
            self.report.case(f"{name}, {n_ranks} ranks, {mode}", problems, repeat)
        return words, expected

    def run_single(self, words, expected):
        """Reductions of one number each give what combined ones give."""
        for mode in (None, {}):
            result, repeat = self.launch(3, ["--set", "reductions=single", *words], mode)
            problems = problems_of(result, expected, mode is not None)
            self.report.case(f"single reductions, {mode}", problems, repeat)

    def run_cells(self):
        """The file of cells is the same for every number of ranks."""
        texts = []
        for n_ranks in (1, 3):
            path = self.folder / f"cells.{n_ranks}"
            words = [*option_words(SMALL), "--cells", path, self.decks / "timing_h.input"]
            result, repeat = self.launch(n_ranks, words, {} if n_ranks > 1 else None)
            texts.append(path.read_text(encoding="ascii") if path.exists() else "")
            problems = [] if result.status == 0 else [f"status {result.status}"]
            if len(texts[-1].splitlines()) < 5 * 6 * 7:
                problems.append("the file lacks cells")
            if texts[-1] != texts[0]:
                problems.append("the file differs from that of one rank")
            self.report.case(f"--cells, {n_ranks} ranks", problems, repeat)

    def run_refused(self, case):
        """A mistake gives status 2 and one line, before anything is computed."""
        name, text, options, words = case
        path = self.decks / "timing_h.input"
        if text is not None:
            path = self.folder / "deck"
            path.write_text(text, encoding="latin-1")
        decks = [] if name == "no deck" else [path]
        if name == "more ranks than cells":
            result, repeat = self.launch(2, [*options, *decks])
        else:
            # Without a launcher: a single rank, and no lines of mpirun.
            command = [self.arguments.sage, *options, *map(str, decks)]
            result = job.run_plain(command, self.arguments.timeout)
            repeat = job.shell_line(command)
        lines = [line for line in result.stderr.splitlines() if "sage:" in line]
        problems = []
        if result.status != 2:
            problems.append(f"status {result.status}")
        if len(lines) != 1 or not lines[0].startswith("sage: "):
            problems.append(f"not one line: {result.stderr[:300]!r}")
        if result.stdout.strip():
            problems.append(f"printed {result.stdout[:100]!r}")
        for word in words:
            if word not in result.stderr:
                problems.append(f"{word!r} is not named in {result.stderr[:300]!r}")
        self.report.case(f"refused: {name}", problems, repeat)

    def run(self):
        """All cases."""
        for problem in PROBLEMS:
            done = self.run_problem(problem, MANY_MODES if self.arguments.all else MODES)
            self.run_single(*done)
        for problem in MORE_PROBLEMS if self.arguments.all else ():
            self.run_problem(problem, MODES)
        self.run_cells()
        for case in REFUSED:
            self.run_refused(case)
        return self.report.end()


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="bcs-sage-") as folder:
        return Suite(arguments, folder).run()


if __name__ == "__main__":
    sys.exit(main())
