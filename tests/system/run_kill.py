#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills one rank while all others wait in a call, for each kind of call.

Then the job must end by itself within 3 s, with a status other than 0 and a message
that names the rank, and must leave no process, no file and nothing in /dev/shm. The same
for a rank that calls MPI_Abort, exits without MPI_Finalize, crashes, or names memory that
must not be used. On a busy machine it may take longer to end, as promptness.py tells.
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
import promptness

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
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--block", required=True, help="the program block")
    parser.add_argument("--all", action="store_true", help="every call in every mode")
    parser.add_argument("--limit", type=float, default=promptness.DEATH_SECONDS,
                        help="seconds to end in")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def wait_for_pids(running, timeout=60):
    """Process ids by rank as the ranks print them; fewer if the job ends or hangs."""
    guard = job.Guard(timeout)
    pids = {}
    while len(pids) < N_RANKS and not guard.is_over():
        ended = running.process.poll() is not None
        lines = PID_LINE.findall(running.output_so_far())
        pids = {int(rank): int(pid) for rank, pid in lines}
        if ended:
            break
        time.sleep(0.01)
    return pids


def wait_for_start(running):
    """Wait until all ranks of a job run. RuntimeError if they do not."""
    if len(wait_for_pids(running)) < N_RANKS:
        raise RuntimeError(f"the job does not start: {running.errors_so_far()[:200]!r}")


def problems_of(result, running, rank):
    """What is wrong with how a job has ended, but for when, as a list of texts."""
    problems = []
    if result.status is None:
        problems.append("hung")
    if result.status == 0:
        problems.append("ended with status 0")
    # mpirun names a rank that exits as "Process name: [[4711,1],2]".
    if not re.search(rf"\brank {rank}\b|\[\[\d+,1\],{rank}\]", result.stderr):
        problems.append(f"no message names rank {rank}: {result.stderr[:200]!r}")
    if "came out of" in result.stdout:
        problems.append("a rank came out of the call")
    if result.status is not None:
        problems += [f"left {left}" for left in running.leftovers()]
    return problems


def command_of(launcher, block, case):
    """The command that blocks in the case's call."""
    call, _, death = case
    words = [block, call, str(ABSENT)] + ([death] if death else [])
    return shlex.split(launcher) + ["-n", str(N_RANKS)] + words


def end_of(command, case, extra):
    """Run the job: what is wrong with its end, and how many seconds it took to end and,
    before, to start."""
    _, killed, death = case
    running = job.Job(command, job.mpirun_environment(extra))
    try:
        pids = wait_for_pids(running)
        start_seconds = time.monotonic() - running.start
        if death is None:
            if len(pids) < N_RANKS:
                result = running.finish(0)
                return [f"did not start: {result.stderr[:200]!r}"], 0, start_seconds
            # Any moment is a fair one to die; most are inside of the call.
            time.sleep(random.random() * 0.03)
            os.kill(pids[killed], signal.SIGKILL)
        start = time.monotonic()
        result = running.finish(promptness.HANG_SECONDS)
        seconds = time.monotonic() - start
        problems = problems_of(result, running, ABSENT if death else killed)
        return problems, seconds, start_seconds
    finally:
        running.close()


def one_case(arguments, report, prompt, case, extra):
    """One job: case is (call, killed rank or None, way to die or None)."""
    call, killed, death = case
    command = command_of(arguments.launcher, arguments.block, case)
    alive = command_of(arguments.launcher, arguments.block, (call, killed, None))
    problems = prompt.in_time(
        lambda: end_of(command, case, extra), arguments.limit,
        lambda: promptness.measure_start(alive, wait_for_start, extra))
    name = f"{call}, {'rank %d killed' % killed if death is None else death}, {extra}"
    report.case(name, problems, job.shell_line(command, extra))


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
    job.SharedMemory.separate()
    random.seed(arguments.seed)
    report = job.Report()
    native = command_of(arguments.native_launcher, arguments.block, (CALLS[0], None, None))
    prompt = promptness.Promptness(
        lambda: promptness.measure_start(native, wait_for_start))
    for case, extra in cases_of(arguments.all):
        one_case(arguments, report, prompt, case, extra)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
