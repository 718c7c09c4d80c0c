#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that docs/configuration.md is what bcs-info prints.

Usage: check_configuration_doc.py BCS_INFO DOCUMENT
"""

import difflib
import subprocess
import sys


def main(bcs_info, document):
    made = subprocess.run(
        [bcs_info, "--markdown"], check=True, capture_output=True, text=True
    ).stdout
    with open(document, encoding="utf-8") as file:
        stored = file.read()
    sys.stdout.writelines(
        difflib.unified_diff(
            stored.splitlines(True), made.splitlines(True), document, "bcs-info"
        )
    )
    if made != stored:
        print("to bring it up to date: bcs-info --markdown > docs/configuration.md")
    return made != stored


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
