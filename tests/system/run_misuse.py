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
MISMATCHED = 87
CLASSES = {2: "MPI_ERR_COUNT", 3: "MPI_ERR_TYPE", 4: "MPI_ERR_TAG", 6: "MPI_ERR_RANK",
           7: "MPI_ERR_REQUEST", 8: "MPI_ERR_ROOT", 10: "MPI_ERR_OP"}
TRUNCATED = 15 # the class of the error, as natively
PLACE = r"at \w+, misuse(?:_\w+)?\.c:\d+(?:, called from [^\n]*)?"
RANK_LIST = r"[\d,-]+"
RANKS = rf"(?:rank|ranks) {RANK_LIST}"
STANDARD = r"^  MPI-3\.1, \d\.\d"
# Other ranks may be in calls by then, which are told, too.
TREE = r"(?:  all ranks by call path, .*\n(?:    .*\n)+)?"
# Who is in an error, and from where.
CALL = rf"^  [\d,-]+: MPI_\w+, on MPI_COMM_WORLD, {PLACE}"

OTHER = rf"{RANKS} (?:are|is) in [\w-]+ on MPI_COMM_WORLD(?:, {RANKS} (?:are|is) in [\w-]+)+$"
LENGTHS = r"lengths differ in a collective on MPI_COMM_WORLD: rank \d+ sends \d+ bytes, rank \d+ expects \d+$"
REFUSED = r"^bcs\[rank \d+\]: collectives differ on MPI_COMM_WORLD: rank \d+: .*, rank \d+: .*$"


def roots(call):
    """How it is told that roots differ: who waits, or what one waits for and another has sent."""
    return rf"roots differ: .*, in {call} on|(?:, root 0.*called it otherwise \(.*, root 1)" \
           rf"|(?:, root 1.*called it otherwise \(.*, root 0)"


def truncated(call, source="rank 0"):
    return [rf"^bcs\[rank 1\]: truncation: {source} sent 16 bytes to rank 1, tag 7, on "
            rf"MPI_COMM_WORLD; the receive has room for 8\n  1: {call}, on MPI_COMM_WORLD, {PLACE}\n{STANDARD}"]


CROWD = [r"two threads of this rank are in collectives on MPI_COMM_WORLD at once$", r"^  MPI-3\.1, 5\.13", CALL]


def argument(call, words, ranks=RANK_LIST, communicator="MPI_COMM_WORLD"):
    """How an error is told that is in the arguments of a call."""
    on = f" on {communicator}" if communicator else ""
    return [rf"^bcs\[rank \d\]: wrong argument: {call}{on}: {words} \(MPI_ERR_\w+\)\n"
            rf"  {ranks}: {call},{on + ',' if on else ''} {PLACE}\n{TREE}"
            r"bcs\[rank \d\]: the job ends with exit status \d+ \(MPI_ERR_\w+, MPI_ERRORS_ARE_FATAL on "
            r"MPI_COMM_WORLD\); see docs/referee\.md$"]


NO_SUCH_RANK = r"but the communicator has ranks 0-\d"
# What else is said, all of it, by case.
WORDS = {
    "argument_root": argument("MPI_Bcast", f"root 99, {NO_SUCH_RANK}"),
    "argument_count": argument("MPI_Bcast", "count -1"),
    "argument_types": argument("MPI_Alltoallw", "the datatype is MPI_DATATYPE_NULL for rank 1"),
    "argument_op": argument("MPI_Allreduce", "the operation is MPI_OP_NULL"),
    "argument_target": argument("MPI_Send", f"rank 99, {NO_SUCH_RANK}"),
    "argument_tag": argument("MPI_Irecv", "tag -5"),
    "argument_type": argument("MPI_Sendrecv", "the datatype is MPI_DATATYPE_NULL"),
    "argument_probe": argument("MPI_Probe", f"rank 99, {NO_SUCH_RANK}"),
    "argument_request": argument("MPI_Start", "invalid request", communicator=None),
    "argument_of_one": argument("MPI_Send", f"rank 99, {NO_SUCH_RANK}", r"\d"),
    "other_collective": [REFUSED, STANDARD, CALL,
                         r"^  [\d,-]+: MPI_Barrier", r"^  [\d,-]+: MPI_Allreduce"],
    "other_collective_long": [OTHER, STANDARD, "in MPI_Barrier", "in MPI_Allreduce"],
    "other_by_messages": [STANDARD, "called it otherwise"],
    "other_nonblocking": [OTHER, STANDARD, "called it otherwise"],
    "root_of_gather": [roots("MPI_Gather")],
    "root_of_gather_long": [roots("MPI_Gather")],
    # Ranks 1 and 2 wait for each other, also before rank 0, which says another root, waits.
    "root_of_scatter_long": [roots("MPI_Scatter") + "|deadlock: ranks 1-2 wait for each other"],
    "root_of_bcast": [r"(?:root 0, 16 bytes.*root 1)|(?:16 bytes from rank 0.*16 bytes from rank 1)"],
    "root_of_bcast_long": [roots("MPI_Bcast")],
    "all_are_roots": [r"^bcs\[rank \d\]: not received: rank \d's part of a collective \(broadcast, root "
                      r"\d, 800 bytes\) on MPI_COMM_WORLD, not called by rank \d, or not alike$", STANDARD],
    "root_of_reduce_long": [roots("MPI_Reduce")],
    "op_of_reduce_long": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "op_of_allreduce": [REFUSED, STANDARD, CALL, "sum of int64.*maximum of int64"],
    "op_of_allreduce_long": ["operations differ: .* sum of int64, .* maximum of int64, in MPI_Allreduce "
                             "on MPI_COMM_WORLD|operations differ: .* maximum of int64, .* sum of int64"],
    "op_of_scan": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "op_of_iallreduce": ["(?:sum|maximum) of int64.*(?:sum|maximum) of int64"],
    "type_of_allreduce": [REFUSED, STANDARD, CALL, "sum of int64.*sum of double"],
    "type_of_allreduce_long": ["sum of (int64|double).*sum of (int64|double)"],
    "count_of_allreduce": [REFUSED, STANDARD, CALL, "16 bytes.*24 bytes"],
    "count_of_bcast": [rf"{LENGTHS}|{REFUSED}", STANDARD, CALL],
    "count_of_bcast_long": [LENGTHS, STANDARD, CALL],
    "count_of_gather": [LENGTHS, STANDARD, r"sends 24 bytes, rank 0 expects 16", CALL],
    "count_of_allgather": [REFUSED, STANDARD, CALL],
    "count_of_alltoall": [rf"{LENGTHS}|{REFUSED}", STANDARD, CALL],
    "truncated_recv": truncated("MPI_Recv"),
    "truncated_recv_long": [r"truncation: rank 0 sent 320000 bytes to rank 1, tag 7, .* room for "
                            r"319992$", rf"^  1: MPI_Recv, on MPI_COMM_WORLD, {PLACE}"],
    "truncated_any": truncated("MPI_Recv"),
    "truncated_wait": truncated("MPI_Wait"),
    "truncated_waitall": [r"320000 bytes .* room for 319992$", r"^  1: MPI_Waitall, "],
    "truncated_test": truncated("MPI_Test"),
    "truncated_persistent": truncated("MPI_Wait"),
    "truncated_sendrecv": truncated("MPI_Sendrecv"),
    "truncated_mrecv": truncated("MPI_Mrecv"),
    "truncated_with_gaps": truncated("MPI_Recv"),
    "truncated_with_gaps_long": [r"320000 bytes .* room for 319992$", r"^  1: MPI_Recv, "],
    "truncated_often": [*truncated("MPI_Recv"), "tells of no more"],
    "crowd_in_barrier": CROWD,
    "crowd": CROWD,
    "crowd_long": CROWD,
    "duplicate_and_barrier": [REFUSED, STANDARD, CALL, "(?:: barrier|: MPI_Comm_dup)(?:.*\\n)*.*"
                              "(?:: barrier|: MPI_Comm_dup)", rf"MPI_Comm_dup, on MPI_COMM_WORLD, {PLACE}"],
    "duplicate_and_split": [REFUSED, STANDARD, CALL, r"MPI_Comm_(?:dup|split)(?:.*\n)*.*MPI_Comm_(?:dup|split)"],
    "ended_before_barrier": [r"rank \d+: barrier", r"rank \d+: MPI_Finalize",
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
            rf"  [\d,-]+: MPI_Alltoall, {2 * n_ranks ** 2} bytes in all, |{LENGTHS}"],
    }.get(name, WORDS.get(name, []))


# Lines of ours, on standard error.
SAID = re.compile(r"^bcs.*|^  [\d,-]+: MPI_.*|^.*MPI-3\.1.*", re.MULTILINE)
# What mpirun of Open MPI 4.1 says of a process that ends by itself with another status than 0.
LAUNCHERS = "non-zero exit code"
# How often each error is told.
ONCE = re.compile(r"truncation: |wrong argument: |not called by|collectives differ|lengths differ"
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
    modes.add_in_turn(parser)
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
    is_stuck = status == DEADLOCKED and "can never continue" in said
    is_error = status in (TRUNCATED, MISMATCHED) and (
        f"the job ends with exit status {status} (MPI_ERR_" in said)
    is_argument = "An error occurred" not in said and (
        f"the job ends with exit status {status} ({CLASSES.get(status)}, MPI_ERRORS_ARE" in said)
    return {"stuck": is_stuck, "error": is_error, "argument": is_argument, "either": is_stuck or is_error,
            "returned": status == 0, "left": status == 0}[ending]


def problem_of_wrong(arguments, case, n_ranks, result):
    name, _, ending = case
    if not is_ending_right(ending, result.status, result.stderr) or result.stdout:
        return f"it does not end by {ending}"
    if LAUNCHERS in result.stderr:
        return "the launcher says it again"
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
