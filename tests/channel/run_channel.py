#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open channels in whole jobs: beside MPI and cBSP, with and without the preload, on nodes of
one process, on more processes than cores; handlers in the helper thread; what is refused; ranks that
wait for each other for ever; the death of either end, which leaves nothing behind; and the measuring
program.
"""

import re
import sys

import channel_suite
from channel_suite import NATIVE, RIGHT

GROUPS = ("mix", "crowd", "helper", "refusals", "circles", "death", "ping_pong")
STATUS = 86
VERDICT = r"^bcs\[rank \d+\]: deadlock: at channels, each waits for the next one"
WAITS = r"^bcs\[rank \d+\]:   rank {0} waits for {1} rank {2}$"


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

    def check_circles(self):
        for name, n, wait, next_rank in (
                ("all_receive", 1, "a record of channel 0 from", 0),
                ("all_receive", 2, "a record of channel 0 from", 1),
                ("all_receive", 4, "a record of channel 0 from", 3),
                ("all_send", 3, "room in channel 0 to", 1)):
            self.be_stuck(name, n, WAITS.format(0, wait, next_rank))
        self.be_stuck("all_but_one", 3, WAITS.format(1, "a record of channel 0 from", 0))
        for name in ("late", "late_signal", "round_and_round"):
            for n in (2, 4):
                self.come_round(name, n, {})
        self.come_round("round_and_round", 3, {"BCS_SPIN": "1ns"})

    def be_stuck(self, name, n, line):
        """A circle that is found, by a verdict and a line for each rank."""
        def look(result):
            problems = [] if result.status == STATUS else [f"status {result.status}"]
            return problems + [f"no {text}" for text in (VERDICT, line)
                               if not re.search(text, result.stderr, re.M)]
        self.fail(f"{name} of {n}", self.circle(name, n), VERDICT, look=look)

    def come_round(self, name, n, settings):
        """A circle in which somebody helps: nothing is said."""
        def look(result):
            return ["a verdict"] if "deadlock" in result.stderr else []
        self.succeed(f"{name} of {n}", self.circle(name, n), RIGHT.format(n=n), n, settings, look)

    def circle(self, name, n):
        """The command that runs a case of the program."""
        return [self.arguments.bcsrun, "--native", "-n", str(n), self.arguments.circles, name]

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
    sys.exit(Suite(channel_suite.parse_arguments(__doc__, GROUPS)).check())
