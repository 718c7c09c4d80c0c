#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the paths through the source that documents tell of.

Usage: check_paths.py ROOT BUILD DOCUMENT... Every file that a document names in full must
exist. A section "## Path: ..." has numbered lists of files, from the top down:

    1. `mpi_shim/calls/p2p_calls.c` what it does
    2. `libbcs/api/send.c` what it does
    3. `nic_threads/inline.c`, by the table in `nic_threads/driver.c`: what it does

Each file but the first of a list must be called by one before it (as the objects show, or,
for a header, by including it), or by one that the table in another file is handed to, which
names it. Nobody calls a file that stands before it. Exit status 1 if there is any finding.
"""

import os
import re
import sys

import check_calls

SECTION = re.compile(r"^## Path: (.*)$", re.M)
STEP = re.compile(r"^(\d+)\. `([^`]+)`(?:, by the table in `([^`]+)`)?", re.M)
FILE = re.compile(r"`((?:[\w.-]+/)+[\w-]+\.(?:c|h|def|py|toml|in))`")


def lists_of(text):
    """The lists of the paths: [(title, [(file, table or None)])]."""
    found = []
    parts = SECTION.split(text)[1:]
    for title, body in zip(parts[::2], parts[1::2]):
        for number, file, table in STEP.findall(body.split("\n## ")[0]):
            if number == "1":
                found.append((title, []))
            if found:
                found[-1][1].append((file, table or None))
    return found


def check_list(title, steps, edges):
    """Findings about one list; edges are pairs of who needs whom."""
    for index, (file, table) in enumerate(steps):
        above = [step[0] for step in steps[:index]]
        if table is None:
            if above and not any((other, file) in edges for other in above):
                yield f"{title}: nobody before it calls {file}"
        elif (table, file) not in edges:
            yield f"{title}: {table} does not name what is in {file}"
        for other in above:
            if (file, other) in edges:
                yield f"{title}: {file} calls {other}, which stands before it"


def check_files(text, root):
    """Every file that is named in full exists."""
    for file in sorted(set(FILE.findall(text))):
        if not os.path.exists(os.path.join(root, file)):
            yield f"there is no {file}"


def include_edges(root, files):
    """Pairs of a file of a path and a header that it includes."""
    for file in files:
        with open(os.path.join(root, file), encoding="utf-8") as source:
            for target in re.findall(r'^#include "([^"]+)"', source.read(), re.M):
                yield file, target


def main(root, build, *documents):
    findings, lists = [], []
    for document in documents:
        with open(os.path.join(root, document), encoding="utf-8") as file:
            text = file.read()
        findings += [f"{document}: {finding}" for finding in check_files(text, root)]
        lists += lists_of(text)
    if not findings:
        edges = set(check_calls.needs(check_calls.read_objects(root, build)))
        edges |= set(include_edges(root, {step[0] for _, steps in lists for step in steps}))
        for title, steps in lists:
            findings += check_list(title, steps, edges)
    return check_calls.lint.tell(findings, len(lists), "paths")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
