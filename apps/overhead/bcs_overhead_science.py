# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that fits and comparisons are made by, or one line that says what is
missing. Only what needs them imports this."""

import os
import subprocess
import sys

from bcs_jobs import BenchError

# Where the packages of a distribution are, if another Python comes first in PATH.
SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAM = "bcs-overhead"


def system_python_take():
    """Go on with the distribution's Python if it has what this one lacks; does not return
    then. Called before anything else is done."""
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON):
        return
    try:
        done = subprocess.run([SYSTEM_PYTHON, "-c", "import numpy, scipy"], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
    except OSError:
        return
    if done.returncode == 0:
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])


try:
    import numpy
    import scipy.optimize
    import scipy.stats
except ImportError as error:
    if os.path.basename(sys.argv[0]) == PROGRAM:
        system_python_take()
    raise BenchError(f"{error.name} for Python is not installed, which fits and comparisons "
                     "need: install the package python3-scipy") from None

__all__ = ["numpy", "scipy"]
