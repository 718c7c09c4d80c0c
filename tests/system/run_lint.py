#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs left_behind.c, and its sister in Fortran, with bcsrun --lint: what is left at MPI_Finalize is
told, with its line; of the same program without faults nothing is; and without --lint nothing is said.
"""

import argparse
import glob
import json
import os
import re
import sys
import tempfile

import marked_runs
from marked_runs import MODES, RANKS

NOTHING = "bcs: lint: nothing is left at MPI_Finalize"
SCREEN = 24  # lines
NOUNS = {"message": "messages", "request": "requests", "persistent": "persistent requests",
         "communicator": "communicators", "group": "groups", "datatype": "datatypes", "operation": "operations",
         "keyval": "attribute keys", "errhandler": "error handlers", "collective": "collectives"}  # in the order in which they are told
VERY_MANY, LINES_OF_RANK = 1010, 1000  # what very_many leaves on each rank, and how much of it is in the file

FREED = "a communicator that has been freed"

# What each case leaves: kind, function, mark of the line, how often on how many ranks, and what is
# known of the first one.
LEFT = {
    "message": [("message", "", None, RANKS, RANKS, r"tag \d+, on MPI_COMM_WORLD", r"from rank 3, 12 bytes")],
    "long_message": [
        ("message", "", None, RANKS, RANKS, r"tag \d+, on MPI_COMM_WORLD", r"from rank 3, 1048576 bytes"),
        ("request", "MPI_Isend", "long", RANKS, RANKS, r"to rank 1, tag \d+, on MPI_COMM_WORLD, 1048576 bytes", "")],
    "receive": [("request", "MPI_Irecv", "receive", 2 * RANKS, RANKS,
                 r"from rank 3, tag \d+, on MPI_COMM_WORLD, 4 bytes", "")],
    "send": [("request", "MPI_Isend", "send", RANKS, RANKS, r"to rank 1, tag \d+, on MPI_COMM_WORLD, 4 bytes", "")],
    "cancel": [("request", "MPI_Irecv", "cancel", RANKS, RANKS,
                r"from rank any, tag any, on MPI_COMM_SELF, 4 bytes", "")],
    "persistent": [("persistent", "MPI_Send_init", "persistent", RANKS, RANKS,
                    r"to rank 1, tag \d+, on MPI_COMM_WORLD, 4 bytes, started", "")],
    "collective": [("request", "MPI_Iallreduce", "collective", RANKS, RANKS, r"on MPI_COMM_WORLD", "")],
    "both": [("request", "MPI_Irecv", "both", RANKS, RANKS, r"from rank any, tag \d+, on apart, 4 bytes", ""),
             ("communicator", "MPI_Comm_dup", "apart", RANKS, RANKS, "named apart", ""),
             ("message", "", None, RANKS, RANKS, r"tag \d+, on apart", r"from rank \d, 0 bytes")],
    "freed": [("message", "", None, RANKS, RANKS, r"tag \d+, on a communicator that has been freed",
               r"from rank \d, 4 bytes")],
    "communicator": [("communicator", "MPI_Comm_split", "communicator", RANKS, RANKS, "named half", "")],
    "group": [("group", "MPI_Comm_group", "group", RANKS, RANKS, "", ""),
              ("group", "MPI_Group_incl", "inclusion", RANKS, RANKS, "", "")],
    "type": [("datatype", "MPI_Type_vector", "type", RANKS, RANKS, "", ""),
             ("datatype", "MPI_Type_contiguous", "uncommitted", RANKS, RANKS, "never committed", "")],
    "others": [("operation", "MPI_Op_create", "operation", RANKS, RANKS, "", ""),
               ("keyval", "MPI_Comm_create_keyval", "keyval", RANKS, RANKS, "", ""),
               ("errhandler", "MPI_Comm_create_errhandler", "errhandler", RANKS, RANKS, "", "")],
    "late": [("datatype", "MPI_Type_contiguous", "late", RANKS, RANKS, "never committed", "")],
    "many": [("message", "", None, RANKS, RANKS, rf"tag {tag}, on MPI_COMM_WORLD", r"from rank 0, 4 bytes")
             for tag in range(100, 150)],
    "one": [("datatype", "MPI_Type_contiguous", "one", 1, 1, "never committed", "")],
    "order": [("collective", "MPI_Barrier", "blocking", 1, 1, r"number \d+ on MPI_COMM_WORLD", ""),
              ("collective", "MPI_Ibarrier", "nonblocking", RANKS - 1, RANKS - 1, r"number \d+ on MPI_COMM_WORLD", "")],
    "broadcast_types": [("collective", "MPI_Bcast", "broadcast", 1, 1, f"number 6 on {FREED}, sends int32", ""),
                        ("collective", "MPI_Bcast", "broadcast", RANKS - 1, RANKS - 1,
                         f"number 6 on {FREED}, receives float", "")],
    "gather_types": [("collective", "MPI_Gather", "gather", 1, 1,
                      f"number 4 on {FREED}, sends int32, receives int32", ""),
                     ("collective", "MPI_Gather", "gather", RANKS - 2, RANKS - 2, f"number 4 on {FREED}, sends int32", ""),
                     ("collective", "MPI_Gather", "gather", 1, 1, f"number 4 on {FREED}, sends float", "")],
    "names": [("collective", "MPI_Allgatherv", "vectors", 1, 1,
               f"number 1 on {FREED}, sends int32, receives int32", ""),
              ("collective", "MPI_Allgather", "blocks", RANKS - 1, RANKS - 1,
               f"number 1 on {FREED}, sends int32, receives int32", "")],
    "taken": [("message", "", None, RANKS, RANKS, r"tag \d+, on MPI_COMM_WORLD", r"from rank 3, 4 bytes")],
    "opposite": [("request", "MPI_Irecv", "opposite", RANKS, RANKS,
                  r"from rank 2, tag any, on MPI_COMM_WORLD, 4 bytes", "")],
}
LEFT_FORTRAN = [
    ("request", "MPI_Irecv", "receive", RANKS, RANKS, r"from rank any, tag 7, on MPI_COMM_WORLD, 4 bytes", ""),
    ("communicator", "MPI_Comm_dup", "communicator", RANKS, RANKS, "", ""),
    ("datatype", "MPI_Type_vector", "type", RANKS, RANKS, "", ""),
]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    marked_runs.add_arguments(parser, "left_behind")
    return parser.parse_args()


def totals_of(left):
    """{noun: how many things} of what was left."""
    totals = {}
    for kind, _, _, n, *_ in left:
        totals[NOUNS[kind]] = totals.get(NOUNS[kind], 0) + n
    return totals


def problem_of_rest(text, totals, n_counted=0):
    """What is wrong with what is told of those that did not fit on the screen, by {noun: how many there are},
    of which some are not in the file."""
    shown = dict.fromkeys(totals, 0)
    noun = None
    for line in text.splitlines():
        title = re.match(r"  (\S.*) that ", line)
        group = re.match(r"    ranks? [\d,-]+: (\d+) ", line)
        noun = title.group(1) if title else noun
        if group:
            shown[noun] = shown.get(noun, 0) + int(group.group(1))
    rest = {noun: totals[noun] - shown[noun] for noun in NOUNS.values() if totals.get(noun, 0) != shown.get(noun, 0)}
    told = re.search(r"^  and .*\n.*\n", text, re.MULTILINE)
    if not rest or told is None:
        return None if not rest and told is None else f"{told} is told of {rest}"
    parts = ", ".join(f"{n} of {totals[noun]} {noun}" for noun, n in rest.items())
    but = rf", but {n_counted} that are just counted," if n_counted else ""
    where = rf"(a run with --mds has all of it{but} in lint\.json|all of it{but} is in /\S+/lint\.json)"
    if not re.fullmatch(rf"  and {sum(rest.values())} more: {parts}\n  {where}\n", told.group(0)):
        return f"{told.group(0)} is told, not {parts}"
    return None


class Runner(marked_runs.Runner):
    """Runs a program with --lint, and compares what is told with what it leaves."""

    def run(self, words, extra, options=("--lint",)):
        """The result, and what lint.json says, or None."""
        with tempfile.TemporaryDirectory() as folder:
            result = self.launch(words, {"BCS_MDS": "all", "BCS_MDS_DIR": folder, **extra}, options)
            files = glob.glob(os.path.join(folder, "*", "lint.json*"))
            said = None
            if files:
                with open(files[0], encoding="utf-8") as file:
                    said = json.load(file)
        return result, said

    def is_of(self, told, left):
        """Whether what is told of a line is what was left there."""
        kind, call, mark, n, n_ranks, about, first = left
        place = re.fullmatch(rf"\S.*, {re.escape(self.name)}:(\d+)", told.get("place", ""))
        is_there = not self.arguments.has_lines or (
            "place" not in told if mark is None else place is not None
            and int(place.group(1)) in self.marks[mark])
        return (is_there and told["kind"] == kind and told["call"] == call and told["n"] == n
                and len(told["ranks"]) == n_ranks and re.fullmatch(about, told["about"])
                and re.fullmatch(first, told["first"]))

    def problem_of_file(self, said, left):
        """What is wrong with lint.json, or None."""
        if (said is None or said["format"] != "bcs-lint 1" or said["more"] != 0
                or said["more_of"] != dict.fromkeys(NOUNS, 0)):
            return f"lint.json says {said}"
        told = list(said["left"])
        for one in left:
            match = [entry for entry in told if self.is_of(entry, one)]
            if not match:
                return f"{one} is not told, but {told}"
            told.remove(match[0])
        return f"{told} should not be told" if told else None

    def problem_of_text(self, said, left):
        """What is wrong with what was printed."""
        if "bcs: lint: the program has left at MPI_Finalize:" not in said:
            return "it tells nothing"
        text = said[said.index("bcs: lint:"):]
        lines = re.findall(r"^    ranks? ([\d,-]+): (\d+) (.*)$", text, re.MULTILINE)
        n_lines = len(re.findall(r"^  (?:  )?[a-z].*$", text, re.MULTILINE)) + 1
        if n_lines > SCREEN or (not lines and left):
            return f"{n_lines} lines"
        if len(left) < 10 and len(lines) != len(left):
            return f"{len(lines)} of {len(left)} are told"
        return problem_of_rest(text, totals_of(left))

    def problem(self, words, extra, left):
        """What is wrong with a run, or None."""
        result, said = self.run(words, extra)
        problem = None
        if result.status != 0:
            problem = "it fails"
        elif left:
            problem = self.problem_of_file(said, left) or self.problem_of_text(result.stderr, left)
        elif NOTHING not in result.stderr or said is None or said["left"]:
            problem = f"something is left: {said}"
        return f"{problem}; {result.ending()}" if problem else None

    def problem_without(self, words):
        """What is wrong without --lint."""
        result, said = self.run(words, {}, options=())
        if result.status != 0 or "lint" in result.stderr or said is not None:
            return f"it says something; {result.ending()}"
        return None


def problem_without_folder(arguments):
    """A run without a folder says how many of each kind it does not tell of, and where all is to be had."""
    result = marked_runs.launch(arguments, [arguments.program, "all"], options=["--lint"])
    left = [one for case in LEFT.values() for one in case]
    where = "\n  a run with --mds has all of it in lint.json\n"
    problem = problem_of_rest(result.stderr, totals_of(left))
    if result.status != 0 or problem or where not in result.stderr or " datatypes" not in result.stderr:
        return f"{problem}; {result.ending()}"
    return None


def problem_of_very_many(runner):
    """What a rank has beyond a thousand lines is counted."""
    result, said = runner.run(["very_many"], {})
    n_more = RANKS * (VERY_MANY - LINES_OF_RANK)
    problem = problem_of_rest(result.stderr, {"messages": RANKS * VERY_MANY}, n_more)
    if (result.status != 0 or problem or len(said["left"]) != LINES_OF_RANK or said["more"] != n_more
            or said["more_of"] != {**dict.fromkeys(NOUNS, 0), "message": n_more}):
        return f"{problem}; {result.ending()}"
    return None


def checks(arguments):
    """Names of runs, and functions that say what is wrong with them."""
    runner = Runner(arguments, arguments.program, arguments.source)
    everything = [one for left in LEFT.values() for one in left]
    for mode in arguments.mode or MODES:
        for name, left in {**LEFT, "all": everything}.items():
            if arguments.only in name and (name == "all" or mode == "inline"):
                yield f"{name}, {mode}", lambda n=name, m=mode, l=left: runner.problem([n], MODES[m], l)
        if arguments.only in "all":
            yield f"right, {mode}", lambda m=mode: runner.problem(["all", "right"], MODES[m], [])
    if arguments.only:
        return
    yield "without --lint", lambda: runner.problem_without(["all"])
    yield "very many", lambda: problem_of_very_many(runner)
    yield "without a folder", lambda: problem_without_folder(arguments)
    if arguments.fortran:
        fortran = Runner(arguments, arguments.fortran, arguments.fortran_source)
        for mode in arguments.mode or MODES:
            yield f"Fortran, {mode}", lambda m=mode: fortran.problem([], MODES[m], LEFT_FORTRAN)
            yield f"Fortran, right, {mode}", lambda m=mode: fortran.problem(["right"], MODES[m], [])


if __name__ == "__main__":
    sys.exit(marked_runs.run_checks(checks(parse_arguments())))
