# SPDX-License-Identifier: BSD-3-Clause
"""What run_channel.py and run_remote.py have in common: a test program whose ranks each tell how
much they have found wrong, a measuring program that may be there, and the way from the command
line to the exit status.
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import library_suite  # noqa: E402

RIGHT = r"^rank \d+ of {n}: 0 wrong$"
NATIVE = ["--native"]
# Options of bcsrun and variables.
WAYS = {
    "native": (NATIVE, {}),
    "preload": ([], {}),
    "nodes": ([], {"BCS_NODE_RANKS": "1"}),
}


def parse_arguments(description, groups):
    """The options; groups are those that are checked if no others are asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--program", required=True, help="the test program")
    parser.add_argument("--measuring", help="the measuring program")
    parser.add_argument("--circles", help="the program whose ranks wait for each other")
    parser.add_argument("--groups", default=",".join(groups), help="what to check")
    library_suite.add_arguments(parser)
    return parser.parse_args()


def saying(*texts):
    """A look at a job's result that misses those of the texts which it has not said."""
    def look(result):
        return [f"{text!r} is not in {result.stderr[:2000]!r}" for text in texts
                if text not in result.stderr]
    return look


class ChannelSuite(library_suite.LibrarySuite):
    """Cases of one test program; a subclass adds groups of them, methods check_GROUP."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments

    def be_right(self, name, n, words, options=(), settings=None, look=library_suite.no_problems):
        """A job under bcsrun that must succeed, and of which each of n ranks finds nothing wrong."""
        command = [self.arguments.bcsrun, *options, "-n", str(n), self.arguments.program, *words]
        self.succeed(name, command, RIGHT.format(n=n), n, settings, look)

    def be_right_beside(self, others, **more):
        """Beside other libraries, in WAYS and more, on several numbers of ranks."""
        for n in (1, 2, 5):
            for name, (options, settings) in {**WAYS, **more}.items():
                self.be_right(f"beside {others}, {name}, {n}", n, ["mix"], options, settings)

    def be_refused_outside(self, *texts):
        """Calls where none is allowed: they say why."""
        said = ("called before bcs_channels_init or after bcs_channels_finalize", *texts)
        self.be_right("before, after and in a child", 2, ["outside"], NATIVE, look=saying(*said))

    def measure(self, name, line):
        """The measuring program prints two lines on two ranks, and is for no other number."""
        program = self.arguments.measuring
        if program:
            self.succeed(name, self.mpirun(2, program, "1"), line, 2)
            self.fail(f"{name} of three", self.mpirun(3, program),
                      rf"^usage: {os.path.basename(program)} .* on 2 ranks")

    def check(self):
        """Check the groups that are asked for. Returns the exit status."""
        for group in self.arguments.groups.split(","):
            getattr(self, f"check_{group}")()
        return self.report.end()
