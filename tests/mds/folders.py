# SPDX-License-Identifier: BSD-3-Clause
"""Makes folders of runs by make_run and reads them with bcs-mds, for the runners here."""

import csv
import io
import os
import shutil
import struct
import subprocess
import tempfile

LATE = ["late_sender_ns", "late_receiver_ns", "late_collective_ns"]
PARTS = LATE + ["slice_wait_ns", "transfer_ns", "not_split_ns"]
PART_WORDS = ["late sender", "late receiver", "late in collective", "slice", "transfer",
              "not split"]
HEADER, ENTRY = struct.Struct("<8sIIQII"), struct.Struct("<8sQQIIQ")


def repaired(content):
    """A file with the digests that its sections should have, and its length."""
    content = bytearray(content)
    magic, version, kind, _, n_sections, zero = HEADER.unpack_from(content)
    HEADER.pack_into(content, 0, magic, version, kind, len(content), n_sections, zero)
    for i in range(n_sections):
        at = HEADER.size + i * ENTRY.size
        name, offset, n_bytes, n, length, _ = ENTRY.unpack_from(content, at)
        digest = 0xCBF29CE484222325
        for byte in content[offset:offset + n_bytes]:
            digest = (digest ^ byte) * 0x100000001B3 % 2**64
        ENTRY.pack_into(content, at, name, offset, n_bytes, n, length, digest)
    return bytes(content)


def changed(content, section, at, number):
    """A file with another number of 64 bits at a place of a section."""
    content = bytearray(content)
    _, _, _, _, n_sections, _ = HEADER.unpack_from(content)
    for i in range(n_sections):
        name, offset, *_ = ENTRY.unpack_from(content, HEADER.size + i * ENTRY.size)
        if name.rstrip(b"\0") == section.encode():
            content[offset + at:offset + at + 8] = number.to_bytes(8, "little")
    return repaired(content)


def sums_of(rows, columns):
    """Columns of some rows, each summed up."""
    return [sum(int(row[column]) for row in rows) for column in columns]


class Folders:
    """A place for folders of runs, with the two programs."""

    def __init__(self, maker, reader):
        self.maker = maker
        self.reader = reader
        self.place = tempfile.mkdtemp(prefix="bcs-reading-")

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def path(self, name):
        """The path of something in the place."""
        return os.path.join(self.place, name)

    def make(self, name, **wishes):
        """Make a run. Returns its folder and what its primitives come to:
        {name: (count, nanoseconds)}."""
        folder = self.path(name)
        words = []
        for key, value in wishes.items():
            words += [f"{key}={one}" for one in (value if isinstance(value, list) else [value])]
        done = subprocess.run([self.maker, folder, *words], capture_output=True, text=True,
                              errors="surrogateescape", check=True)
        rows = (line.split() for line in done.stdout.splitlines())
        return folder, {row[0]: (int(row[1]), int(row[2])) for row in rows}

    def tables(self, folder):
        """The tables of a run's export: {table: rows}."""
        told = self.read("export", folder, "--format", "csv", "-o", "-")
        tables = {}
        for row in csv.DictReader(io.StringIO(told.stdout)):
            tables.setdefault(row["table"], []).append(row)
        return tables

    def memory(self, *words):
        """The most memory, in MB, that bcs-mds has, whose standard output goes nowhere. A process
        begins with that of this one."""
        with subprocess.Popen([self.reader, *words], stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"bcs-mds {words} has ended with status {process.returncode}")
        return usage.ru_maxrss / 1e3

    def read(self, *words, **options):
        """Run bcs-mds."""
        if options.pop("is_text", True):
            options.update(text=True, errors="surrogateescape")
        return subprocess.run([self.reader, *words], capture_output=True, timeout=300,
                              check=False, **options)
