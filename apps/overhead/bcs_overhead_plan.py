# SPDX-License-Identifier: BSD-3-Clause
"""What a run of bcs-overhead is made of: the jobs of its experiments, and the sides on which
each is run.

A job is one launch of overhead_measure. All jobs are run once on each side, then all of
them again, as many times as there are repetitions: what differs from launch to launch is
seen, and a drift of the machine favours no side.
"""

import argparse
import os
import re
from dataclasses import dataclass

from bcs_jobs import BenchError
from bcs_session import NO_SETTINGS
from bcs_sides import NATIVE, SIDES

# With timed strobes a message takes up to two slices. What is done less often then, never the
# iterations: what a sample has besides them would weigh more.
TIMED_PART, TIMED_LEAST = 10, 2
TIMED_FEWER = ("--rounds", "--matchings")
REPETITIONS, REPETITIONS_QUICK = 10, 8
EXPERIMENTS = {
    "clock": "resolution and cost of the clocks, and what interrupts a rank",
    "memcpy": "copies by length, alignment, and into new pages",
    "exchange": "two ranks send to each other at once (figures 1 and 2)",
    "pingpong": "a message to and fro between two ranks",
    "barrier": "barriers of 2, 4, 8 and so on processes",
    "hypercube": "exchanges over all dimensions of a hypercube (figure 3)",
    "matchings": "random pairs of all processes exchange (figure 4)",
    "contention": "all pairs of a chain over its middle (figure 5)",
    "placement": "the ping-pong with its two processes on chosen CPUs",
}
# Variables of the environment that change what is measured; a result has them.
KEPT_SETTINGS = ("BCS_", "OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPICH_", "MPIR_", "I_MPI_",
                 "UCX_", "FI_", "MALLOC_")
RELATIONS = {
    "one-cpu": "both on one CPU", "one-core": "two threads of one core",
    "one-cache": "two cores with one last cache",
    "one-socket": "two cores of one socket, with different caches",
    "two-sockets": "two sockets",
}


@dataclass(frozen=True)
class Scale:
    """How much is measured. Words of overhead_measure by experiment; lists are shared."""

    line: tuple  # exchange and pingpong
    short: tuple  # exchange of short messages, None: not at all
    barrier: tuple
    pattern: tuple  # hypercube and contention
    matchings: tuple
    placement: tuple
    memcpy: tuple
    clock: tuple


def words_of(text):
    """The words of a command line."""
    return tuple(text.split())


FULL = Scale(line=words_of("--max 16000 --step 64 --iterations 200 --rounds 5 --seconds 15"),
             short=words_of("--max 2000 --step 16 --iterations 200 --rounds 5 --seconds 15"),
             barrier=words_of("--iterations 1000 --rounds 100 --seconds 3"),
             pattern=words_of("--max 16384 --step 1024 --iterations 100 --rounds 5 "
                              "--seconds 15"),
             matchings=words_of("--max 16384 --step 1024 --iterations 200 --rounds 1 "
                                "--matchings 256 --seconds 60"),
             placement=words_of("--max 16384 --step 4096 --iterations 200 --rounds 10 "
                                "--seconds 10"),
             memcpy=words_of("--iterations 20 --rounds 10 --seconds 10"),
             clock=words_of("--iterations 100 --rounds 20 --seconds 5"))
QUICK = Scale(line=words_of("--max 16000 --step 1000 --iterations 100 --rounds 30 "
                            "--seconds 1"),
              short=None,
              barrier=words_of("--iterations 200 --rounds 100 --seconds 0.5"),
              pattern=words_of("--max 16384 --step 4096 --iterations 50 --rounds 30 "
                               "--seconds 0.5"),
              matchings=words_of("--max 16384 --step 4096 --iterations 50 --rounds 1 "
                                 "--matchings 16 --seconds 0.5"),
              placement=words_of("--max 16384 --step 8192 --iterations 50 --rounds 5 "
                                 "--seconds 0.3"),
              memcpy=words_of("--iterations 2 --rounds 3 --seconds 0.5"),
              clock=words_of("--iterations 20 --rounds 5 --seconds 0.3"))


@dataclass(frozen=True)
class Job:
    """A launch; part is what --only calls it by."""

    name: str
    title: str
    part: str
    experiment: str
    n_ranks: int
    words: tuple  # of overhead_measure, behind the experiment

    def described(self):
        """As the result has it."""
        return {"name": self.name, "title": self.title, "experiment": self.experiment,
                "ranks": self.n_ranks, "arguments": list(self.words)}


@dataclass(frozen=True)
class RunSide:
    """A way to run a job: command without the program's arguments, {n} in it stands for the
    number of ranks; None in settings takes a variable away."""

    name: str
    title: str
    command: tuple
    settings: dict
    is_foreign: bool = False  # started by another launcher

    def described(self):
        """As the result has it."""
        outer = {name: value for name, value in os.environ.items()
                 if name.startswith(KEPT_SETTINGS)}
        kept = {name: value for name, value in {**outer, **self.settings}.items()
                if value is not None}
        return {"name": self.name, "title": self.title, "command": list(self.command),
                "settings": kept}

    def launch(self, job, more=()):
        """The full command of a job."""
        words = [word.replace("{n}", str(job.n_ranks)) for word in self.command]
        return [*words, job.experiment, *self.arguments(job), *more]

    def arguments(self, job):
        """What the program is told behind the experiment: the job's words, and with timed
        strobes fewer rounds and matchings; of two options the last one counts."""
        fewer = []
        if self.settings.get("BCS_STROBE") == "timed" and job.n_ranks > 1:
            for option in TIMED_FEWER:
                if option in job.words:
                    usual = int(job.words[job.words.index(option) + 1])
                    fewer += [option, str(min(usual, max(usual // TIMED_PART, TIMED_LEAST)))]
        return [*job.words, *fewer]


def powers_to(n_most):
    """2, 4, 8 and so on, up to the most."""
    return [1 << i for i in range(1, n_most.bit_length()) if 1 << i <= n_most]


def sized_jobs(part, title, numbers, words):
    """A job for each number of ranks."""
    return [Job(f"{part}-{n}", title.format(n=n), part, part, n, words) for n in numbers]


def jobs_all(scale, n_ranks, pairs_of_cpus, seed):
    """All jobs, in the order of the paper. n_ranks is the largest number of ranks, even;
    pairs_of_cpus has a pair for each relation."""
    numbers = powers_to(n_ranks)
    jobs = [Job("clock", "clocks", "clock", "clock", 1, scale.clock),
            Job("memcpy", "copies within memory", "memcpy", "memcpy", 1, scale.memcpy),
            Job("exchange", "exchange", "exchange", "exchange", 2, scale.line)]
    if scale.short:
        jobs.append(Job("exchange-short", "exchange of short messages", "exchange",
                        "exchange", 2, scale.short))
    jobs.append(Job("pingpong", "ping-pong", "pingpong", "pingpong", 2, scale.line))
    jobs += sized_jobs("barrier", "barrier of {n}", numbers, scale.barrier)
    jobs += sized_jobs("hypercube", "hypercube of {n}", numbers, scale.pattern)
    jobs += sized_jobs("matchings", "random matchings of {n}", [n_ranks],
                       (*scale.matchings, "--seed", str(seed)))
    jobs += sized_jobs("contention", "chain of {n}", numbers, scale.pattern)
    jobs += [Job(f"placement-{relation}", RELATIONS[relation], "placement", "pingpong", 2,
                 (*scale.placement, "--cpus", f"{cpu},{other}"))
             for relation, (cpu, other) in pairs_of_cpus.items()]
    return jobs


def jobs_choose(jobs, only):
    """Those that --only names, or all."""
    return [job for job in jobs if not only or job.part in only]


# --- sides ----------------------------------------------------------------------------


def sides_choose(names, launchers, places, program):
    """The sides by name, then the launchers; natively alone if nothing is named."""
    names = names or ([] if launchers else [NATIVE.name])
    found = []
    for name in dict.fromkeys(names):
        side = SIDES[name]
        command = [places.program("bcsrun"), *(["--native"] if side is NATIVE else []),
                   "-n", "{n}", program]
        found.append(RunSide(name, side.title, tuple(command),
                             side.settings or NO_SETTINGS))
    found += [RunSide(name, name, tuple(words), {}, is_foreign=True)
              for name, words in launchers]
    if len({side.name for side in found}) < len(found):
        raise BenchError("--side, --launcher: each needs a name of its own")
    return found


def launcher_parse(text):
    """NAME=COMMAND, in which {n} stands for the number of processes."""
    name, separator, command = text.partition("=")
    if not re.fullmatch(r"[\w.+-]+", name) or not separator or "{n}" not in command:
        raise argparse.ArgumentTypeError(
            f"{text}: allowed is NAME=COMMAND, a command that starts overhead_measure, "
            "with {n} for the number of processes")
    return name, command.split()


def inject_parse(text):
    """EXPERIMENT=PERCENT."""
    name, _, percent = text.partition("=")
    if name not in EXPERIMENTS or not re.fullmatch(r"\d{1,3}(\.\d+)?", percent):
        raise argparse.ArgumentTypeError(
            f"{text}: allowed is EXPERIMENT=PERCENT, from 0 to 999, of an experiment that "
            "--only knows")
    return name, float(percent)
