#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes pages of runs that make_run has made: they are sound HTML that loads nothing, have the
numbers that were put in, take every name of the run for text, and stay small with many ranks.
"""

import argparse
import html.parser
import os
import re
import struct
import sys
import xml.etree.ElementTree

import folders

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../system"))
import job  # noqa: E402

# May be left open in HTML, or have no end at all.
OPEN_TAGS = {"meta", "br", "tr", "td", "th", "thead", "tbody", "p"}
LOADING = re.compile(r"\b(src|href|srcset|data|action)=|url\(|@import|<script|<link|\bon\w+=")
EVIL = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "&amp;&lt;",
        "'--><!--", "</title><svg>", "\x1b\x07\udcff\u0085\u00e4"]
# In place of names in files, of the same length.
EVIL_CALL, EVIL_MODULE = "<img>&'\"", "<i>&'\"<q>z"
EVIL_BYTES = {b"MPI_Recv\0": EVIL_CALL, b"lib\x1b[1m.so\0": EVIL_MODULE}
EVIL_SETTING = "setting <b>X: </p><i>&\x7f"
MOST_BYTES = 150000  # of a page about 1024 ranks
MOST_BARS, MOST_PLACES = 48, 64
BAR_WIDTH = 700
MOST_LATE_RANKS, MOST_LATE_PLACES = 32, 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--maker", required=True, help="the program make_run")
    return parser.parse_args()


class Page(html.parser.HTMLParser):
    """A page: its texts by the tag that they are in, tables and their rows, and what is unsound."""

    def __init__(self, text):
        super().__init__()
        self.problems = []
        self.open = []
        self.texts = {}
        self.rows = []
        self.tables = []
        self.text = text
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"never closed: {self.open}")
        if LOADING.search(re.sub(r">[^<]*<", "><", text)):
            self.problems.append("something is loaded")

    def handle_starttag(self, tag, attrs):
        self.texts.setdefault(tag, []).append("")
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.rows.append([])
            self.tables[-1].append(self.rows[-1])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in OPEN_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass  # of SVG

    def handle_endtag(self, tag):
        if tag in OPEN_TAGS:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        for tag in self.open[-1:]:
            self.texts[tag][-1] += data
        if self.rows and self.rows[-1] and "table" in self.open:
            self.rows[-1][-1] += data.strip("\n")

    def drawings(self):
        """All drawings, as XML."""
        parts = re.findall(r"<svg.*?</svg>", self.text, re.S)
        plain = [re.sub(r"class=(\w+)", r'class="\1"', part) for part in parts]
        return [xml.etree.ElementTree.fromstring(part.replace("&nbsp;", "&#160;"))
                for part in plain]


def report_of(place, name, **wishes):
    """Make a run and its page."""
    folder, sums = place.make(name, **wishes)
    return report_on(place, folder, name, sums)


def report_on(place, folder, name, sums=None):
    """Make the page of a run."""
    path = place.path(f"{name}.html")
    told = place.read("report", folder, "-o", path)
    if told.returncode != 0 or told.stderr or told.stdout:
        raise AssertionError(f"{told}")
    with open(path, encoding="utf-8") as file:
        return Page(file.read()), sums, folder


def number_of(text):
    """A count as it is printed."""
    number = int(text.replace("\u202f", ""))
    if f"{number:,}".replace(",", "\u202f") != text:
        raise ValueError(f"{text!r} is not in groups of three digits")
    return number


def problems_of_places(page, sums):
    """Whether all calls of each primitive are from places that make_run has made."""
    problems = []
    calls = dict.fromkeys(sums, 0)
    for row in page.rows:
        if row and row[0][:4] == "MPI_" and not re.fullmatch("[\\d\u202f]+", row[1]):
            calls[row[0]] += number_of(row[2])
            if not re.fullmatch("elsewhere|0x\\w+ in (made|no file|lib\ufffd\\[1m.so)", row[1]):
                problems.append(f"{row[0]} from {row[1]!r}")
    if 2 * len(sums) <= 30 and calls != {name: n for name, (n, _) in sums.items()}:
        problems.append(f"calls by place {calls}")
    return problems


def problems_of_numbers(place, page, sums, folder):
    """Whether the page has what was put in, and says what the summary says."""
    problems = problems_of_places(page, sums)
    rows = {row[0].rstrip("\u2020"): row for row in page.rows
            if row and row[0][:4] == "MPI_" and re.fullmatch("[\\d\u202f]+", row[1])}
    for name, (n, ns) in sums.items():
        row = rows.get(name)
        if row is None or number_of(row[1]) != n:
            problems.append(f"{name}: {row}, not {n}")
        elif not row[2].startswith(f"{ns / 1e6:.3g}"[:3]):
            problems.append(f"{name}: {row}, not {ns} ns")
    totals = [sums[name][1] for name in rows]
    if totals != sorted(totals, reverse=True):
        problems.append(f"not in order: {totals}")
    part = sum(float(row[4]) for row in rows.values())
    if not 99 < part < 101:
        problems.append(f"MPI: {part} %")
    summary = place.read("summary", folder).stdout
    parts = re.search(r"efficiency (\S+) % = load balance (\S+) % x .* (\S+) %", summary)
    tiles = [text for text in page.texts["b"] if text.endswith("\u00a0%")]
    if [f"{part}\u00a0%" for part in parts.groups()] != tiles[:3]:
        problems.append(f"efficiency {tiles[:3]}")
    return problems


def problems_of_drawings(page, n_ranks, n_figures, peers):
    """Whether each drawing has what it is of."""
    problems = []
    bars, *figures, matrix = page.drawings()
    n_bars = len(bars.findall("text"))
    n_each = -(-n_ranks // MOST_BARS)
    if n_bars != -(-n_ranks // n_each):
        problems.append(f"{n_bars} bars")
    if len(figures) != n_figures:
        problems.append(f"{len(figures)} distributions, not {n_figures}")
    widths = [sum(float(rect.get("width")) for rect in bars.findall("rect")) / n_bars]
    if not 500 < widths[0] < 701:
        problems.append(f"bars are {widths[0]} wide")
    for figure in figures:
        ys = [float(y) for path in figure.findall("path")
              for y in re.findall(r"V(-?[\d.]+)", path.get("d"))]
        if min(ys) < 17.9 or max(ys) > 128:
            problems.append(f"outside of its drawing: {min(ys)} {max(ys)}")
    n_each = -(-n_ranks // MOST_PLACES)
    places = {(i // n_each, (i + d) % n_ranks // n_each)
              for i in range(n_ranks) for d in range(1, peers + 1)}
    n_places = sum(path.get("d").count("M") for path in matrix.findall("path")
                   if path.get("fill"))
    if n_places != len(places):
        problems.append(f"{n_places} places of the matrix, not {len(places)}")
    return problems


def test_pages(place, report):
    """Pages of few and of many ranks."""
    for n_ranks, wishes in ((1, {"peers": 0}), (5, {"bits": 7, "buckets": 60, "peers": 3}),
                            (33, {"peers": 32}), (100, {}), (1024, {"peers": 100})):
        page, sums, folder = report_of(place, f"of{n_ranks}", ranks=n_ranks, **wishes)
        problems = page.problems + problems_of_numbers(place, page, sums, folder)
        if n_ranks > 1:
            # Of 8 primitives all have times and 6 have lengths; the 2 periods.
            problems += problems_of_drawings(page, n_ranks, 2 + 8 + 6,
                                             wishes.get("peers", 2))
        elif "The program itself has sent none." not in page.text:
            problems.append("messages of one rank")
        if len(page.text) > MOST_BYTES:
            problems.append(f"{len(page.text)} bytes")
        report.case(f"page of {n_ranks}", problems)


def shown(ns):
    """A time as a page has it."""
    size, unit = next((size, unit) for size, unit in
                      ((1e9, "s"), (1e6, "ms"), (1e3, "\u00b5s"), (0, "ns")) if ns >= size)
    many = ns / size if size else ns
    n_digits = 0 if many >= 100 or not size else 1 if many >= 10 else 2
    return f"{many:.{n_digits}f}\u00a0{unit}"


def table_of(page, *head):
    """The rows below the head that begins so; None: there is no such table."""
    for table in page.tables:
        if table[0][:len(head)] == list(head):
            return table[1:]
    return None


def split_ranks(tables):
    """By rank, what it has waited for, and others for it."""
    n_ranks = len(tables["processes"])
    own, others = ([[0] * n for _ in range(n_ranks)] for n in (6, 3))
    for rows, key, columns, into in ((tables["calls"], "rank", folders.PARTS, own),
                                     (tables.get("peers", []), "peer", folders.LATE, others)):
        for row in rows:
            sums = into[int(row[key])]
            for i, column in enumerate(columns):
                sums[i] += int(row[column])
    return own, others


def split_places(tables):
    """Rows of the table of places, the longest waits for late ranks first."""
    places = {}
    for row in tables["sites"]:
        places.setdefault(f"{row['primitive']} at {row['place']}", []).append(row)
    rows = []
    for place, sites in places.items():
        parts = folders.sums_of(sites, folders.PARTS[:5])
        late = sum(parts[:3])
        # All wait for the same rank.
        fault = max((row for row in sites if int(row["fault_ns"]) > 0), default=None,
                    key=lambda row: int(row["fault_ns"]))
        if late > 0:
            rows.append((late, [place.replace("\x1b", "\ufffd"), *map(shown, parts),
                                fault["fault_rank"],
                                shown(sum(int(row["fault_ns"]) for row in sites))]))
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


def problems_of_split(page, tables):
    """Whether the section has all that the export has, in its order."""
    own, others = split_ranks(tables)
    ranks = list(range(len(own)))
    if len(ranks) > MOST_LATE_RANKS:
        ranks = sorted(ranks, key=lambda i: (-sum(others[i]), i))[:MOST_LATE_RANKS]
    calls = {}
    for row in tables["calls"]:
        calls.setdefault(row["primitive"], []).append(row)
    calls = [(sum(int(row["total_ns"]) for row in rows), name,
              folders.sums_of(rows, folders.PARTS)) for name, rows in calls.items()]
    wanted = {
        "Rank": [[str(i), *map(shown, own[i] + others[i])] for i in ranks],
        "Primitive": [[name, *map(shown, parts)] for _, name, parts in sorted(calls, reverse=True)
                      if sum(parts) > 0],
        "Waited in": split_places(tables)[:MOST_LATE_PLACES],
    }
    problems = []
    for first, rows in wanted.items():
        found = table_of(page, first, "late sender")
        if found != (rows or None):
            problems.append(f"{first}: {found}, not {rows}")
    return problems + problems_of_bars(page.drawings()[1], own, page.text)


def problems_of_bars(drawing, own, text):
    """Whether the parts of each bar are as wide as their times, in the legend's colours."""
    legend = re.findall(r'<i style="background:([^"]*)"></i>([a-z ]*[a-z])', text)
    colours = [colour for colour, words in legend if words in folders.PART_WORDS]
    if [words for _, words in legend if words in folders.PART_WORDS] != folders.PART_WORDS:
        return [f"legend {legend}"]
    n_each = -(-len(own) // MOST_BARS)
    unit = BAR_WIDTH / max(map(sum, own))
    problems = []
    for number in range(-(-len(own) // n_each)):
        some = own[number * n_each:(number + 1) * n_each]
        left = 80
        rects = {rect.get("fill"): rect for rect in drawing.findall("rect")
                 if float(rect.get("y")) == 16 * number}
        for colour, times in zip(colours, zip(*some)):
            width = unit * sum(times) / len(some)
            rect = rects.pop(colour, None)
            x, found = (float(rect.get(key)) for key in ("x", "width")) if rect is not None else (
                left, 0)
            if abs(x - left) > 0.11 or abs(found - width) > 0.11:
                problems.append(f"bar {number}, {colour}: {found} at {x}, not {width} at {left}")
            left += width
        late = [unit * sum(times[:3]) for times in some]
        lines = [path.get("d") for path in drawing.findall("path")
                 if f" {16 * number + 6}.0H" in path.get("d")]
        line = f"M{80 + min(late):.1f} {16 * number + 6}.0H{80 + max(late):.1f}"
        if rects or lines != ([line] if len(some) > 1 else []):
            problems.append(f"bar {number}: {sorted(rects)}, {lines}, not {line}")
    return problems


def test_split(place, report):
    """What calls have waited for is in tables and a picture, and told of no older run."""
    for n_ranks, wishes in ((1, {"peers": 0}), (5, {"late": 3}), (32, {}), (33, {"late": 32}),
                            (100, {"late": 70, "primitives": 24}),
                            (1024, {"late": 1000, "buckets": 2})):
        page, _, folder = report_of(place, f"split{n_ranks}", ranks=n_ranks, parts=3, **wishes)
        problems = page.problems + problems_of_split(page, place.tables(folder))
        if len(page.text) > MOST_BYTES:
            problems.append(f"{len(page.text)} bytes")
        checked = place.read("check", folder)
        if checked.returncode != 0:
            problems.append(f"check: {checked.stdout}")
        report.case(f"waits of {n_ranks}", problems)
    page, _, _ = report_of(place, "unsplit")
    is_told = "What calls wait for" in page.text
    report.case("waits of an older run", ["they are told"] if is_told else [])


def test_slowest(place, report):
    """Of many ranks those with the most time outside are in the table."""
    page, _, _ = report_of(place, "slowest", ranks=200, slow=123)
    ranks = [row[0] for row in page.rows if len(row) == 8][1:]
    is_right = ranks[0] == "123" and len(ranks) == 20
    report.case("slowest rank", [] if is_right else [f"{ranks}"])


def test_hosts(place, report):
    """Hosts are counted once each, and communicators tell who has used them."""
    folder, _ = place.make("hosts", ranks=4)
    for rank in (1, 2):
        path = os.path.join(folder, f"process.{rank:05}.mds")
        with open(path, "rb") as file:
            content = file.read().replace(b"node0", b"node1")
        with open(path, "wb") as file:
            file.write(folders.repaired(content))
    os.unlink(os.path.join(folder, "process.00003.mds"))
    page, _, _ = report_on(place, folder, "hosts")
    found = [row[1] for row in page.rows if row and row[0] == "Hosts"]
    report.case("hosts", [] if found == ["node0 and 1 more"] else [f"{found}"])
    found = [row[1:3] for row in table_of(page, "Communicator") if row[0][:5] == "world"]
    report.case("who uses a communicator", [] if found == [["4", "3"]] else [f"{found}"])


def test_evil(place, report):
    """What a run names is text, whatever it looks like."""
    folder, _ = place.make("evil", program="./a", argument=EVIL)
    with open(os.path.join(folder, "manifest.txt"), "a", encoding="ascii") as file:
        file.write(EVIL_SETTING + "\n")
    path = place.path("evil.html")
    place.read("report", folder, "-o", path)
    with open(path, encoding="utf-8") as file:
        page = Page(file.read())
    problems = page.problems
    # The command has question marks for what a terminal would obey.
    for text in (*EVIL[:3], "<b>X", "</p><i>&\ufffd", "'????\u00e4'"):
        shown = page.texts["h1"][0] + "".join(page.texts.get("p", [])) + page.text
        if text not in html.unescape(re.sub(r"<[^>]*>", "", shown)):
            problems.append(f"{text!r} is not there")
    if set(page.texts) & {"script", "img", "i", "title"} != {"i", "title"}:
        problems.append(f"tags {sorted(page.texts)}")
    if len(page.texts["title"]) != 1 or page.texts["title"] != page.texts["h1"]:
        problems.append(f"title {page.texts['title']}")
    bad = [code for code in map(ord, page.text) if code < 32 and code != 10 or
           127 <= code < 160]
    problems += [f"controls {bad}"] if bad else []
    report.case("names", problems)


def change_processes(folder, change):
    """Have the files of processes hold what change makes of them, with right digests."""
    for name in os.listdir(folder):
        if name.startswith("process."):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                content = file.read()
            with open(path, "wb") as file:
                file.write(folders.repaired(change(content)))


def test_evil_waits(place, report):
    """Names of primitives and of files are text in the tables of what calls wait for."""
    folder, _ = place.make("evilwaits", parts=2)

    def spoil(content):
        for old, new in EVIL_BYTES.items():
            content = content.replace(old, new.encode("ascii") + b"\0")
        return content

    change_processes(folder, spoil)
    page, _, _ = report_on(place, folder, "evilwaits")
    problems = page.problems
    calls = table_of(page, "Primitive", "late sender") or []
    places = table_of(page, "Waited in", "late sender") or []
    if EVIL_CALL not in [row[0] for row in calls]:
        problems.append(f"calls {calls}")
    if f"{EVIL_CALL} at 0x1010 in {EVIL_MODULE}" not in [row[0] for row in places]:
        problems.append(f"places {places}")
    if "img" in page.texts:
        problems.append("a tag of a name")
    report.case("names in waits", problems)


def test_billions(place, report):
    """A few files that speak of billions of ranks need no room for so many."""
    folder, _ = place.make("billions", parts=2)

    def enlarge(content):
        content = bytearray(content)
        for at in range(32, 32 + 40 * struct.unpack_from("<I", content, 24)[0], 40):
            if content[at:at + 8] == b"process\0":
                offset, = struct.unpack_from("<Q", content, at + 8)
                struct.pack_into("<I", content, offset + 4, 2**32 - 1)
        return content

    change_processes(folder, enlarge)
    page, _, _ = report_on(place, folder, "billions")
    problems = page.problems
    if len(table_of(page, "Rank", "late sender") or []) != 4:
        problems.append("not the four ranks that there are")
    for words in (["summary", folder], ["diff", folder, folder]):
        told = place.read(*words)
        if told.returncode != 0 or told.stderr:
            problems.append(f"{words[0]}: {told.stderr}")
    report.case("billions of ranks", problems)


def test_not_written(place, report):
    """What cannot be written is one error."""
    folder, _ = place.make("sound")
    for path, why in (("/dev/full", "No space left on device"), (place.place, "Is a directory")):
        told = place.read("report", folder, "-o", path)
        is_right = told.returncode == 1 and told.stderr == (
            f"bcs-mds: cannot write {path}: {why}\n")
        report.case(f"into {path}", [] if is_right else [told.stderr])
    told = place.read("report", folder)
    is_right = told.returncode == 2 and "report wants --output" in told.stderr
    report.case("nowhere", [] if is_right else [told.stderr])


def main():
    arguments = parse_arguments()
    report = job.Report()
    place = folders.Folders(arguments.maker, arguments.reader)
    try:
        test_pages(place, report)
        test_split(place, report)
        test_slowest(place, report)
        test_hosts(place, report)
        test_evil(place, report)
        test_evil_waits(place, report)
        test_billions(place, report)
        test_not_written(place, report)
    finally:
        place.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
