#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Remote commands in whole jobs: all of them beside MPI, cBSP and channels, with and without the
preload, on nodes of one process, on more processes than cores; beside a process that is stopped;
random ones, from seeds; what is refused; what others find of a death; the death of each process,
waiting or in the middle of a command, which leaves nothing behind; what BCS_MDS says that does not record them; and the measuring
program.
"""

import sys

import channel_suite
from channel_suite import NATIVE, RIGHT

GROUPS = ("mix", "random", "crowd", "stopped", "refusals", "survivors", "death", "unrecorded",
          "trips")
SEEDS = range(1, 4)


class Suite(channel_suite.ChannelSuite):
    """The cases; each method is a group of them."""

    def check_mix(self):
        self.be_right_beside("MPI, cBSP and channels", late=(NATIVE, {"BCS_DEFER": "3"}))

    def check_random(self):
        for n in (2, 6):
            for seed in SEEDS:
                self.be_right(f"random commands on {n}, seed {seed}", n, ["random", str(seed)],
                              NATIVE)

    def check_crowd(self):
        for n in (3, 8):
            self.be_right(f"round of {n}", n, ["crowd"], NATIVE)
        self.be_right("patience", 4, ["patience"], NATIVE)

    def check_stopped(self):
        for n in (2, 4):
            for name, (options, settings) in channel_suite.WAYS.items():
                self.be_right(f"one of {n} is stopped, {name}", n, ["stopped"], options, settings)

    def check_refusals(self):
        self.be_refused_outside("region 3 of rank 1 is not open here", "a forked child of process")

    def check_survivors(self):
        """Open MPI 4 lets them go on with this option; MPI_Finalize they leave out."""
        self.succeed("what survivors of a death find", self.mpirun(
            3, "--enable-recovery", self.arguments.program, "survive"), RIGHT.format(n=3), 2,
            look=channel_suite.saying("has ended while rank 0 waits in a remote command"))

    def check_death(self):
        self.die(2, self.arguments.program, "wait_for_ever")
        self.die(2, self.arguments.program, "hammer")

    def check_unrecorded(self):
        """Without a folder; with one tests/system/run_mds_calls.py looks."""
        for mode, notice in {"mmds": "no-report", "emds": "no-slices", "all": "no-report"}.items():
            self.be_right(f"BCS_MDS={mode}", 3, ["crowd"], NATIVE, {"BCS_MDS": mode},
                          channel_suite.saying(f"{notice}: bcs_channels_init: "))

    def check_trips(self):
        self.measure("trips", r"^remote (?:write|read) +[0-9.]+ ")


if __name__ == "__main__":
    sys.exit(Suite(channel_suite.parse_arguments(__doc__, GROUPS)).check())
