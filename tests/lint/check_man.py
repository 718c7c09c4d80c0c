#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a program's manual page has the options that its --help has, and examples.

Usage: check_man.py PAGE PROGRAM; the program is run with --help, a script in Python (.in)
from its source.
Options of other programs, as a page's text may name them, are looked for in the sections
SYNOPSIS and OPTIONS only.
"""

import re
import subprocess
import sys

FONT = re.compile(r"\\f[BIRP]")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def sections_of(text):
    """The text of a page's sections by name, with plain dashes."""
    sections = {}
    name = ""
    for line in text.replace("\\-", "-").splitlines():
        if line.startswith(".SH "):
            name = line[len(".SH "):].strip('" ')
        else:
            sections[name] = sections.get(name, "") + FONT.sub("", line) + "\n"
    return sections


def main():
    page, program = sys.argv[1:]
    command = [sys.executable, program] if program.endswith(".in") else [program]
    with open(page, encoding="utf-8") as file:
        sections = sections_of(file.read())
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    in_help = set(OPTION.findall(done.stdout))
    listed = sections.get("OPTIONS", "")
    in_page = set(OPTION.findall(listed + sections.get("SYNOPSIS", "")))
    findings = [f"{option}: in --help, not in the page" for option in in_help - in_page]
    findings += [f"{option}: in the page, not in --help" for option in in_page - in_help]
    if not in_help:
        findings.append("--help names no option")
    if not sections.get("EXAMPLES", "").strip():
        findings.append("no section EXAMPLES")
    for finding in sorted(findings):
        print(f"{page}: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
