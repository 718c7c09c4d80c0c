#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run falls back to is said once for all ranks, with the level that it has, and
counted in the report.

The kernel is made to forbid that ranks read each other's memory. One case has more ranks
than cores, where there are not too many of those; the last one runs beside another job.
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
    parser.add_argument("--block", required=True, help="that program")
    return parser.parse_args()


def said(stderr):
    """The keys of what was said, one for each line."""
    return sorted(re.findall(r"^bcs\[rank \d+\]: ([a-z-]+): .*\(Said once\.\)$", stderr,
                             re.M))


def beside_another(arguments):
    """A job of as many ranks as cores beside one with a rank that is awake. Returns what is wrong."""
    launch = shlex.split(arguments.launcher)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:2])  # of both jobs
    n_ranks = len(cores[:2])
    other = job.Job([*launch, "-n", "2", arguments.block, "recv", "0"],
                    job.mpirun_environment({"BCS_REFEREE": "off"}))
    try:
        other.find_rank(0)
        other.await_that(lambda: "rank 0" in other.output_so_far(), 60)
        result = job.run([*launch, "-n", str(n_ranks), arguments.greet],
                         job.mpirun_environment({"BCS_LOG": "info"}))
    finally:
        other.close()
        os.sched_setaffinity(0, cores)
    told = rf"crowded: {n_ranks} ranks have {n_ranks} processors, which \d+ ranks of other jobs use too"
    return [] if re.search(told, result.stderr) else [f"said {result.stderr[:1500]!r}"]


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
    report.case("other jobs count", beside_another(arguments), "")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
