#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BSPlib on cBSP: all calls on several numbers of processes, fewer processes than there
are, and errors, which must end the job with a line.
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import library_suite  # noqa: E402

ERRORS = {
    "unregistered": r"^bsp_put: memory at address 0x\w+ is not registered$",
    "too_early": r"^bsp_put: memory .* is not registered before the next bsp_sync$",
    "beyond": r"^bsp_put: 4 bytes at offset 1 are beyond the 4 bytes that process 2 has",
    "push_differs": r"^bsp_sync/|^bsp_sync: not all processes",
    "pop_differs": r"^bsp_sync/bsp_pop_reg: processes 0 and 1 did not pop the same",
    "tagsize_differs": r"^bsp_sync/bsp_set_tagsize: process 0 has set 0, process 1 1$",
    "end_differs": r"^bsp_sync/bsp_end: some processes have called bsp_sync, others",
    "no_process": r"^bsp_send: there is no process 3; there are 0 to 2$",
    "no_end": r"^bsp_end: was not called before the program ended$",
    "abort": r"^aborted by 2$",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bsplib", required=True, help="the test program")
    library_suite.add_arguments(parser)
    arguments = parser.parse_args()
    suite = library_suite.LibrarySuite(arguments)
    for n in (1, 2, 4, 7):
        suite.succeed(f"all calls on {n}", suite.mpirun(n, arguments.bsplib),
                      rf"^process \d+ of {n}: 0 wrong$", n)
    suite.succeed("fewer", suite.mpirun(4, arguments.bsplib, "fewer"),
                  r"^process \d+ of 2: 0 wrong$|^after, in", 3)
    for name, said in ERRORS.items():
        suite.fail(name, suite.mpirun(3, arguments.bsplib, name), said)
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
