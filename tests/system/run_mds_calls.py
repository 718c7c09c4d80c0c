#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs without MPI whose calls are known, with BCS_MDS: what bcs-mds exports of the BCS API,
cBSP, BSPlib, channels and remote commands has each call, once, under its own name, with its bytes
and messages; and with BCS_MDS=off nothing is written.
"""

import argparse
import collections
import csv
import io
import os
import re
import shlex
import signal
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
    parser.add_argument("--channels", required=True, help="the program known_calls_channels")
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


def channels_calls(_):
    return {
        "bcs_channel_open_out": (2, None), "bcs_channel_open_in": (2, None),
        "bcs_channel_close_out": (2, None), "bcs_channel_close_in": (2, None),
        "bcs_channel_wait_out": (2, None), "bcs_channel_wait_in": (1, None),
        "bcs_channel_set_handler": (1, None), "bcs_channels_poll": (1, None),
        "bcs_channel_set_helper": (2, None), HANDLER: (1, None),
        "bcs_region_export": (1, None), "bcs_region_import": (1, None),
        "bcs_region_import_now": (1, None), "bcs_region_release": (3, None),
        "bcs_remote_write": (3, 100 + 100 + 8), "bcs_remote_read": (1, 40),
        "bcs_remote_accumulate": (2, 4 * 8 + 4 * 4), "bcs_remote_find": (1, None),
        "bcs_remote_make_buffer": (1, None), "bcs_remote_append": (2, 2 * 24),
        "bcs_remote_append_wait": (1, 24), "bcs_remote_take_wait": (2, 2 * 24),
        "bcs_remote_take": (1, 24), "bcs_remote_wait_long": (2, None),
        "bcs_remote_fetch": (1, 16), "bcs_remote_test": (1, None),
        "bcs_remote_wait_event": (1, None),
    }


# What it sends to the rank so far behind it: messages and bytes. The other rank has received as much.
API_SENDS = {N - 1: (5, 500), 1: (2, 80), 0: (1, 8)}
CBSP_SENDS = {1: (3, 3 * 24), N - 1: (3, 3 * 8)}
# Communicators of each rank: messages sent, collectives.
API_COMMS = {"bcs_world": (3, 10), "": (5, 0)}
CBSP_COMMS = {"cBSP": (6, 4)}
BLOCKING = re.compile(r"bcs_(send|recv|probe|test|testall|barrier|bcast|reduce|scan|"
                      r"reduce_scatter|scatter|gather|allgather|alltoall)|"
                      r"cBSP_(nsync|gsync|broadcast|reduce)|bsp_(begin|end|sync)|"
                      r"bcs_channel_wait_(in|out)|bcs_region_import|"
                      r"bcs_remote_(append_wait|take_wait|wait_long|wait_event)")
HANDLER = "bcs_channel_set_helper(handler)"
# Commands of channels are of these, and are no messages: who is written to makes no call.
CHANNELS_COMMS = {"channels": (0, 0), "regions": (0, 0)}
# known_calls_channels late: who waits in what, for whom, and what that one is late as.
LATE = [
    (0, "bcs_channel_wait_in", 1, "late_sender_ns"),
    (0, "bcs_region_import", 1, "late_sender_ns"),
    (3, "bcs_channel_wait_out", 2, "late_receiver_ns"),
    (3, "bcs_remote_append_wait", 2, "late_receiver_ns"),
]
# known_calls_channels killed: where ranks stand then.
STANDS = ["0: bcs_channel_wait_in, rank 1, tag 5, on channels",
          "2: bcs_remote_wait_long, any rank, tag 3, on regions",
          "3: bcs_remote_wait_event, rank 2, tag 3, on regions"]
LATE_NS, HANDLER_NS = 200000000, 50000000


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


# What has no slices, and who says so.
WITHOUT_SLICES = {"cBSP": "cBSP_initialize", "BSPlib": "cBSP_initialize",
                  "channels": "bcs_channels_init"}


def problems_of_notice(result, callers):
    """Whether these say that there are no slices, each once, and nobody else does."""
    said = re.findall(r"^bcs\[rank 0\]: no-slices: (\w+): ", result.stderr, re.M)
    is_right = said == callers and result.stderr.count("no-slices: ") == len(callers)
    return [] if is_right else [f"no-slices is said by {said}, not {callers}: {result.stderr}"]


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
        elif [row["collectives"] for row in tables["comms"]] != ["4"] * N:
            problems.append(f"BSPlib has not met 4 times: {tables['comms']}")
        if "MPI library" in runs.read("summary", folder).stdout:
            problems.append("the summary tells of an MPI library")
        problems += problems_of_notice(
            result, [WITHOUT_SLICES[name]] if name in WITHOUT_SLICES else [])
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


def test_handler(runs, report, folder):
    """The time of a handler in the helper thread is by itself, and its place is the handler."""
    tables = export(runs, folder)
    problems = []
    for row in tables["calls"]:
        if row["primitive"] == HANDLER and int(row["total_ns"]) < HANDLER_NS:
            problems.append(f"a handler takes {row['total_ns']} ns")
    for process in tables["processes"]:
        calls = [int(row["total_ns"]) for row in tables["calls"]
                 if row["rank"] == process["rank"] and row["timing"] == "nonblocking"
                 and row["primitive"] != HANDLER]
        if abs(int(process["nonblocking_ns"]) - sum(calls)) > len(calls):  # rounded
            problems.append(f"rank {process['rank']}: {process['nonblocking_ns']} ns, {calls}")
    places = {row["place"] for row in tables["sites"] if row["primitive"] == HANDLER}
    if runs.arguments.has_lines and not all(
            re.fullmatch(r"work, known_calls_channels\.c:\d+", place) for place in places):
        problems.append(f"places {places}")
    report.case("a handler in the helper thread", problems)


def problems_of_waits(tables):
    """Whether what ranks have waited for is at the calls, and at the pairs."""
    calls = {(int(row["rank"]), row["primitive"]): row for row in tables["calls"]}
    pairs = {(int(row["rank"]), int(row["peer"])): row for row in tables["peers"]}
    parts = ("late_sender_ns", "late_receiver_ns", "late_collective_ns")
    problems = []
    for rank, name, peer, part in LATE:
        row = calls[rank, name]
        if int(row[part]) < LATE_NS or any(int(row[other]) > 0 for other in parts if other != part):
            problems.append(f"{name} of rank {rank}: {row}")
        if int(pairs[rank, peer][part]) < 2 * LATE_NS:
            problems.append(f"rank {rank} for {peer}: {pairs[rank, peer]}")
    if set(pairs) - {(0, 1), (1, 0), (3, 2), (2, 3)}:
        problems.append(f"pairs {set(pairs)}")
    # Two words: that of another's region is for its owner to change, that of one's own for anybody.
    row = calls[0, "bcs_remote_wait_long"]
    if int(row["late_sender_ns"]) < LATE_NS or int(row["not_split_ns"]) < LATE_NS:
        problems.append(f"bcs_remote_wait_long: {row}")
    return problems


def test_channels_waits(runs, report):
    """Who is waited for at a channel, and at a region, is known."""
    folder, result = runs.record([runs.arguments.channels, "late"], {})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        problems = (mds_runs.problems_of_check(runs, folder)
                    + problems_of_waits(export(runs, folder)))
    report.case("channels, late", problems)


def test_channels_threads(runs, report):
    """Calls of several threads are all counted, and none of a forked child."""
    folder, result = runs.record([runs.arguments.channels, "threads"], {})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        counts = {(row["primitive"], int(row["count"])) for row in export(runs, folder)["calls"]}
        wanted = {("bcs_channel_wait_out", 200000), *((f"bcs_channel_{name}", 2) for name in (
            "open_in", "open_out", "close_in", "close_out"))}
        problems = (mds_runs.problems_of_check(runs, folder)
                    + ([] if counts == wanted else [f"calls {counts}"]))
    report.case("channels, two threads", problems)


def state_of(folder):
    with open(os.path.join(folder, "manifest.txt"), encoding="utf-8") as file:
        return re.search(r"^state: (.*)$", file.read(), re.M).group(1)


def test_channels_leave(runs, report):
    """Each rank leaves by itself; who is the last says that the run has ended."""
    parent = os.path.join(runs.parent, "apart")
    _, result = runs.record([runs.arguments.channels, "apart"], {"BCS_MDS_DIR": parent})
    folders = folders_in(parent)
    problems = [f"folders {folders}"] if len(folders) != 1 else []
    if not problems:
        problems = mds_runs.problems_of_end(folders[0], result)
        if state_of(folders[0]) != "ended":
            problems.append(f"state {state_of(folders[0])}")
        if result.stderr.count("what was recorded is in ") != 1:
            problems.append(f"where it is, is not said once: {result.stderr[:300]}")
    report.case("channels, one after the other", problems)


def folders_in(parent):
    return [os.path.join(parent, name) for name in os.listdir(parent)] if os.path.isdir(parent) else []


def counts_of(runs, folder, rank):
    """How often a rank has called what."""
    return {row["primitive"]: row["count"] for row in export(runs, folder)["calls"]
            if row["rank"] == str(rank)}


def all_stand(runs, parent):
    """Whether ranks wait where they are to, and the one handler has run."""
    folders = folders_in(parent)
    if not folders or counts_of(runs, folders[0], 0).get(HANDLER) != "1":
        return False
    told = runs.read("summary", folders[0]).stdout
    stand = all(re.search(rf"^  {line}\b", told, re.M) for line in STANDS)
    # What is inline is where the program has it.
    return stand and (not runs.arguments.has_lines or re.search(
        STANDS[1] + r", at \w+, known_calls_channels_waits\.c:", told) is not None)


def test_channels_ends(runs, report):
    """What a process has recorded that is killed, or exits without leaving, is in its folder."""
    parent = os.path.join(runs.parent, "killed")
    one = job.Job([*shlex.split(runs.arguments.launcher), "-n", str(N), runs.arguments.channels,
                   "killed"], job.mpirun_environment({"BCS_MDS": "mmds", "BCS_MDS_DIR": parent}))
    try:
        problems = []
        if not one.await_that(lambda: all_stand(runs, parent), 60):
            problems = [f"not all stand there: {runs.read('summary', *folders_in(parent)).stdout}"]
        os.kill(one.find_rank(1), signal.SIGKILL)
        one.finish(runs.arguments.timeout)
        folder = folders_in(parent)[0]
        if counts_of(runs, folder, 1).get("bcs_channel_open_out") != "2":
            problems.append(f"{counts_of(runs, folder, 1)}")
        if state_of(folder) != "running":
            problems.append(f"state {state_of(folder)}")
    finally:
        one.close()
    report.case("channels, killed", problems)
    folder, _ = runs.record([runs.arguments.channels, "exit"], {})
    problems = ["there is no folder"]
    if folder is not None:
        counts = counts_of(runs, folder, 0)
        is_there = os.path.exists(os.path.join(folder, "process.00000.live"))
        if counts == {"bcs_channel_open_out": "1"} and is_there and state_of(folder) == "running":
            problems = []
        else:
            problems = [f"{state_of(folder)} {counts} {os.listdir(folder)}"]
    report.case("channels, exit", problems)


def test_channels_beside(runs, report):
    """Channels and cBSP of one program have a folder each, though they are made in one second."""
    before = set(os.listdir(runs.parent))
    _, result = runs.record([runs.arguments.channels, "beside"], {})
    names, problems = set(), []
    for folder in set(os.listdir(runs.parent)) - before:
        tables = export(runs, os.path.join(runs.parent, folder))
        names.add(" ".join(sorted({row["primitive"].partition("_")[0]
                                   for row in tables["calls"]})))
        # What a channel has waited for is told of its own calls alone.
        problems += [f"{row}" for row in tables["calls"]
                     if row["primitive"] == "cBSP_gsync" and row["not_split_ns"] != row["total_ns"]]
    if names != {"bcs", "cBSP"}:
        problems.append(f"{names} {result.stderr[:300]}")
    report.case("channels beside cBSP", problems)


def test_channels_no_folder(runs, report):
    """Without a folder nothing is recorded, which is said once, and what to set."""
    unwritable = "/proc/bcs"
    for name, folder in {"none": "", "one that cannot be made": unwritable}.items():
        _, result = runs.record([runs.arguments.channels], {"BCS_MDS_DIR": folder})
        told = re.findall(r"no-report: bcs_channels_init: .*Set BCS_MDS_DIR", result.stderr)
        is_so = result.status == 0 and len(told) == 1 and "MMDS" not in result.stderr
        if ("unwritten: " in result.stderr) != (folder != ""):
            is_so = False
        report.case(f"channels, folder: {name}",
                    [] if is_so else [f"{result.status}: {result.stderr[:600]}"])


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
    for mode in ("mmds", "emds", "all"):
        callers = [] if mode == "mmds" else [WITHOUT_SLICES["cBSP"]]
        folder, result = runs.record([runs.arguments.cbsp], {"BCS_MDS": mode})
        problems = problems_of_notice(result, callers)
        if result.status != 0 or (folder is None) != (mode == "emds"):
            problems.append(f"{result.status}, {folder}")
        if folder is not None:
            names = [name for name in os.listdir(folder) if name.startswith(("node", "global"))]
            problems += [f"there is {name}" for name in names]
        report.case(f"no slices, BCS_MDS={mode}", problems)


def test_off(runs, report):
    """With BCS_MDS=off nothing is written, and nothing is said."""
    for program in (runs.arguments.api, runs.arguments.cbsp, runs.arguments.bsplib,
                    runs.arguments.channels):
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
    runs, report = mds_runs.Runs(arguments), job.Report()
    try:
        folder = test_program(runs, report, "the BCS API", arguments.api, api_calls,
                              (API_SENDS, API_COMMS))
        if folder is not None:
            test_places(runs, report, folder)
        test_program(runs, report, "cBSP", arguments.cbsp, cbsp_calls, (CBSP_SENDS, CBSP_COMMS))
        test_program(runs, report, "BSPlib", arguments.bsplib, bsplib_calls, None)
        folder = test_program(runs, report, "channels", arguments.channels, channels_calls,
                              ({}, CHANNELS_COMMS))
        if folder is not None:
            test_handler(runs, report, folder)
        test_channels_waits(runs, report)
        test_channels_threads(runs, report)
        test_channels_leave(runs, report)
        test_channels_ends(runs, report)
        test_channels_beside(runs, report)
        test_channels_no_folder(runs, report)
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
