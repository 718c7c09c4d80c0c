#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that every C file is laid out as clang-format would.

Usage: check_format.py CLANG_FORMAT ROOT
"""

import os
import subprocess
import sys

import lint


def main(clang_format, root):
    paths = [
        os.path.join(root, path)
        for path in lint.find_files(root)
        if path.endswith((".c", ".h"))
    ]
    return subprocess.run([clang_format, "--dry-run", "--Werror", *paths]).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
