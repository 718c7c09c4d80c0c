#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded of slices in real runs: by strobes and on demand, on one node and on several,
as much as the program has sent; windows, choices and halvings lose nothing of it; files that were
damaged are refused.
"""

import argparse
import json
import os
import re
import sys

import job
import mds_runs

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../mds"))
import folders  # noqa: E402

MESSAGES, BARRIERS = 40, 15
N_RANKS = mds_runs.N_RANKS
MODES = {
    "timed, one node": {"BCS_STROBE": "timed", "BCS_SLICE": "200us"},
    "timed, two nodes": {"BCS_STROBE": "timed", "BCS_SLICE": "200us", "BCS_NODE_RANKS": "2"},
    "timed, threads, two nodes": {"BCS_STROBE": "timed", "BCS_NODE_RANKS": "2",
                                  "BCS_DRIVER": "threads"},
    "on demand, one node": {},
    "on demand, two nodes": {"BCS_NODE_RANKS": "2"},
    "on demand, threads, two nodes": {"BCS_NODE_RANKS": "2", "BCS_DRIVER": "threads"},
}
LOCAL = ["LETTS", "LTDEM", "LTMSM", "LTTS", "NP2PDEM", "NP2PMSM", "NCOLLDEM", "NCOLLMSM", "BPTS",
         "LTRBS", "LTRBR", "LTRDH", "LTRCH", "LTRRH"]
GLOBAL = ["GETTS", "GTDEM", "GTMSM", "GTTS", "USRTS", "USRDEM", "USRMSM"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="the command that starts a job")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--traffic", required=True, help="slice_traffic, or slice_traffic_api")
    parser.add_argument("--api", action="store_true",
                        help="it is on the BCS API: files by themselves are not tested again")
    parser.add_argument("--has-json", action="store_true", help="bcs-mds exports JSON")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def record(runs, settings, *extra):
    """Run the program. Returns its folder and what is wrong already."""
    program = [runs.arguments.traffic, str(MESSAGES), str(BARRIERS), *extra]
    folder, result = runs.record(program, {"BCS_MDS": "emds", **settings})
    return folder, mds_runs.problems_of_end(folder, result)


def exported(runs, folder):
    """The table of slices: {metric: rows}."""
    path = os.path.join(runs.parent, "slices.json")
    told = runs.read("export", folder, "--format", "json", "-o", path)
    if told.returncode != 0:
        raise RuntimeError(told.stderr)
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["slices"]
    metrics = {}
    for row in rows:
        metrics.setdefault(row["metric"], []).append(row)
    return metrics


def total(metrics, name):
    return sum(row["total"] for row in metrics.get(name, []))


def problems_of_numbers(metrics, counts_collectives):
    """Whether the program's messages and barriers are there, all of them once, and the barrier of
    MPI_Finalize, or bcs_finalize."""
    barriers = BARRIERS + 1 if counts_collectives else 0
    wanted = {"NP2PDEM": 2 * MESSAGES * N_RANKS, "NP2PMSM": MESSAGES * N_RANKS,
              "NCOLLDEM": barriers * N_RANKS, "NCOLLMSM": barriers}
    return [f"{name} comes to {total(metrics, name)}, wanted {number}"
            for name, number in wanted.items() if total(metrics, name) != number]


def problems_of_rows(metrics, is_timed, has_sender):
    """Whether rows of slices agree with each other."""
    problems = []
    if has_sender != ("GETTS" in metrics):
        problems.append(f"there are {sorted(metrics)}")
    problems += [f"there is no {name}" for name in LOCAL if name not in metrics]
    problems += [f"there is no {name}" for name in GLOBAL if has_sender and name not in metrics]
    for name, rows in metrics.items():
        for row in rows:
            # each of them is rounded, from ticks to nanoseconds
            least, most = row["minimum"] - 1, row["maximum"] + 1
            if not least * row["count"] <= row["total"] <= most * row["count"]:
                problems.append(f"{name}: {row}")
            if is_timed and row["count"] > 1:
                problems.append(f"{name}: several slices in one row: {row}")
            if row["count"] > row["slices"]:
                problems.append(f"{name}: more than there were: {row}")
    if is_timed:
        begins = {row["first"]: row["began_ns"] for row in metrics["GETTS"]}
        for row in metrics["GETTS"]:
            before = begins.get(row["first"] - 1)
            elapsed = row["began_ns"] - before if before is not None else row["total"]
            if abs(elapsed - row["total"]) > 2:
                problems.append(f"GETTS is not the time between two begins: {row}")
    return problems[:5]


def test_modes(runs, report):
    """Returns the folder of the run with timed slices on two nodes."""
    kept = None
    for name, mode in MODES.items():
        folder, problems = record(runs, mode)
        if not problems:
            problems = mds_runs.problems_of_check(runs, folder)
        if not problems and runs.arguments.has_json:
            is_timed = "timed" in name
            metrics = exported(runs, folder)
            problems = problems_of_numbers(metrics, is_timed or "two nodes" in name)
            problems += problems_of_rows(metrics, is_timed, name != "on demand, one node")
        report.case(name, problems)
        if name == "timed, two nodes":
            kept = folder
    return kept


def gaps(rows, slice_ns):
    """From each slice in which there was something to the next such one: how many slices of the
    clock, and how many ns from a whole number of them."""
    begins = [row["began_ns"] for row in rows if row["total"] > 0]
    return [(round((after - before) / slice_ns),
             abs((after - before + slice_ns // 2) % slice_ns - slice_ns // 2))
            for before, after in zip(begins, begins[1:])]


def of_node(rows):
    """Of each file its rows: {what it is called: rows}."""
    names = {}
    for row in rows:
        name = "all nodes" if row["scope"] == "global" else f"node {row['node']}"
        names.setdefault(name, []).append(row)
    return names


def problems_of_lines(told, lines):
    """Whether the check says just these lines, (text, how many were met, of how many), and that
    it has found those of which more than 1 % were not met."""
    problems = [f"no {line}" for text, n_met, n in lines
                if (line := f"{text} {n_met} of {n} times") not in told.stdout.splitlines()]
    n_found = sum((n - n_met) * 100 > n for _, n_met, n in lines)
    if told.returncode != (n_found > 0) or f", {n_found} findings\n" not in told.stdout:
        problems.append(f"status {told.returncode}, {n_found} findings wanted: {told.stdout}")
    return problems


def test_rhythm(runs, report, folder):
    """What is expected of timed slices is counted again here, from what was exported."""
    if not runs.arguments.has_json:
        print("skipped: the rhythm of slices, as there is no JSON to count from")
        return
    metrics = exported(runs, folder)
    slice_ns = 200000
    for n_slices in (1, 2, 3):
        lines = []
        for name, rows in of_node(metrics["NCOLLDEM"]).items():
            found = [n for n, _ in gaps(rows, slice_ns)]
            lines.append((f"{name}: NCOLLDEM comes every {n_slices} slices",
                          found.count(n_slices), len(found)))
        told = runs.read("check", folder, "--every", f"NCOLLDEM={n_slices}")
        report.case(f"every {n_slices} slices", problems_of_lines(told, lines))
    for most_us in (0, 100):
        lines = []
        for name, rows in {**of_node(metrics["LETTS"]), **of_node(metrics["GETTS"])}.items():
            off = [ns for _, ns in gaps([{**row, "total": 1} for row in rows], slice_ns)]
            lines.append((f"{name}: slices are within {most_us} us of their grid",
                          sum(ns <= most_us * 1000 for ns in off), len(off)))
        told = runs.read("check", folder, "--grid", str(most_us))
        report.case(f"a grid of {most_us} us", problems_of_lines(told, lines))


def test_no_rhythm(runs, report, folder):
    """Where nothing can be told of what is expected, that is a finding; what makes no sense is
    refused."""
    told = runs.read("check", folder, "--every", "NOTHING=2")
    is_told = told.returncode == 1 and "NOTHING comes every 2 slices: cannot be told" in told.stdout
    report.case("a rhythm of no metric", [] if is_told else [str(told)])
    folder, problems = record(runs, {})
    if not problems:
        told = runs.read("check", folder, "--grid", "20")
        if told.returncode != 1 or "cannot be told; it needs timed slices" not in told.stdout:
            problems.append(str(told))
    report.case("a grid on demand", problems)
    for words in (["--every", "9"], ["--every", "LTTS=0"], ["--every", "LTTS=x"], ["--every", "=3"],
                  ["--grid", "1000001"], ["--grid", "-1"], ["--every", "LTTS=1"] * 9):
        told = runs.read("check", folder, *words)
        is_told = told.returncode == 2 and words[0] in told.stderr or "a number" in told.stderr
        report.case(f"check {' '.join(words[:2])}", [] if is_told else [str(told)])


def test_choices(runs, report):
    timed = MODES["timed, two nodes"]
    folder, problems = record(runs, {**timed, "BCS_MDS_WINDOW": "5,10"})
    if not problems:
        told = runs.read("slices", folder, "--metric", "LTTS", "--node", "1").stdout.splitlines()
        if [line.split()[0] for line in told[2:]] != [str(i) for i in range(5, 15)]:
            problems.append(f"window of 10 from 5 on: {told}")
        problems += mds_runs.problems_of_check(runs, folder)
    report.case("a window", problems)

    folder, problems = record(runs, {**timed, "BCS_MDS_SLICES": "3"})
    if not problems and runs.arguments.has_json:
        metrics = exported(runs, folder)
        problems = problems_of_numbers(metrics, True) + mds_runs.problems_of_check(runs, folder)
        for name in ("LTTS", "GTTS"):
            n_rows = len(metrics[name]) // (2 if name == "LTTS" else 1)
            if not 2 <= n_rows <= 4:
                problems.append(f"{name}: {n_rows} rows, 4 at most")
    report.case("coarser by halves", problems)

    chosen = {"BCS_MDS_METRICS": "LTTS,NP2P*", "BCS_MDS_NODES": "1"}
    folder, problems = record(runs, {**timed, **chosen})
    if not problems:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".mds"))
        if names != ["node.00001.mds"]:
            problems.append(f"files {names}")
        told = runs.read("slices", folder, "--metric", "BPTS")
        if told.returncode != 1 or not told.stderr.endswith("there are LTTS, NP2PDEM, NP2PMSM\n"):
            problems.append(f"BPTS: {told}")
    report.case("chosen metrics and nodes", problems)

    for name, text in {"BCS_MDS_WINDOW": "7500", "BCS_MDS_NODES": "x", "BCS_MDS_SLICES": "1"}.items():
        folder, result = runs.record([runs.arguments.traffic, "1", "1"],
                                     {"BCS_MDS": "emds", name: text})
        is_told = result.status != 0 and name in result.stderr and folder is None
        report.case(f"{name}={text}", [] if is_told else [f"{result.status} {result.stderr[-300:]}"])


def test_all(runs, report):
    """With calls of processes, in one folder; summary and page have both."""
    folder, problems = record(runs, {**MODES["timed, two nodes"], "BCS_MDS": "all"})
    if not problems:
        barrier = "bcs_barrier" if runs.arguments.api else "MPI_Barrier"
        summary = runs.read("summary", folder).stdout
        problems += [f"summary has no {word}" for word in (barrier, "GTDEM", "NCOLLMSM", "EMDS")
                     if word not in summary]
        page = runs.read("report", folder, "-o", "-").stdout
        problems += [f"the page has no {word}" for word in (barrier, "GTDEM", "NCOLLMSM")
                     if word not in page]
        problems += mds_runs.problems_of_check(runs, folder)
    report.case("calls and slices", problems)


def test_tables(runs, report):
    """Without a folder the same numbers are in one table, behind that of the calls."""
    program = [runs.arguments.traffic, str(MESSAGES), str(BARRIERS)]
    for mode, name, n_nodes in (("emds", "timed, two nodes", 2), ("all", "on demand, one node", 1),
                                ("trace", "on demand, threads, two nodes", 2)):
        _, result = runs.record(program, {"BCS_MDS": mode, "BCS_MDS_DIR": "", **MODES[name]})
        lines = result.stderr.splitlines()
        titles = re.findall(r"^.MDS, all \d+ [a-z]+", result.stderr, re.M)
        totals = {line.split()[0]: line.split()[3] for line in lines if len(line.split()) == 6}
        calls = [] if mode == "emds" else [f"MMDS, all {N_RANKS} processes"]
        problems = [] if result.status == 0 else [result.ending()]
        if titles != [*calls, f"EMDS, all {n_nodes} nodes"]:
            problems.append(f"titles {titles}")
        wanted = {"NP2PDEM": 2 * MESSAGES * N_RANKS}
        if n_nodes > 1:
            wanted["NCOLLMSM"] = BARRIERS + 1  # of the first node alone
        problems += [f"{metric} of {totals}, wanted {number}" for metric, number in wanted.items()
                     if totals.get(metric) != str(number)]
        report.case(f"a table, {mode}, {name}", problems)


def test_alone(runs, report):
    """A process that nobody has launched is a job with slices, too."""
    for name in ("timed, one node", "on demand, one node"):
        before = set(os.listdir(runs.parent))
        environment = job.clean_environment(
            {"BCS_MDS": "all", "BCS_MDS_DIR": runs.parent, **MODES[name]})
        result = job.run([runs.arguments.traffic, str(MESSAGES), "0"], environment)
        new = set(os.listdir(runs.parent)) - before
        folder = os.path.join(runs.parent, new.pop()) if len(new) == 1 else None
        problems = mds_runs.problems_of_end(folder, result)
        if not problems:
            problems = mds_runs.problems_of_check(runs, folder)
            told = runs.read("slices", folder, "--metric", "NP2PDEM").stdout.splitlines()
            total = sum(int(line.split()[6]) for line in told[2:])
            problems += [] if total == 2 * MESSAGES else [f"NP2PDEM comes to {total}"]
        report.case(f"alone, {name}", problems)


def damages(content):
    """Contents that are not to be read: {what: bytes}."""
    spans = content.index(b"spans\0\0\0")
    offset, n_bytes = (int.from_bytes(content[spans + at:spans + at + 8], "little")
                       for at in (8, 16))
    node = int.from_bytes(content[32 + 8:32 + 16], "little")

    def changed(at, number, n):
        return folders.repaired(content[:at] + number.to_bytes(n, "little") + content[at + n:])

    return {
        "cut off": content[:len(content) // 2],
        "a byte turned": content[:offset] + bytes([content[offset] ^ 1]) + content[offset + 1:],
        "of another kind": changed(12, 9, 4),
        "of another version": changed(8, 2, 4),
        "a node too many": changed(node, 7, 4),
        "spans of too many slices": changed(node + 72, 64, 4),
        "spans not in order": changed(offset + n_bytes - 24, 0, 8),
        "fewer spans than tallies": changed(spans + 24, 1, 4),
        "empty": b"",
    }


def test_damage(runs, report, folder):
    path = os.path.join(folder, "node.00001.mds")
    with open(path, "rb") as file:
        content = file.read()
    for what, damaged in damages(content).items():
        with open(path, "wb") as file:
            file.write(damaged)
        told = runs.read("slices", folder, "--metric", "LTTS")
        is_told = told.returncode == 1 and "node.00001.mds" in told.stderr and not told.stdout
        report.case(f"damaged: {what}", [] if is_told else [str(told)])
    # What is sound by itself, but cannot be: a node that took longer than all of them.
    tallies = int.from_bytes(content[content.index(b"tallies\0") + 8:][:8], "little")
    at = tallies + LOCAL.index("LTTS") * 32 + 8
    with open(path, "wb") as file:
        file.write(folders.repaired(content[:at] + (1 << 40).to_bytes(8, "little") + content[at + 8:at + 16]
                                    + (1 << 40).to_bytes(8, "little") + content[at + 24:]))
    told = runs.read("check", folder)
    is_told = told.returncode == 1 and "LTTS of node 1 is" in told.stdout
    report.case("a node that took longer than all", [] if is_told else [str(told)])
    with open(path, "wb") as file:
        file.write(content)


def main():
    arguments = parse_arguments()
    runs = mds_runs.Runs(arguments)
    report = job.Report()
    try:
        folder = test_modes(runs, report)
        test_choices(runs, report)
        test_all(runs, report)
        test_tables(runs, report)
        if arguments.api:
            test_alone(runs, report)
        else:
            test_rhythm(runs, report, folder)
            test_no_rhythm(runs, report, folder)
            test_damage(runs, report, folder)
            mds_runs.test_picture(runs, report, folder, "slices", "--metric", "GETTS")
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
