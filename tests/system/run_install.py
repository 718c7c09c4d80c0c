#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a temporary place and works from there: bcsrun finds its preload, moved
as a whole as well; bcs-info answers; programs compile and link against libbcs.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import job

PROGRAM = """
#include <bcs/cbsp.h>
#include <bcs/primitives.h>
#include <bcs/status.h>
#include <bsp.h>
int main(void) { return BCS_XFER_E_BUSY - 1 + cBSP_nprocs(); }
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--greet", required=True, help="the program greet")
    parser.add_argument("--meson", default="meson")
    parser.add_argument("--compiler", default="cc")
    return parser.parse_args()


def find(folder, name):
    """The one file of this name below folder, or None."""
    found = sorted(pathlib.Path(folder).rglob(name))
    return found[0] if found else None


def works_from(report, where, folder, greet):
    """Check that the bcsrun below folder carries a program with its own preload."""
    bcsrun = find(folder, "bcsrun")
    if bcsrun is None:
        report.case(f"bcsrun in {where}", ["is not installed"])
        return
    command = [str(bcsrun), "-n", "2", greet]
    result = job.run(command, job.mpirun_environment())
    problems = []
    if result.status != 0:
        problems.append(f"status {result.status}: {result.stderr[:300]!r}")
    if f"preload {os.path.realpath(folder)}/" not in result.stdout:
        problems.append(f"printed {result.stdout!r}")
    report.case(f"bcsrun from {where}", problems, job.shell_line(command))


def builds(report, name, command, library, **options):
    """Check that a program compiles, and runs with the installed library."""
    done = subprocess.run(command, capture_output=True, check=False, **options)
    problems = [done.stderr.decode()] if done.returncode else []
    if not problems:
        extra = {"LD_LIBRARY_PATH": str(library.parent)}
        target = command[command.index("-o") + 1]
        result = job.run([str(target)], job.clean_environment(extra))
        problems = [result.stderr] if result.status else []
    report.case(name, problems, job.shell_line(command))


def links_against_library(report, folder, compiler):
    """Check that the installed headers and library are enough for a program."""
    config = find(folder, "bcs.pc")
    library = find(folder, "libbcs.so")
    header = find(folder, "primitives.h")
    if not (config and library and header):
        report.case("headers and library", ["bcs.pc, libbcs.so or a header is missing"])
        return
    target = pathlib.Path(folder) / "program"
    places = [f"-I{header.parent.parent}", f"-L{library.parent}", "-lbcs"]
    command = [*compiler, "-x", "c", "-", "-o", target, *places]
    builds(report, "a program with libbcs", command, library, input=PROGRAM.encode())


def examples_compile(report, folder, compiler):
    """Check that the installed examples compile with what pkg-config says, and run."""
    config = find(folder, "bcs.pc")
    library = find(folder, "libbcs.so")
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": str(config.parent),
        "PKG_CONFIG_SYSROOT_DIR": str(folder),
    }
    words = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "bcs"],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    report.case("pkg-config", [words.stderr] if words.returncode else [])
    for name in ("ring.c", "heat.c"):
        source = find(folder, name)
        if source is None:
            report.case(name, ["is not installed"])
            continue
        target = pathlib.Path(folder) / source.stem
        command = [*compiler, "-Wall", "-Wextra", "-Werror", str(source), "-o"]
        command += [str(target), *words.stdout.split(), "-lm"]
        builds(report, f"the example {name}", command, library)


def main():
    arguments = parse_arguments()
    compiler = shlex.split(arguments.compiler)
    report = job.Report()
    with tempfile.TemporaryDirectory(prefix="bcs-install-") as folder:
        first = pathlib.Path(folder) / "first"
        done = subprocess.run(
            [
                arguments.meson,
                "install",
                "-C",
                arguments.build,
                "--no-rebuild",
                "--destdir",
                str(first),
            ],
            capture_output=True,
            check=False,
        )
        report.case("meson install", [done.stderr.decode()] if done.returncode else [])
        if done.returncode == 0:
            works_from(report, "the installed place", first, arguments.greet)
            links_against_library(report, first, compiler)
            examples_compile(report, first, compiler)
            info = find(first, "bcs-info")
            result = job.run([str(info)]) if info else None
            is_right = result and result.status == 0 and "BCS_COPY" in result.stdout
            report.case("bcs-info", [] if is_right else ["does not list BCS_COPY"])
            second = pathlib.Path(folder) / "second"
            shutil.move(first, second)
            works_from(report, "a place it was moved to", second, arguments.greet)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
