#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads runs that make_run has made from the description of the format: bcs-mds shows the sums
that were put into them, of one rank and of 1024.
"""

import argparse
import os
import re
import resource
import sys

import folders

sys.path.insert(1, os.path.join(os.path.dirname(__file__), "../system"))
import job  # noqa: E402

MOST_SECONDS = 2  # of a processor, for the summary of 1024 ranks


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--maker", required=True, help="the program make_run")
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


def main():
    arguments = parse_arguments()
    report = job.Report()
    place = folders.Folders(arguments.maker, arguments.reader)
    try:
        test_summary(place, arguments, report)
        test_terminal(place, report)
    finally:
        place.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
