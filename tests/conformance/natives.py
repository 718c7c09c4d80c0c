# SPDX-License-Identifier: BSD-3-Clause
"""Keeps what programs print natively, for all tests that compare with the same: on more ranks than cores
they take longer natively than under BCS. What is kept counts while the executable, mpirun and the
machine's networks, which Open MPI has parameters and limits for, are the same. Used by
run_conformance.py.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import socket

import job


def state_of(path):
    """What of a file changes with it."""
    status = os.stat(path)
    return [os.path.realpath(path), status.st_mtime_ns, status.st_size]


def networks():
    """Names of the machine's networks."""
    return sorted(name for _, name in socket.if_nameindex())


class Natives:
    """Native results on some ranks, in a folder."""

    def __init__(self, folder, n_ranks):
        self.folder = pathlib.Path(folder) / n_ranks
        self.folder.mkdir(parents=True, exist_ok=True)
        self.machine = [state_of(shutil.which("mpirun")), networks()]

    @contextlib.contextmanager
    def lock(self):
        """Nobody else looks for or keeps anything meanwhile, nor runs what is missing."""
        with open(self.folder / "lock", "w", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def path_of(self, executable, program):
        """The file of a program, with its arguments, in an executable as it is now."""
        of = json.dumps([state_of(executable), self.machine, program])
        return self.folder / hashlib.sha256(of.encode()).hexdigest()

    def find(self, executable, program):
        """The result of a program, or None."""
        try:
            text = self.path_of(executable, program).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return job.Result(*json.loads(text))

    def keep(self, executable, program, result):
        """For whoever looks for it next. Called with the lock."""
        words = [result.status, result.stdout, result.stderr, result.seconds]
        self.path_of(executable, program).write_text(json.dumps(words), encoding="utf-8")
