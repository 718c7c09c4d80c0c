#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of misuse.c. Of the wrong version of each, ranks, calls and lines are named, and what
the standard demands; an error stays an error. The right version ends well, and nothing is said of it,
natively, too.
"""

import argparse
import re
import shlex
import subprocess
import sys

import job
import modes

MODES = {
    f"{strobe}, {driver}, {nodes}": {"BCS_STROBE": strobe, "BCS_DRIVER": driver,
                                     **({} if nodes == "one node" else {"BCS_NODE_RANKS": "1"})}
    for strobe in ("demand", "timed") for driver in ("inline", "threads")
    for nodes in ("one node", "nodes of 1")
}
MODES["demand, inline, ports backwards"] = {"BCS_NODE_RANKS": "1", "BCS_FAR_MAP": "falling"}
DEADLOCKED = 86
PLACE = r"at \w+, misuse(?:_\w+)?\.c:\d+"
RANKS = r"(?:rank|ranks) [\d,-]+"
STANDARD = r"MPI-3\.1, \d\.\d"
# Who is in an error, and from where.
CALL = rf"^  [\d,-]+: MPI_\w+, on MPI_COMM_WORLD, {PLACE}"

OTHER = rf"{RANKS} (?:are|is) in [\w-]+ on MPI_COMM_WORLD(?:, {RANKS} (?:are|is) in [\w-]+)+$"
LENGTHS = r"do not agree on the lengths of a collective: rank \d+ sends \d+ bytes, rank \d+ expects \d+;"
REFUSED = r"are not in the same collective: rank \d+ is in .*, rank \d+ in .*;"


def roots(call):
    """How it is told that roots differ: who waits, or what one waits for and another has sent."""
    return rf"roots differ: .*, in {call} on|(?:, root 0.*called it otherwise \(.*, root 1)" \
           rf"|(?:, root 1.*called it otherwise \(.*, root 0)"


def truncated(call, source="rank 0"):
    return [rf"^bcs\[rank 1\]: truncation: {source} has sent 16 bytes to rank 1, tag 7, on "
            rf"MPI_COMM_WORLD, whose receive has room for 8; {STANDARD}",
            rf"^  1: {call}, on MPI_COMM_WORLD, {PLACE}"]


CROWD = [r"two threads of this rank are in collectives on MPI_COMM_WORLD at once; .*MPI-3\.1, 5\.13", CALL]
# What else is said, all of it, by case.
WORDS = {
    "other_collective": [rf"{REFUSED} {STANDARD}", CALL,
                         r"^  [\d,-]+: MPI_Barrier", r"^  [\d,-]+: MPI_Allreduce"],
    "other_collective_long": [OTHER, STANDARD, "in MPI_Barrier", "in MPI_Allreduce"],
    "other_by_messages": [STANDARD, "called it otherwise"],
    "other_nonblocking": [OTHER, STANDARD, "called it otherwise"],
    "root_of_gather": [roots("MPI_Gather")],
    "root_of_gather_long": [roots("MPI_Gather")],
    # Ranks 1 and 2 wait for each other, also before rank 0, which says another root, waits.
    "root_of_scatter_long": [roots("MPI_Scatter") + "|deadlock: ranks 1-2 can never go on"],
    "root_of_bcast": [r"(?:root 0, 16 bytes.*root 1)|(?:16 bytes from rank 0.*16 bytes from rank 1)"],
    "root_of_bcast_long": [roots("MPI_Bcast")],
    "all_are_roots": [r"^bcs\[rank \d\]: rank \d has sent rank \d its part of a collective \(broadcast, root "
                      r"\d, 800 bytes\) on MPI_COMM_WORLD, which rank \d has not called, or not alike; "
                      + STANDARD],
    "root_of_reduce_long": [roots("MPI_Reduce")],
    "op_of_reduce_long": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "op_of_allreduce": [rf"{REFUSED} {STANDARD}", CALL, "sum of int64.*maximum of int64"],
    "op_of_allreduce_long": ["operations differ: .* sum of int64, .* maximum of int64, in MPI_Allreduce "
                             "on MPI_COMM_WORLD|operations differ: .* maximum of int64, .* sum of int64"],
    "op_of_scan": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "op_of_iallreduce": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "type_of_allreduce": [rf"{REFUSED} {STANDARD}", CALL, "sum of int64.*sum of double"],
    "type_of_allreduce_long": ["sum of (int64|double).*sum of (int64|double)"],
    "count_of_allreduce": [rf"{REFUSED} {STANDARD}", CALL, "16 bytes.*24 bytes"],
    "count_of_bcast": [rf"{LENGTHS} {STANDARD}|{REFUSED} {STANDARD}", CALL],
    "count_of_bcast_long": [rf"{LENGTHS} {STANDARD}", CALL],
    "count_of_gather": [rf"{LENGTHS} {STANDARD}", r"sends 24 bytes, rank 0 expects 16", CALL],
    "count_of_allgather": [rf"{REFUSED} {STANDARD}", CALL],
    "count_of_alltoall": [rf"{LENGTHS} {STANDARD}|{REFUSED} {STANDARD}", CALL],
    "truncated_recv": truncated("MPI_Recv"),
    "truncated_recv_long": [r"truncation: rank 0 has sent 320000 bytes to rank 1, tag 7, .* room for "
                            r"319992;", rf"^  1: MPI_Recv, on MPI_COMM_WORLD, {PLACE}"],
    "truncated_any": truncated("MPI_Recv"),
    "truncated_wait": truncated("MPI_Wait"),
    "truncated_waitall": [r"320000 bytes .* room for 319992;", r"^  1: MPI_Waitall, "],
    "truncated_test": truncated("MPI_Test"),
    "truncated_persistent": truncated("MPI_Wait"),
    "truncated_sendrecv": truncated("MPI_Sendrecv"),
    "truncated_mrecv": truncated("MPI_Mrecv"),
    "truncated_with_gaps": truncated("MPI_Recv"),
    "truncated_with_gaps_long": [r"320000 bytes .* room for 319992;", r"^  1: MPI_Recv, "],
    "truncated_often": [*truncated("MPI_Recv"), "tells of no more"],
    "crowd_in_barrier": CROWD,
    "crowd": CROWD,
    "crowd_long": CROWD,
    "duplicate_and_barrier": [rf"{REFUSED} {STANDARD}", CALL, "(?:a barrier|MPI_Comm_dup).*"
                              "(?:a barrier|MPI_Comm_dup)", rf"MPI_Comm_dup, on MPI_COMM_WORLD, {PLACE}"],
    "duplicate_and_split": [rf"{REFUSED} {STANDARD}", CALL, "MPI_Comm_(?:dup|split).*MPI_Comm_(?:dup|split)"],
    "ended_before_barrier": [r"rank \d+ (?:is )?in a barrier", r"rank \d+ (?:is )?in MPI_Finalize",
                             CALL, STANDARD],
    "ended_before_send": [rf"in MPI_Finalize {PLACE}, while rank 0 waits for what has not been called",
                          r"MPI-3\.1, 8\.7"],
    "ended_before_receive": [rf"in MPI_Finalize {PLACE}, while rank 0 waits", r"MPI-3\.1, 8\.7"],
}


def words_of(name, n_ranks):
    """What the wrong version of a case is to say, as patterns."""
    last = n_ranks - 1
    return {
        "border_of_allgather": [
            rf"^  [\d,-]+: MPI_Allgather, {2 * n_ranks} bytes in all, ",
            rf"^  {last}: MPI_Allgather, .*by messages, (?:200|{200 * n_ranks}) bytes, "],
        "border_of_alltoall": [
            rf"^  [\d,-]+: MPI_Alltoall, {2 * n_ranks ** 2} bytes in all, .*\n(?:.*\n)*"
            rf"  {last}: MPI_Alltoall, .*by messages, 200 bytes, |"
            rf"^  {last}: MPI_Alltoall, .*by messages, 200 bytes, .*\n(?:.*\n)*"
            rf"  [\d,-]+: MPI_Alltoall, {2 * n_ranks ** 2} bytes in all, |{LENGTHS} {STANDARD}"],
    }.get(name, WORDS.get(name, []))


# Lines of ours, on standard error.
SAID = re.compile(r"^bcs.*|^  [\d,-]+: MPI_.*|^.*MPI-3\.1.*", re.MULTILINE)
# How often each error is told.
ONCE = re.compile(r"truncation: |has not called, or|not in the same collective|do not agree on the lengths"
                  "|two threads of this rank")
MOST_BY_ENDING = {"returned": 10, "left": 3} # left: of one rank, which tells for all of the machine
MOST_BY_NAME = {"count_of_alltoall": 10, "border_of_alltoall": 10} # of each two that differ


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--native-launcher", default="mpirun")
    parser.add_argument("--program", required=True, help="the program misuse")
    parser.add_argument("--has-report", action="store_true", help="bcs-top is built")
    parser.add_argument("--ranks", default="3", help="with how many ranks")
    parser.add_argument("--mode", choices=MODES, action="append", help="in these, not in all")
    parser.add_argument("--in-turn", action="store_true",
                        help="each case in one of the modes, one after the other")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def cases_of(arguments):
    told = subprocess.run([arguments.program], capture_output=True, text=True, check=True)
    for line in told.stdout.splitlines():
        name, n_ranks, ending = line.split()
        if arguments.only in name:
            yield name, int(n_ranks), ending


def problem_of_right(result):
    if result.status != 0 or result.stdout or SAID.search(result.stderr):
        return "the right version does not end well, or something is said"
    return None


def is_ending_right(ending, status, said):
    is_stuck = status == DEADLOCKED and "can never go on" in said
    is_error = status not in (0, DEADLOCKED) and "fatal error on MPI_COMM_WORLD" in said
    return {"stuck": is_stuck, "error": is_error, "either": is_stuck or is_error,
            "returned": status == 0, "left": status == 0}[ending]


def problem_of_wrong(arguments, case, n_ranks, result):
    name, _, ending = case
    if not is_ending_right(ending, result.status, result.stderr) or result.stdout:
        return f"it does not end by {ending}"
    n_told = len(ONCE.findall(result.stderr))
    if n_told > MOST_BY_NAME.get(name, MOST_BY_ENDING.get(ending, 1)):
        return f"it is told {n_told} times"
    if not arguments.has_report:
        return None
    missing = [words for words in words_of(name, n_ranks)
               if not re.search(words, result.stderr, re.MULTILINE)]
    return f"it does not say {missing}" if missing else None


def run(launcher, arguments, n_ranks, words, extra):
    return job.run([*shlex.split(launcher), "--oversubscribe", "-n", str(n_ranks),
                    arguments.program, *words], extra, arguments.timeout)


def tell(name, version, n_ranks, where, problem, result):
    if problem:
        print(f"{name} {version}, {n_ranks} ranks, {where}: {problem}; {result.ending()}", flush=True)
    return not problem


def is_wrong_told(arguments, case, n_ranks, mode):
    result = run(arguments.launcher, arguments, n_ranks, [case[0], "wrong"],
                 job.clean_environment(MODES[mode]))
    problem = problem_of_wrong(arguments, case, n_ranks, result)
    return tell(case[0], "wrong", n_ranks, mode, problem, result)


def are_right(arguments, names, n_ranks, mode):
    """The right versions of some cases, which end well, in one job; mode None: natively."""
    launcher, settings = (arguments.launcher, MODES[mode]) if mode else (arguments.native_launcher, {})
    result = run(launcher, arguments, n_ranks, [*names, "right"], job.mpirun_environment(settings))
    return tell(" ".join(names), "right", n_ranks, mode or "natively", problem_of_right(result), result)


def main():
    arguments = parse_arguments()
    good, rights = [], {}
    for i, case in enumerate(cases_of(arguments)):
        chosen = modes.of_case(arguments.mode or list(MODES), i, arguments.in_turn)
        for n_ranks in (n for n in map(int, arguments.ranks.split(",")) if n >= case[1]):
            for mode in [None, *chosen]:
                # With threads, and without.
                rights.setdefault((n_ranks, mode, "crowd" in case[0]), []).append(case[0])
            if case[2] != "right":
                good += [is_wrong_told(arguments, case, n_ranks, mode) for mode in chosen]
    good += [are_right(arguments, names, n_ranks, mode)
             for (n_ranks, mode, _), names in rights.items()]
    print(f"{len(good)} runs, {sum(good)} as expected")
    return 0 if all(good) and good else 1


if __name__ == "__main__":
    sys.exit(main())
