#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a deadlocked job that BCS_REFEREE does not end. report and hold tell the verdict,
once, and say what they do; off says nothing. The ranks go on waiting, can be looked at, and leave
nothing behind when the job is ended.
"""

import argparse
import re
import shlex
import sys
import time

import job
import run_top

MODES = {
    "inline": {},
    "inline, nodes of 1": {"BCS_NODE_RANKS": "1"},
    "threads": {"BCS_DRIVER": "threads"},
    "timed": {"BCS_STROBE": "timed"},
}
VERDICT = "deadlock: ranks 0-1 wait for each other"
SAID = {
    "report": r"^bcs\[rank \d\]: BCS_REFEREE=report: the ranks go on waiting$",
    "hold": r"^bcs\[rank \d\]: BCS_REFEREE=hold: the ranks wait; to look at one:\n"
            r"  gdb -p \d+   # rank 0\n  gdb -p \d+   # rank 1$",
}
# Two ranks, each waits for what the other one does not send.
CASE, N_RANKS = "another_tag", 2
# Many times as long as a verdict takes: were it told again, or the job ended, it would be seen.
STILL_S = 1.0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--top", help="the program bcs-top, if it is built")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def stand_of(arguments, one):
    """{rank: calls it waits in} as bcs-top sees the job, whose ranks are processes of it."""
    mine = run_top.jobs_with(run_top.look(arguments)[0], set(one.processes()))
    return {rank["rank"]: [wait["call"] for wait in rank["waits"]]
            for found in mine for rank in found["ranks"]}


def await_stand(arguments, one, expected):
    """Look until all ranks wait in MPI_Recv. Returns what is wrong."""
    is_seen = one.await_that(lambda: stand_of(arguments, one) == expected, arguments.timeout)
    return [] if is_seen else [f"bcs-top sees {stand_of(arguments, one)}"]


def await_verdict(arguments, one, pattern):
    has_said = one.await_that(lambda: re.search(pattern, one.errors_so_far(), re.MULTILINE),
                              arguments.timeout)
    return [] if has_said else [f"it does not say {pattern}"]


def test_kept(arguments, report, setting, mode):
    command = [*shlex.split(arguments.launcher), "--oversubscribe", "-n", str(N_RANKS),
               arguments.program, CASE]
    one = job.Job(command, job.mpirun_environment({**MODES[mode], "BCS_REFEREE": setting}))
    expected = {rank: ["MPI_Recv"] for rank in range(N_RANKS)}
    try:
        problems = await_verdict(arguments, one, SAID[setting]) if setting in SAID else []
        if arguments.top:
            problems += await_stand(arguments, one, expected)
        else:
            one.find_rank(N_RANKS - 1)
        time.sleep(STILL_S)
        said = one.errors_so_far()
        if one.process.poll() is not None:
            problems.append(f"it has ended with {one.process.returncode}")
        if said.count(VERDICT) != (setting in SAID):
            problems.append(f"the verdict is told {said.count(VERDICT)} times")
        if setting not in SAID and "bcs" in said:
            problems.append("it says something")
        if arguments.top and stand_of(arguments, one) != expected:
            problems.append("it does not wait any more")
        one.kill()
        problems += [f"it leaves {left}" for left in one.leftovers()]
        report.case(f"{setting}, {mode}", [*problems, said[-600:]] if problems else [])
    finally:
        one.close()


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    report = job.Report()
    for mode in MODES:
        for setting in [*SAID, "off"]:
            test_kept(arguments, report, setting, mode)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
