#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads runs that make_run has made from the description of the format: bcs-mds shows the sums
that were put into them, of one rank and of 1024; and events are read where they are needed.
"""

import argparse
import os
import re
import resource
import statistics
import sys

import folders

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../system"))
import job  # noqa: E402

MOST_SECONDS = 2  # of a processor, for the summary of 1024 ranks
MOST_MB = 16  # that events may take where one rank's are in memory at a time, or none


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--maker", required=True, help="the program make_run")
    parser.add_argument("--formats", default="", help="of those that have events, with commas")
    parser.add_argument("--no-time", action="store_true", help="do not look at the time")
    return parser.parse_args()


def rows_of(text):
    """The rows of a summary: {name: (count, milliseconds)}."""
    found = re.findall(r"^(MPI_\w+) +\S+ +\S+ +(\S+) +(\d+) +\S+$", text, re.M)
    return {name: (int(count), total) for name, total, count in found}


def problems_of_summary(told, sums, n_ranks):
    """Whether a summary has the sums that were put into the run."""
    if told.returncode != 0:
        return [f"status {told.returncode}: {told.stderr}"]
    expected = {name: (n, f"{ns / 1e6:.3f}") for name, (n, ns) in sums.items()}
    found = rows_of(told.stdout)
    problems = [f"{name}: {found.get(name)}, not {row}" for name, row in expected.items()
                if found.get(name) != row]
    if len(found) != len(expected):
        problems.append(f"{len(found)} rows of {len(expected)}")
    if f"\n{n_ranks} processes\n" not in told.stdout:
        problems.append("not all processes")
    return problems


def test_summary(place, arguments, report):
    """The sums are those that were put in, and 1024 ranks take no time to speak of."""
    for n_ranks, wishes in ((1, {"peers": 0}), (7, {"bits": 7, "buckets": 50}),
                            (1024, {"primitives": 24, "buckets": 100, "peers": 64})):
        folder, sums = place.make(f"summary{n_ranks}", ranks=n_ranks, **wishes)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = place.read("summary", folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        problems = problems_of_summary(told, sums, n_ranks)
        if seconds > MOST_SECONDS and not arguments.no_time:
            problems.append(f"{seconds:.2f} s of a processor")
        told = place.read("check", folder)
        problems += [] if told.returncode == 0 else [told.stdout + told.stderr]
        report.case(f"summary of {n_ranks}, {seconds:.2f} s", problems)


def places_of(text):
    """The rows of the table of places: [(primitive, calls, its total, its rank, place)]."""
    found = re.findall(r"^(MPI_\w+) +(\d+) +(\S+) +\S+ +\S+ +\S+ +\S+ +(\d+) +\S+  (.*)$",
                       text, re.M)
    return [(name, int(count), float(total), int(rank), where)
            for name, count, total, rank, where in found]


def problems_of_places(told, sums):
    """Whether the places of a run have what make_run has given them: of the i-th primitive a
    part of the calls is in a file, and the rest in none."""
    rows, problems = places_of(told.stdout), []
    if [row[2] for row in rows] != sorted((row[2] for row in rows), reverse=True):
        problems.append("not the longest first")
    for i, (name, (n, ns)) in enumerate(sums.items()):
        mine = {where: (count, total) for of, count, total, _, where in rows if of == name}
        file = ("made", "lib?[1m.so")[i % 2]
        rest = "elsewhere" if i == 0 else f"0x{0x7f0000000000 + i:x} in no file"
        if set(mine) != {f"0x{0x1000 + 16 * i:x} in {file}", rest}:
            problems.append(f"{name} from {sorted(mine)}")
        elif (sum(count for count, _ in mine.values()) != n
              or abs(sum(total for _, total in mine.values()) - ns / 1e6) > 0.01):
            problems.append(f"{name}: {mine}, not {n} and {ns}")
    return problems


def problems_of_variation(place, folder, told):
    """Whether places vary as the ranks' totals in an export do."""
    found = {(name, where): float(cov) for name, cov, where in
             re.findall(r"^(MPI_\w+)(?: +\S+){5} +(\S+) +\d+ +\S+  (.*)$", told.stdout, re.M)}
    totals = {}
    for row in place.tables(folder)["sites"]:
        where = row["place"].replace("\x1b", "?")
        totals.setdefault((row["primitive"], where), []).append(int(row["total_ns"]))
    expected = {key: statistics.pstdev(its) / statistics.mean(its) for key, its in totals.items()}
    return [f"{key}: {found.get(key)}, not {cov:.3f}" for key, cov in expected.items()
            if abs(found.get(key, -1) - cov) > 0.00501]


def test_places(place, report):
    """Calls are shown by the place that they are from, with all of a rank's, or of one."""
    folder, sums = place.make("places", ranks=5, primitives=6)
    told = place.read("summary", folder, "--most", "100")
    report.case("places", problems_of_places(told, sums))
    report.case("variation of places", problems_of_variation(place, folder, told))
    most = places_of(told.stdout)
    told = place.read("summary", folder, "--most", "3")
    is_right = places_of(told.stdout) == most[:3] and "\n3 of 12 places" in told.stdout
    report.case("three places", [] if is_right else [told.stdout])
    rows = [places_of(place.read("summary", folder, "--rank", str(rank), "--most", "100").stdout)
            for rank in range(5)]
    of_all = {(row[0], row[4]): row for row in most}
    problems = []
    for key, row in of_all.items():
        mine = {one[3]: one for part in rows for one in part if (one[0], one[4]) == key}
        longest = max(mine, key=lambda rank, by=mine: by[rank][2], default=None)
        if len(mine) != 5 or sum(one[1] for one in mine.values()) != row[1]:
            problems.append(f"{key}: {mine}")
        elif mine[longest][2] > mine[row[3]][2]:
            problems.append(f"{key}: rank {longest} has most, not {row[3]}")
    report.case("places of a rank", problems)
    folder, _ = place.make("unplaced", placed=0)
    told = place.read("summary", folder)
    is_right = told.returncode == 0 and "Place" not in told.stdout
    told = place.read("check", folder)
    is_right = is_right and told.returncode == 0
    report.case("no places", [] if is_right else [told.stdout + told.stderr])


def test_comms(place, report):
    """What was done on a communicator is the sum of all ranks'."""
    folder, _ = place.make("comms", ranks=4, peers=2)
    told = place.read("matrix", folder)
    pairs, comms = told.stdout.split("Communicator\n")
    n, n_bytes = re.match(r"(\d+) messages with (\d+) bytes", pairs).groups()
    rows = [line.split(maxsplit=6) for line in comms.splitlines()]
    expected = [[n, n_bytes, "12", "1200", "4", "4", "world?[7m"]]
    expected += 4 * [["0", "0", "1", "8", "1", "1", "(no name)"]]
    report.case("communicators", [] if rows == expected else [f"{rows}, not {expected}"])
    told = place.read("matrix", folder, "--most", "2")
    is_right = told.stdout.endswith("and 3 communicators with less\n")
    report.case("two communicators", [] if is_right else [told.stdout])


def test_events(place, report):
    """The last events of all ranks, in the order of their begins."""
    folder, sums = place.make("events", ranks=3, primitives=4)
    told = place.read("events", folder, "--most", "7")
    rows = [line.split(maxsplit=8) for line in told.stdout.splitlines()[1:-1]]
    expected = []
    for p in range(8):
        for rank in range(3):
            name = list(sums)[p // 2]
            with_, tag = (str((rank + 1) % 3), str(100 + p)) if p % 2 else ("-", "-")
            with_, tag = ("several", "2") if p == 7 else (with_, tag)
            where = (("made", "lib?[1m.so")[p // 2 % 2] if p % 2 == 0 else "")
            where = f"0x{0x1000 + 8 * p:x} in {where}" if where else (
                "elsewhere" if p == 1 else f"0x{0x7f0000000000 + p // 2:x} in no file")
            comm = "-" if p == 1 else "world?[7m"
            expected.append([f"{p / 1e6:.6f}", "0.500", str(rank), name, with_, tag,
                             str(10 * p), "-", f"{comm}  {where}"])
    report.case("events", [] if rows == expected[-7:] else [f"{rows}, not {expected[-7:]}"])
    n_calls = sum(n for n, _ in sums.values())
    last = f"7 of 24 events; {n_calls - 24} calls before them were not kept."
    report.case("kept", [] if last in told.stdout else [told.stdout])


def test_rings(place, arguments, report):
    """Full rings of events take no memory where they are not needed, and elsewhere that of one
    rank; the waits in few of them are told by the way."""
    n_ranks, n_events = 64, 20000
    plain, _ = place.make("plain", ranks=n_ranks, primitives=24, buckets=400)
    full, _ = place.make("full", ranks=n_ranks, primitives=24, buckets=400, events=n_events,
                         sites=50)
    for words in (["summary"], ["matrix"], ["check"], ["events"], ["report", "-o", "-"]):
        without, with_all = (place.memory(words[0], folder, *words[1:]) for folder in (plain, full))
        is_right = with_all < without + MOST_MB
        report.case(f"memory of {words[0]}",
                    [] if is_right else [f"{with_all} MB with events, {without} MB without"])
    n = n_ranks * n_events
    note = f"{n} events were not looked at here, where 1048576 are at most: bcs-mds waits tells"
    told = place.read("summary", full).stdout
    page = place.read("report", full, "-o", "-").stdout
    is_right = note in told and note in page and "Waits(ms)" not in told
    report.case("too many events", [] if is_right else [told])
    told = place.read("waits", full).stdout
    report.case("waits in many", [] if "late in collective" in told else [told])
    few, _ = place.make("few", ranks=n_ranks, primitives=24, buckets=400, events=n_events // 5)
    told = place.read("summary", few).stdout
    is_right = "not looked at" not in told and "late in collective" in told
    report.case("few events", [] if is_right else [told])
    least = place.memory("matrix", few)
    for name in filter(None, arguments.formats.split(",")):
        words = ["export", few, "--format", name, "-o"]
        most = place.memory(*words, place.path("archive") if name == "otf2" else "-")
        is_right = most < least + MOST_MB
        report.case(f"memory of {name}", [] if is_right else [f"{most} MB, not {least} MB"])


def test_damaged_ring(place, report):
    """Events that are damaged are told of by who needs them."""
    folder, _ = place.make("damaged", ranks=3, primitives=24, events=600000, buckets=400)
    path = os.path.join(folder, "process.00001.mds")
    with open(path, "r+b") as file:
        content = file.read()
        at = content.index(b"events\0\0") + 8
        file.seek(int.from_bytes(content[at:at + 8], "little") + 16)
        file.write(b"\xff")
    for verb in ("summary", "matrix"):
        told = place.read(verb, folder)
        report.case(f"{verb} beside damage", [] if told.returncode == 0 else [told.stderr])
    for verb in ("check", "events", "waits"):
        told = place.read(verb, folder)
        is_right = (told.returncode == 1
                    and f"{path} is damaged: section events" in told.stdout + told.stderr)
        report.case(f"{verb} of damaged events", [] if is_right else [f"{told}"[:300]])
    os.truncate(path, len(content) - 8)
    told = place.read("summary", folder)
    is_right = told.returncode == 1 and f"{path} is cut off or longer" in told.stderr
    report.case("a ring that is cut off", [] if is_right else [told.stderr])


def test_phases(place, report):
    """Phases of all ranks together, or of one."""
    folder, _ = place.make("phases", ranks=3)
    for options, n in (([], 3), (["--rank", "1"], 1)):
        told = place.read("summary", folder, *options)
        found = re.findall(r"^ +(-?\d+) +(\d+) +(\d+) +(\S+) +(\S+) +(\S+) +(\S+)$",
                           told.stdout.partition("Pcontrol")[2].partition("The phases")[0], re.M)
        expected = [("-3", str(n), str(3 * n), f"{n / 1e3:.3f}", "100.00", "0.00", "0.00"),
                    ("1", str(n), str(2 * n), f"{3 * n / 1e3:.3f}", "40.00", "50.00", "10.00")]
        report.case(f"phases of {n}", [] if found == expected else [f"{found}"])


def test_roll(place, report):
    """Ranks that have not ended are called, those at one place together."""
    folder, sums = place.make("roll", ranks=6, stuck=5)
    told = place.read("summary", folder)
    roll = re.findall(r"^  ([\d,.-]+): (.*)$", told.stdout, re.M)
    since = "since 0.000 s of the run (no such process any more)"
    name, other = list(sums)[:2]
    expected = [("4", f"{other}, rank 5, tag 5, on world?[7m, at 0x1234 in made, {since}"),
                ("1,3", f"{name}, any rank, any tag, on world?[7m, at 0x1234 in lib?[1m.so, "
                        f"{since}"),
                ("0,2", f"{name}, each with others, on world?[7m, at 0x1234 in made, {since}")]
    report.case("roll-call", [] if roll == expected else [f"{roll}, not {expected}"])
    path = os.path.join(folder, "process.00003.mds")
    with open(path, "rb") as file:
        content = file.read()
    for section, at, why in (("now", 24, "0x1235"), ("comms", 0, "0x1234")):
        with open(path, "wb") as file:
            file.write(folders.changed(content, section, at, 0x1235))
        told = place.read("summary", folder).stdout
        alone = re.findall(r"^  3: .* at (0x\w+) in lib", told, re.M)
        report.case(f"roll-call, another place of {section}", [] if alone == [why] else [told])


def test_under_way(place, report):
    """A message that was sent and not received is a finding, unless one of the two was killed."""
    folder, _ = place.make("killed", ranks=4, peers=2, stuck=1, open=1)
    told = place.read("check", folder)
    is_right = told.returncode == 0 and told.stdout == (
        "1 of 4 ranks have not ended: they were killed, or still run. 2 messages with 3000 bytes "
        "were under way, which is no finding.\n4 files, 0 findings\n")
    report.case("messages of a rank that was killed", [] if is_right else [f"{told}"])
    folder, _ = place.make("ended", ranks=4, peers=2, open=1)
    told = place.read("check", folder)
    is_right = (told.returncode == 1 and told.stdout.startswith("rank 0 has sent rank 1 ")
                and told.stdout.endswith("\n4 files, 2 findings\n"))
    report.case("messages that were left", [] if is_right else [f"{told}"])


def test_terminal(place, report):
    """Nothing that a run names has a terminal do something."""
    folder, _ = place.make("terminal", program="./made",
                           argument=["\x1b]0;x\x07", "two words", "new\nline"])
    told = place.read("summary", folder)
    is_right = told.stdout.startswith("./made '?]0;x?' 'two words' 'new?line'\n")
    report.case("command", [] if is_right else [repr(told.stdout[:100])])
    path = os.path.join(folder, "process.00002.mds")
    with open(path, "rb") as file:
        content = file.read()
    for name, old, new in (("primitive", b"MPI_Send", b"MPI_\x1bend"),
                           ("period", b"Comm Over", b"Comm\xffOver"),
                           ("host", b"node0", b"node\n")):
        with open(path, "wb") as file:
            file.write(folders.repaired(content.replace(old, new, 1)))
        told = place.read("summary", folder)
        is_right = told.returncode == 1 and f"{path} is damaged: a number or" in told.stderr
        report.case(f"name of a {name}", [] if is_right else [told.stderr])


def test_slices(place, report):
    """A metric of several nodes is that of all their files together."""
    folder, _ = place.make("slices", ranks=3, nodes=3, spans=5)
    told = place.read("slices", folder, "--metric", "LTTS").stdout.splitlines()
    rows = [line.split() for line in told[2:]]
    expected = [[str(4 * i), f"{0.002 * i:.6f}", "12", "0.002", None, f"{(3000 + i) / 1000:.3f}",
                 f"{(3 * 3 * 2 + sum(3000 + i - node for node in range(3))) / 1000:.3f}"]
                for i in range(5)]
    problems = [] if [row[:4] + [None] + row[5:] for row in rows] == expected else [str(told)]
    if told[0] != "LTTS, us, of 3 files; a line is of 4 slices":
        problems.append(told[0])
    told = place.read("slices", folder, "--metric", "NP2PDEM", "--node", "1", "--most", "2")
    rows = [line.split() for line in told.stdout.splitlines()[2:]]
    if [(row[0], row[2], row[5]) for row in rows] != [("0", "16", "4002"), ("16", "4", "4003")]:
        problems.append(told.stdout)
    checked = place.read("check", folder)
    if checked.returncode != 0 or "7 files, 0 findings" not in checked.stdout:
        problems.append(f"{checked}")
    report.case("slices", problems)
    path = os.path.join(folder, "node.00001.mds")
    with open(path, "rb") as file:
        content = file.read()
    for at, number, why in (
            (8, 1 << 60, "node 1: a slice has begun after the run\n"),
            (16, 3, "node 1: more slices have "),
            (16, 5, "node 1 has 21 slices, all nodes 20\n")):
        with open(path, "wb") as file:
            file.write(folders.changed(content, "spans", at, number))
        told = place.read("check", folder)
        report.case(f"slices, {why}", [] if told.stdout.startswith(why) else [told.stdout])
    with open(path, "wb") as file:
        file.write(content)


def test_disagreement(place, report):
    """What two records do not tell alike is found."""
    folder, _ = place.make("disagreement", ranks=3, primitives=2)
    path = os.path.join(folder, "process.00001.mds")
    with open(path, "rb") as file:
        content = file.read()
    for section, at, number, why in (
            ("peers", 8, 0, " messages of rank 1, which has sent none\n"),
            ("peers", 8, 0, "rank 1 has sent rank 0 0 messages with "),
            ("calls", 8, 1, "rank 1: more events than calls of MPI_Send\n"),
            ("comms", 24, 1, "rank 1: 151 messages with 75001 bytes by communicator")):
        with open(path, "wb") as file:
            file.write(folders.changed(content, section, at, number))
        told = place.read("check", folder).stdout
        report.case(f"check of {section}: {why}", [] if why in told else [told])


def test_drawing(place, report):
    """Drawings have the numbers of the tables: a gnuplot is played that prints its script."""
    os.mkdir(place.path("played"))
    played = place.path("played/gnuplot")
    with open(played, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ncat\nexit $STATUS\n")
    os.chmod(played, 0o755)
    paths = f"{place.path('played')}:{os.environ['PATH']}"

    def draw(status, *words):
        told = place.read(*words, env={**os.environ, "PATH": paths, "STATUS": str(status)})
        points = [[line.split() for line in part.splitlines() if line[0].isdigit()]
                  for part in told.stdout.split("\ne\n")]
        return told, points

    folder, _ = place.make("drawn", ranks=3, nodes=3, spans=5)
    table = place.read("slices", folder, "--metric", "LTTS").stdout.splitlines()[2:]
    told, points = draw(0, "slices", folder, "--metric", "LTTS", "-o", place.path("drawn.svg"))
    for curve, (what, column) in enumerate((("mean", 4), ("most", 5))):
        expected = [(row.split()[0], round(float(row.split()[column]), 2)) for row in table]
        found = [(x, round(float(y), 2)) for x, y in points[curve]]
        report.case(f"drawing of the {what}", [] if found == expected else [f"{found}"])
    path = os.path.join(folder, "process.00001.mds")
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(folders.repaired(content.replace(b"MPI_Recv", b"MPI_'ecv", 1)))
    told, points = draw(0, "dist", folder, "--of", "MPI_'ecv", "-o", "-")
    title = re.search(r"^set title '(Times of MPI_''ecv, (\d+) in all)'$", told.stdout, re.M)
    counts = [int(count) for _, count, _ in points[0]]
    is_right = title and sum(counts) == int(title.group(2)) and points[1][-1][1] == "100"
    report.case("drawing of a distribution", [] if is_right else [told.stdout[:500]])
    told, _ = draw(3, "slices", folder, "--metric", "LTTS", "-o", place.path("failed.png"))
    is_right = told.returncode == 1 and told.stderr == "bcs-mds: gnuplot has failed\n"
    report.case("gnuplot fails", [] if is_right else [f"{told}"])
    told, _ = draw(0, "slices", folder, "--metric", "LTTS", "-o", place.path("drawn.svg.gif"))
    is_right = told.returncode == 2 and "a picture's name ends in .svg, .png" in told.stderr
    report.case("no name of a picture", [] if is_right else [f"{told}"])


def test_options(place, report):
    """Wrong command lines are refused, with what is wrong."""
    folder, _ = place.make("options")
    number = "a number from 0 on is expected"
    for words, why in (
            (["nothing", folder], "there is no verb nothing"),
            (["summary"], "one folder is expected by the verb summary"),
            (["diff", folder], "two folders are expected"),
            (["dist", folder], "dist wants --of"),
            (["matrix", folder, "--rank", "1"], "an option is not for the verb matrix"),
            (["events", folder, "--most", ""], number),
            (["events", folder, "--most", "3x"], number),
            (["events", folder, "--rank", "-1"], number),
            (["check", folder, "--grid", "1000001"], "--grid is 1000000 us at most"),
            (["check", folder, "--every", "=3"], "--every wants METRIC=N"),
            (["check", folder, "--every", "LTTS=0"], "--every wants METRIC=N"),
            (["check", folder] + 9 * ["--every", "LTTS=1"], "--every is there too often")):
        told = place.read(*words)
        is_right = (told.returncode, told.stdout) == (2, "") and why in told.stderr
        report.case(f"refused {words}", [] if is_right else [f"{told}"])


def main():
    arguments = parse_arguments()
    report = job.Report()
    place = folders.Folders(arguments.maker, arguments.reader)
    try:
        test_options(place, report)
        test_disagreement(place, report)
        test_drawing(place, report)
        test_places(place, report)
        test_comms(place, report)
        test_events(place, report)
        test_roll(place, report)
        test_under_way(place, report)
        test_slices(place, report)
        test_phases(place, report)
        test_terminal(place, report)
        test_summary(place, arguments, report)
        test_damaged_ring(place, report)
        test_rings(place, arguments, report)
    finally:
        place.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
