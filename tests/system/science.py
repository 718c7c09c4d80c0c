# SPDX-License-Identifier: BSD-3-Clause
"""Finds a Python that has scipy: this one, or that of the distribution, which another one in
PATH may hide. bcs-overhead looks in the same places."""

import os
import subprocess
import sys

STATUS_SKIPPED = 77
PLACES = (sys.executable, "/usr/bin/python3")


def python_with_scipy():
    """Its path, or None."""
    for path in PLACES:
        try:
            done = subprocess.run([path, "-c", "import numpy, scipy"], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True)
        except OSError:
            continue
        if done.returncode == 0:
            return path
    return None


def scipy_take():
    """Go on by a Python that has scipy; end as skipped where there is none. Called by a test
    before it does anything else."""
    path = python_with_scipy()
    if path is None:
        print("skipped: there is no Python with scipy (package python3-scipy)")
        sys.exit(STATUS_SKIPPED)
    if path != sys.executable:
        os.execv(path, [path, "-B", *sys.argv])
