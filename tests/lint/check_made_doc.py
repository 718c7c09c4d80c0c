#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a document is what the program that makes it prints.

Usage: check_made_doc.py PROGRAM DOCUMENT
"""

import difflib
import os
import subprocess
import sys


def main(program, document):
    made = subprocess.run(
        [program, "--markdown"], check=True, capture_output=True, text=True
    ).stdout
    with open(document, encoding="utf-8") as file:
        stored = file.read()
    sys.stdout.writelines(
        difflib.unified_diff(
            stored.splitlines(True), made.splitlines(True), document, program
        )
    )
    if made != stored:
        name = os.path.basename(document)
        print(f"to bring it up to date: {program} --markdown > docs/{name}")
    return made != stored


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
