# SPDX-License-Identifier: BSD-3-Clause
"""What the suites of programs on our libraries have in common: mpirun starts a program
that is not under the preload, and it must succeed or fail in a certain way and leave
nothing behind.
"""

import os
import re
import signal
import time

import job
import promptness


def no_problems(_result):
    """A look at a job's result that finds nothing wrong."""
    return []


def is_status_of_killed(result):
    """The problems of a job that ought to end with the status of a killed process."""
    wanted = 128 + signal.SIGKILL
    return [] if result.status == wanted else [f"status {result.status}, not {wanted}: "
                                               f"{result.stderr[:1000]!r}"]


def problems_of_failure(started, result):
    """The problems of a job that ought to have failed and to leave nothing behind."""
    problems = [f"status {result.status}"] if result.status in (0, None) else []
    # Files in its folder are those of mpirun, which it leaves when it ends a job.
    return problems + started.leftovers(with_folder=False)


def add_arguments(parser):
    """Options of all suites of programs on our libraries."""
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--limits", help="BCS_LIMITS of all jobs")
    parser.add_argument("--defer", help="BCS_DEFER of all jobs")
    parser.add_argument("--far", help="BCS_FAR of all jobs")


class LibrarySuite:
    """Cases, reported one by one; a subclass adds groups of them.

    Arguments are those of a parser with the options of add_arguments.
    """

    def __init__(self, arguments):
        self.launcher = arguments.mpirun
        given = {"BCS_LIMITS": arguments.limits, "BCS_DEFER": arguments.defer,
                 "BCS_FAR": arguments.far}
        self.settings = {name: value for name, value in given.items() if value}
        self.report = job.Report()
        job.SharedMemory.separate()

    def mpirun(self, n, *command):
        """The command that starts n processes."""
        return [self.launcher, "-n", str(n), *command]

    def succeed(self, name, command, wanted, n_lines, settings=None, look=no_problems):
        """A job that must succeed and print n_lines lines that match wanted; look as in
        fail.
        """
        settings = {**self.settings, **(settings or {})}
        result = job.run(command, job.mpirun_environment(settings))
        found = re.findall(wanted, result.stdout, re.M)
        problems = []
        if result.status != 0:
            problems.append(f"status {result.status}: {result.stderr[-500:]!r}")
        if result.status != 0 or len(found) != n_lines:
            problems.append(f"printed {result.stdout[:1000]!r}")
        problems += look(result)
        self.report.case(name, problems, job.shell_line(command, settings))

    def fail(self, name, command, said, settings=None, look=no_problems):
        """A job that must fail and say something on standard error.

        look returns the problems that it finds in the job's result.
        """
        settings = {**self.settings, **(settings or {})}
        started = job.Job(command, job.mpirun_environment(settings))
        try:
            result = started.finish(60)
            problems = look(result) + problems_of_failure(started, result)
        finally:
            started.close()
        if not re.search(said, result.stderr, re.M):
            problems.append(f"said {result.stderr[:1000]!r}")
        self.report.case(name, problems, job.shell_line(command, settings))

    def die(self, n, *words):
        """Kill each of n processes in turn; the launcher must end the others, in time.

        Its status is that of the killed process. What it says is no measure: beside load,
        mpirun of Open MPI 4.1 sometimes ends after "1 process returned a non-zero exit
        code", before it has said which one and why, under a program without the library
        as well. The library itself promises no line.
        """
        command = self.mpirun(n, *words)

        def measure_start():
            return promptness.measure_start(command, lambda started: started.find_rank(0),
                                            self.settings)

        def end_of(victim):
            started = job.Job(command, job.mpirun_environment(self.settings))
            try:
                pid = started.find_rank(victim)
                start_seconds = time.monotonic() - started.start
                os.kill(pid, signal.SIGKILL)
                killed = time.monotonic()
                result = started.finish(promptness.HANG_SECONDS)
                seconds = time.monotonic() - killed
                problems = problems_of_failure(started, result)
                return problems + is_status_of_killed(result), seconds, start_seconds
            finally:
                started.close()

        prompt = promptness.Promptness(measure_start)
        for victim in range(n):
            problems = prompt.in_time(lambda who=victim: end_of(who),
                                      promptness.DEATH_SECONDS, measure_start)
            self.report.case(f"death of process {victim}", problems,
                             job.shell_line(command, self.settings))
