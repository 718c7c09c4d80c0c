#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what programs print with what is on record: of the applications small problems, run
natively, of bcs-mds runs that make_run has made. Other tests compare runs with each other, or
look for single numbers. They do not notice a result that is wrong in the same way on every number
of ranks.

A file of the folder is a case. A line "$ RANKS PROGRAM OPTION..." runs a program of the build
folder in the source folder, with 0 ranks without a launcher; {folder} is a folder of the case. The
lines up to the next one are what the program prints, what it says on standard error, behind a
launcher with its own name in front, and its status if that is not 0. What was measured is a #
there. Lines that tell how the program was run do not count, nor those that a mathematical library
may round otherwise. With --record the files get what the programs print now.
"""

import argparse
import os
import pathlib
import re
import shlex
import sys
import tempfile

import job

FOLDER = "{folder}"
LEFT_OUT = ("run:", "time:", "entropy gained", "density error", "line_trip", "pingpong_",
            "alltoall_", "yield", "gsync", "nsync")
# What is measured, and what is shown in its place.
MEASURED = (
    (re.compile(r"^(\w+ \d+) -?\d+(?:\.\d+)?(?:e[+-]?\d+)? (\S+)$"), r"\1 # \2"),
    (re.compile(r'("ns"|"counted"):(?:\[[^]]*\]|[^,]*)'), r"\1:#"),
)
# Of one program: sums of what comes from sines and powers; all times.
LEFT_OUT_OF = {
    "nbody": ("checksum",),
    "ocean": ("checksum",),
    "channel_ping_pong": (" ", "cache", "...", "word", "plain", "channel", "one way", "rate"),
    "remote_trips": (" ", "cache", "...", "remote", "fetch", "lines"),
    "disturb": ("0 ", "1 ", "2 ", "loop", "all ranks", "Points"),
    "overhead_measure": ('{"overhead":"head"', '{"overhead":"places"', '{"overhead":"trip"'),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--source", required=True, help="the source folder")
    parser.add_argument("--cases", required=True, help="the folder of the cases")
    parser.add_argument("--only", default="*", help="pattern of their names")
    parser.add_argument("--record", action="store_true", help="write the cases anew")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def differences(found, expected):
    """The first lines that differ, as a text in a list; [] if there are none."""
    for line in range(max(len(found), len(expected))):
        pair = found[line:line + 1], expected[line:line + 1]
        if pair[0] != pair[1]:
            return [f"line {line + 1} is {pair[0]} instead of {pair[1]}"]
    return []


def output_of(line, arguments, folder):
    """What a command of a case prints, as lines."""
    n_ranks, program, *words = line.replace(FOLDER, folder).split()[1:]
    command = [str(pathlib.Path(arguments.build, program)), *words]
    if n_ranks != "0":
        command = [*shlex.split(arguments.native_launcher), "-n", n_ranks, "-wdir",
                   arguments.source, *command]
    if b"libbcs" in pathlib.Path(arguments.build, program).read_bytes():
        result = job.run(command, job.mpirun_environment(), arguments.timeout)
    else:
        result = job.run_plain(command, arguments.timeout)
    name = pathlib.Path(program).name
    left_out = LEFT_OUT + LEFT_OUT_OF.get(name, ())
    found = [text for text in result.stdout.splitlines() if not text.startswith(left_out)]
    found += [text for text in result.stderr.splitlines()
              if n_ranks == "0" or text.startswith(f"{name}: ")]
    for measured, shown in MEASURED:
        found = [measured.sub(shown, text) for text in found]
    found = [text.replace(folder, FOLDER) for text in found]
    return found if result.status == 0 else [*found, f"status {result.status}"]


def check(path, arguments, report):
    """One case."""
    expected = path.read_text(encoding="utf-8").split("\n")[:-1]
    found = []
    with tempfile.TemporaryDirectory(prefix="bcs-known-") as folder:
        for line in filter(lambda text: text.startswith("$ "), expected):
            found += [line, *output_of(line, arguments, folder)]
    if arguments.record:
        path.write_text("\n".join(found) + "\n", encoding="utf-8")
    report.case(path.stem, [] if arguments.record else differences(found, expected))


def main():
    arguments = parse_arguments()
    os.chdir(arguments.source)
    report = job.Report()
    cases = sorted(pathlib.Path(arguments.cases).glob(arguments.only + ".txt"))
    if not cases:
        sys.exit(f"--only {arguments.only}: no such case in {arguments.cases}")
    for path in cases:
        check(path, arguments, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
