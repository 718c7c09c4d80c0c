#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs misused_buffers.c, and its sister in Fortran, with BCS_REFEREE_BUFFERS: buffers of pending
operations that are changed or shared are told by each rank, with both lines; of the same program
without faults nothing is; and without the variable nothing is said.
"""

import argparse
import os
import re
import sys

import marked_runs
from marked_runs import MODES, RANKS

NAMES = ["send", "synchronous", "long_send", "receive", "late_receive", "probed", "exchanged", "buffered",
         "persistent", "persistent_receive", "column", "received_column", "reduction",
         "reduction_result", "broadcast", "blocks", "all_to_all", "shared", "sent_at_once",
         "shared_receives", "allowed"]

# What is told of each case: which buffer, of which call, which other call, and what of the bytes.
CHANGED = {
    "send": ("send", "MPI_Isend", "MPI_Wait", "first at byte 12 of 4000"),
    "synchronous": ("send", "MPI_Issend", "MPI_Test", "first at byte 3996 of 4000"),
    "long_send": ("send", "MPI_Isend", "MPI_Waitall", "behind byte 65536 of 1048576"),
    "receive": ("receive", "MPI_Irecv", "MPI_Wait", "first at byte 28 of 4000"),
    "late_receive": ("receive", "MPI_Irecv", "MPI_Waitany", "behind byte 65536 of 1048576"),
    "probed": ("receive", "MPI_Imrecv", "MPI_Wait", "first at byte 4 of 4000"),
    "exchanged": ("send", "MPI_Isendrecv", "MPI_Wait", "first at byte 8 of 4000"),
    "buffered": ("send", "MPI_Ibsend", "MPI_Waitsome", "first at byte 4 of 4000"),
    "persistent": ("send", "MPI_Startall", "MPI_Waitall", "first at byte 0 of 4000"),
    "persistent_receive": ("receive", "MPI_Start", "MPI_Wait", "first at byte 20 of 4000"),
    "column": ("send", "MPI_Isend", "MPI_Wait", "first at byte 8 of 64"),
    "received_column": ("receive", "MPI_Irecv", "MPI_Wait", "first at byte 0 of 64"),
    "reduction": ("send", "MPI_Iallreduce", "MPI_Wait", "first at byte 3992 of 4000"),
    "reduction_result": ("receive", "MPI_Iallreduce", "MPI_Wait", "first at byte 4 of 4000"),
    "broadcast": ("(?:send|receive)", "MPI_Ibcast", "MPI_Wait", "first at byte 40 of 4000"),
    "blocks": ("receive", "MPI_Iallgatherv", "MPI_Wait", "first at byte 24 of 40"),
    "all_to_all": ("send", "MPI_Ialltoall", "MPI_Wait", "first at byte 28 of 32"),
}
SHARED = {
    "shared": ("send", "MPI_Isend", "receive", "MPI_Irecv"),
    "sent_at_once": ("send", "MPI_Send", "receive", "MPI_Irecv"),
    "shared_receives": ("receive", "MPI_Irecv", "receive", "MPI_Irecv"),
}
CHANGED_FORTRAN = {
    "send": ("send", "MPI_Isend", "MPI_Waitall", "first at byte 8 of 400"),
    "receive": ("receive", "MPI_Irecv", "MPI_Waitall", "first at byte 4 of 400"),
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    marked_runs.add_arguments(parser, "misused_buffers", is_required=False)
    parser.add_argument("--right", nargs="*", default=[], help="only these programs, without faults")
    return parser.parse_args()


class Runner(marked_runs.Runner):
    """Runs a program, and compares what each rank says with what it does."""

    def __init__(self, arguments, program, source, ends):
        super().__init__(arguments, program, source)
        self.ends = ends

    def place(self, mark):
        """A pattern of the places behind a mark."""
        if not self.arguments.has_lines:
            return r"\S.*?"
        numbers = "|".join(map(str, self.marks[mark]))
        return rf"\S.*, {re.escape(self.name)}:(?:{numbers})"

    def line_of(self, name, changed):
        """A pattern of what is said of a case."""
        end = self.place(self.ends or f"{name}_end")
        if name in changed:
            buffer, posted, completed, where = changed[name]
            return (rf"the {buffer} buffer of {posted} at {self.place(name)}, .*on MPI_COMM_WORLD, was "
                    rf"changed before the operation was completed by {completed} at {end}, {where}\. ")
        buffer, posted, other, pending = SHARED[name]
        return (rf"the {buffer} buffer of {posted} at {self.place(name)}, .*, overlaps the {other} buffer "
                rf"of {pending} at {end}, .*, which is pending\. ")

    def problem(self, words, names, changed, mode):
        """What is wrong with a run that has the faults of these names, or None."""
        result = self.launch(words, {"BCS_REFEREE_BUFFERS": "on", **MODES[mode]})
        said = re.findall(r"^bcs\[rank (\d)\]: buffers: (.*)$", result.stderr, re.MULTILINE)
        if result.status != 0:
            return result.ending()
        for name in names:
            pattern = self.line_of(name, changed)
            ranks = sorted(rank for rank, text in said if re.match(pattern, text))
            if ranks != [str(rank) for rank in range(RANKS)]:
                return f"{name} is told by ranks {ranks}, of {pattern}; {result.stderr}"
        if len(said) != RANKS * len(names):
            return f"more is told: {result.stderr}"
        return None

    def problem_without(self):
        """What is wrong without the variable."""
        result = self.launch(["all"], {})
        return result.ending() if result.status != 0 or result.stderr.strip() else None


def problem_of_right(arguments, program):
    """What is wrong with a program without faults: it does what it does unwatched, and nothing is said."""
    plain, watched = (marked_runs.launch(arguments, [program], extra)
                      for extra in ({}, {"BCS_REFEREE_BUFFERS": "on", "BCS_REFEREE_LINT": "on"}))
    if plain.status != watched.status or plain.stdout != watched.stdout:
        return f"it ends in another way: {watched.ending()}"
    said = re.findall(r"^.*buffers: .*$", watched.stderr, re.MULTILINE)
    return f"it is said to have faults: {said}" if said or "bcs: lint: " not in watched.stderr else None


def checks(arguments):
    """Names of runs, and functions that say what is wrong with them."""
    for program in arguments.right:
        yield os.path.basename(program), lambda p=program: problem_of_right(arguments, p)
    if arguments.right:
        return
    runner = Runner(arguments, arguments.program, arguments.source, None)
    faults = [name for name in NAMES if name != "allowed"]
    for mode in arguments.mode or MODES:
        yield f"all, {mode}", lambda m=mode: runner.problem(["all"], faults, CHANGED, m)
        yield f"right, {mode}", lambda m=mode: runner.problem(["all", "right"], [], CHANGED, m)
    for name in faults:
        if arguments.only in name:
            yield name, lambda n=name: runner.problem([n], [n], CHANGED, "inline")
    if arguments.only:
        return
    yield "without it", runner.problem_without
    if arguments.fortran:
        fortran = Runner(arguments, arguments.fortran, arguments.fortran_source, "end")
        for mode in arguments.mode or MODES:
            yield f"Fortran, {mode}", lambda m=mode: fortran.problem([], [*CHANGED_FORTRAN],
                                                                     CHANGED_FORTRAN, m)
            yield f"Fortran, right, {mode}", lambda m=mode: fortran.problem(["right"], [], {}, m)


if __name__ == "__main__":
    sys.exit(marked_runs.run_checks(checks(parse_arguments())))
