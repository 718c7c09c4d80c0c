#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills one rank while all others wait in a call, for each kind of call.

Then the job must end by itself within 3 s, with a status other than 0 and a message
that names the rank, and must leave no process, no file and nothing in /dev/shm. The same
for a rank that calls MPI_Abort, exits without MPI_Finalize, crashes, or names memory that
must not be used. On a busy machine, where it takes long to start the same job, before or
after, it may take as much longer to end.
"""

import argparse
import os
import random
import re
import shlex
import signal
import sys
import time

import job
import modes

CALLS = (
    "recv recv_from_any ssend large_recv large_send sendrecv wait waitall waitany probe "
    "test_loop iprobe_loop barrier bcast large_bcast allreduce alltoall"
).split()
# Ways to die, and what the others are doing.
DEATHS = {
    "abort": ("recv", "barrier", "large_send"),
    "exit": ("recv", "barrier", "large_send"),
    "crash": ("recv", "barrier", "large_send"),
    "bad_memory": ("large_recv", "large_send"),
}
N_RANKS = 3
ABSENT = 1
# Besides the usual ones: where threads of the first process run the engine.
OTHER_MODES = ("timed-inline-one-direct-eager", "demand-threads-one-pooled-eager",
               "timed-threads-nodes1-direct-eager")
PID_LINE = re.compile(r"rank (\d+) pid (\d+)")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--block", required=True, help="the program block")
    parser.add_argument("--all", action="store_true", help="every call in every mode")
    parser.add_argument("--limit", type=float, default=3, help="seconds to end in")
    parser.add_argument(
        "--starts", type=float, default=8,
        help="or, if that is more, as many times what its start has taken",
    )
    parser.add_argument("--hang", type=float, default=120, help="seconds to wait")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def wait_for_pids(running, timeout=60):
    """Process ids by rank as the ranks print them; fewer if the job ends or hangs."""
    until = time.monotonic() + timeout
    pids = {}
    while len(pids) < N_RANKS and time.monotonic() < until:
        ended = running.process.poll() is not None
        lines = PID_LINE.findall(running.output_so_far())
        pids = {int(rank): int(pid) for rank, pid in lines}
        if ended:
            break
        time.sleep(0.01)
    return pids


def seconds_to_start(command, extra):
    """How long it takes now until all ranks of the job run; it does not go on."""
    running = job.Job(command, job.mpirun_environment(extra))
    try:
        wait_for_pids(running)
        return time.monotonic() - running.start
    finally:
        running.close()


def problems_of(result, running, rank, limit, seconds):
    """What is wrong with how a job has ended, as a list of texts."""
    problems = []
    if result.status is None or seconds > limit:
        problems.append(f"has not ended within {limit:.1f} s")
    if result.status == 0:
        problems.append("ended with status 0")
    # mpirun names a rank that exits as "Process name: [[4711,1],2]".
    if not re.search(rf"\brank {rank}\b|\[\[\d+,1\],{rank}\]", result.stderr):
        problems.append(f"no message names rank {rank}: {result.stderr[:200]!r}")
    if "came out of" in result.stdout:
        problems.append("a rank came out of the call")
    if result.status is not None:
        problems += [f"left {left}" for left in running.leftovers()]
    if problems:
        problems.append(f"{seconds:.1f} s after the death")
    return problems


def one_case(arguments, report, case, extra):
    """One job: case is (call, killed rank or None, way to die or None)."""
    call, killed, death = case
    words = [arguments.block, call, str(ABSENT)] + ([death] if death else [])
    command = shlex.split(arguments.launcher) + ["-n", str(N_RANKS)] + words
    running = job.Job(command, job.mpirun_environment(extra))
    name = f"{call}, {'rank %d killed' % killed if death is None else death}, {extra}"
    repeat = job.shell_line(command, extra)
    try:
        pids = wait_for_pids(running)
        start_seconds = time.monotonic() - running.start
        if death is None:
            if len(pids) < N_RANKS:
                result = running.finish(0)
                report.case(name, [f"did not start: {result.stderr[:200]!r}"], repeat)
                return
            # Any moment is a fair one to die; most are inside of the call.
            time.sleep(random.random() * 0.03)
            os.kill(pids[killed], signal.SIGKILL)
        start = time.monotonic()
        result = running.finish(arguments.hang)
        seconds = time.monotonic() - start
        rank = ABSENT if death else killed
        limit = max(arguments.limit, arguments.starts * start_seconds)
        if seconds > limit:
            again_seconds = seconds_to_start(command, extra)
            limit = max(limit, arguments.starts * again_seconds)
        problems = problems_of(result, running, rank, limit, seconds)
        report.case(name, problems, repeat)
    finally:
        running.close()


def cases_of(everything):
    """Yields (case, mode's variables): all of them, or each case once, in turning modes."""
    modes_tried = [*job.MODES.values(), *(modes.ALL[name] for name in OTHER_MODES)]
    blocked = (ABSENT + 1) % N_RANKS
    kills = [(call, killed, None) for call in CALLS for killed in (ABSENT, blocked)]
    ends = [(call, None, death) for death, calls in DEATHS.items() for call in calls]
    for number, case in enumerate(kills + ends):
        turn = number % len(modes_tried)
        for extra in modes_tried if everything else [modes_tried[turn]]:
            yield case, extra


def main():
    arguments = parse_arguments()
    random.seed(arguments.seed)
    report = job.Report()
    for case, extra in cases_of(arguments.all):
        one_case(arguments, report, case, extra)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
