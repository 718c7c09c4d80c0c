#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Remote commands in whole jobs: all of them beside MPI, cBSP and channels, with and without the
preload, on nodes of one process, on more processes than cores; random ones, from seeds; what is
refused; what others find of a death; the death of each process, waiting or in the middle of a
command, which leaves nothing behind; and the measuring program.
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import library_suite  # noqa: E402

RIGHT = r"^rank \d+ of {n}: 0 wrong$"
SEEDS = range(1, 4)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--remote", required=True, help="the test program")
    parser.add_argument("--trips", help="the measuring program")
    library_suite.add_arguments(parser)
    return parser.parse_args()


class Suite(library_suite.LibrarySuite):
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments

    def bcsrun(self, n, options, *words):
        return [self.arguments.bcsrun, *options, "-n", str(n), self.arguments.remote, *words]

    def check_mix(self):
        for n in (1, 2, 5):
            for name, options, settings in (("native", ["--native"], {}), ("preload", [], {}),
                                            ("nodes", [], {"BCS_NODE_RANKS": "1"}),
                                            ("late", ["--native"], {"BCS_DEFER": "3"})):
                self.succeed(f"beside MPI, cBSP and channels, {name}, {n}",
                             self.bcsrun(n, options, "mix"), RIGHT.format(n=n), n, settings)

    def check_random(self):
        for n in (2, 6):
            for seed in SEEDS:
                self.succeed(f"random commands on {n}, seed {seed}",
                             self.bcsrun(n, ["--native"], "random", str(seed)),
                             RIGHT.format(n=n), n)

    def check_crowd(self):
        for n in (3, 8):
            self.succeed(f"round of {n}", self.bcsrun(n, ["--native"], "crowd"),
                         RIGHT.format(n=n), n)
        self.succeed("patience", self.bcsrun(4, ["--native"], "patience"), RIGHT.format(n=4), 4)

    def check_refusals(self):
        def look(result):
            wanted = ("called before bcs_channels_init or after bcs_channels_finalize",
                      "region 3 of rank 1 is not open here", "a forked child of process")
            return [f"{text!r} is not in {result.stderr[:2000]!r}" for text in wanted
                    if text not in result.stderr]

        self.succeed("before, after and in a child", self.bcsrun(2, ["--native"], "outside"),
                     RIGHT.format(n=2), 2, look=look)

    def check_survivors(self):
        """Open MPI 4 lets them go on with this option; MPI_Finalize they leave out."""
        def look(result):
            said = "has ended while rank 0 waits in a remote command"
            return [] if said in result.stderr else [f"said {result.stderr[:1000]!r}"]

        self.succeed("what survivors of a death find", self.mpirun(
            3, "--enable-recovery", self.arguments.remote, "survive"), RIGHT.format(n=3), 2,
            look=look)

    def check_death(self):
        self.die(2, self.arguments.remote, "wait_for_ever")
        self.die(2, self.arguments.remote, "hammer")

    def check_trips(self):
        if self.arguments.trips:
            self.succeed("trips", self.mpirun(2, self.arguments.trips, "1"),
                         r"^remote (?:write|read) +[0-9.]+ ", 2)
            self.fail("trips of three", self.mpirun(3, self.arguments.trips),
                      r"^usage: remote_trips .* on 2 ranks")


def main():
    suite = Suite(parse_arguments())
    suite.check_mix()
    suite.check_random()
    suite.check_crowd()
    suite.check_refusals()
    suite.check_survivors()
    suite.check_death()
    suite.check_trips()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
