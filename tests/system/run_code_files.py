#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where lines of the source come from: of debug information beside the program, and of no server. Files
that are no files, that cannot be read, or that are another user's, cost the line and nothing else. Asked
are bcs-top, by the verdict on a deadlock, and bcs-mds.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

import job

DEADLOCK = 86
NOBODY = 65534
CALLED = "(?:, called from .*)?, for"
LINE = r"at [\w.]+, deadlocks\.c:\d+" + CALLED
FUNCTION = r"at [\w.]+\+0x[0-9a-f]+, program \(compile with -g for lines\)" + CALLED


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--program", required=True, help="the program deadlocks")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Place:
    """A folder with the program, whose debug information is apart, in program.debug."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = tempfile.mkdtemp(prefix="bcs-code-")
        os.chmod(self.folder, 0o755)
        self.program = os.path.join(self.folder, "program")
        self.debug = self.program + ".debug"
        subprocess.run(["objcopy", "--only-keep-debug", arguments.program, self.debug], check=True)
        subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={self.debug}",
                        arguments.program, self.program], check=True)

    def close(self):
        shutil.rmtree(self.folder)

    def verdict(self, settings=None):
        """What is said of a deadlock of the program."""
        words = [*shlex.split(self.arguments.launcher), "-n", "2",
                 self.program, "both_receive_first"]
        return job.run(words, job.mpirun_environment(settings), self.arguments.timeout)

    def problems(self, pattern, settings=None):
        """Whether a verdict has two places of that form."""
        told = self.verdict(settings)
        places = re.findall(pattern, told.stderr)
        return [] if told.status == DEADLOCK and len(places) == 2 else [
            f"{len(places)} places like {pattern}: {told.ending()}"]


class Server:
    """A server of debug information that takes connections, counts them, and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.taken = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.socket.accept())

    def settings(self, folder):
        """What has libdw ask it, as distributions set it."""
        port = self.socket.getsockname()[1]
        return {"DEBUGINFOD_URLS": f"http://127.0.0.1:{port}", "DEBUGINFOD_CACHE_PATH": folder}

    def close(self):
        self.socket.close()


def test_server(place, report):
    """Debug information that is not on this machine is not asked for."""
    os.remove(place.debug)
    server = Server()
    try:
        settings = server.settings(os.path.join(place.folder, "cache"))
        problems = place.problems(FUNCTION, settings)
        problems += problems_of_summary(place, settings)
        if server.taken:
            problems.append(f"{len(server.taken)} connections")
        report.case("no server is asked", problems)
    finally:
        server.close()


def problems_of_summary(place, settings):
    """Whether bcs-mds tells functions of a recorded run."""
    parent = os.path.join(place.folder, "runs")
    place.verdict({**settings, "BCS_MDS_DIR": parent, "BCS_MDS": "mmds"})
    told = subprocess.run(
        [place.arguments.reader, "summary", os.path.join(parent, os.listdir(parent)[0])],
        env={**os.environ, **settings}, capture_output=True, text=True,
        timeout=place.arguments.timeout, check=False)
    return [] if told.returncode == 0 and "+0x" in told.stdout else [
        f"bcs-mds: {told.stdout} {told.stderr}"]


def test_no_file(place, report):
    """What is no file is not opened."""
    kinds = {"a FIFO": os.mkfifo, "a folder": os.mkdir,
             "a link to a device": lambda path: os.symlink("/dev/zero", path),
             "a link to itself": lambda path: os.symlink(path, path),
             "another file": lambda path: shutil.copy(place.arguments.reader, path)}
    os.remove(place.debug)
    for name, make in kinds.items():
        make(place.debug)
        problems = place.problems(FUNCTION)
        if name == "a FIFO":
            problems += problems_of_summary(place, {})
        report.case(name, problems)
        if name == "a folder":
            os.rmdir(place.debug)
        else:
            os.remove(place.debug)


def test_rights(place, report):
    """Root reads a file of another user's with that user's rights."""
    os.chown(place.program, NOBODY, NOBODY)
    report.case("another user's program", place.problems(LINE))
    os.chmod(place.debug, 0o600)
    report.case("which its owner may not read", place.problems(FUNCTION))


@contextlib.contextmanager
def placed(arguments):
    place = Place(arguments)
    try:
        yield place
    finally:
        place.close()


def main():
    arguments = parse_arguments()
    report = job.Report()
    with placed(arguments) as place:
        report.case("beside the program", place.problems(LINE))
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", place.program],
                       check=True)
        report.case("by its checksum", place.problems(LINE))
        with open(place.debug, "ab") as file:
            file.write(b"x")
        report.case("by another checksum", place.problems(FUNCTION))
    with placed(arguments) as place:
        test_server(place, report)
    with placed(arguments) as place:
        test_no_file(place, report)
    if os.geteuid() == 0:
        with placed(arguments) as place:
            test_rights(place, report)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
