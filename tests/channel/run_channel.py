#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open channels in whole jobs: beside MPI and cBSP, with and without the preload, on nodes of
one process, on more processes than cores; handlers in the helper thread; what is refused; the death of
either end, which leaves nothing behind; and the measuring program.
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import library_suite  # noqa: E402

RIGHT = r"^rank \d+ of {n}: 0 wrong$"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--traffic", required=True, help="the test program")
    parser.add_argument("--ping-pong", help="the measuring program")
    library_suite.add_arguments(parser)
    return parser.parse_args()


class Suite(library_suite.LibrarySuite):
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments

    def bcsrun(self, n, *words):
        return [self.arguments.bcsrun, *words[:-1], "-n", str(n), self.arguments.traffic,
                words[-1]]

    def check_mix(self):
        for n in (1, 2, 5):
            for name, options, settings in (("native", ["--native"], {}), ("preload", [], {}),
                                            ("nodes", [], {"BCS_NODE_RANKS": "1"}),
                                            ("threads", [], {"BCS_DRIVER": "threads"})):
                self.succeed(f"beside MPI and cBSP, {name}, {n}",
                             self.bcsrun(n, *options, "mix"), RIGHT.format(n=n), n, settings)

    def check_crowd(self):
        for n in (3, 8):
            self.succeed(f"pipeline on {n}", self.bcsrun(n, "--native", "pipeline"),
                         RIGHT.format(n=n), n)
        self.succeed("patience", self.bcsrun(4, "--native", "patience"), RIGHT.format(n=4), 4)

    def check_refusals(self):
        def look(result):
            said = "called before bcs_channels_init or after bcs_channels_finalize"
            return [] if said in result.stderr else [f"said {result.stderr[:500]!r}"]

        self.succeed("before, after and in a child", self.bcsrun(2, "--native", "outside"),
                     RIGHT.format(n=2), 2, look=look)

    def check_helper(self):
        for n in (2, 8):
            for name, options in (("native", ["--native"]), ("preload", [])):
                self.succeed(f"helper thread beside MPI, {name}, {n}",
                             self.bcsrun(n, *options, "helper"), RIGHT.format(n=n), n)
        self.succeed("helper thread, awake not long", self.bcsrun(2, "helper"),
                     RIGHT.format(n=2), 2, {"BCS_SPIN": "1ns"})
        self.succeed("helper thread, alone", self.bcsrun(1, "helper"), RIGHT.format(n=1), 1)
        # A launcher takes it for an error if a process exits without leaving the job.
        self.succeed("helper thread, exit", [self.arguments.traffic, "helper_exit"],
                     RIGHT.format(n=1), 1)
        for case in ("patience", "child"):
            self.succeed(f"helper thread, {case}", self.bcsrun(4, "--native", f"helper_{case}"),
                         RIGHT.format(n=4), 4)

    def check_death(self):
        self.die(2, self.arguments.traffic, "wait_for_ever")
        self.die(2, self.arguments.traffic, "helper_for_ever")

    def check_ping_pong(self):
        if self.arguments.ping_pong:
            self.succeed("ping-pong", self.mpirun(2, self.arguments.ping_pong, "1"),
                         r"^channel, (?:word by word|many at a time) +[0-9.]+$", 2)
            self.fail("ping-pong of three", self.mpirun(3, self.arguments.ping_pong),
                      r"^usage: channel_ping_pong .* on 2 ranks")


def main():
    suite = Suite(parse_arguments())
    suite.check_mix()
    suite.check_crowd()
    suite.check_helper()
    suite.check_refusals()
    suite.check_death()
    suite.check_ping_pong()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
