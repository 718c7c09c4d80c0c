#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input to bcsrun, to the preload and to sweep3d; the preload in other processes.

Every mistake must give one clear line and a status other than 0, before the program
starts. In a process that is no MPI program the preload must do nothing at all.
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

# An MPI library that is not Open MPI, a program for it, and one that loads it.
STUB = """
#include <stdio.h>
int PMPI_Init(int *c, char ***v) { return printf("ranks start\\n") < 0; }
int MPI_Init(int *c, char ***v) { return PMPI_Init(c, v); }
int PMPI_Get_library_version(char *version, int *length)
{ return (*length = sprintf(version, "Stub MPI 1.0\\nwith a second line")) < 0; }
"""
PROGRAM = """
int MPI_Init(int *, char ***);
int main(void) { return MPI_Init(0, 0); }
"""
LOADER = """
#include <dlfcn.h>
int main(void)
{
    int (*init)(int *, char ***);
    dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    *(void **)&init = dlsym(RTLD_DEFAULT, "MPI_Init");
    return init(0, 0);
}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--shim", required=True, help="path of libbcs_mpi.so")
    parser.add_argument("--greet", required=True, help="the program greet")
    parser.add_argument("--sweep3d", help="the program sweep3d, if it is built")
    parser.add_argument("--compiler", default="cc")
    return parser.parse_args()


class Suite:
    """The cases; each method that starts with case_ is a group of them."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.report = job.Report()

    def must_fail(self, name, command, words, extra=None, is_one_line=True):
        """The command must fail, name all words on standard error, start nothing."""
        result = job.run(command, job.mpirun_environment(extra), 60)
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        problems = []
        if result.status is None:
            problems.append("hung")
        elif result.status <= 0:
            problems.append(f"ended with status {result.status}")
        for word in words:
            if word.lower() not in result.stderr.lower():
                problems.append(f"{word!r} is not named in {result.stderr[:300]!r}")
        if is_one_line and len(lines) != 1:
            problems.append(f"{len(lines)} lines, not one: {result.stderr[:300]!r}")
        if is_one_line and not result.stderr.endswith("\n"):
            problems.append(f"the line has no end: {result.stderr[:300]!r}")
        if "ranks " in result.stdout:
            problems.append("the program was started")
        self.report.case(name, problems, job.shell_line(command, extra))
        return result

    def must_be_inert(self, name, command, extra=None):
        """Under the preload the command must end with 0 and print as without it."""
        plain = job.run(command, job.mpirun_environment(), 60)
        preload = {"LD_PRELOAD": self.arguments.shim, **(extra or {})}
        result = job.run(command, job.mpirun_environment(preload), 60)
        problems = []
        if result.status != 0:
            problems.append(f"status {result.status}")
        if result.stdout != plain.stdout:
            problems.append(f"printed {result.stdout[:200]!r}")
        if result.stderr != plain.stderr:
            problems.append(f"said {result.stderr[:200]!r}")
        self.report.case(f"inert in {name}", problems, job.shell_line(command, preload))

    def compile(self, name, source, options):
        """Compile C text into the folder. Returns the path, None if that fails."""
        target = self.folder / name
        done = subprocess.run(
            [
                *shlex.split(self.arguments.compiler),
                "-x",
                "c",
                "-",
                "-x",
                "none",
                "-o",
                target,
                *options,
            ],
            input=source.encode(),
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return target if done.returncode == 0 else None

    def case_variables(self):
        run = [self.arguments.bcsrun, "-n", "2", self.arguments.greet]
        bad = (
            ("BCS_NONSENSE", "1", ()),
            ("BCS_COPI", "direct", ("BCS_COPY",)),
            ("BCS_COPY", "teleport", ("direct", "pooled")),
            ("BCS_COPY", "", ("direct", "pooled")),
            ("BCS_NODE_RANKS", "minus", ()),
            ("BCS_NODE_RANKS", "-1", ()),
            ("BCS_NODE_RANKS", "99999999999999999999999", ()),
            ("BCS_SLICE", "500", ()),
            ("BCS_SLICE", "5 parsecs", ()),
            ("BCS_STROBE", "sometimes", ("demand",)),
            ("BCS_MDS", "loud", ("mmds",)),
            ("BCS_LOG", "loud", ("debug",)),
            ("BCS_MDS_RANKS", "3-1", ("0,4-7",)),
            ("BCS_MDS_RESOLUTION", "3", ("128",)),
            ("BCS_CHUNK", "8k", ("BCS_EAGER_LIMIT", "32k")),
        )
        for name, value, words in bad:
            case = f"{name}={value!r}"
            self.must_fail(case, run, (name, *words), {name: value})
        # Without bcsrun the preload itself must refuse; mpirun adds lines of its own.
        preload = {"LD_PRELOAD": self.arguments.shim}
        run = ["mpirun", "-n", "8", self.arguments.greet]
        for name, value, words in (bad[0], bad[2]):
            extra = {**preload, name: value}
            result = self.must_fail(f"{name}, preload", run, (name, *words), extra, False)
            n_lines = sum(line.startswith("bcs") for line in result.stderr.splitlines())
            problems = [] if n_lines == 1 else [f"{n_lines} ranks say it"]
            self.report.case(f"{name}, said once", problems)

    def case_command_line(self):
        bcsrun, greet = self.arguments.bcsrun, self.arguments.greet
        plain = self.folder / "plain.txt"
        plain.write_text("no program\n", encoding="ascii")
        broken = self.folder / "broken"
        broken.write_bytes(b"\x7fELF\x02\x01\x01" + b"\xff" * 200)
        broken.chmod(0o755)
        empty = self.folder / "empty_elf"
        empty.write_bytes(b"\x7fELF")
        empty.chmod(0o755)
        for name, words in (
            ("0 ranks", ["-n", "0", greet]),
            ("negative ranks", ["-n", "-3", greet]),
            ("ranks in words", ["-n", "two", greet]),
            ("ranks with a tail", ["-n", "2x", greet]),
            ("too many ranks", ["-n", "99999999999999", greet]),
            ("no number of ranks", ["-n"]),
            ("no program", ["-n", "2"]),
            ("nothing", []),
            ("no pairs", ["--versus", "0", "-n", "2", greet]),
            ("pairs in words", ["--versus", "many", "-n", "2", greet]),
        ):
            self.must_fail(name, [bcsrun, *words], ("bcsrun: ",))
        for name, program in (
            ("a program that is not there", self.folder / "absent"),
            ("a folder", self.folder),
            ("a file that is not executable", plain),
            ("a broken ELF file", broken),
            ("the head of an ELF file", empty),
        ):
            words = (pathlib.Path(program).name,)
            self.must_fail(name, [bcsrun, "-n", "2", str(program)], words)
            # Natively mpirun may say it in its own way.
            native = [bcsrun, "--native", "-n", "2", str(program)]
            self.must_fail(f"{name}, native", native, (), None, False)
        run = [bcsrun, "--mpirun", str(broken), "-n", "2", greet]
        self.must_fail("an mpirun that is a broken ELF file", run, (broken.name,))

    def case_programs(self):
        run = [self.arguments.bcsrun, "-n", "2"]
        static = self.compile("static", "int main(void) { return 0; }", ["-static"])
        if static:
            self.must_fail("a static program", [*run, str(static)], ("static",))
        privileged = self.folder / "privileged"
        shutil.copy(self.arguments.greet, privileged)
        if os.geteuid() == 0:
            os.chown(privileged, 65534, -1)
            privileged.chmod(0o4755)
            words = ("set-user-ID", "LD_PRELOAD")
            self.must_fail("a set-user-ID program", [*run, str(privileged)], words)
        else:
            print("skipped: a set-user-ID program (needs root)")
        for library in ("libmpi.so.12", "libmpi_abi.so.1"):
            program = self.compile_with_stub(library)
            if program is None:
                self.report.case(f"a program with {library}", ["cannot be linked"])
                continue
            words = ("Open MPI", library)
            self.must_fail(f"a program with {library}", [*run, str(program)], words)
            # What bcsrun cannot see the preload must: it comes by another library, ...
            preload = {"LD_PRELOAD": self.arguments.shim}
            words = ("Stub MPI 1.0", "Open MPI")
            self.must_fail(f"preload, {library}", [str(program)], words, preload)
            # ... or by dlopen.
            loader = self.compile(
                f"loads_{library}", LOADER, [f'-DLIBRARY="{self.folder}/{library}"']
            )
            self.must_fail(f"preload, dlopen {library}", [str(loader)], words, preload)

    def compile_with_stub(self, library):
        """A program linked with a stub of this name that is another MPI library."""
        stub = self.compile(library, STUB, ["-shared", "-fPIC", f"-Wl,-soname,{library}"])
        return stub and self.compile(
            f"with_{library}", PROGRAM, [str(stub), f"-Wl,-rpath,{self.folder}"]
        )

    def case_missing_preload(self):
        alone = self.folder / "elsewhere" / "bin"
        alone.mkdir(parents=True)
        shutil.copy(self.arguments.bcsrun, alone / "bcsrun")
        run = [str(alone / "bcsrun"), "-n", "2", self.arguments.greet]
        self.must_fail("libbcs_mpi.so is missing", run, ("libbcs_mpi.so",))

    def case_sweep3d(self):
        sweep3d = self.arguments.sweep3d
        if not sweep3d:
            return
        texts = {
            "missing": None,
            "empty": "",
            "words": "two by two\n",
            "negative": "1 2 -1 -1\n-5 5 5 2 0\n",
            "binary": "\0\1\2\3" * 100,
            "huge": "9" * 400 + " 1 1 1\n",
        }
        for name, text in texts.items():
            path = self.folder / f"input.{name}"
            if text is not None:
                path.write_text(text, encoding="latin-1")
            run = [self.arguments.bcsrun, "-n", "2", sweep3d, str(path)]
            # mpirun adds lines of its own about ranks that fail.
            self.must_fail(f"sweep3d, {name} input", run, (path.name,), None, False)

    def case_inert(self):
        nonsense = {"BCS_NONSENSE": "1", "BCS_COPY": "teleport"}
        for extra in (None, nonsense):
            tail = " with bad variables" if extra else ""
            for name, command in (
                ("true", ["/bin/true"]),
                ("sh", ["sh", "-c", "echo text; exit 0"]),
                ("python3", [sys.executable, "-c", "print(6 * 7)"]),
                ("mpirun", ["mpirun", "--version"]),
                ("mpicc", ["mpicc", "--showme:version"]),
                ("a shell's children", ["sh", "-c", "ls / | head -1; /bin/true"]),
            ):
                self.must_be_inert(name + tail, command, extra)

    def run(self):
        for name in dir(self):
            if name.startswith("case_"):
                getattr(self, name)()
        return self.report.end()


def main():
    arguments = parse_arguments()
    os.environ.pop("LD_PRELOAD", None)
    with tempfile.TemporaryDirectory(prefix="bcs-bad-input-") as folder:
        return Suite(arguments, folder).run()


if __name__ == "__main__":
    sys.exit(main())
