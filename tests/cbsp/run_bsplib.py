#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BSPlib on cBSP: all calls on several numbers of processes, fewer processes than there
are, and errors, which must end the job with a line.
"""

import argparse
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402

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
    parser.add_argument("--mpirun", default="mpirun")
    arguments = parser.parse_args()
    report = job.Report()

    def run(name, n, words, is_good, wanted, n_lines):
        command = [arguments.mpirun, "-n", str(n), arguments.bsplib, *words]
        result = job.run(command, job.mpirun_environment())
        found = re.findall(wanted, result.stdout if is_good else result.stderr, re.M)
        problems = []
        if (result.status == 0) != is_good or result.status is None:
            problems.append(f"status {result.status}")
        if len(found) < n_lines:
            problems.append(f"printed {result.stdout[:500]!r} {result.stderr[:500]!r}")
        report.case(name, problems, job.shell_line(command, {}))

    for n in (1, 2, 4, 7):
        run(f"all calls on {n}", n, [], True, rf"^process \d+ of {n}: 0 wrong$", n)
    run("fewer", 4, ["fewer"], True, r"^process \d+ of 2: 0 wrong$|^after, in", 3)
    for name, said in ERRORS.items():
        run(name, 3, [name], False, said, 1)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
