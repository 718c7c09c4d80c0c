#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs that are known to be late, to hang or to be killed, with BCS_MDS_DIR: bcs-mds tells
where each rank stands while they run and afterwards, which calls were the last, and who waits for
whom.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sys
import time

import job
import mds_runs

N_TRIES = 3  # of the waits, as others on the machine may delay who should wait


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--traffic", required=True, help="the program known_traffic")
    parser.add_argument("--stuck", required=True, help="the program stuck_ranks")
    parser.add_argument("--stuck-source", required=True, help="its source")
    parser.add_argument("--late", required=True, help="the program late_ranks")
    parser.add_argument("--late-source", required=True, help="its source")
    parser.add_argument("--moved", required=True, help="the same program with other lines")
    parser.add_argument("--has-lines", action="store_true", help="bcs-mds has libdw")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def roll_of(runs, folder):
    """The roll-call of a run: {ranks: words}."""
    told = runs.read("summary", folder)
    found = re.findall(r"^  ([\d,-]+): (.*)$", told.stdout, re.M)
    return dict(found) if told.returncode == 0 else {}


def await_roll(runs, expected, timeout):
    """Wait until some run's roll-call is as expected. Returns the folder, and the last one."""
    guard = job.Guard(timeout)
    while True:
        for name in os.listdir(runs.parent):
            folder = os.path.join(runs.parent, name)
            roll = roll_of(runs, folder)
            if set(roll) == set(expected) and all(map(re.fullmatch, expected.values(),
                                                      map(roll.get, expected))):
                return folder, roll
        if guard.is_over():
            return None, roll
        time.sleep(0.1)


def test_stuck(runs, report):
    """While a program runs, and after it was killed, the summary tells where each rank stands."""
    source = runs.arguments.stuck_source
    name = os.path.basename(source)

    def place(words):
        if not runs.arguments.has_lines:
            return f"0x\\w+ in {os.path.splitext(name)[0]}"
        return f"main, {re.escape(name)}:{mds_runs.line_with(source, words)}"

    barrier = f"MPI_Barrier, on the grid, at {place('all but two')}"
    for option, alone in (
            ("", f"MPI_Waitall, rank 2, tag 7, on the grid, at {place('rank 2')}"),
            ("any", f"MPI_Wait, any rank, any tag, on MPI_COMM_WORLD, at {place('anybody')}")):
        words = {"0": alone, "1-2": barrier, "3": "outside of MPI"}
        settings = {"BCS_MDS": "all", "BCS_MDS_DIR": runs.parent,
                    "BCS_REFEREE": "off"}
        command = [*shlex.split(runs.arguments.launcher), "-n", str(mds_runs.N_RANKS),
                   runs.arguments.stuck, *filter(None, [option])]
        one = job.Job(command, job.mpirun_environment(settings))
        try:
            expected = {ranks: f"{text}, for [\\d.]+ s" for ranks, text in words.items()}
            folder, roll = await_roll(runs, expected, runs.arguments.timeout)
            report.case(f"stuck {option}", [] if folder else [f"{roll}, not {expected}"])
            for pid in one.processes():
                os.kill(pid, signal.SIGKILL)
            one.process.wait()
            expected = {ranks: f"{text}, since [\\d.]+ s of the run "
                               r"\(no such process any more\)"
                        for ranks, text in words.items()}
            folder, roll = await_roll(runs, expected, runs.arguments.timeout)
            problems = [] if folder else [f"{roll}, not {expected}"]
            if folder:
                problems += mds_runs.problems_of_check(runs, folder)
                problems += problems_of_unknown(runs, folder)
                shutil.rmtree(folder)
            report.case(f"killed {option}", problems)
        finally:
            one.close()


def problems_of_unknown(runs, folder):
    """Whether what is known at MPI_Finalize only is told to be not known."""
    told = runs.read("summary", folder, "--ranks").stdout
    rows = re.findall(r"^ +[0-3](?: +[\d.]+){4} +not known  \S", told, re.M)
    problems = [] if len(rows) == mds_runs.N_RANKS else [f"memory: {told!r}"]
    for words in ("slices not known\n", "Passed to the MPI library: not known\n"):
        problems += [] if words in told else [f"no {words!r} in {told!r}"]
    page = runs.read("report", folder, "-o", "-")
    if page.stdout.count("<td>not known<td>not known") != mds_runs.N_RANKS:
        problems.append(f"the page tells memory: {page.stderr!r}")
    if "<p>The run has not ended. Metrics" not in page.stdout:
        problems.append("the page does not tell that slices are of a run that has not ended")
    return problems


def problems_of_slices(told, is_timed):
    """Whether each call has the slices in which it began and ended, if these are by the clock."""
    rows = [line.split(maxsplit=8) for line in told.stdout.splitlines()[1:-1]]
    if not is_timed:
        return [f"on demand: {row}" for row in rows if row[7] != "-"][:3]
    problems, last, n_waits = [], {}, 0
    for row in rows:
        rank, call = row[2], row[3]
        numbers = [0] if row[7] == "-" else list(map(int, row[7].split("-")))
        if numbers != sorted(set(numbers)) or numbers[0] < last.get(rank, 0):
            problems.append(f"rank {rank}: slices {row[7]} after {last.get(rank)}")
        last[rank] = numbers[-1]
        # What all ranks wait for takes a strobe at least.
        if call == "MPI_Barrier":
            n_waits += 1
            problems += [] if len(numbers) == 2 else [f"a barrier in no time: {row}"]
    return (problems + ([] if n_waits else ["no barriers"]))[:3]


def problems_of_export(runs, folder):
    """Whether the timeline has the slices of all calls that ended in one."""
    told = runs.read("export", folder, "--format", "chrome", "-o", "-")
    if told.returncode != 0:
        return [] if "built without Jansson" in told.stderr else [f"chrome: {told.stderr}"]
    about = [event["args"] for event in json.loads(told.stdout)["traceEvents"]
             if event["ph"] == "X" and event["name"] == "MPI_Barrier"]
    return [] if about and all(0 < one["slices"] <= one["slice"] for one in about) else [f"{about}"]


def test_slices(runs, report):
    """With timed strobes calls have the numbers that the recorder of slices counts by itself."""
    for name, mode in (("inline", {}), ("threads", {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"})):
        folder, result = runs.record([runs.arguments.traffic],
                                     {"BCS_MDS": "trace", "BCS_STROBE": "timed", **mode})
        problems = mds_runs.problems_of_end(folder, result)
        if not problems:
            told = runs.read("events", folder, "--most", "1000000")
            problems += problems_of_slices(told, True) + problems_of_export(runs, folder)
            ends = [line.split(maxsplit=8)[7].split("-")[-1]
                    for line in told.stdout.splitlines()[1:-1]]
            rows = runs.read("slices", folder, "--metric", "LTTS", "--node", "0")
            n_slices = sum(int(row.split()[2]) for row in rows.stdout.splitlines()[2:])
            # Those of MPI_Finalize come after the last call.
            if not n_slices // 2 <= max(int(end or 0) for end in ends) <= n_slices:
                problems.append(f"the last call ended in slice {max(ends)} of {n_slices}")
            problems += mds_runs.problems_of_check(runs, folder)
        report.case(f"slices of calls, {name}", problems)


def problems_of_timeline(runs, folder, n_calls):
    """Whether the timeline has each call of each rank once, in order and not at the same time."""
    told = runs.read("export", folder, "--format", "chrome", "-o", "-")
    if told.returncode != 0:
        return [] if "built without Jansson" in told.stderr else [f"chrome: {told.stderr}"]
    events = [event for event in json.loads(told.stdout)["traceEvents"] if event["ph"] == "X"]
    problems, sent = [], {}
    for rank in range(mds_runs.N_RANKS):
        mine = [event for event in events if event["pid"] == rank]
        if len(mine) != n_calls[rank]:
            problems.append(f"rank {rank} has {len(mine)} events, not {n_calls[rank]}")
        for one, other in zip(mine, mine[1:]):
            if one["ts"] + one["dur"] > other["ts"] + 0.01:
                problems.append(f"rank {rank}: {one} and {other}")
        sent[rank] = [event["args"]["bytes"] for event in mine
                      if event["name"] in ("MPI_Send", "MPI_Isend", "MPI_Bsend")
                      and event["args"].get("with") == (rank + 1) % mds_runs.N_RANKS]
    expected = [101, 404, 506, 100000, 1011, 40000, 100]
    return problems + [f"rank {rank} sent {bytes_}" for rank, bytes_ in sent.items()
                       if bytes_ != expected]


def calls_of(runs, folder):
    """How many calls each rank has made."""
    told = [runs.read("summary", folder, "--rank", str(rank)).stdout
            for rank in range(mds_runs.N_RANKS)]
    return [sum(map(int, re.findall(r"^MPI_\w+ +\S+ +\S+ +\S+ +(\d+) +\S+$", text, re.M)))
            for text in told]


def test_trace(runs, report):
    """The last calls are kept, one by one, as many as there is room for."""
    folder, result = runs.record([runs.arguments.traffic], {"BCS_MDS": "trace"})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        n_calls = calls_of(runs, folder)
        problems += mds_runs.problems_of_check(runs, folder)
        problems += problems_of_timeline(runs, folder, n_calls)
        told = runs.read("events", folder, "--most", "1000000")
        if f"{sum(n_calls)} of {sum(n_calls)} events; 0 calls" not in told.stdout:
            problems.append(told.stdout[-200:] + told.stderr)
        problems += problems_of_slices(told, False)
    report.case("trace", problems)
    few = {"BCS_MDS": "trace", "BCS_MDS_EVENTS": "10"}
    folder, result = runs.record([runs.arguments.traffic], few)
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        told = runs.read("events", folder, "--rank", "2")
        n_lost = calls_of(runs, folder)[2] - 10
        if f"10 of 10 events; {n_lost} calls" not in told.stdout:
            problems.append(told.stdout[-200:] + told.stderr)
        elif not re.search(r"2  MPI_Wait .*\n10 of 10", told.stdout):
            problems.append(f"not the last ones: {told.stdout}")
        problems += mds_runs.problems_of_check(runs, folder)
    report.case("ten events", problems)
    folder, result = runs.record([runs.arguments.traffic], {})
    told = runs.read("events", folder)
    is_right = told.returncode == 1 and "record with BCS_MDS=trace" in told.stderr
    report.case("no events", [] if is_right else [f"{told}"])


def waits_of(runs, folder):
    """The table of waits: [(milliseconds, late rank, kind, line of the wait, of the other)]."""
    told = runs.read("waits", folder, "--most", "1000")
    rows = re.findall(r"^ +([\d.]+) +[\d.]+ +\d+ +[\d.]+ +(\d+)  (late [a-z ]+?) +"
                      r"MPI_\w+ at .*?:(\d+), for MPI_\w+ at .*?:(\d+)$", told.stdout, re.M)
    return [(float(ms), int(rank), kind, int(line), int(other))
            for ms, rank, kind, line, other in rows]


def look_for_waits(runs):
    """Whether who is waited for is found, with the kind of the wait, the places and the time.
    @return what is wrong, and the run's folder"""
    folder, result = runs.record([runs.arguments.late], {"BCS_MDS": "trace"})
    problems = mds_runs.problems_of_end(folder, result)
    source, rows = runs.arguments.late_source, []
    if not problems and runs.arguments.has_lines:
        rows = waits_of(runs, folder)
        problems += mds_runs.problems_of_check(runs, folder)
    for kind, rank, waiting, other, least in (
            ("late in collective", 2, "the others wait here", "the others wait here", 300),
            ("late sender", 1, "rank 0 waits here", "for rank 1", 100),
            ("late receiver", 3, "rank 2 waits here", "for rank 3", 100),
            ("late sender", 0, "all wait here", "for the last", 100),
            ("late sender", 1, "all wait here", "for the last", 200),
            ("late sender", 2, "all wait here", "for the last", 300)):
        lines = mds_runs.line_with(source, waiting), mds_runs.line_with(source, other)
        found = [ms for ms, late, its, *where in rows
                 if (late, its) == (rank, kind)
                 and all(abs(n - line) <= 1 for n, line in zip(where, lines))]
        # Both ranks have slept for at least so long; what is less, is a wait that is not seen.
        if runs.arguments.has_lines and not (found and sum(found) > 0.8 * least):
            problems.append(f"{kind} {rank} at {lines}: {found} ms of {least}")
    for words, part in ((["report", folder, "-o", "-"], "<h2>Who is late</h2>"),
                        (["summary", folder], " late sender ")):
        told = runs.read(*words) if not problems else None
        if told is not None and part not in told.stdout:
            problems.append(f"{words[0]} does not tell: {told.stderr}")
    return problems + [f"{rows}"] if problems else [], folder


def test_waits(runs, report):
    """Once in a few runs: on a busy machine who should wait may come late as well."""
    for _ in range(N_TRIES):
        problems, folder = look_for_waits(runs)
        if not problems:
            break
    report.case("waits", problems)
    return folder


def test_moved(runs, folder, report):
    """Places are found again in a program whose lines have moved."""
    moved, result = runs.record([runs.arguments.moved], {"BCS_MDS": "trace"})
    problems = mds_runs.problems_of_end(moved, result)
    told = runs.read("diff", folder, moved, "--most", "1000") if not problems else None
    places = [] if told is None else told.stdout.split("\nCalled from")[1].split("\n\n")[0]
    if told is not None and runs.arguments.has_lines:
        pairs = re.findall(r", late_ranks\.c:(\d+); in B .*, late_ranks\.c:(\d+)$", places, re.M)
        counts = re.findall(r"^MPI_\w+ +(\d+) +(\d+) ", places, re.M)
        n = re.search(r"^\d+ of (\d+) places", runs.read("summary", moved).stdout, re.M)[1]
        if len({int(b) - int(a) for a, b in pairs}) != 1 or len(pairs) != len(counts):
            problems.append(f"{pairs}")
        if f"\n{n} of {n} places" not in places:
            problems.append(f"not {n} places")
        if not counts or any(a != b for a, b in counts):
            problems.append(f"{counts}")
    report.case("moved", problems + [f"{places}"] if problems else [])


def main():
    arguments = parse_arguments()
    report = job.Report()
    runs = mds_runs.Runs(arguments)
    try:
        test_trace(runs, report)
        test_slices(runs, report)
        late = test_waits(runs, report)
        if late:
            test_moved(runs, late, report)
        test_stuck(runs, report)
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
