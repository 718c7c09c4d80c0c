#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs random programs (random_program.c), many seeds a launch, natively and in modes of
BCS. A seed that fails is run again alone and shrunk to the fewest operations with which
it still fails; its text and the line that repeats it are printed.

    run_random.py --build build --seeds 300             some seeds, in a few of the modes
    run_random.py --build build --seeds 20000 --jobs 2  many
    run_random.py --build build --first 77 --seeds 1 --modes nodes2 --ranks 8
"""

import argparse
import concurrent.futures
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system")
)
import job  # noqa: E402
import modes  # noqa: E402

MAX_RANKS = 16
PROGRESS_BYTES = 16 * MAX_RANKS
NATIVE = "native"
HUNG = "hung"
# The mode with the usual value of everything.
DEFAULT = next(iter(modes.ALL))
SECONDS_A_LINE = 60  # of what has run so far
# Where each step of the engine is another thread's, a program takes twice as long as elsewhere;
# ten to forty times as long if there are such threads for several nodes.
SHARE = 24
SHARE_WITH_THREADS = 8
SHARE_WITH_THREADS_OF_NODES = 1
# The tuned alltoall of Open MPI 4.1 writes beyond buffers if a type has gaps.
NATIVE_VARIABLES = {"OMPI_MCA_coll": "^tuned"}


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default="build")
    parser.add_argument("--launcher", help="default: bcsrun of the build")
    parser.add_argument("--program", help="default: random_program of the build")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seeds", type=int, default=300, help="number of seeds")
    parser.add_argument(
        "--per-launch", type=int, default=25,
        help="seeds that one launch runs on the average: with threads fewer than without"
    )
    parser.add_argument("--modes", default="*", help="modes to take in turn")
    parser.add_argument(
        "--native-every", type=int, default=12, help="every n-th launch is a native one"
    )
    parser.add_argument("--ranks", default="8,4,2,5,16", help="taken in turn")
    parser.add_argument(
        "--patience", type=float, default=120, help="seconds without any progress"
    )
    parser.add_argument("--jobs", type=int, default=1, help="launches at a time")
    parser.add_argument(
        "--repeat", type=int, default=10, help="times that a shrinking launch runs"
    )
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable for all modes")
    arguments = parser.parse_args(words)
    tools = os.path.join(arguments.build, "apps/tools/launch/bcsrun")
    arguments.launcher = arguments.launcher or shlex.quote(os.path.abspath(tools))
    arguments.program = os.path.abspath(
        arguments.program
        or os.path.join(arguments.build, "tests/random/random_program")
    )
    return arguments


class Outcome:
    """What has come of a launch: problem is empty if all is well."""

    def __init__(self, problem, seed, places, text):
        self.problem = problem
        self.seed = seed  # under way when it failed
        self.places = places  # by rank: seed and act
        self.text = text


class Launch:
    """A number of ranks and a mode, in which any seeds can be run."""

    def __init__(self, arguments, mode, n_ranks):
        self.arguments = arguments
        self.mode = mode
        self.n_ranks = n_ranks
        settings = dict(word.split("=", 1) for word in arguments.set)
        self.variables = (
            NATIVE_VARIABLES if mode == NATIVE else {**modes.ALL[mode], **settings}
        )

    def share(self):
        """Of the seeds, what such a launch runs, compared with others."""
        values = () if self.mode == NATIVE else modes.values_of(self.mode)
        if "threads" not in values:
            return SHARE
        return SHARE_WITH_THREADS if "one" in values else SHARE_WITH_THREADS_OF_NODES

    def command(self, words):
        native = ["--native"] if self.mode == NATIVE else []
        return [
            *shlex.split(self.arguments.launcher),
            *native,
            "-n",
            str(self.n_ranks),
            self.arguments.program,
            *native,
            *words,
        ]

    def run(self, first, n_seeds, *options):
        """Run seeds until one fails."""
        with tempfile.NamedTemporaryFile(prefix="random-") as progress:
            progress.write(bytes(PROGRESS_BYTES))
            progress.flush()
            command = self.command(
                ["--progress", progress.name, *options, str(first), str(n_seeds)]
            )
            started = job.Job(command, job.mpirun_environment(self.variables))
            try:
                is_hung = self.wait(started, progress)
                result = started.finish(0 if is_hung else 60)
            finally:
                started.close()
            return self.judge(result, is_hung, read_places(progress, self.n_ranks))

    def wait(self, started, progress):
        """Wait for the end. Returns whether no rank has moved for too long."""
        last = None
        guard = job.Guard(self.arguments.patience)
        while not started.has_ended(1):
            progress.seek(0)
            now = progress.read(PROGRESS_BYTES)
            if now != last:
                last, guard = now, job.Guard(self.arguments.patience)
            if guard.is_over():
                return True
        return False

    def judge(self, result, is_hung, places):
        if result.status == 0 and result.stdout.endswith("passed\n"):
            return Outcome("", 0, places, "")
        wrong = re.search(r"WRONG seed (\d+).*\n.*", result.stderr)
        under_way = re.findall(r"^seed (\d+)$", result.stdout, re.M)
        seed = int(wrong.group(1) if wrong else under_way[-1] if under_way else 0)
        if wrong:
            problem = wrong.group(0)
        elif is_hung:
            problem = HUNG
        else:
            problem = f"status {result.status}"
        return Outcome(problem, seed, places, result.stderr)


def read_places(progress, n_ranks):
    progress.seek(0)
    data = progress.read(PROGRESS_BYTES)
    words = [
        int.from_bytes(data[at : at + 8], "little", signed=True)
        for at in range(0, len(data), 8)
    ]
    return list(zip(words[0::2], words[1::2]))[:n_ranks]


def program_text(launch, seed, *options):
    """The program of a seed as text."""
    words = [launch.arguments.program, "--print", str(launch.n_ranks), *options]
    return subprocess.run(
        [*words, str(seed)], capture_output=True, text=True, check=True
    ).stdout


def ranges(numbers):
    """Numbers as a list with ranges, 1,3-5; "-" if there are none."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    texts = [f"{low}-{high}" if high > low else str(low) for low, high in parts]
    return ",".join(texts) or "-"


def shrink(launch, seed):
    """The fewest operations with which a seed still fails, and its last outcome.

    None if it does not fail again alone.
    """
    repeat = ["--repeat", str(launch.arguments.repeat)]
    text = program_text(launch, seed)
    kept = sorted({int(found) for found in re.findall(r"operation (\d+) ", text)})
    outcome = launch.run(seed, 1, *repeat)
    if not outcome.problem:
        return None, outcome
    n_parts = 2
    while len(kept) > 1:
        size = -(-len(kept) // n_parts)
        for at in range(0, len(kept), size):
            fewer = kept[:at] + kept[at + size :]
            tried = launch.run(seed, 1, *repeat, "--keep", ranges(fewer))
            if tried.problem:
                kept, outcome = fewer, tried
                n_parts = max(n_parts - 1, 2)
                break
        else:
            if size == 1:
                break
            n_parts = min(2 * n_parts, len(kept))
    return kept, outcome


def describe(launch, outcome):
    """Lines that tell of a failed seed: what, where, how to repeat it, the program."""
    keep = []
    lines = [f"seed {outcome.seed}: {outcome.problem}"]
    if not launch.arguments.no_shrink and outcome.seed:
        kept, last = shrink(launch, outcome.seed)
        if kept is None:
            lines.append(
                f"    does not fail alone in {launch.arguments.repeat} repetitions"
            )
        else:
            keep = ["--keep", ranges(kept)]
            outcome = last
            lines.append(f"shrunk to {len(kept)} operations: {outcome.problem}")
    text = program_text(launch, outcome.seed, *keep) if outcome.seed else ""
    for rank, (seed, act) in enumerate(outcome.places):
        there = re.search(rf"^.*\bact {act}:.*$", text, re.M) if act >= 0 else None
        where = there.group(0) if there and seed == outcome.seed else f"act {act}"
        lines.append(f"    process {rank} in seed {seed}: {where}")
    words = [*keep, "--repeat", str(launch.arguments.repeat), str(outcome.seed)]
    lines.append(
        "    repeat: " + job.shell_line(launch.command(words), launch.variables)
    )
    if keep:
        lines += ["    " + line for line in text.splitlines()]
    else:
        lines += ["    " + line for line in outcome.text.splitlines()[:20]]
    return lines


def run_all(launch, first, n_seeds):
    """Run seeds, going on after one that fails. Returns texts of the failures.

    A native launch is there for the model, whose mistakes it tells. If it hangs, the MPI library
    does: that is told, and nothing is counted or shrunk.
    """
    failures = []
    n_hung = 0
    end = first + n_seeds
    while first < end and len(failures) + n_hung < 3:
        outcome = launch.run(first, end - first)
        if not outcome.problem:
            return failures
        if launch.mode == NATIVE and outcome.problem == HUNG:
            n_hung += 1
            print(f"natively seed {outcome.seed} hangs with {launch.n_ranks} ranks; not counted")
        else:
            failures.append("\n".join(describe(launch, outcome)))
        first = max(outcome.seed, first) + 1
    return failures


def modes_in_turn(names, start, n):
    """The modes of n launches, from turn start on.

    The default mode is the first of them, unless there are as many launches as modes.
    """
    # Neighbours in the table of modes are alike: a few launches take distant ones.
    step = next(i for i in (17, 19, 23, 1) if len(names) % i or i == 1)
    chosen = [names[turn * step % len(names)] for turn in range(start, start + n)]
    if DEFAULT in names and n < len(names):
        chosen = [DEFAULT, *(mode for mode in chosen if mode != DEFAULT)][:n]
    return chosen


def ranks_in_turn(sizes, n_names, start, n):
    """The numbers of ranks of n launches: another one when a mode's turn comes again."""
    return [
        sizes[(turn % n_names + turn // n_names) % len(sizes)]
        for turn in range(start, start + n)
    ]


def launches_of(arguments):
    """What to launch: as many launches as the seeds need, in turning modes.

    Native launches take no mode's turn, but a number of ranks.
    """
    names = modes.select(arguments.modes)
    sizes = [int(size) for size in arguments.ranks.split(",")]
    n_launches = -(-arguments.seeds // arguments.per_launch)
    every = arguments.native_every
    is_native = [every > 0 and i % every == 0 for i in range(n_launches)]
    n_carried = is_native.count(False)
    start = arguments.first // arguments.per_launch
    carried = zip(modes_in_turn(names, start, n_carried),
                  ranks_in_turn(sizes, len(names), start, n_carried))
    natively = zip(itertools.repeat(NATIVE), itertools.cycle(sizes))
    return [Launch(arguments, *next(natively if native else carried)) for native in is_native]


def with_seeds(arguments, launches):
    """Yields each launch with its first seed and how many: one, and its share of the rest."""
    shares = [launch.share() for launch in launches]
    n_more = arguments.seeds - len(launches)
    first = arguments.first
    for i, launch in enumerate(launches, 1):
        end = arguments.first + i + n_more * sum(shares[:i]) // sum(shares)
        yield launch, first, end - first
        first = end


def main():
    arguments = parse_arguments()
    report = job.Report()
    launches = with_seeds(arguments, launches_of(arguments))

    def carry_out(what):
        return what, run_all(*what)

    told = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (launch, first, n_seeds), failures in pool.map(carry_out, launches):
            name = f"{n_seeds} seeds from {first}, {launch.n_ranks} ranks, {launch.mode}"
            report.case(name, failures)
            if time.monotonic() - told > SECONDS_A_LINE:
                told = time.monotonic()
                print(f"all seeds before {first + n_seeds} have run: {report.n_failed} "
                      "launches failed", flush=True)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
