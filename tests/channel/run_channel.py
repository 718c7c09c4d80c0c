#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open channels in whole jobs: beside MPI and cBSP, with and without the preload, on nodes of
one process, on more processes than cores; handlers in the helper thread; what is refused; the death of
either end, which leaves nothing behind; and the measuring program.
"""

import sys

import channel_suite
from channel_suite import NATIVE, RIGHT

GROUPS = ("mix", "crowd", "helper", "refusals", "death", "ping_pong")


class Suite(channel_suite.ChannelSuite):
    """The cases; each method is a group of them."""

    def check_mix(self):
        self.be_right_beside("MPI and cBSP", threads=([], {"BCS_DRIVER": "threads"}))

    def check_crowd(self):
        for n in (3, 8):
            self.be_right(f"pipeline on {n}", n, ["pipeline"], NATIVE)
        self.be_right("patience", 4, ["patience"], NATIVE)

    def check_refusals(self):
        self.be_refused_outside()

    def check_helper(self):
        for n in (2, 8):
            for name, options in (("native", NATIVE), ("preload", [])):
                self.be_right(f"helper thread beside MPI, {name}, {n}", n, ["helper"], options)
        self.be_right("helper thread, awake not long", 2, ["helper"],
                      settings={"BCS_SPIN": "1ns"})
        self.be_right("helper thread, alone", 1, ["helper"])
        # A launcher takes it for an error if a process exits without leaving the job.
        self.succeed("helper thread, exit", [self.arguments.program, "helper_exit"],
                     RIGHT.format(n=1), 1)
        for case in ("patience", "child"):
            self.be_right(f"helper thread, {case}", 4, [f"helper_{case}"], NATIVE)

    def check_death(self):
        self.die(2, self.arguments.program, "wait_for_ever")
        self.die(2, self.arguments.program, "helper_for_ever")

    def check_ping_pong(self):
        self.measure("ping-pong", r"^channel, (?:word by word|many, waited for) +[0-9.]+$")


if __name__ == "__main__":
    sys.exit(Suite(channel_suite.parse_arguments(__doc__)).check(GROUPS))
