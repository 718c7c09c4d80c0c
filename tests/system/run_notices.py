#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run falls back to is said once for all ranks, with the level that it has, and
counted in the report.

The kernel is made to forbid that ranks read each other's memory. The last case has more ranks
than cores, where there are not too many of those.
"""

import argparse
import os
import re
import shlex
import sys

import job


MOST_RANKS = 16
# Open MPI's own long messages are lost where a filter forbids what it has not tried.
SETTINGS = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", required=True, help="bcsrun")
    parser.add_argument("--filtered", required=True, help="that program")
    parser.add_argument("--greet", required=True, help="that program")
    return parser.parse_args()


def said(stderr):
    """The keys of what was said, one for each line."""
    return sorted(re.findall(r"^bcs\[rank \d+\]: ([a-z-]+): .*\(Said once\.\)$", stderr,
                             re.M))


def main():
    arguments = parse_arguments()
    report = job.Report()
    n_cores = len(os.sched_getaffinity(0))
    n_most = min(n_cores + 1, MOST_RANKS)
    expected = ["copy-forbidden", "crowded"] if n_most > n_cores else ["copy-forbidden"]

    def run(name, settings, look, n_ranks=2):
        words = ["-n", str(n_ranks), arguments.filtered, arguments.greet]
        command = shlex.split(arguments.launcher) + words
        settings = SETTINGS | settings
        result = job.run(command, job.mpirun_environment(settings))
        report.case(name, look(result), job.shell_line(command, settings))

    def says(*keys):
        def look(result):
            problems = []
            if result.status != 0:
                problems.append(f"status {result.status}")
            if said(result.stderr) != sorted(keys):
                problems.append(f"said {result.stderr[:1500]!r}")
            return problems
        return look

    def counts(result):
        line = "Fallen back or held up: " + ", ".join(f"{key} 1" for key in expected)
        problems = says(*expected)(result)
        if line not in result.stderr.splitlines():
            problems.append(f"not in the report: {line}")
        return problems

    def refuses(result):
        is_right = result.status != 0 and "BCS_COPY=direct: the kernel" in result.stderr
        return [] if is_right else [f"status {result.status}, {result.stderr[:500]!r}"]

    run("by default what makes it slow is said", {}, says("copy-forbidden"))
    run("what is meant is not said", {"BCS_COPY": "pooled"}, says())
    run("what is asked for and not possible ends it", {"BCS_COPY": "direct"}, refuses)
    run("the report counts, and info says more",
        {"BCS_LOG": "info", "BCS_MDS": "mmds"}, counts, n_most)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
