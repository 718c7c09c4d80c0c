#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Applies mutants to a copy of the source, one at a time, and reports which of them the
tests let live.

The folder mutants holds them, a file for each room of the source: what stands in the source
once, what it becomes, and the tests that must fail then. A mutant is killed when one of its
tests fails. One that no test can notice says in `survives` why. Exit status: 0 if all others were killed, 1 if not,
2 for wrong options or a mutant that does not fit the source.
"""

import argparse
import concurrent.futures
import fnmatch
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LISTS = HERE / "mutants"
KEYS = {"name", "file", "old", "new", "tests", "survives"}


class MutateError(Exception):
    """A fault that is told in one line."""


@dataclass(frozen=True)
class Mutant:
    """One change of the source that tests must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple  # names for meson test; one that fails is enough
    survives: str = ""  # why no test can notice it, if so

    def applied(self, text):
        """The text of the file with the mutant in it; MutateError if it does not fit."""
        n_places = text.count(self.old)
        if n_places != 1:
            raise MutateError(
                f"{self.name}: {n_places} places in {self.file} have its old text; allowed: 1"
            )
        return text.replace(self.old, self.new)


DEEP = ("libbcs/fabric", "apps/tools")  # whose rooms have a list each


def room_of(file):
    """The name of the list that has the mutants of a file: its first two folders, or three."""
    depth = 3 if file.startswith(DEEP) else 2
    return "-".join(pathlib.PurePath(file).parent.parts[:depth])


def entries_read(path):
    """What one list holds; MutateError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise MutateError(f"{path}: {error}") from None


def mutants_read(folder):
    """All mutants of a folder, by name; MutateError if one is not as it should be."""
    mutants = {}
    entries = [
        (path.stem, entry)
        for path in sorted(folder.glob("*.toml"))
        for entry in entries_read(path)
    ]
    for room, entry in entries:
        name = entry.get("name", "a mutant without a name")
        missing = KEYS - {"survives"} - set(entry)
        if missing or set(entry) - KEYS or name in mutants:
            raise MutateError(f"{name}: allowed once, with {', '.join(sorted(KEYS))}")
        if room_of(entry["file"]) != room:
            raise MutateError(f"{name}: belongs into {room_of(entry['file'])}.toml")
        mutants[name] = Mutant(**{**entry, "tests": tuple(entry["tests"])})
    return mutants


def check_fit(mutants, root):
    """MutateError unless every mutant fits the source and changes it."""
    for mutant in mutants:
        path = root / mutant.file
        if not path.is_file():
            raise MutateError(f"{mutant.name}: there is no {mutant.file}")
        if mutant.applied(path.read_text(encoding="utf-8")) == path.read_text(
            encoding="utf-8"
        ):
            raise MutateError(f"{mutant.name}: changes nothing")
        if not mutant.tests and not mutant.survives:
            raise MutateError(f"{mutant.name}: has no tests")


class Copy:
    """A copy of the source with a build folder of its own."""

    def __init__(self, root, folder, timeout):
        self.source = folder / "source"
        self.build = folder / "build"
        self.timeout = timeout
        self.process = None  # the command that runs
        self.is_ended = False
        files = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"],
            capture_output=True,
            check=True,
        ).stdout.decode()
        for name in filter(None, files.split("\0")):
            if (root / name).is_file():
                (self.source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.source / name)

    def command(self, *words):
        """Run to the end or the limit. Whether it ended with status 0, and its output.

        What has no end is asked to end and not killed: meson then ends its tests, which
        have groups of processes of their own.
        """
        if self.is_ended:
            return False, "ended"
        process = self.process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        try:
            text, _ = process.communicate(timeout=self.timeout)
            return process.returncode == 0, text
        except subprocess.TimeoutExpired:
            return False, f"no end in {self.timeout} s"
        finally:
            if process.poll() is None:
                process.terminate()
                process.communicate()

    def end(self):
        """End the command that runs in another thread, and begin no other one."""
        self.is_ended = True
        if self.process is not None:
            self.process.terminate()

    def setup(self):
        """Configure; what a test needs is built with it."""
        done, text = self.command("meson", "setup", str(self.build), str(self.source))
        if not done:
            raise MutateError(f"the source cannot be configured:\n{text[-2000:]}")

    def fails(self, mutant):
        """What kills the mutant that is in the source, or None."""
        for test in mutant.tests:
            done, text = self.test(test)
            if "ninja: build stopped" in text:
                raise MutateError(f"{mutant.name} cannot be built:\n{text[-2000:]}")
            if not done:
                return test
        return None

    def test(self, name):
        """Build what a test needs and run it. Whether it passed, and the output."""
        return self.command("meson", "test", "-C", str(self.build), name)

    def try_mutant(self, mutant):
        """What kills the mutant, or None; the source is as before afterwards."""
        path = self.source / mutant.file
        text = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(text), encoding="utf-8")
        try:
            return self.fails(mutant)
        finally:
            path.write_text(text, encoding="utf-8")


def check_tests(copy, mutants):
    """MutateError unless all tests of the mutants exist and pass without them."""
    for test in sorted({test for mutant in mutants for test in mutant.tests}):
        done, text = copy.test(test)
        if not done:
            raise MutateError(f"{test} fails without any mutant:\n{text[-2000:]}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", help="patterns of names, with commas")
    parser.add_argument("--check", action="store_true", help="only whether all fit")
    parser.add_argument("--list", action="store_true", help="print the names only")
    parser.add_argument(
        "--timeout", type=float, default=600, help="seconds for one command"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="mutants at a time, each in a copy of its own"
    )
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    return arguments


def survivors_of(mutants, copies):
    """Try all mutants, as many at a time as there are copies; those that nothing kills."""
    free = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def try_one(mutant):
        copy = free.get()
        start = time.monotonic()
        try:
            return copy.try_mutant(mutant), time.monotonic() - start
        finally:
            free.put(copy)

    survivors = []
    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        futures = [pool.submit(try_one, mutant) for mutant in mutants]
        try:
            for number, (mutant, future) in enumerate(zip(mutants, futures), 1):
                killer, seconds = future.result()
                verdict = f"killed by {killer}" if killer else "SURVIVES"
                if not killer:
                    survivors.append(mutant)
                    verdict += f": {mutant.survives}" if mutant.survives else ""
                print(f"{number}/{len(mutants)} {mutant.name}: {verdict} "
                      f"({seconds:.0f} s)", flush=True)
        except BaseException:  # a fault, or somebody ends this program
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.end()
            raise
    return survivors


def run(arguments):
    mutants = mutants_read(LISTS)
    patterns = arguments.only.split(",")
    chosen = [
        mutant
        for name, mutant in mutants.items()
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]
    if not chosen:
        raise MutateError(f"--only {arguments.only}: no such mutant (--list prints all)")
    check_fit(chosen, ROOT)
    if arguments.check or arguments.list:
        print("\n".join(mutant.name for mutant in chosen) if arguments.list else
              f"{len(chosen)} mutants fit")
        return 0
    with tempfile.TemporaryDirectory(prefix="bcs-mutate-") as folder:
        copies = [Copy(ROOT, pathlib.Path(folder) / str(i), arguments.timeout)
                  for i in range(min(arguments.jobs, len(chosen)))]
        for copy in copies:
            copy.setup()
        check_tests(copies[0], chosen)
        survivors = survivors_of(chosen, copies)
    unexplained = [mutant for mutant in survivors if not mutant.survives]
    print(f"{len(chosen)} mutants, {len(survivors)} survive, "
          f"{len(unexplained)} of them unexplained")
    return 1 if unexplained else 0


def main():
    # Whoever ends this program ends the command that runs, and no copy is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run(parse_arguments())
    except MutateError as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
