#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs whose fault is known: a load imbalance put into SWEEP3D, a late sender, a chain of
ranks that compute one after the other. What bcs-mds summary says to stand out must name the fault,
the rank and the place; of a program without a fault it must say that nothing does.
"""

import argparse
import html
import os
import re
import sys

import job
import mds_runs

N_TRIES = 4  # of the program without a fault, which others on the machine may delay
EVEN_S = 0.8  # what it takes by itself


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--faults", required=True, help="the program known_faults")
    parser.add_argument("--faults-source", required=True, help="its source")
    parser.add_argument("--sweep3d", help="the program sweep3d")
    parser.add_argument("--input", help="its input file")
    parser.add_argument("--slow-rank", help="the library that slows rank 1")
    parser.add_argument("--has-lines", action="store_true", help="bcs-mds has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Faults:
    """Runs the programs and compares what is said of them."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.report = job.Report()
        self.runs = mds_runs.Runs(arguments)

    def place(self, words):
        """What stands for the place of a call of known_faults.c."""
        source = self.arguments.faults_source
        if not self.arguments.has_lines:
            return r"0x\w+ in known_faults"
        # A call of several lines may be said to be on any of them.
        line = mds_runs.line_with(source, words)
        lines = "|".join(str(n) for n in range(line - 1, line + 2))
        return rf"\w+, {re.escape(os.path.basename(source))}:({lines})"

    def outstanding(self, program, settings):
        """What is said of a run: its sentences in one text, and what the program has printed."""
        folder, result = self.runs.record(program, {"BCS_MDS": "trace", **settings})
        problems = mds_runs.problems_of_end(folder, result)
        if problems:
            return "", result.stdout, problems
        told = self.runs.read("summary", folder)
        found = re.search(r"^What stands out:\n((?:  .*\n)+)", told.stdout, re.M)
        said = found[1] if found else ""
        problems = mds_runs.problems_of_check(self.runs, folder)
        page = self.runs.read("report", folder, "-o", "-").stdout
        items = "".join(f"  {item}\n" for item in re.findall(r"^(?:<ul>\n)?<li>(.*)</li>$", page, re.M))
        if html.unescape(items) != said:
            problems.append(f"the page says {items!r}")
        return said, result.stdout, problems

    def expect(self, name, program, patterns, settings=None):
        """Each pattern is in what is said of a program."""
        said, _, problems = self.outstanding(program, settings or {})
        problems += [f"no {pattern!r}" for pattern in patterns if not re.search(pattern, said)]
        self.report.case(name, problems + [said] if problems else [])

    def imbalance(self):
        """Rank 1 of SWEEP3D has more to do than the others."""
        words = [self.arguments.sweep3d, "--grid", "2x2", self.arguments.input]
        self.expect("imbalance", ["-x", f"LD_PRELOAD={self.arguments.slow_rank}", *words],
                    [r"  Load imbalance costs \d\d\.\d % of all time: rank 1 was outside of MPI "
                     r"for the longest, [\d.]+ s; 1 of 4 ranks were ",
                     r"  Rank 1 is late: "])

    def late(self):
        self.expect("late sender", [self.arguments.faults, "late"],
                    [r"  Rank 1 is late: others have waited for it for [\d.]+ s, \d\d\.\d % of all "
                     rf"time; longest in MPI_Recv at {self.place('rank 0 waits here')}, for MPI_Send "
                     rf"at {self.place('for rank 1')} of rank 1, [\d.]+ s \(late sender\)\.\n",
                     r"  Load imbalance costs .* rank 1 was outside"])

    def without_events(self):
        """What each rank has recorded of its waits is enough; lost events are counted."""
        waits = (rf"  Rank 1 is late: others have waited for it for [\d.]+ s, \d\d\.\d % of all "
                 rf"time; longest in MPI_Recv at {self.place('rank 0 waits here')}\.\n")
        self.expect("no events", [self.arguments.faults, "late"], [waits], {"BCS_MDS": "mmds"})
        self.expect("lost events", [self.arguments.faults, "late"],
                    [waits, r"  \d of 4 ranks have lost events, of \d+ of \d+ calls: it is told "],
                    {"BCS_MDS_EVENTS": "1"})

    def is_serial(self, said, problems):
        """All wait as long for each rank, whose work follows that of the one before."""
        line = re.search(r"  Serialisation costs \d\d\.\d % .* waited most for(.*?); longest in "
                         rf"MPI_Recv at {self.place('all wait here')}, for MPI_Send", said)
        ranks = re.findall(r" rank (\d) \(([\d.]+) s\)", line[1]) if line else []
        if sorted(int(rank) for rank, _ in ranks) != list(range(mds_runs.N_RANKS)):
            problems.append(f"ranks {ranks}")
        elif float(ranks[-1][1]) < 0.4 * float(ranks[0][1]):
            problems.append("not as long for each")
        if "is late" in said or "imbalance" in said:
            problems.append("a rank is told to be at fault")
        return not problems

    def serial(self):
        """Also beside load, which may hold up one of the ranks: three times at most."""
        for _ in range(N_TRIES):
            said, _, problems = self.outstanding([self.arguments.faults, "serial"], {})
            if self.is_serial(said, problems):
                break
        self.report.case("serialised pipeline", problems + [said] if problems else [])

    def even(self):
        """Nothing stands out, unless others have taken as much of the machine."""
        for _ in range(N_TRIES):
            said, stdout, problems = self.outstanding([self.arguments.faults, "even"], {})
            took = re.search(r"([\d.]+) s", stdout)
            if problems or said == "  Nothing that costs 10 % of all time.\n":
                break
            problems = [said]
            if took and float(took[1]) < 1.08 * EVEN_S:
                break  # not by the load
        else:
            print(f"even: not judged, the machine is too busy: {took and took[1]} s")
            problems = []
        self.report.case("no fault", problems)

    def run(self):
        try:
            if self.arguments.sweep3d:
                self.imbalance()
            self.late()
            self.without_events()
            self.serial()
            self.even()
        finally:
            self.runs.close()
        return self.report.end()


if __name__ == "__main__":
    sys.exit(Faults(parse_arguments()).run())
