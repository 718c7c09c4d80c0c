#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of deadlocks.c: those that are stuck end with status 86 and a report that names
their ranks, calls and lines; the others end as natively, and nothing is said of them.
"""

import argparse
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import job
import modes

MODES = {
    "inline": {},
    "inline, nodes of 1": {"BCS_NODE_RANKS": "1"},
    "inline, nodes of 2": {"BCS_NODE_RANKS": "2"},
    "inline, pooled": {"BCS_COPY": "pooled"},
    "inline, nodes of 2, ports backwards": {"BCS_NODE_RANKS": "2", "BCS_FAR_MAP": "falling"},
    "inline, recorded": {"BCS_MDS": "all"},
    "inline, limits": {"BCS_LIMITS": "least"},
    "threads": {"BCS_DRIVER": "threads"},
    "threads, nodes of 2": {"BCS_DRIVER": "threads", "BCS_NODE_RANKS": "2"},
    "timed": {"BCS_STROBE": "timed"},
    "timed, nodes of 1": {"BCS_STROBE": "timed", "BCS_NODE_RANKS": "1"},
    "timed, ports backwards": {"BCS_STROBE": "timed", "BCS_FAR_MAP": "falling"},
    "timed, threads, nodes of 2": {"BCS_STROBE": "timed", "BCS_DRIVER": "threads",
                                   "BCS_NODE_RANKS": "2"},
    "far, in turn": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"},
    "far, a machine each": {"BCS_FAR": "4"},
    "far, nodes of 1": {"BCS_FAR": "2", "BCS_FAR_MAP": "uneven", "BCS_NODE_RANKS": "1"},
    "far, limits": {"BCS_FAR": "2", "BCS_LIMITS": "least"},
    "far, threads": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic", "BCS_DRIVER": "threads"},
    "far, timed": {"BCS_FAR": "2", "BCS_FAR_MAP": "falling", "BCS_STROBE": "timed"},
    "far, timed, nodes of 1": {"BCS_FAR": "3", "BCS_STROBE": "timed", "BCS_NODE_RANKS": "1"},
    "far, timed, threads": {"BCS_FAR": "4", "BCS_STROBE": "timed", "BCS_DRIVER": "threads"},
}
STATUS = 86
VERDICT = re.compile(r"deadlock: ranks? ([\d,-]+) waits? for \w+( other)? and can never continue")

PLACE = r"(?: at \S+, deadlocks\w*\.c:\d+| at 0x\w+ in \S+)"
NEAR = r"^  near miss: rank 0 has sent tag 7 \(4 bytes"
# What else the report says, a line each, of 4 ranks.
WORDS = {
    "another_tag": [rf"{NEAR}\) to rank 1, which expects tag 8, in MPI_Recv{PLACE}$"],
    "another_source": [rf"{NEAR}\) to rank 1, which expects it from rank 1, in MPI_Recv{PLACE}$"],
    "another_communicator": [rf"{NEAR}, MPI_Ssend{PLACE}\) to rank 1 on the grid, which expects "
                             rf"it on MPI_COMM_WORLD, in MPI_Recv{PLACE}$"],
    "another_matter": [r"^  rank 0 has sent tag 9 \(4 bytes\) to rank 1.*, which has not been received$"],
    # Who has not told yet may be missing: the others are deadlocked without it.
    "another_collective": [r"^  ranks? [\d,-]+ (are|is) in MPI_\w+ on MPI_COMM_WORLD, "
                           r"ranks? [\d,-]+ (are|is) in MPI_\w+$",
                           # With little room it goes over messages, along a tree.
                           r"^  3: MPI_Bcast, receive from rank [02], by messages, \d+ bytes, on "
                           r"MPI_COMM_WORLD"],
    "partner_has_ended": [r"^  1[\d,-]*: MPI_Finalize"],
    "send_without_request": [rf"^  0: MPI_Finalize, send to rank 1, tag 7, on MPI_COMM_WORLD,{PLACE}"],
    "send_from_buffer": [r"^  0: MPI_Buffer_detach, send to rank 1, tag 8, on MPI_COMM_WORLD, at",
                         r"^  near miss: rank 0 has sent tag 8 "],
    "probed_and_not_received": [rf"^  rank 1 has sent tag 7 \(4 bytes, MPI_Ssend{PLACE}\) to rank 0 on "
                                r"MPI_COMM_WORLD, which holds it from a matched probe and has not "
                                r"received it$"],
    "one_does_not_duplicate": [rf"^  [0-2,-]+: MPI_Comm_dup, without ranks? [0-3,-]*3, on MPI_COMM_WORLD,{PLACE}, "],
    "one_makes_no_window": [rf"^  [0-2,-]+: MPI_Win_create, without ranks? [0-3,-]*3, on MPI_COMM_WORLD,{PLACE}, "],
    "one_does_not_split_a_part": [r"^  0: MPI_Comm_split, without rank 1, on "],
    "probed_and_finalized": [r"to rank 0 on MPI_COMM_WORLD, which holds it from a matched probe"],
    "receives_on_freed_communicator": [r"^  0: MPI_Wait, receive from rank 1, tag 7, on "],
}
# In what the only message in the file differs from what is expected.
DIFFERENCES = {"another_tag": "tag", "another_source": "source",
               "another_communicator": "communicator", "another_matter": None}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--has-report", action="store_true", help="bcs-top is built")
    parser.add_argument("--ranks", default="4", help="with how many ranks")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these, not in all")
    modes.add_in_turn(parser)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def cases_of(arguments):
    told = subprocess.run([arguments.program], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        name, n_ranks, ending = line.split()
        if arguments.only in name:
            yield name, int(n_ranks), ending == "stuck"


def problem_of_words(name, n_ranks, said):
    missing = [words for words in WORDS.get(name, []) if n_ranks == 4
               and not re.search(words, said, re.MULTILINE)]
    if "(collective, 0 bytes)" in said:
        return "it tells of what members of a communicator tell each other"
    return f"it does not say {missing}" if missing else None


def problem_of(arguments, case, n_ranks, result):
    """What is wrong with a run, or None."""
    name, _, is_stuck = case
    said = VERDICT.search(result.stderr)
    if not is_stuck:
        return None if result.status == 0 and said is None else "it comes to an end"
    if result.status != STATUS or said is None:
        return "no verdict"
    if arguments.has_report and not re.search(r"^  [\d,.-]+: MPI_\w+", result.stderr,
                                              re.MULTILINE):
        return "no report"
    return problem_of_words(name, n_ranks, result.stderr) if arguments.has_report else None


def report_of(folder):
    """The report in the folder of the one run there; None if it is not there, alone and whole."""
    found = glob.glob(os.path.join(folder, "*", "deadlock.json*"))
    if len(found) != 1 or not found[0].endswith(".json"):
        return None
    with open(found[0], encoding="utf-8") as file:
        return json.load(file)


def problem_of_file(name, folder):
    """Whether the report is in the run's folder."""
    report = report_of(folder)
    if report is None:
        return f"no report, or parts of one: {glob.glob(os.path.join(folder, '*', '*'))}"
    job_said = report["job"]
    seen = [message.get("near_miss", {}).get("in") for message in job_said["unreceived"]]
    if report["format"] != "bcs-deadlock 1" or len(job_said["ranks"]) != 4 \
            or not re.search(r"\b1\b|0-", report["stuck"]) or seen != [DIFFERENCES[name]]:
        return f"the report is {report}"
    return None


def is_file_good(arguments, name):
    with tempfile.TemporaryDirectory() as folder:
        result = job.run([*shlex.split(arguments.launcher), "--oversubscribe", "-n", "4",
                          arguments.program, name],
                         job.clean_environment({"BCS_MDS_DIR": folder, "BCS_MDS": "all"}),
                         arguments.timeout)
        problem = problem_of_file(name, folder)
    if problem:
        print(f"{name}, its file: {problem}; {result.ending()}", flush=True)
    return not problem


def is_good(arguments, case, n_ranks, mode):
    name = case[0]
    result = job.run([*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(n_ranks),
                      arguments.program, name],
                     job.clean_environment(MODES[mode]), arguments.timeout)
    problem = problem_of(arguments, case, n_ranks, result)
    if problem:
        print(f"{name}, {n_ranks} ranks, {mode}: {problem}; {result.ending()}", flush=True)
    return not problem


def main():
    arguments = parse_arguments()
    names = arguments.mode or list(MODES)
    runs = [(case, n_ranks, mode) for i, case in enumerate(cases_of(arguments))
            for mode in modes.of_case(names, i, arguments.in_turn)
            for n_ranks in map(int, arguments.ranks.split(",")) if n_ranks >= case[1]]
    n_good = sum(is_good(arguments, *one) for one in runs * arguments.repeat)
    n_runs = len(runs) * arguments.repeat
    for name in DIFFERENCES if arguments.has_report and not arguments.only else []:
        n_good += is_file_good(arguments, name)
        n_runs += 1
    print(f"{n_runs} runs, {n_good} as expected")
    return 0 if n_good == n_runs > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
