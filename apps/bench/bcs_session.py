# SPDX-License-Identifier: BSD-3-Clause
"""A run of bcs-reproduce: its options, the jobs it has run, and which of them failed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from bcs_jobs import Conditions, JobError, job_run, rounds_run
from bcs_sides import NATIVE, SIDES

# None takes a variable away: natively none of them counts.
NO_SETTINGS = {name: None for name in os.environ if name.startswith("BCS_")}


@dataclass(frozen=True)
class Case:
    """One program on one number of ranks: a group of bars and a row of a table."""

    title: str
    n_ranks: int
    command: tuple


class Session:
    """The options, where things are, and what has failed so far."""

    def __init__(self, options, places, folder):
        self.options = options
        self.places = places
        self.folder = Path(folder)
        self.failures = []
        self.conditions = Conditions()  # of the figure that is measured
        self.n_cells = options.cells  # of SWEEP3D; None until they are known

    def sides(self, names):
        """The sides of these names that --sides leaves."""
        return [SIDES[name] for name in names if name in self.options.sides]

    def run(self, side, case, settings=None):
        """What the job has written, or None if it fails, which is told and kept."""
        settings = {**(side.settings or NO_SETTINGS), **(settings or {})}
        command = self.places.launch(case.n_ranks, case.command, side is NATIVE)
        try:
            return job_run(command, self.options.timeout, settings)
        except JobError as error:
            words = [f"{name}={value}" for name, value in settings.items() if value]
            print(f"bcs-reproduce: {' '.join([*words, str(error)])}", file=sys.stderr)
            self.failures.append((f"{side.title}: {error.reason}", case.n_ranks))
            return None

    def output(self, side, case):
        """The standard output of one job, or None if it fails."""
        result = self.run(side, case)
        return result and result.stdout

    def outputs(self, sides, case):
        """The outputs of each side, one a round; None for a side of which a run failed."""
        return self.rounds(sides, lambda side: self.output(side, case))

    def rounds(self, sides, run):
        """What run(side) returns for each side, one a round; see rounds_run."""
        return rounds_run(sides, self.options.rounds, run, self.conditions)

    def report(self, case, side):
        """The report of the monitoring system on one job, or None if it fails."""
        result = self.run(side, case, {"BCS_MDS": "mmds"})
        return result and result.stderr
