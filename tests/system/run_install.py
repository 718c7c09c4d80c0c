#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a temporary place and works from there: bcsrun finds its preload, moved
as a whole as well; bcs-info answers; programs compile and link against libbcs, and those
written for BSPlib against libbcs_bsp.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import job

HEADERS = ("bcs/bcs.h", "bcs/cbsp.h", "bcs/primitives.h", "bcs/public.h", "bcs/status.h",
           "bcs/version.h", "bsp.h")
# Strict, and each header before any other: it must bring what it needs.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
CXX_PROGRAM = """
#include <bcs/bcs.h>
#include <bcs/cbsp.h>
#include <bcs/primitives.h>
#include <bcs/status.h>
#include <bcs/version.h>
#include <bsp.h>
#include <cstring>

extern "C" void keep_left(void *, const void *, void *, std::size_t) {}

int main()
{
    bcs_context *context;
    bcs_request requests[] = {BCS_REQUEST_DONE, BCS_REQUEST_DONE};
    const bcs_node_set nodes = bcs_node_set_one(7);
    bcs_reduction reduction{};
    bcs_message message{};
    bcs_result result{};
    long long mine = 3, all = 0, got = 0;

    if (std::strcmp(bcs_version(), BCS_VERSION) != 0) {
        return 1;
    }
    if (requests[0].result.error != 0 || requests[1].result.error != 0) {
        return 2;
    }
    if (bcs_node_set_count(&nodes) != 1 || bcs_init(&context) != 0) {
        return 3;
    }
    if (bcs_testall(context, requests, 2, true) != 0) {
        return 4;
    }
    reduction.in = &mine;
    reduction.out = &all;
    reduction.count = 1;
    reduction.op = BCS_SUM;
    reduction.type = BCS_INT64;
    bcs_reduce(context, bcs_world(context), &reduction, BCS_ROOT_ALL, nullptr);
    message.group = bcs_world(context);
    message.data = &got;
    message.n_bytes = sizeof got;
    bcs_recv(context, &message, nullptr, &requests[0]);
    message.data = &mine;
    bcs_send(context, &message, BCS_SEND_STANDARD, nullptr);
    bcs_test(context, &requests[0], true);
    reduction.op = BCS_OP_COMBINE;
    reduction.element_bytes = sizeof mine;
    reduction.combine = keep_left;
    bcs_reduce(context, bcs_world(context), &reduction, 0, nullptr);
    (void)result;
    if (bcs_finalize(context) != 0 || cBSP_initialize() != 0 || cBSP_nprocs() != 1) {
        return 5;
    }
    return all == 3 && got == 3 && cBSP_finalize() == 0 ? 0 : 6;
}
"""
PROGRAM = """
#include <bcs/cbsp.h>
#include <bcs/primitives.h>
#include <bcs/status.h>
int main(void) { return BCS_E_BUSY - 1 + cBSP_nprocs(); }
"""
BSP_PROGRAM = """
#include <bsp.h>
int main(void) { bsp_begin(1); bsp_sync(); bsp_end(); return 0; }
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--greet", required=True, help="the program greet")
    parser.add_argument("--handles", required=True, help="the program handles")
    parser.add_argument("--meson", default="meson")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--cxx-compiler", help="tried as well if given")
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


def carries_by_name(report, folder, handles):
    """A program whose MPI library is the installed libmpi_bcs.so is carried without a preload."""
    command = ["mpirun", "-n", "2", handles, str(find(folder, "libmpi_bcs.so")), "local", "dead"]
    result = job.run(command, job.mpirun_environment())
    report.case("libmpi_bcs.so", [] if result.status == 86 else [result.ending()], job.shell_line(command))


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


def bsplib_is_apart(report, folder, compiler):
    """Check that BSPlib is in a library of its own, and nowhere else."""
    library = find(folder, "libbcs_bsp.so")
    command = [*compiler, "-x", "c", "-", "-x", "none", "-o", folder / "bsp_program"]
    words = pkg_config(report, folder, "bcs_bsp")
    if library is None:
        report.case("libbcs_bsp", ["is not installed"])
        return
    builds(report, "a program with libbcs_bsp", [*command, *words], library,
           input=BSP_PROGRAM.encode())
    without = [*command, *(word for word in words if word != "-lbcs_bsp")]
    done = subprocess.run(without, input=BSP_PROGRAM.encode(), capture_output=True,
                          check=False)
    is_right = done.returncode != 0 and b"undefined reference" in done.stderr
    report.case("libbcs has no BSPlib", [] if is_right else [done.stderr.decode()],
                job.shell_line(without))


def pkg_config(report, folder, package="bcs"):
    """What pkg-config says of an installed library, as words."""
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": str(find(folder, "bcs.pc").parent),
        "PKG_CONFIG_SYSROOT_DIR": str(folder),
    }
    words = subprocess.run(
        ["pkg-config", "--cflags", "--libs", package],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    report.case(f"pkg-config {package}", [words.stderr] if words.returncode else [])
    return words.stdout.split()


def versions_agree(report, folder):
    """Check that all that tell a version tell the header's, and libraries that of their ABI."""
    text = find(folder, "version.h").read_text(encoding="utf-8")
    version = re.search(r'^#define BCS_VERSION "(.*)"$', text, re.M)[1]
    major, minor, patch = re.findall(r"^#define BCS_VERSION_[A-Z]+ (\d+)$", text, re.M)
    abi = f"0.{minor}" if major == "0" else major
    environment = {**os.environ, "PKG_CONFIG_PATH": str(find(folder, "bcs.pc").parent)}
    told = {"version.h": f"{major}.{minor}.{patch}"}
    for package in ("bcs", "bcs_bsp"):
        told[f"{package}.pc"] = subprocess.run(
            ["pkg-config", "--modversion", package], env=environment, capture_output=True,
            check=False, text=True).stdout.strip()
    for program in ("bcs-info", "bcsrun"):
        told[program] = job.run([str(find(folder, program)), "--version"]).stdout.strip()
        told[program] = told[program].removeprefix(f"{program} ")
    problems = [f"{who} says {what!r}, BCS_VERSION is {version!r}"
                for who, what in told.items() if what != version]
    for library in ("libbcs.so", "libbcs_bsp.so"):
        head = subprocess.run(["readelf", "-d", str(find(folder, library))],
                              capture_output=True, check=False, text=True).stdout
        if f"soname: [{library}.{abi}]" not in head:
            problems.append(f"the soname of {library} has not {abi} at its end")
    report.case("versions", problems)


def examples_compile(report, folder, compiler, words):
    """Check that the installed examples compile with just what pkg-config says, and run."""
    library = find(folder, "libbcs.so")
    for name in ("ring.c", "heat.c", "farm.c"):
        source = find(folder, name)
        if source is None:
            report.case(name, ["is not installed"])
            continue
        target = pathlib.Path(folder) / source.stem
        command = [*compiler, "-Wall", "-Wextra", "-Werror", str(source), "-o"]
        builds(report, f"the example {name}", [*command, str(target), *words], library)


def headers_compile(report, folder, languages, words):
    """Check that each installed header compiles alone, in each language."""
    for header in HEADERS:
        for name, compiler in languages.items():
            text = f"#include <{header}>\n#include <{header}>\nint unused_name;\n"
            command = [*compiler, *STRICT, "-x", name, "-fsyntax-only", "-", *words]
            done = subprocess.run(
                command, input=text.encode(), capture_output=True, check=False
            )
            problems = [done.stderr.decode()[:300]] if done.returncode else []
            report.case(f"{header} in {name}", problems, job.shell_line(command))


def cxx_program_runs(report, folder, compiler, words):
    """Check that a C++ program links with the library, and runs."""
    target = pathlib.Path(folder) / "cxx_program"
    command = [*compiler, *STRICT, "-x", "c++", "-", "-x", "none", "-o", target, *words]
    library = find(folder, "libbcs.so")
    builds(report, "a C++ program", command, library, input=CXX_PROGRAM.encode())


def problems_of_info(info):
    """It tells values, which of them are set, and by its status that one makes no sense."""
    problems = []
    for copy, status, words in ((None, 0, "  BCS_COPY=auto\n"), ("pooled", 0, "  BCS_COPY=pooled (set)\n"),
                                ("fast", 1, "BCS_COPY")):
        result = job.run([str(info)], job.clean_environment({} if copy is None else {"BCS_COPY": copy}))
        if result.status != status or words not in result.stdout + result.stderr:
            problems.append(f"BCS_COPY {copy}: {result.status}, {result.stderr!r}, no {words!r}")
    return problems


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
            words = pkg_config(report, first)
            examples_compile(report, first, compiler, words)
            bsplib_is_apart(report, first, compiler)
            versions_agree(report, first)
            languages = {"c": [*compiler, "-std=c11"]}
            if arguments.cxx_compiler:
                cxx = [*shlex.split(arguments.cxx_compiler), "-std=c++17"]
                languages["c++"] = cxx
                cxx_program_runs(report, first, cxx, words)
            else:
                print("skipped: C++ (no compiler)")
            headers_compile(report, first, languages, words)
            info = find(first, "bcs-info")
            report.case("bcs-info", problems_of_info(info) if info else ["it is not there"])
            second = pathlib.Path(folder) / "second"
            shutil.move(first, second)
            works_from(report, "a place it was moved to", second, arguments.greet)
            carries_by_name(report, second, arguments.handles)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
