#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What blocking calls have waited for, in real runs of split_ranks.c and without events: in each
mode every late rank must be named, with the part of the time that the program has measured itself,
and the parts must come to all of it.
"""

import argparse
import csv
import io
import itertools
import os
import re
import shutil
import struct
import sys

import job
import mds_runs

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../mds"))
import folders  # noqa: E402

TIMED = {"BCS_STROBE": "timed", "BCS_SLICE": "2ms"}
MODES = {
    "on demand": {},
    "on demand, nodes of 1": {"BCS_NODE_RANKS": "1"},
    "on demand, nodes of 2, by chunks": {"BCS_NODE_RANKS": "2", "BCS_COPY": "pooled"},
    "on demand, streamed": {"BCS_COPY": "pooled"},
    "on demand, late": {"BCS_NODE_RANKS": "2", "BCS_DEFER": "7"},
    "on demand, threads": {"BCS_DRIVER": "threads"},
    "on demand, threads, nodes of 1": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
    "timed": TIMED,
    "timed, nodes of 1": {**TIMED, "BCS_NODE_RANKS": "1"},
    "timed, threads": {**TIMED, "BCS_DRIVER": "threads"},
    "timed, threads, nodes of 1": {**TIMED, "BCS_DRIVER": "threads", "BCS_NODE_RANKS": "1"},
}
LATE = ["late_sender", "late_receiver", "late_collective"]
PARTS = [f"{part}_ns" for part in LATE] + ["slice_wait_ns", "transfer_ns", "not_split_ns"]
N_WAYS = 25
NEAR = 0.2  # how far a part may be from what the program has measured, of that, or of
WORK_NS = 4 * 21e6  # what a late rank works at one place
N_TRIES = 10  # a rank may lose its core just between its own clock and its call
SLICE_NS = 2e6


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="the command that starts a job")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--program", required=True, help="the program split_ranks")
    parser.add_argument("--mode", action="append", choices=MODES, help="only this one")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def tables_of(text):
    """Tables of an export: {table: rows}."""
    tables = {}
    for row in csv.DictReader(io.StringIO(text)):
        tables.setdefault(row["table"], []).append(row)
    return tables


class Way:
    """A line that the program has printed, and what was recorded at its place."""

    def __init__(self, line, sites):
        self.name, self.part, late, seconds = line.split()
        self.late = int(late)
        self.wanted = float(seconds) * 1e9
        self.sites = [site for site in sites
                      if re.match(rf"{self.name}\b", site["place"])
                      and not site["primitive"].startswith("MPI_I")]

    def sum(self, column):
        return sum(int(site[column]) for site in self.sites)

    def doubts(self):
        """Whether the part is as long as the program has measured, and the rank at fault is named: on a
        machine that others use it may not be."""
        if self.name == "unknown":
            return []
        found = self.sum(f"{self.part}_ns")
        problems = []
        allowed = NEAR * max(self.wanted, WORK_NS)
        if abs(found - self.wanted) > allowed:
            problems.append(f"{self.name}: {self.part} is {found / 1e6:.3f} ms, measured were "
                            f"{self.wanted / 1e6:.3f}")
        for site in self.sites:
            if int(site["rank"]) == self.late or int(site[f"{self.part}_ns"]) == 0:
                continue
            # the rank may have waited for others, too, where cores are shared
            if int(site["fault_rank"]) != self.late:
                problems.append(f"{self.name}: rank {site['rank']} has waited for "
                                f"{site['fault_rank']}, not for {self.late}")
        others = sum(self.sum(f"{part}_ns") for part in LATE if part != self.part)
        if others > allowed:
            problems.append(f"{self.name}: {others / 1e6:.3f} ms are for something else")
        return problems

    def problems(self, is_timed):
        if not self.sites:
            return [f"{self.name}: nothing was recorded there"]
        problems = []
        total = self.sum("total_ns")
        unsplit = self.sum("not_split_ns")
        if unsplit != (total if self.name == "unknown" else 0):
            problems.append(f"{self.name}: {unsplit} ns of {total} are not split")
        if not is_timed and self.sum("slice_wait_ns") > 0:
            problems.append(f"{self.name}: it has waited for a slice")
        return problems


def problems_of_slices(ways):
    """Timed, messages wait for half a slice or so, but whoever runs late makes them wait longer."""
    sites = [site for way in ways if way.part == "late_sender" for site in way.sites
             if site["rank"] == "0" and site["primitive"] in ("MPI_Recv", "MPI_Waitall")]
    waited = sum(int(site["slice_wait_ns"]) for site in sites)
    n = sum(int(site["count"]) for site in sites)
    if waited < 0.1 * n * SLICE_NS:
        return [f"{n} calls have waited for slices for {waited / 1e6:.3f} ms"]
    return []


def problems_of_peers(tables):
    """What ranks were waited for comes to what calls have waited."""
    problems = []
    for rank in range(mds_runs.N_RANKS):
        rows = {name: [row for row in tables[name] if int(row["rank"]) == rank]
                for name in ("calls", "sites", "peers")}
        for part in LATE:
            sums = {name: sum(int(row[f"{part}_ns"]) for row in rows[name]) for name in rows}
            if max(sums.values()) - min(sums.values()) > 100:  # each number is rounded
                problems.append(f"rank {rank}: {part} {sums}")
    for row in tables["calls"]:
        parts = sum(int(row[part]) for part in PARTS)
        if parts != (int(row["total_ns"]) if row["timing"] == "blocking" else 0):
            problems.append(f"the parts of {row['primitive']} come to {parts}")
    return problems


def problems_of_summary(runs, folder, tables):
    """The summary tells the same of ranks."""
    told = runs.read("summary", folder).stdout
    problems = []
    for rank in range(mds_runs.N_RANKS):
        own = [sum(int(row[part]) for row in tables["calls"] if int(row["rank"]) == rank)
               for part in PARTS]
        others = [sum(int(row[f"{part}_ns"]) for row in tables["peers"] if int(row["peer"]) == rank)
                  for part in LATE]
        line = " *".join(["", str(rank)] + [rf"{ns / 1e6:.3f}" for ns in own + others])
        if not re.search(f"^{line}$", told, re.M):
            problems.append(f"no line {line!r} in the summary")
    return problems


def look(runs, settings):
    """Run the program in a mode. Returns what is wrong, and {way: what may be the machine's fault}."""
    folder, result = runs.record([runs.arguments.program], settings)
    problems = mds_runs.problems_of_end(folder, result)
    if problems:
        return problems, {}
    told = runs.read("export", folder, "--format", "csv", "-o", "-")
    tables = tables_of(told.stdout)
    ways = [Way(line, tables["sites"]) for line in result.stdout.splitlines()]
    is_timed = "BCS_STROBE" in settings
    problems = mds_runs.problems_of_check(runs, folder)
    if len(ways) != N_WAYS:
        problems.append(f"{len(ways)} lines of {N_WAYS}")
    for way in ways:
        problems += way.problems(is_timed)
    problems += problems_of_peers(tables) + problems_of_summary(runs, folder, tables)
    if settings == {}:
        problems += problems_of_damages(runs, folder)
    doubts = {way.name: way.doubts() for way in ways}
    doubts["slices"] = problems_of_slices(ways) if is_timed else []
    return problems, {name: texts for name, texts in doubts.items() if texts}


def problems_of(runs, settings):
    """What is wrong in a mode: in a run, or with a way in all of some runs."""
    problems, doubts = look(runs, settings)
    for _ in range(N_TRIES - 1):
        if problems or not doubts:
            break
        problems, again = look(runs, settings)
        doubts = {name: texts for name, texts in again.items() if name in doubts}
    return [*problems, *itertools.chain(*doubts.values())]


# Sections of a process's file, where their parts stand in a record, and what check says if one is
# wrong (docs/dump-format.md).
DAMAGES = {"calls": (64, "the parts of MPI_"), "sites": (56, "the parts of a place"),
           "peers": (40, "calls have waited for late ranks for")}


def damaged(content, section, offset):
    """A file with a millisecond more in one part of the last record of a section."""
    for i in range(struct.unpack_from("<I", content, 24)[0]):
        name, at, _, n, n_bytes = struct.unpack_from("<8sQQII", content, 32 + 40 * i)
        if name.rstrip(b"\0").decode() == section:
            at += (n - 1) * n_bytes + offset
            number = struct.unpack_from("<Q", content, at)[0] + 1000000
            return folders.repaired(content[:at] + struct.pack("<Q", number) + content[at + 8:])
    raise RuntimeError(f"no section {section}")


def problems_of_damages(runs, folder):
    """Check finds parts that do not come to the whole."""
    problems = []
    for section, (offset, words) in DAMAGES.items():
        copy = os.path.join(runs.parent, f"damaged-{section}")
        shutil.copytree(folder, copy)
        path = os.path.join(copy, "process.00002.mds")
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(damaged(content, section, offset))
        told = runs.read("check", copy)
        shutil.rmtree(copy)
        if told.returncode == 0 or f"rank 2: {words}" not in told.stdout:
            problems.append(f"{section}: {told.stdout}{told.stderr}")
    return problems


def main():
    arguments = parse_arguments()
    report = job.Report()
    runs = mds_runs.Runs(arguments)
    try:
        for name in arguments.mode or MODES:
            report.case(name, problems_of(runs, MODES[name]))
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
