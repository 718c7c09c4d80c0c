#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that each public header stands alone.

Usage: check_headers.py FOLDER,... CC [CXX]. Each header below the FOLDERs is compiled alone,
twice in a row, as C11 and, if there is a compiler, as C++17, with warnings as errors and with
the FOLDERs as the only places of ours to include from: what it includes must be installed, too.
"""

import pathlib
import shlex
import subprocess
import sys

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def problem(folders, header, compiler):
    """What a compiler with its options says of a header; None if nothing."""
    text = f"#include <{header}>\n" * 2 + "int unused_name;\n"
    command = [*compiler, *STRICT, *(f"-I{folder}" for folder in folders), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def main(folders, c_compiler, cxx_compiler=None):
    folders = folders.split(",")
    languages = {"C11": [*shlex.split(c_compiler), "-std=c11", "-x", "c"]}
    if cxx_compiler:
        languages["C++17"] = [*shlex.split(cxx_compiler), "-std=c++17", "-x", "c++"]
    headers = sorted(header.relative_to(folder) for folder in folders
                     for header in pathlib.Path(folder).rglob("*.h"))
    n_problems = 0
    for name in headers:
        for language, compiler in languages.items():
            said = problem(folders, name, compiler)
            if said is not None:
                n_problems += 1
                print(f"{name} does not stand alone as {language}:\n{said}")
    print(f"{len(headers)} headers as {' and '.join(languages)}, {n_problems} problems")
    return 1 if n_problems or not headers else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
