#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that docs/shim.md tells of each function that is interposed for notes alone.

Usage: check_noted.py ROOT. The rows SHIM_MAKES and SHIM_FREES of functions.def and the table
"| kind | made by | freed by |" must name the same functions by the same kinds, and the text
above the table how many they are.
"""

import pathlib
import re
import sys

ROW = re.compile(r"^SHIM_(MAKES|FREES)\((\w+), (\w+),", re.MULTILINE)
HEAD = "| kind | made by | freed by |\n|---|---|---|\n"
COUNT = re.compile(r"\b(\d+) of these functions\b")


def functions_of_rows(text):
    """{(MAKES or FREES, kind, function)} of functions.def."""
    return {(what, kind, f"MPI_{name}") for what, kind, name in ROW.findall(text)}


def functions_of_table(text):
    """The same of the document; names that are there twice are in it twice."""
    found = []
    for line in text.split(HEAD)[1].split("\n\n")[0].splitlines():
        kind, made, freed = (cell.strip() for cell in line.strip("|").split("|"))
        for what, cell in (("MAKES", made), ("FREES", freed)):
            found += [(what, kind.strip("`"), name) for name in re.findall(r"`(\w+)`", cell)]
    return found


def problems(rows, document):
    """What does not fit, a line each."""
    if document.count(HEAD) != 1:
        yield "docs/shim.md: there must be one table of made by, freed by"
        return
    is_row = functions_of_rows(rows)
    told = functions_of_table(document)
    count = COUNT.search(document.split(HEAD)[0])

    for one in sorted(is_row - set(told)):
        yield f"docs/shim.md: {one[2]} is missing in the table, or not as {one[1]} that it {one[0].lower()}"
    for one in sorted(set(told) - is_row):
        yield f"docs/shim.md: functions.def has no SHIM_{one[0]}({one[1]}, ...) of {one[2]}"
    for one in sorted({one for one in told if told.count(one) > 1}):
        yield f"docs/shim.md: {one[2]} is in the table twice"
    if count is None or int(count.group(1)) != len(is_row):
        yield f'docs/shim.md: it must say "{len(is_row)} of these functions"'


def main(root):
    root = pathlib.Path(root)
    found = list(problems((root / "mpi_shim/real/functions.def").read_text(encoding="utf-8"),
                          (root / "docs/shim.md").read_text(encoding="utf-8")))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
