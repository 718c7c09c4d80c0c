# SPDX-License-Identifier: BSD-3-Clause
"""Whether a job ends in time after a death or a signal.

What is promised is promised for a quiet machine. Beside load a job may take as many times
longer to end as it takes longer to start than a start like it takes on a quiet one. That
is measured once, at the beginning, where there may be load already: so by its CPU time,
too, which hardly depends on load. And since mpirun itself, that ends a job natively, now and
then takes ten times as long beside load, what is late there is tried again.
"""

import os
import time

import job

# The seconds that a job may take to end after a death, on a quiet machine.
DEATH_SECONDS = 3
# After that many a job hangs, whatever the load.
HANG_SECONDS = 120
# On a quiet machine a start waits for no longer than it computes.
SECONDS_OF_CPU_SECOND = 2
N_TRIES = 3
# A start beside load takes that many times as long as a quiet one.
LOADED = 1.5


def cpu_seconds(pid):
    """The CPU time of a process and of those that it has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            ticks = file.read().rsplit(")", 1)[1].split()[11:15]
    except OSError:
        return 0
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def measure_start(command, wait, extra=None):
    """Start a job, and end it once wait(job) has returned.

    Returns the seconds that it took until then, and those of all its processes on a core.
    """
    started = job.Job(command, job.mpirun_environment(extra))
    try:
        wait(started)
        seconds = time.monotonic() - started.start
        return seconds, sum(map(cpu_seconds, started.processes()))
    finally:
        started.close()


class Promptness:
    """What is late, by the start of a job: measure() is measure_start for the same job
    natively, or, if there is no such, for the job itself.
    """

    def __init__(self, measure):
        starts = [measure() for _ in range(N_TRIES)]
        self.quiet_start = min(
            min(seconds, SECONDS_OF_CPU_SECOND * cpu) for seconds, cpu in starts)

    def limit(self, promised, start_seconds):
        """The seconds that a job may take to end, by what its start has taken."""
        return promised * max(1, start_seconds / self.quiet_start)

    def problems(self, seconds, promised, start_seconds, measure):
        """A text if a job has taken too many seconds to end.

        measure() is measure_start for that job: load may have come since its start.
        """
        limit = self.limit(promised, start_seconds)
        if seconds > limit:
            limit = max(limit, self.limit(promised, measure()[0]))
        if seconds <= limit:
            return []
        return [f"has not ended within {limit:.1f} s, but after {seconds:.1f} s"]

    def in_time(self, run, promised, measure):
        """The problems of run(), which is repeated if it is late beside load.

        It returns its own problems, the seconds that it took to end, and those to start.
        """
        for n_left in reversed(range(N_TRIES)):
            problems, seconds, start_seconds = run()
            late = self.problems(seconds, promised, start_seconds, measure)
            is_loaded = start_seconds >= LOADED * self.quiet_start
            if n_left == 0 or problems or not late or not is_loaded:
                return problems + late
