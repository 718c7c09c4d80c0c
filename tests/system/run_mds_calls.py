#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs without MPI whose calls are known, with BCS_MDS: what bcs-mds exports of the BCS API,
cBSP, BSPlib and channels has each call, once, under its own name, with its bytes and messages; and
with BCS_MDS=off nothing is written.
"""

import argparse
import collections
import csv
import io
import os
import re
import sys

import job
import mds_runs

N = mds_runs.N_RANKS


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--api", required=True, help="the program known_calls_api")
    parser.add_argument("--cbsp", required=True, help="the program known_calls_cbsp")
    parser.add_argument("--bsplib", required=True, help="the program known_calls_bsplib")
    parser.add_argument("--has-lines", action="store_true", help="bcs-mds has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


# What each rank calls: how often, and the bytes of all calls; None: it has no size.
def api_calls(rank):
    """Rank 1 is the root of scatter and gather."""
    of_root = 4 * 16 if rank == 1 else 16
    return {
        "bcs_group_create": (1, None),
        "bcs_send": (6, 5 * 100 + 8), "bcs_send(request)": (2, 2 * 40),
        "bcs_recv": (6, 5 * 100 + 8), "bcs_recv(request)": (2, 100 + 20),
        "bcs_probe": (1, None), "bcs_probe(no wait)": (1, None),
        "bcs_test": (1, None), "bcs_test(no wait)": (1, None), "bcs_testall": (1, None),
        "bcs_barrier": (1, None),
        "bcs_bcast": (1, 256), "bcs_bcast(request)": (1, 256),
        "bcs_reduce": (1, 4 * 8), "bcs_scan": (1, 4 * 8),
        "bcs_reduce_scatter": (1, (1 + 2 + 3 + 4) * 8),
        "bcs_scatter": (1, of_root), "bcs_gather": (1, of_root),
        "bcs_allgather": (1, 16), "bcs_alltoall": (1, 4 * 8),
    }


def cbsp_calls(_):
    return {
        "cBSP_export": (1, None), "cBSP_import": (1, None), "cBSP_unexport": (1, None),
        "cBSP_send": (3, 3 * 24), "cBSP_nsync": (2, None), "cBSP_gsync": (2, None),
        "cBSP_broadcast": (1, 24), "cBSP_reduce": (1, 4 * 8),
    }


def bsplib_calls(rank):
    """The last one is too many for the parallel part."""
    calls = {"bsp_begin": (1, None)}
    if rank < N - 1:
        calls.update({
            "bsp_end": (1, None), "bsp_sync": (2, None), "bsp_push_reg": (1, None),
            "bsp_pop_reg": (1, None), "bsp_set_tagsize": (1, None),
            "bsp_put": (2, 2 * 4), "bsp_hpput": (1, 4), "bsp_get": (1, 16),
            "bsp_hpget": (1, 4), "bsp_send": (1, 12),
        })
    return calls


# What it sends to the rank so far behind it: messages and bytes. The other rank has received as much.
API_SENDS = {N - 1: (5, 500), 1: (2, 80), 0: (1, 8)}
CBSP_SENDS = {1: (3, 3 * 24), N - 1: (3, 3 * 8)}
# Communicators of each rank: messages sent, collectives.
API_COMMS = {"bcs_world": (3, 10), "": (5, 0)}
CBSP_COMMS = {"cBSP": (6, 4)}
BLOCKING = re.compile(r"bcs_(send|recv|probe|test|testall|barrier|bcast|reduce|scan|"
                      r"reduce_scatter|scatter|gather|allgather|alltoall)|"
                      r"cBSP_(nsync|gsync|broadcast|reduce)|bsp_(begin|end|sync)")


def export(runs, folder):
    """All tables of a run: {table: [row]}."""
    told = runs.read("export", folder, "--format", "csv", "-o", "-")
    tables = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(told.stdout)):
        tables[row["table"]].append(row)
    return tables


def problems_of_calls(tables, expected):
    """What is wrong with the calls of all ranks, and with their places."""
    found = collections.defaultdict(dict)
    problems = []
    for row in tables["calls"]:
        n, n_sized = int(row["count"]), int(row["sized"])
        n_bytes = None if n_sized == 0 else int(row["bytes"])
        if n_sized not in (0, n):
            problems.append(f"{row['primitive']}: {n_sized} of {n} have a size")
        found[int(row["rank"])][row["primitive"]] = (n, n_bytes)
        is_blocking = BLOCKING.fullmatch(row["primitive"]) is not None
        if (row["timing"] == "blocking") != is_blocking:
            problems.append(f"{row['primitive']} is {row['timing']}")
    for rank in range(N):
        if found[rank] != expected(rank):
            wrong = set(found[rank].items()) ^ set(expected(rank).items())
            problems.append(f"rank {rank}: {sorted(wrong, key=str)}")
    return problems


def problems_of_messages(tables, sends, comms):
    found = {(int(row["rank"]), int(row["peer"])):
             tuple(int(row[name])
                   for name in ("sent", "sent_bytes", "received", "received_bytes"))
             for row in tables["peers"] if row["sent"] != "0" or row["received"] != "0"}
    expected = {}
    for rank in range(N):
        for step in range(N):
            pair = sends.get(step, (0, 0)) + sends.get((N - step) % N, (0, 0))
            if any(pair):
                expected[rank, (rank + step) % N] = pair
    problems = [] if found == expected else [f"messages {found}, not {expected}"]
    for rank in range(N):
        mine = {row["name"]: (int(row["sent"]), int(row["collectives"]))
                for row in tables["comms"] if int(row["rank"]) == rank}
        if mine != comms:
            problems.append(f"rank {rank}: communicators {mine}, not {comms}")
    return problems


def problems_of_notice(result, n_wanted):
    """Whether it is said so often that there are no slices, and of what."""
    lines = [line for line in result.stderr.splitlines() if "no-slices: " in line]
    is_right = len(lines) == n_wanted and all(
        line.startswith("bcs[rank 0]: no-slices: cBSP_initialize: ") for line in lines)
    return [] if is_right else [f"there are no slices: said {n_wanted} times? {lines}"]


def test_program(runs, report, name, program, expected, messages):
    """One program, with all that can be recorded of it."""
    folder, result = runs.record([program], {}, f"--mds={runs.parent}")
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        tables = export(runs, folder)
        problems = (mds_runs.problems_of_check(runs, folder)
                    + problems_of_calls(tables, expected))
        if messages is not None:
            problems += problems_of_messages(tables, *messages)
        if "MPI library" in runs.read("summary", folder).stdout:
            problems.append("the summary tells of an MPI library")
        problems += problems_of_notice(result, 0 if name == "the BCS API" else 1)
    report.case(name, problems)
    return None if problems else folder


def test_places(runs, report, folder):
    """Calls of a primitive from two functions are told apart; the last calls have peers."""
    tables = export(runs, folder)
    counts = sorted((int(row["count"]), row["place"]) for row in tables["sites"]
                    if row["primitive"] == "bcs_send" and row["rank"] == "0")
    problems = [] if [count for count, _ in counts] == [1, 5] else [str(counts)]
    if runs.arguments.has_lines and not all(
            re.fullmatch(place + r", known_calls_api\.c:\d+", where) for (_, where), place
            in zip(counts, ("to_oneself", "ring"))):
        problems.append(str(counts))
    told = runs.read("events", folder, "--rank", "0", "--most", "100").stdout
    sends = re.findall(r" bcs_send +(\d+) +(\d+) +(\d+) ", told)
    if sends != [("3", "7", "100")] * 5 + [("0", "9", "8")]:
        problems.append(f"events of bcs_send: {sends}")
    report.case("places and events", problems)


def test_settings(runs, report):
    """The variables select what is recorded, as of MPI programs."""
    arguments = runs.arguments
    folder, result = runs.record([arguments.cbsp], {"BCS_MDS_PRIMITIVES": "cBSP_s*"})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        names = {row["primitive"] for row in export(runs, folder)["buckets"]} - {""}
        problems = [] if names == {"cBSP_send"} else [f"distributions of {names}"]
    report.case("BCS_MDS_PRIMITIVES", problems)
    folder, result = runs.record([arguments.api], {"BCS_MDS_RANKS": "1-2"})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        ranks = [row["rank"] for row in export(runs, folder)["processes"]]
        problems = [] if ranks == ["1", "2"] else [f"ranks {ranks}"]
    report.case("BCS_MDS_RANKS", problems)
    _, result = runs.record([arguments.api], {"BCS_MDS_DIR": ""})
    tables = re.findall(r"^MMDS, (.*)$", result.stderr, re.M)
    wanted = [f"all {N} processes", *(f"process {rank}" for rank in range(N))]
    report.case("tables", [] if tables == wanted else [f"{tables} {result.stderr[:300]}"])


def test_no_folder(runs, report):
    """If there can be no folder, one line says so, and tables are printed."""
    where = "/dev/null/runs"
    for mode, titles in {"mmds": ["MMDS"] * (N + 1), "all": ["MMDS"] * (N + 1) + ["EMDS"]}.items():
        _, result = runs.record([runs.arguments.api], {"BCS_MDS": mode, "BCS_MDS_DIR": where})
        problems = [] if result.status == 0 else [result.ending()]
        told = re.findall(r"unwritten: ([^.]*)\. ", result.stderr)
        if told != [f"{where}: Not a directory"]:
            problems.append(f"it is not said once: {result.stderr[:500]!r}")
        found = re.findall(r"^(.MDS), (?:all|process) ", result.stderr, re.M)
        problems += [] if found == titles else [f"tables {found}"]
        report.case(f"no folder, BCS_MDS={mode}", problems)


def test_no_slices(runs, report):
    """cBSP has no slices: whoever asks for them is told so, and has calls alone."""
    for mode, n_lines in {"mmds": 0, "emds": 1, "all": 1}.items():
        folder, result = runs.record([runs.arguments.cbsp], {"BCS_MDS": mode})
        problems = problems_of_notice(result, n_lines)
        if result.status != 0 or (folder is None) != (mode == "emds"):
            problems.append(f"{result.status}, {folder}")
        if folder is not None:
            names = [name for name in os.listdir(folder) if name.startswith(("node", "global"))]
            problems += [f"there is {name}" for name in names]
        report.case(f"no slices, BCS_MDS={mode}", problems)


def test_off(runs, report):
    """With BCS_MDS=off nothing is written, and nothing is said."""
    for program in (runs.arguments.api, runs.arguments.cbsp, runs.arguments.bsplib):
        folder, result = runs.record([program], {"BCS_MDS": "off"})
        problems = [] if folder is None else [f"there is {folder}"]
        if result.status != 0 or "bcs" in result.stderr:
            problems.append(f"{result.status}: {result.stderr[:300]}")
        report.case(f"off, {os.path.basename(program)}", problems)


def test_end(runs, report):
    """A program that is aborted has left all that it has called, and one alone records, too."""
    folder, _ = runs.record([runs.arguments.api, "abort"], {})
    problems = ["there is no folder"]
    if folder is not None:
        tables = export(runs, folder)
        # Not all may have come out of the second one.
        for row in tables["calls"]:
            row["count"] = "1" if row["primitive"] == "bcs_barrier" else row["count"]
        problems = problems_of_calls(tables, api_calls)
    report.case("aborted", problems)
    before = set(os.listdir(runs.parent))
    settings = {"BCS_MDS": "mmds", "BCS_MDS_DIR": runs.parent}
    result = job.run([runs.arguments.cbsp], job.clean_environment(settings))
    new = set(os.listdir(runs.parent)) - before
    folder = os.path.join(runs.parent, new.pop()) if len(new) == 1 else None
    problems = mds_runs.problems_of_end(folder, result)
    report.case("alone", problems or mds_runs.problems_of_check(runs, folder))


def main():
    arguments = parse_arguments()
    runs = mds_runs.Runs(arguments)
    report = job.Report()
    try:
        folder = test_program(runs, report, "the BCS API", arguments.api, api_calls,
                              (API_SENDS, API_COMMS))
        if folder is not None:
            test_places(runs, report, folder)
        test_program(runs, report, "cBSP", arguments.cbsp, cbsp_calls,
                     (CBSP_SENDS, CBSP_COMMS))
        test_program(runs, report, "BSPlib", arguments.bsplib, bsplib_calls, None)
        test_settings(runs, report)
        test_no_folder(runs, report)
        test_no_slices(runs, report)
        test_off(runs, report)
        test_end(runs, report)
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
