#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares runs that make_run has made: bcs-mds diff finds what was made different, and nothing
where only chance differs; sides that are not alike are told of.
"""

import argparse
import os
import shutil
import sys

import folders

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../system"))
import job  # noqa: E402

PLAIN = {"buckets": 60}  # enough for chance to even out
WAITING = {**PLAIN, "parts": 2}
LATER = {**WAITING, "shift": 16, "shifted": 1, "late": 2}  # MPI_Recv, and rank 2 is late, not 0
SLOW = {**PLAIN, "shift": 16, "shifted": 1, "slow": 2}  # MPI_Recv, and rank 2 outside of MPI
N_RUNS = 3


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--maker", required=True, help="the program make_run")
    return parser.parse_args()


def tables_of(text):
    """The tables of a comparison, as lists of rows of words, by the first words of their
    heads; the one of late ranks, which has the head of another one, as "Late rank"."""
    tables = {}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        for number, line in enumerate(lines):
            if line.split()[:1] in (["Primitive"], ["Called"], ["Distribution"], ["Rank"],
                                    ["From"], ["A"], ["Waited"], ["Late"]):
                rows = [row.replace("|", " ").split() for row in lines[number + 1:]
                        if " places, by " not in row]
                is_late = "Waited for late ranks(ms)" in lines[0]
                tables["Late rank" if is_late else line.split()[0]] = rows
    return tables


def differ(place, one, other, *options):
    """Run diff; its output and tables."""
    told = place.read("diff", one, other, *options)
    if told.returncode != 0 or told.stderr:
        raise AssertionError(f"status {told.returncode}: {told.stderr}")
    return told.stdout, tables_of(told.stdout)


def make_side(place, name, first_seed, **wishes):
    """A folder of several runs."""
    os.mkdir(place.path(name))
    for i in range(N_RUNS):
        place.make(f"{name}/run{i}", seed=first_seed + i, **wishes)
    return place.path(name)


def beyond(rows):
    """The first words of the rows that are beyond noise."""
    return [row[0] for row in rows if "beyond" in row]


def slow_ranks(tables):
    """Ranks that are longer outside of MPI beyond noise."""
    return [row[0] for row in tables["Rank"] if row[4] == "beyond"]


def expect(report, name, *pairs):
    """One case: pairs of what was found and what is right."""
    report.case(name, [f"{found!r}, not {right!r}" for found, right in pairs
                       if found != right])


def test_single(place, report):
    """Of one run a side the distribution that was moved is found, and no other."""
    one, sums_a = place.make("one", seed=1, **PLAIN)
    other, sums_b = place.make("other", seed=2, **SLOW)
    _, tables = differ(place, one, other)
    spreads = [row for row in tables["Distribution"] if row[-1] == "beyond"]
    expect(report, "one run a side",
           (beyond(tables["Primitive"]), ["MPI_Recv"]),
           ([row[:2] for row in spreads], [["MPI_Recv", "us"], ["Comp", "Granularity"]]),
           (tables["Rank"][0][0], "2"),
           (beyond(tables["A"]), []))
    rows = {row[0]: row for row in tables["Primitive"]}
    expected = {name: [str(n), str(sums_b[name][0]), f"{ns / 1e6:.3f}",
                       f"{sums_b[name][1] / 1e6:.3f}"] for name, (n, ns) in sums_a.items()}
    expect(report, "sums", ({name: row[1:5] for name, row in rows.items()}, expected))
    means = {name: [f"{ns / n / 1e3:.3f}" for n, ns in (sums_a[name], sums_b[name])]
             for name in sums_a}
    expect(report, "means", ({name: row[7:9] for name, row in rows.items()}, means))
    changes = [abs(float(row[5])) for row in tables["Primitive"]]
    expect(report, "order", (changes, sorted(changes, reverse=True)))
    changes = {row[0]: row[6] for row in tables["Primitive"]}
    # MPI_Recv takes 2^11 times as long.
    longer, _ = place.make("longer", seed=1, **{**PLAIN, "shift": 11 * 16, "shifted": 1})
    _, tables = differ(place, one, longer)
    rows = {row[0]: row for row in tables["Primitive"]}
    expect(report, "too large for a percentage", (rows["MPI_Recv"][6], ">99999.9"))
    expect(report, "percentages", (all(-100 <= float(one) <= 1000 for one in changes.values()),
                                   True))
    _, tables = differ(place, one, other, "--most", "2")
    expect(report, "--most", ({name: len(rows) for name, rows in tables.items()
                               if name != "A"},
                              {"Primitive": 2, "Called": 2, "Distribution": 2, "Rank": 2,
                               "From": 2}))


def test_several(place, report):
    """Of several runs what was made different is beyond noise, and chance is within."""
    before = make_side(place, "before", 10, **PLAIN)
    same = make_side(place, "same", 20, **PLAIN)
    after = make_side(place, "after", 30, **SLOW)
    text, tables = differ(place, before, same)
    expect(report, "chance",
           ({name: beyond(rows) for name, rows in tables.items()},
            {"A": [], "Primitive": [], "Called": [], "Distribution": [], "Rank": [],
             "From": []}))
    text, tables = differ(place, before, after)
    expect(report, "several runs a side",
           (slow_ranks(tables), ["2"]),
           (beyond(tables["Distribution"]), ["MPI_Recv", "Comp", "Comm"]),
           (beyond(tables["Called"]), ["MPI_Recv", "MPI_Recv"]),
           (sorted(row[-3:] for row in tables["Called"] if row[0] == "MPI_Recv"),
            [["0x1010", "in", "lib?[1m.so"], ["in", "no", "file"]]),
           ("Run" in beyond(tables["A"]), True),
           ("Load" in beyond(tables["A"]), True),
           (f"B: {after}, {N_RUNS} runs of 4 ranks: ./made\n" in text, True))
    os.mkdir(os.path.join(after, "aborted"))
    shutil.copy(os.path.join(after, "run0", "manifest.txt"), os.path.join(after, "aborted"))
    os.mkdir(os.path.join(after, "else"))
    text, _ = differ(place, before, after)
    expect(report, "left out", ("   1 more left out: they have no files" in text, True))
    text, tables = differ(place, os.path.join(before, "run0"), after)
    expect(report, "one run and several",
           ("Student" in text, True), (slow_ranks(tables), ["2"]))


def parts_of(place, folder):
    """What a run's calls have waited for in milliseconds, {(primitive, part): ms}."""
    sums = {}
    for row in place.tables(folder)["calls"]:
        for words, column in zip(folders.PART_WORDS, folders.PARTS):
            key = row["primitive"], words
            sums[key] = sums.get(key, 0) + int(row[column]) / 1e6
    return {key: ms for key, ms in sums.items() if ms > 0}


def late_of(place, folder):
    """By rank, for how long it has waited for late ranks, and others for it, in milliseconds."""
    tables = place.tables(folder)
    rows = [[row for row in tables[name] if int(row[key]) == rank]
            for rank in range(4) for name, key in (("calls", "rank"), ("peers", "peer"))]
    sums = [sum(folders.sums_of(some, folders.LATE)) / 1e6 for some in rows]
    return {str(rank): sums[2 * rank:2 * rank + 2] for rank in range(4)}


def waited_rows(tables):
    """The table of parts: {(primitive, part): (ms of A, of B, change, its noise)}."""
    return {(row[0], " ".join(row[1:-5])): (*row[-5:-2], row[-1]) for row in tables["Waited"]}


def test_waits_single(place, report):
    """What calls have waited for is compared part by part, rank by rank and place by place."""
    one, _ = place.make("waits1", seed=1, **WAITING)
    other, _ = place.make("waits2", seed=2, **LATER)
    _, tables = differ(place, one, other, "--most", "100")
    sides = [parts_of(place, one), parts_of(place, other)]
    expect(report, "parts",
           (waited_rows(tables), {
               key: (f"{ms:.3f}", f"{sides[1][key]:.3f}", f"{sides[1][key] - ms:.3f}", "?")
               for key, ms in sides[0].items()}))
    changes = [abs(float(row[-3])) for row in tables["Waited"]]
    expect(report, "order of parts", (changes, sorted(changes, reverse=True)))
    a, b = late_of(place, one), late_of(place, other)
    rows = {row[0]: row[1:] for row in tables["Late rank"]}
    expect(report, "late ranks", (rows, {
        rank: [word for i in range(2) for word in
               (f"{a[rank][i]:.3f}", f"{b[rank][i]:.3f}", f"{b[rank][i] - a[rank][i]:.3f}", "?")]
        for rank in a}))
    changes = [max(abs(float(row[3])), abs(float(row[7]))) for row in tables["Late rank"]]
    expect(report, "order of late ranks", (changes, sorted(changes, reverse=True)))
    places = {}
    for which, folder in enumerate((one, other)):
        for row in place.tables(folder)["sites"]:
            late = sum(folders.sums_of([row], folders.LATE)) / 1e6
            key = row["primitive"], row["place"].replace("\x1b", "?")
            places.setdefault(key, [0, 0])[which] += late
    found = {(row[0], " ".join(row[6:])): row[1:4] for row in tables["Late"]}
    expect(report, "late places", (found, {
        key: [f"{a:.3f}", f"{b:.3f}", f"{b - a:.3f}"] for key, (a, b) in places.items() if a + b}))
    changes = [abs(float(row[3])) for row in tables["Late"]]
    expect(report, "order of late places", (changes, sorted(changes, reverse=True)))
    _, tables = differ(place, one, other, "--most", "2")
    expect(report, "--most of waits", ([len(tables[name]) for name in
                                        ("Waited", "Late rank", "Late")], [2, 2, 2]))


def test_waits_several(place, report):
    """Of several runs the waits that were made longer are beyond noise, and chance is within."""
    before = make_side(place, "waits_before", 10, **WAITING)
    same = make_side(place, "waits_same", 20, **WAITING)
    after = make_side(place, "waits_after", 30, **LATER)
    _, tables = differ(place, before, same, "--most", "100")
    expect(report, "chance of waits",
           ([beyond(tables[name]) for name in ("Waited", "Late rank", "Late")], [[], [], []]))
    _, tables = differ(place, before, after, "--most", "100")
    moved = sorted(key for key, row in waited_rows(tables).items() if row[-1] == "beyond")
    expect(report, "waits of several runs",
           (moved, [("MPI_Recv", words) for words in ("late sender", "slice", "transfer")]),
           (sorted(beyond(tables["Late"])), ["MPI_Recv", "MPI_Recv"]),
           ({row[0]: (row[4], row[8]) for row in tables["Late rank"]},
            # All but rank 2 wait longer in MPI_Recv.
            {"0": ("beyond", "beyond"), "1": ("beyond", "within"), "2": ("beyond", "beyond"),
             "3": ("beyond", "within")}))


def test_waits_not_alike(place, report):
    """Waits are by rank where numbers of ranks differ; without them in all runs there are none."""
    four, _ = place.make("waits4", seed=4, parts=2)
    eight, _ = place.make("waits8", seed=4, ranks=8, parts=2)
    old, _ = place.make("waits0", seed=4)
    few, _ = place.make("waits_few", seed=4, parts=2, primitives=7)  # no MPI_Bcast
    os.mkdir(place.path("waits_sometimes"))
    for i, folder in enumerate((four, few)):
        shutil.copytree(folder, place.path(f"waits_sometimes/{i}"))
    _, tables = differ(place, four, place.path("waits_sometimes"), "--most", "100")
    expect(report, "waits of some runs",
           ({round(float(row[-4]) / float(row[-5]), 2) for row in tables["Waited"]
             if row[0] == "MPI_Bcast"}, {0.5}),
           ({round(float(row[2]) / float(row[1]), 2) for row in tables["Late"]
             if row[0] == "MPI_Bcast"}, {0.5}))
    _, tables = differ(place, four, eight, "--most", "100")
    sides = [parts_of(place, four), parts_of(place, eight)]
    expect(report, "waits by rank", ("Late rank" in tables, False),
           ({key: row[:2] for key, row in waited_rows(tables).items()},
            {key: (f"{ms / 4:.3f}", f"{sides[1][key] / 8:.3f}")
             for key, ms in sides[0].items()}))
    os.mkdir(place.path("mixed"))
    shutil.copytree(four, place.path("mixed/new"))
    shutil.copytree(old, place.path("mixed/old"))
    half, _ = place.make("half", seed=4, parts=2)
    shutil.copy(os.path.join(old, "process.00001.mds"), half)
    for name, a, b, is_told in (("old and new", old, four, True), ("new and old", four, old, True),
                                ("mixed", place.path("mixed"), four, True),
                                ("files of both", four, half, True), ("old", old, old, False)):
        text, tables = differ(place, a, b)
        expect(report, f"waits, {name}",
               ([key for key in tables if key in ("Waited", "Late rank", "Late")], []),
               ("\nWhat calls have waited for is not compared: some runs are of an earlier version, "
                "which\ndid not record it.\n" in text, is_told))


def test_peers(place, report):
    """The pairs that exchange more are told with what they did; equal ones are not."""
    one, _ = place.make("near", seed=3, peers=1)
    far, _ = place.make("far", seed=3, peers=2)
    text, tables = differ(place, one, far)
    pairs = sorted((int(row[0]), int(row[1])) for row in tables["From"])
    expect(report, "peers", (pairs, [(i, (i + 2) % 4) for i in range(4)] if pairs else 0),
           ({row[2] for row in tables["From"]}, {"0"}),
           ("8 pairs of ranks with messages, of which 4 have changed" in text, True))
    os.mkdir(place.path("sometimes"))
    for name in ("near", "far"):
        shutil.copytree(place.path(name), place.path(f"sometimes/{name}"))
    _, tables = differ(place, far, place.path("sometimes"))
    halves = [float(row[5]) * 2 == float(row[4]) for row in tables["From"]]
    expect(report, "pairs of some runs", (halves, [True] * 4))
    text, tables = differ(place, one, one)
    expect(report, "the same", ("From" in tables, False),
           ("4 pairs of ranks with messages, of which 0 have changed" in text, True))


def test_not_alike(place, report):
    """Sides that are not alike are told of, and compared as far as possible."""
    four, sums_four = place.make("four", seed=4, program="./a", argument=["x"])
    eight, sums_eight = place.make("eight", seed=4, ranks=8, primitives=9, bits=6,
                                   program="./b")
    path = os.path.join(eight, "manifest.txt")
    with open(path, encoding="ascii") as file:
        text = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(text.replace("BCS_SLICE: 500us", "BCS_SLICE: 250us\x1b\nsetting BCS_MDS_DIR: b"))
    with open(os.path.join(four, "manifest.txt"), "a", encoding="ascii") as file:
        file.write("setting BCS_MDS_DIR: a\n")
    text, tables = differ(place, four, eight, "--most", "100")
    whole = {row[0]: row[-5:-3] for row in tables["A"]}
    n_bytes = [sum(int(row["sent_bytes"]) for row in place.tables(folder)["peers"])
               for folder in (four, eight)]
    rows = {row[0]: row for row in tables["Primitive"]}
    name = "MPI_Send"
    expect(report, "not alike",
           ("The commands differ.\n" in text, True),
           ("The numbers of ranks differ: " in text, True),
           ("BCS_SLICE was 500us in A, and 250us? in B\n" in text, True),
           ("BCS_MDS_DIR" in text, False),
           ("Rank" in tables or "From" in tables, False),
           (whole["Bytes"], [f"{n_bytes[0] / 4:.3f}", f"{n_bytes[1] / 8:.3f}"]),
           (whole["Parallel"][0] == whole["Load"][0], False),
           ("MPI_Alltoall" in [row[0] for row in tables["Distribution"]], False),
           (rows[name][1:5], [f"{sums_four[name][0] / 4:.0f}",
                              f"{sums_eight[name][0] / 8:.0f}",
                              f"{sums_four[name][1] / 4e6:.3f}",
                              f"{sums_eight[name][1] / 8e6:.3f}"]),
           (rows["MPI_Test" if "MPI_Test" in rows else "MPI_Alltoall"][6], "new"))


def test_some_ranks(place, report):
    """Ranks that only one side has recorded are left out."""
    sides = []
    for name, missing in (("without1", 1), ("without2", 2)):
        folder, _ = place.make(name, seed=5)
        os.unlink(os.path.join(folder, f"process.{missing:05}.mds"))
        sides.append(folder)
    _, tables = differ(place, *sides)
    expect(report, "some ranks", (sorted(row[0] for row in tables["Rank"]), ["0", "3"]))
    whole, _ = place.make("with_all", seed=5)
    text, _ = differ(place, whole, sides[0])
    expect(report, "ranks of one side only", ("The numbers of ranks differ: " in text, True))


def test_errors(place, report):
    """What cannot be compared is one error."""
    folder, _ = place.make("sound")
    damaged, _ = place.make("damaged")
    with open(os.path.join(damaged, "process.00001.mds"), "ab") as file:
        file.write(b"x")
    os.makedirs(place.path("empty/of_runs"))
    for words, status, why in (
        ([folder, place.path("none")], 1, "cannot read the folder"),
        ([place.path("empty"), folder], 1, "is not the folder of a run, nor has it any"),
        ([folder, damaged], 1, "is cut off or longer"),
        ([folder], 2, "two folders are expected by the verb diff"),
        ([folder, folder, "--rank", "1"], 2, "an option is not for the verb diff"),
    ):
        told = place.read("diff", *words)
        expect(report, why, (told.returncode, status), (why in told.stderr, True),
               (told.stderr.count("\n"), 1))


def main():
    arguments = parse_arguments()
    report = job.Report()
    place = folders.Folders(arguments.maker, arguments.reader)
    try:
        test_single(place, report)
        test_several(place, report)
        test_waits_single(place, report)
        test_waits_several(place, report)
        test_waits_not_alike(place, report)
        test_peers(place, report)
        test_not_alike(place, report)
        test_some_ranks(place, report)
        test_errors(place, report)
    finally:
        place.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
