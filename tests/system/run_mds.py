#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs with BCS_MDS_DIR and reads what they leave with bcs-mds: what was recorded agrees
with itself and with what the program is known to do, in all modes; and whatever is done to the
files, bcs-mds says what is wrong with them.
"""

import argparse
import os
import random
import re
import shutil
import sys
import tempfile

import job
import mds_runs

# Of known_traffic.c: lengths of the messages that each rank sends to the next one.
MESSAGES = [101, 202, 303, 404, 405, 506, 607, 708, 708, 708, 100000, 809, 910, 1011, 40000,
            100]
N_RANKS = mds_runs.N_RANKS
# Lengths of collectives by name; a function of rank and size where it matters.
SIZES = {
    "MPI_Send": [101],
    "MPI_Bsend": [404],
    "MPI_Isend": [506, 100000, 1011, 40000, 100],
    "MPI_Start": [708, 708, 708],
    "MPI_Sendrecv": [2 * 809],
    "MPI_Mrecv": [1011],
    "MPI_Bcast": [33],
    "MPI_Allreduce": [40, 40],
    "MPI_Alltoall": [12 * N_RANKS],
    "MPI_Alltoallv": [10 * N_RANKS],
    "MPI_Iallgather": [9],
    "MPI_Scatter": [21],
    "MPI_Reduce_scatter_block": [8 * N_RANKS],
    "MPI_Exscan": [24],
}
# Messages, their bytes, collectives, their bytes, members, ranks that use it, and its name. The
# root of MPI_Scatter has more.
COMMS = [
    (f"{4 * 15}", f"{4 * (sum(MESSAGES) - 40000)}", f"{4 * 11}",
     f"{4 * (33 + 2 * 40 + 48 + 40 + 21 + 32 + 24 + 9) + 3 * 21}", "4", "4",
     "MPI_COMM_WORLD"),
    ("4", f"{4 * 40000}", "0", "0", "4", "4", "a copy"),
]
# Of passed_on.c, by all ranks.
PASSED = ("MPI_Win_create 4, MPI_Win_free 4, MPI_Win_fence 8, MPI_Put 12, MPI_File_open 1, "
          "MPI_File_close 1")
N_DAMAGED = 300


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--moving", required=True, help="the program moving_ranks")
    parser.add_argument("--traffic", required=True, help="the program known_traffic")
    parser.add_argument("--traffic-source", required=True, help="its source")
    parser.add_argument("--passed", required=True, help="the program passed_on")
    parser.add_argument("--fortran", action="append", default=[], help="a program in Fortran")
    parser.add_argument("--fortran-source", action="append", default=[], help="its source")
    parser.add_argument("--has-lines", action="store_true", help="bcs-mds has libdw")
    parser.add_argument("--random-program", required=True, help="that program")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def problems_of_matrix(runs, folder):
    """Whether each rank has sent what known_traffic sends."""
    told = runs.read("matrix", folder)
    pairs, _, comms = told.stdout.partition("Communicator\n")
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +(\d+) ", pairs, re.M)
    found = sorted(tuple(map(int, row)) for row in rows)
    expected = [
        (rank, (rank + 1) % N_RANKS, len(MESSAGES), sum(MESSAGES))
        for rank in range(N_RANKS)
    ]
    problems = [] if found == expected else [f"matrix {found}, not {expected}"]
    found = sorted(tuple(line.split(maxsplit=6)) for line in comms.splitlines())
    if found != sorted(COMMS):
        problems.append(f"communicators {found}, not {COMMS}")
    return problems


def problems_of_sizes(runs, folder):
    """Whether the distributions of lengths have what known_traffic asks for."""
    problems = []
    for name, lengths in SIZES.items():
        told = runs.read("dist", folder, "--of", name, "--sizes", "--rank", "1")
        rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) ", told.stdout, re.M)
        for first, below, count in (tuple(map(int, row)) for row in rows):
            fitting = [length for length in lengths if first <= length < below]
            if len(fitting) != count:
                problems.append(f"{name}: {count} lengths from {first} to {below}")
        if sum(int(row[2]) for row in rows) != len(lengths):
            problems.append(f"{name}: {told.stdout}{told.stderr}")
    return problems


def problems_of_summary(runs, folder):
    """Whether the table has a row of each function, with its count."""
    told = runs.read("summary", folder)
    problems = []
    for name, lengths in SIZES.items():
        row = re.search(rf"^{name} .* (\d+) +\S+$", told.stdout, re.M)
        n_expected = N_RANKS * len(lengths)
        if row is None or (int(row[1]) != n_expected and name != "MPI_Send"):
            problems.append(f"{name} is not {n_expected} in {told.stdout!r}")
    phases = re.findall(r"^ +(\d+) +(\d+) +(\d+) +\S+ +\S+ +\S+ +\S+$",
                        told.stdout.partition("Pcontrol")[2].partition("The phases")[0], re.M)
    if phases != [("1", "4", "8"), ("7", "4", "4")]:
        problems.append(f"phases {phases}")
    if "Parallel efficiency" not in told.stdout:
        problems.append("there is no efficiency")
    return problems


def lines_of(path):
    """The first lines on which each function of MPI is called in a source: {name: [number]}."""
    lines = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for name in re.findall(r"\b(mpi_\w+)\(", line, re.I):
                lines.setdefault(name.lower(), []).append(number)
    return lines


def places_of(runs, folder):
    """The table of places: [(primitive, calls, place)]."""
    told = runs.read("summary", folder, "--most", "1000")
    rows = re.findall(r"^(MPI_\w+) +(\d+)(?: +\S+){7}  (.*)$", told.stdout, re.M)
    return [(name, int(count), where) for name, count, where in rows]


def problems_of_places(runs, folder, source):
    """Whether calls are recorded where the source has them. A call on several lines may be told
    by any of these. Without libdw only the program is known."""
    lines, rows, problems = lines_of(source), places_of(runs, folder), []
    name = os.path.basename(source)
    if not runs.arguments.has_lines:
        program = name.rsplit(".", 1)[0]
        return [f"{row}" for row in rows if not row[2].endswith(f" in {program}")]
    for primitive, _, where in rows:
        found = re.fullmatch(rf"[\w.]+, {re.escape(name)}:(\d+)", where)
        if not found or not any(0 <= int(found[1]) - line <= 2
                                for line in lines.get(primitive.lower(), [])):
            problems.append(f"{primitive} from {where!r}")
    return problems or ([] if rows else ["there are no places"])


def problems_of_documents(runs, folder):
    """Whether the verbs that make documents can read it; what they make is tested in ../mds."""
    problems = []
    for words, part in ((["export", folder, "--format", "csv", "-o", "-"], "\npeers,"),
                        (["report", folder, "-o", "-"], "</html>"),
                        (["diff", folder, folder], "of which 0 have changed")):
        told = runs.read(*words)
        if told.returncode != 0 or part not in told.stdout:
            problems.append(f"{words[0]}: {told.stderr!r}")
    return problems


def test_fortran(runs, report):
    """A program in Fortran calls from its own lines, not from those of the bindings."""
    for program, source in zip(runs.arguments.fortran, runs.arguments.fortran_source):
        folder, result = runs.record([program], {})
        problems = mds_runs.problems_of_end(folder, result)
        problems += mds_runs.problems_of_check(runs, folder) if not problems else []
        problems += problems_of_places(runs, folder, source) if not problems else []
        report.case(f"places in {os.path.basename(source)}", problems)


def test_traffic(runs, report):
    """What known_traffic does is what was recorded, whatever the mode."""
    folder = None
    source = runs.arguments.traffic_source
    for name, mode in job.MODES.items():
        folder, result = runs.record([runs.arguments.traffic], mode)
        problems = mds_runs.problems_of_end(folder, result)
        for look in (mds_runs.problems_of_check, problems_of_matrix, problems_of_sizes,
                     problems_of_summary, problems_of_documents):
            problems += look(runs, folder) if not problems else []
        problems += problems_of_places(runs, folder, source) if not problems else []
        report.case(f"known traffic, {name}", problems)
    return folder


def test_mixture(runs, report):
    """Random programs leave nothing behind: both ends agree. Those of these seeds cut no message off."""
    for seed in ("4", "5"):
        program = [runs.arguments.random_program, seed, "2"]
        folder, result = runs.record(program, {"BCS_MDS_RESOLUTION": "128"})
        problems = mds_runs.problems_of_end(folder, result)
        problems += mds_runs.problems_of_check(runs, folder) if not problems else []
        report.case(f"random program {seed}", problems)


def test_selection(runs, report):
    """Only the ranks and primitives that were asked for are recorded."""
    settings = {"BCS_MDS_RANKS": "0,2-9", "BCS_MDS_PRIMITIVES": "MPI_B*"}
    folder, result = runs.record([runs.arguments.traffic], settings)
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        names = sorted(os.listdir(folder))
        expected = ["manifest.txt"] + [f"process.{i:05}.mds" for i in (0, 2, 3)]
        if names != expected:
            problems.append(f"files {names}")
        problems += mds_runs.problems_of_check(runs, folder)
        if runs.read("dist", folder, "--of", "MPI_Bcast").returncode != 0:
            problems.append("MPI_Bcast has no distribution")
        if runs.read("dist", folder, "--of", "MPI_Send").returncode != 1:
            problems.append("MPI_Send has a distribution")
        if runs.read("summary", folder, "--rank", "1").returncode != 1:
            problems.append("rank 1 has a summary")
    report.case("selection", problems)


def test_option(runs, report):
    """bcsrun's option does what the variables do; a folder is where bcsrun is, not the ranks."""
    program = [os.path.abspath(runs.arguments.traffic)]
    deeper = os.path.dirname(program[0])  # than here: a path from here leads elsewhere from there
    for parent, where in ((runs.parent, []), (os.path.relpath(runs.parent), ["-wdir", deeper])):
        folder, result = runs.record(program, {}, f"--mds={parent}", *where)
        problems = mds_runs.problems_of_end(folder, result)
        problems += problems_of_matrix(runs, folder) if not problems else []
        if "MMDS, all 4 processes" not in result.stderr or "process 0" in result.stderr:
            problems.append(f"not the one table: {result.stderr!r}")
        report.case(f"--mds {parent}", problems)


def test_moving(runs, report):
    """A folder whose name is not from the root is the same one wherever the program goes."""
    parent = os.path.relpath(runs.parent)
    folder, result = runs.record([runs.arguments.moving], {"BCS_MDS_DIR": parent})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        names = sorted(os.listdir(folder))
        if names != ["manifest.txt"] + [f"process.{i:05}.mds" for i in range(N_RANKS)]:
            problems.append(f"files {names}")
        with open(os.path.join(folder, "manifest.txt"), encoding="utf-8") as file:
            if "state: ended" not in file.read():
                problems.append("the manifest says that the run has not ended")
        problems += mds_runs.problems_of_check(runs, folder)
    report.case("a program that goes to another folder", problems)


def test_passed(runs, report):
    """Calls that the MPI library carries are counted, in the table at the end and in the folder."""
    folder, result = runs.record([runs.arguments.passed], {})
    problems = mds_runs.problems_of_end(folder, result)
    if not problems:
        shown = runs.read("summary", folder).stdout
        problems += [f"not told: {text[-500:]!r}" for text in (result.stderr, shown)
                     if f"Passed to the MPI library: {PASSED}\n" not in text]
        problems += [f"{name} is not recorded: {shown[-500:]!r}" for name in ("MPI_Win_fence", "MPI_Put")
                     if not re.search(rf"^ *{name} ", shown, re.MULTILINE)]
    report.case("calls that are passed on", problems)


def test_no_folder(runs, report):
    """Without a folder one line says so, and the tables are printed."""
    for parent, why in (("/dev/null", "Not a directory"), ("/proc/1/x", "")):
        _, result = runs.record([runs.arguments.traffic], {"BCS_MDS_DIR": parent})
        problems = [] if result.status == 0 else [f"status {result.status}"]
        if len(re.findall(rf"unwritten: {parent}: .*{why}", result.stderr)) != 1:
            problems.append(f"it is not said once: {result.stderr[:300]!r}")
        if "MMDS, process 3" not in result.stderr:
            problems.append("no tables")
        report.case(f"no folder in {parent}", problems)


def damaged(content, chance):
    """A file's bytes with some damage."""
    content = bytearray(content)
    kind = chance.randrange(4)
    if kind == 0:
        return bytes(content[: chance.randrange(len(content))])
    if kind == 1:
        return bytes(content) + chance.randbytes(chance.randrange(1, 100))
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(content) if kind == 2 else head_bytes(content))
        content[at] = chance.randrange(256)
    return bytes(content)


def head_bytes(content):
    """Length of a file's header and directory."""
    return 32 + 40 * int.from_bytes(content[24:28], "little")


def test_damage(runs, report, folder):
    """A damaged file is told of, or has been damaged where nothing matters."""
    path = os.path.join(folder, "process.00001.mds")
    with open(path, "rb") as file:
        content = file.read()
    chance, n_head = random.Random(1), head_bytes(content)
    for number in range(N_DAMAGED):
        bad = damaged(content, chance)
        with open(path, "wb") as file:
            file.write(bad)
        problems = []
        for verb in (["summary"], ["dist", "--of", "MPI_Send"], ["matrix"], ["check"]):
            told = runs.read(verb[0], folder, *verb[1:])
            is_told = told.returncode == 1 and path in told.stderr
            # Not all bits of header and directory matter, and nothing behind the end.
            is_same = bad[n_head:-8] == content[n_head:-8]
            if not is_told and (told.returncode != 0 or not is_same):
                problems.append(f"{verb[0]}: status {told.returncode}, {told.stderr!r}")
        report.case(f"damage {number}", problems)
    with open(path, "wb") as file:
        file.write(content)


def test_distribution(runs, report, folder):
    """A distribution as a picture, of which that for a terminal has the count of the table."""
    words = ("dist", folder, "--of", "MPI_Send")
    table, picture = runs.read(*words), runs.read(*words, "-o", "-")
    head = table.stdout.partition("\n")[0]
    if shutil.which("gnuplot") is not None:
        is_there = head.startswith("Times of MPI_Send, ") and head in picture.stdout
        report.case("picture of a distribution", [] if is_there else [head, str(picture)])
    mds_runs.test_picture(runs, report, folder, "dist", "--of", "MPI_Send", "--sizes")


def test_bad_folders(runs, report, folder):
    """What is no folder of a run is told of."""
    empty = tempfile.mkdtemp(dir=runs.parent)
    foreign = tempfile.mkdtemp(dir=runs.parent)
    with open(os.path.join(foreign, "manifest.txt"), "w", encoding="ascii") as file:
        file.write("format: another\n")
    double = shutil.copytree(folder, os.path.join(runs.parent, "double"))
    shutil.copy(os.path.join(double, "process.00000.mds"),
                os.path.join(double, "process.00009.mds"))
    for name, path, why in (
        ("missing", os.path.join(runs.parent, "none"), "cannot open"),
        ("empty", empty, "cannot open"),
        ("foreign", foreign, "does not say that its format is"),
        ("double", double, "several runs"),
    ):
        told = runs.read("summary", path)
        is_right = told.returncode == 1 and why in told.stderr
        report.case(f"folder: {name}", [] if is_right else [f"{told}"])


def main():
    arguments = parse_arguments()
    report = job.Report()
    runs = mds_runs.Runs(arguments)
    try:
        folder = test_traffic(runs, report)
        test_fortran(runs, report)
        test_mixture(runs, report)
        test_selection(runs, report)
        test_option(runs, report)
        test_moving(runs, report)
        test_passed(runs, report)
        test_no_folder(runs, report)
        if folder is not None:
            test_distribution(runs, report, folder)
            test_bad_folders(runs, report, folder)
            test_damage(runs, report, folder)
    finally:
        runs.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
