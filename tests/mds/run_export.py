#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exports runs that make_run has made: every format has all of the run and the same as the
others, whatever names it has; and the file that is made is whole, or as it was before.
"""

import argparse
import contextlib
import csv
import json
import os
import resource
import sqlite3
import stat
import subprocess
import sys

import folders

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../system"))
import job  # noqa: E402

PACKAGES = {"json": "libjansson-dev", "sqlite": "libsqlite3-dev", "chrome": "libjansson-dev",
            "otf2": "libotf2-trace-dev"}
ARGUMENTS = ['a,"b"', "two\nlines", "a\rb", "=1+1", "</script><b>&amp;", "it's; DROP TABLE x", "",
             "\udcff\udc80", "\u00e4\u20ac\U0001f600", "\x1b\x01"]
N_RANKS, N_PRIMITIVES, N_PEERS = 5, 7, 3
LATE_RANK = 1
FILE_LIMIT = 20000  # less than any of the files
PLACES = [f"0x{0x1000 + 8 * i:x} in " + ("made", "lib\x1b[1m.so")[i // 2 % 2] if i % 2 == 0 else
          "elsewhere" if i == 1 else f"0x{0x7f0000000000 + i // 2:x} in no file"
          for i in range(2 * 8)]
OPS = {10: 11, 12: 0, 14: 1}  # of the made collectives: their numbers in OTF2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--maker", required=True, help="the program make_run")
    parser.add_argument("--formats", required=True, help="those that it was built with")
    parser.add_argument("--otf2", help="the program print_otf2")
    return parser.parse_args()


def limit_files(n_bytes=FILE_LIMIT):
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def read_csv(path):
    """The tables of a file: {table: [{column: text}]}, columns without text left out."""
    tables = {}
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        if len(set(lines.fieldnames)) != len(lines.fieldnames):
            raise ValueError("a column twice")
        for row in lines:
            tables.setdefault(row.pop("table"), []).append(row)
    return tables


def read_json(path):
    with open(path, encoding="utf-8") as file:
        tables = json.load(file)
    if tables.pop("format") != "bcs-mds-export 1":
        raise ValueError("format")
    return tables


def read_sqlite(path):
    tables = {}
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.row_factory = sqlite3.Row
        names = base.execute("SELECT name FROM sqlite_schema ORDER BY rowid").fetchall()
        for (name,) in names:
            tables[name] = [dict(row) for row in base.execute(f"SELECT * FROM {name}")]
    return tables


READERS = {"csv": read_csv, "json": read_json, "sqlite": read_sqlite}


def as_text(value):
    """A value as it is in CSV."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def differences(tables, from_csv):
    """Where the tables of a format differ from those of CSV."""
    problems = [] if list(tables) == list(from_csv) else [f"tables {list(tables)}"]
    for name in set(tables) & set(from_csv):
        texts = [{key: as_text(value) for key, value in row.items()} for row in tables[name]]
        columns = texts[0].keys()
        expected = [{key: row[key] for key in columns} for row in from_csv[name]]
        rest = {value for row in from_csv[name] for key, value in row.items()
                if key not in columns}
        if texts != expected or rest - {""}:
            problems.append(f"{name} differs")
    return problems


def problems_of_content(tables, sums):
    """Whether all that was put in has come out, by CSV."""
    problems = []
    calls, words = {}, []
    for row in tables["calls"]:
        n, total = calls.get(row["primitive"], (0, 0))
        calls[row["primitive"]] = (n + int(row["count"]), total + int(row["total_ns"]))
    if calls != sums:
        problems.append(f"calls {calls}, not {sums}")
    points = sum(int(row["count"]) for row in tables["buckets"]
                 if row["primitive"] and row["unit"] == "ns")
    if points != sum(n for n, _ in sums.values()):
        problems.append(f"{points} points")
    for row in tables["buckets"]:
        if not float(row["least"]) < float(row["below"]):
            problems.append(f"bucket {row}")
    words = [row["value"] for row in tables["manifest"] if row["key"] == "argument"]
    expected = [word.encode(errors="surrogateescape").decode(errors="replace")
                for word in ARGUMENTS]
    if words != expected:
        problems.append(f"arguments {words}")
    key, item = None, 0
    for row in tables["manifest"]:  # of lines with one key that follow each other
        key, item = row["key"], item + 1 if row["key"] == key else 0
        if row["item"] != str(item):
            problems.append(f"item {row}, not {item}")
    sites = {}
    for row in tables["sites"]:
        sites[row["primitive"]] = sites.get(row["primitive"], 0) + int(row["count"])
    if sites != {name: n for name, (n, _) in sums.items()}:
        problems.append(f"sites {sites}")
    places = {(row["module"], row["place"]) for row in tables["sites"] if row["module"]}
    expected = {("/nowhere/made", f"0x{0x1000 + 16 * i:x} in made") if i % 2 == 0 else
                ("/nowhere/lib\x1b[1m.so", f"0x{0x1000 + 16 * i:x} in lib\x1b[1m.so")
                for i in range(N_PRIMITIVES)}
    if places != expected:
        problems.append(f"places {places}")
    sent = sum(int(row["sent_bytes"]) for row in tables["peers"])
    if sum(int(row["sent_bytes"]) for row in tables["comms"]) != sent:
        problems.append(f"comms with {sent} bytes")
    names = [row["name"] for row in tables["comms"]]
    if names != N_RANKS * ["world\x1b[7m", ""]:
        problems.append(f"comms {names}")
    most = [int(row["maximum"]) for row in tables["slices"]
            if (row["scope"], row["node"], row["metric"]) == ("node", "1", "LTTS")]
    if most != [2999 + i for i in range(6)]:
        problems.append(f"LTTS of node 1 up to {most}")
    n_rows = {name: len(rows) for name, rows in tables.items()}
    for name, n in (("processes", N_RANKS), ("periods", 2 * N_RANKS),
                    ("calls", N_RANKS * N_PRIMITIVES),
                    ("sites", 2 * N_RANKS * N_PRIMITIVES), ("comms", 2 * N_RANKS),
                    ("peers", N_RANKS * (N_RANKS - 1)), ("nodes", 3),
                    ("slices", 6 * (2 * 5 + 3))):
        if n_rows.get(name) != n:
            problems.append(f"{n_rows.get(name)} {name}")
    return problems


def problems_of_parts(tables, names):
    """Whether calls, places and pairs have what was waited for, as make_run has made it: two
    eighths for one rank, a sixteenth for slices."""
    problems = []
    waited = [[0, 0, 0] for _ in range(N_RANKS)]
    for row, is_site in [(row, name == "sites") for name in ("calls", "sites")
                         for row in tables[name]]:
        number = names.index(row["primitive"])
        parts = folders.sums_of([row], folders.PARTS)
        total, is_late = int(row["total_ns"]), row["rank"] != str(LATE_RANK)
        expected = [0] * 6
        if row["primitive"] == "MPI_Barrier":
            expected[5] = total
        elif not row["primitive"].startswith("MPI_I"):
            late = total * 2 // 8 if is_late else 0
            expected[(2 * number + 1) % 3] = late
            expected[3:5] = total // 16, total - late - total // 16
        is_right = parts == expected
        if is_site:
            fault = [sum(parts[:3]), LATE_RANK if sum(parts[:3]) > 0 else 0]
            is_right &= folders.sums_of([row], ["fault_ns", "fault_rank"]) == fault
        else:
            for i in range(3):
                waited[int(row["rank"])][i] += parts[i]
        if not is_right:
            problems.append(f"parts {row}")
    for row in tables["peers"]:
        expected = waited[int(row["rank"])] if row["peer"] == str(LATE_RANK) else [0, 0, 0]
        if folders.sums_of([row], folders.LATE) != expected:
            problems.append(f"waits {row}, not {expected}")
    return problems


def test_content(place, formats, report):
    """All formats have all of it, with the largest numbers, too."""
    folder, sums = place.make("content", ranks=N_RANKS, primitives=N_PRIMITIVES, nodes=2,
                              peers=N_PEERS, program="./prog", argument=ARGUMENTS,
                              resident=2**64 - 2**20, parts=2, late=LATE_RANK)
    tables = {}
    for name in formats:
        path = place.path(f"content.{name}")
        told = place.read("export", folder, "--format", name, "--output", path)
        problems = []
        if told.returncode != 0 or told.stdout or told.stderr:
            problems.append(f"{told}")
        else:
            tables[name] = READERS[name](path)
        if name == "csv":
            problems += problems_of_content(tables[name], sums)
            problems += problems_of_parts(tables[name], list(sums))
        elif not problems:
            peaks = [row.pop("peak_bytes") for row in tables[name]["processes"]]
            if any(abs(peak - 2**64) > 2**21 for peak in peaks): # real: no integer fits
                problems.append(f"peaks {peaks}")
            for row in tables["csv"]["processes"]:
                if row.get("peak_bytes"):
                    row["peak_bytes"] = ""
            problems += differences(tables[name], tables["csv"])
        report.case(f"content of {name}", problems)


def test_replaced(place, folder, name, report):
    """A file that is there is replaced; links to it and its permissions stay."""
    path, link = place.path("replaced"), place.path("link")
    with open(path, "w", encoding="ascii") as file:
        file.write("x" * 500000)
    os.chmod(path, 0o640)
    os.symlink(path, link)
    told = place.read("export", folder, "--format", name, "-o", link)
    problems = [] if told.returncode == 0 else [told.stderr]
    if not os.path.islink(link) or stat.S_IMODE(os.stat(path).st_mode) != 0o640:
        problems.append("link or permissions have changed")
    if READERS[name](path).keys() < {"calls", "peers"}:
        problems.append("not the run")
    os.unlink(path)
    os.unlink(link)
    report.case(f"replaced by {name}", problems)


def expect_error(place, words, why, **options):
    """What is wrong with one clear error; nothing may be left."""
    before = sorted(os.listdir(place.place))
    told = place.read(*words, **options)
    problems = []
    if told.returncode != 1 or told.stderr.count("\n") != 1 or why not in told.stderr:
        problems.append(f"status {told.returncode}, {told.stderr!r}")
    if sorted(os.listdir(place.place)) != before:
        problems.append("something was left")
    return problems


def test_not_written(place, folder, name, report):
    """What cannot be written is one error, and what was there stays."""
    path = place.path("kept")
    with open(path, "w", encoding="ascii") as file:
        file.write("kept")
    words = ["export", folder, "--format", name, "-o"]
    problems = expect_error(place, [*words, path], f"cannot write {path}: ",
                            preexec_fn=limit_files)
    with open(path, encoding="ascii") as file:
        problems += [] if file.read() == "kept" else ["it has changed"]
    os.unlink(path)
    problems += expect_error(place, [*words, path], "File too large",
                             preexec_fn=limit_files)
    report.case(f"full with {name}", problems)
    report.case(f"device with {name}",
                expect_error(place, [*words, "/dev/full"], "No space left on device"))
    report.case(f"folder with {name}",
                expect_error(place, [*words, place.place], "Is a directory"))
    report.case(f"nowhere with {name}",
                expect_error(place, [*words, place.path("no/file")], "No such file"))


def test_standard_output(place, folder, name, report):
    """A dash is standard output."""
    path = place.path("to-file")
    told = place.read("export", folder, "--format", name, "-o", "-", is_text=False)
    place.read("export", folder, "--format", name, "-o", path)
    with open(path, "rb") as file:
        is_same = file.read() == told.stdout
    report.case(f"standard output as {name}", [] if is_same else ["it differs"])


def test_timeline(place, report):
    """A timeline has each event as a slice of its rank, and what it was about."""
    folder, sums = place.make("timeline", ranks=3, primitives=2)
    told = place.read("export", folder, "--format", "chrome", "-o", "-", is_text=False)
    events = json.loads(told.stdout.decode("utf-8"))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    problems = [] if names == {i: f"rank {i} on node0" for i in range(3)} else [f"{names}"]
    expected = []
    for rank in range(3):
        for i in range(4):
            about = {"bytes": 10 * i, "messages": i % 2, "place": PLACES[i]}
            if i != 1:
                about["communicator"] = "world\x1b[7m"
            if i % 2 == 1:
                about.update({"with": (rank + 1) % 3, "tag": 100 + i} if i == 1 else
                             {"messages": 2})
            expected.append({"name": list(sums)[i // 2], "cat": "blocking", "ph": "X",
                             "ts": float(i), "dur": 0.5, "pid": rank, "tid": 0, "args": about})
    problems += [f"{one}, not {other}" for one, other in zip(slices, expected) if one != other]
    if len(slices) != len(expected):
        problems.append(f"{len(slices)} slices")
    report.case("timeline", problems)


def expected_archive(names):
    """What print_otf2 prints of a run of 3 ranks."""
    lines = [["comm", "world\x1b[7m", "3", "2"]]
    lines += [["comm", "(no name)", "1", str(rank)] for rank in range(3)]
    for i in range(2 * len(names)):
        for rank in range(3):
            mine, name = [f"rank {rank}"], names[i // 2]
            begin, end = ([str(rank), str(1000 * i + more)] for more in (0, 500))
            lines.append([*mine, "enter", *begin, name, PLACES[i]])
            if i % 2 == 1 and i > 1:
                lines.append([*mine, "sent", *begin, "world\x1b[7m", str((rank + 1) % 3),
                              str(100 + i), str(7 * i)])
            if i == 2 * len(names) - 1:
                lines.append([*mine, "sent", *begin, "world\x1b[7m", str(rank), "77", "12"])
            if i in OPS:
                lines.append([*mine, "collective", *end, "world\x1b[7m", str(OPS[i]),
                              str(10 * i)])
            lines.append([*mine, "leave", *end, name])
    return lines


def by_rank(lines):
    """What each rank has, in its order: the format leaves open who comes first at one time."""
    return sorted(lines, key=lambda words: words[0])


def test_archive(place, program, report):
    """An archive has all of a timeline, read by the format's own library."""
    folder, sums = place.make("archived", ranks=3, primitives=8)
    path = place.path("archive")
    told = place.read("export", folder, "--format", "otf2", "-o", path + "/")
    problems = [] if told.returncode == 0 and not told.stderr else [told.stderr]
    if not problems:
        done = subprocess.run([program, os.path.join(path, "traces.otf2")], text=True,
                              capture_output=True, check=False)
        lines = by_rank([line.split("\t") for line in done.stdout.splitlines()])
        expected = by_rank(expected_archive(list(sums)))
        problems += [done.stderr] if done.stderr or done.returncode else []
        problems += [f"{one}, not {other}" for one, other in zip(lines, expected)
                     if one != other]
        if len(lines) != len(expected):
            problems.append(f"{len(lines)} lines, not {len(expected)}")
    report.case("archive", problems)
    words = ["export", folder, "--format", "otf2", "-o"]
    report.case("archive that is there",
                expect_error(place, [*words, path], f"cannot write {path}: File exists"))
    report.case("archive nowhere",
                expect_error(place, [*words, place.path("no/folder")], "No such file"))
    report.case("archive to standard output",
                expect_error(place, [*words, "-"], "name one by -o FOLDER"))
    report.case("full with an archive",
                expect_error(place, [*words, place.path("full")], "File too large",
                             preexec_fn=lambda: limit_files(100)))


def test_formats(place, folder, formats, report):
    """A format that cannot be written is told of, with those that can."""
    timelines = [name for name in formats if name not in READERS]
    allowed = f"; allowed: {', '.join(formats)}\n"
    for name in ("xml", *PACKAGES):
        if name in formats:
            continue
        told = place.read("export", folder, "--format", name, "-o", place.path("none"))
        is_right = told.returncode == 2 and told.stderr.endswith(allowed)
        is_right &= PACKAGES.get(name, "") in told.stderr
        report.case(f"format {name}", [] if is_right else [told.stderr])
    for name in timelines:
        folder, _ = place.make("eventless", placed=0)
        told = place.read("export", folder, "--format", name, "-o", place.path("none"))
        is_right = told.returncode == 1 and "has no events; record with" in told.stderr
        is_right &= not os.path.exists(place.path("none"))
        report.case(f"{name} without events", [] if is_right else [told.stderr])


def main():
    arguments = parse_arguments()
    formats = arguments.formats.split(",")
    report = job.Report()
    place = folders.Folders(arguments.maker, arguments.reader)
    try:
        tables = [name for name in formats if name in READERS]
        test_content(place, tables, report)
        folder, _ = place.make("run")
        for name in tables:
            test_replaced(place, folder, name, report)
            test_not_written(place, folder, name, report)
            test_standard_output(place, folder, name, report)
        if "chrome" in formats:
            test_timeline(place, report)
        if arguments.otf2:
            test_archive(place, arguments.otf2, report)
        test_formats(place, folder, formats, report)
    finally:
        place.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
