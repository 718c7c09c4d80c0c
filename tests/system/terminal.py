# SPDX-License-Identifier: BSD-3-Clause
"""A terminal for programs of a test: a pseudo terminal, and what stands on its screen, as far as ncurses
uses an xterm.
"""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios

CSI = re.compile(rb"\x1b\[([?>!]?)([0-9;]*)([@-~])")
SHORT = re.compile(rb"\x1b(?:[()][0-9A-B]|[=>78MDEc])")


class Screen:
    """What stands on a screen, from what was written to it."""

    def __init__(self, n_lines, n_columns):
        self.resize(n_lines, n_columns)
        self.is_other = False  # the other screen, that full-screen programs use

    def resize(self, n_lines, n_columns):
        self.n_lines, self.n_columns = n_lines, n_columns
        self.cells = [[" "] * n_columns for _ in range(n_lines)]
        self.y = self.x = 0
        self.top, self.bottom = 0, n_lines - 1
        self.last = " "

    def lines(self):
        return ["".join(line).rstrip() for line in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def write(self, data):
        """Take bytes. Returns those at their end that are no whole sequence yet."""
        at = 0
        while at < len(data):
            if data[at] != 0x1b:
                self.put(chr(data[at]))
                at += 1
                continue
            match = CSI.match(data, at) or SHORT.match(data, at)
            if not match:
                if len(data) - at > 64:
                    raise ValueError(f"no sequence: {data[at:at + 64]!r}")
                return data[at:]
            if match.re is CSI:
                self.obey(*(part.decode() for part in match.groups()))
            elif match.group()[1:] == b"M":
                self.up_a_line()
            at = match.end()
        return b""

    def put(self, character):
        if character == "\r":
            self.x = 0
        elif character == "\n":
            self.down_a_line()
        elif character == "\b":
            self.x = max(0, self.x - 1)
        elif character == "\t":
            self.x = min(self.n_columns - 1, self.x // 8 * 8 + 8)
        elif character >= " ":
            if self.x == self.n_columns:
                self.x = 0
                self.down_a_line()
            self.cells[self.y][self.x] = self.last = character
            self.x += 1

    def down_a_line(self):
        if self.y == self.bottom:
            self.scroll(self.top, 1)
        else:
            self.y = min(self.n_lines - 1, self.y + 1)

    def up_a_line(self):
        if self.y == self.top:
            self.scroll(self.top, -1)
        else:
            self.y -= 1

    def scroll(self, top, n):
        """Move the lines of the region from one on, up if positive."""
        for _ in range(abs(n)):
            gone, new = (top, self.bottom) if n > 0 else (self.bottom, top)
            del self.cells[gone]
            self.cells.insert(new, [" "] * self.n_columns)

    def obey(self, mark, numbers, kind):
        values = [int(number or 0) for number in numbers.split(";")]
        first = values[0]
        n = max(1, first)
        if mark == "?" and 1049 in values:
            self.is_other = kind == "h"
        if mark or kind in "mhlt":
            return
        if kind in "ABCD":
            self.y += {"A": -n, "B": n}.get(kind, 0)
            self.x += {"C": n, "D": -n}.get(kind, 0)
        elif kind in "Hf":
            self.y, self.x = n - 1, max(1, values[1] if len(values) > 1 else 1) - 1
        elif kind == "G":
            self.x = n - 1
        elif kind == "d":
            self.y = n - 1
        elif kind == "r":
            self.top = n - 1
            self.bottom = (values[1] if len(values) > 1 and values[1] else self.n_lines) - 1
            self.y = self.x = 0
        elif kind in "JKX@PLMSTb":
            self.change(kind, first, n)
        else:
            raise ValueError(f"an unknown sequence: {numbers}{kind}")
        self.y = min(max(self.y, 0), self.n_lines - 1)
        self.x = min(max(self.x, 0), self.n_columns)

    def change(self, kind, first, n):
        line, empty = self.cells[self.y], [" "] * self.n_columns
        if kind == "J":
            begin = (self.y, self.x) if first == 0 else (0, 0)
            end = (self.y, self.x + 1) if first == 1 else (self.n_lines, 0)
            for y in range(self.n_lines):
                for x in range(self.n_columns):
                    if begin <= (y, x) < end:
                        self.cells[y][x] = " "
        elif kind == "K":
            begin, end = {0: (self.x, None), 1: (0, self.x + 1), 2: (0, None)}[first]
            line[begin:end] = empty[begin:end]
        elif kind == "X":
            line[self.x:self.x + n] = empty[self.x:self.x + n]
        elif kind == "@":
            line[self.x:] = ([" "] * n + line[self.x:])[:self.n_columns - self.x]
        elif kind == "P":
            line[self.x:] = (line[self.x + n:] + empty)[:self.n_columns - self.x]
        elif kind in "LM":
            self.scroll(self.y, n if kind == "M" else -n)
        elif kind in "ST":
            self.scroll(self.top, n if kind == "S" else -n)
        else:
            for _ in range(n):
                self.put(self.last)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, environment, n_lines=24, n_columns=80):
        self.master, self.slave = os.openpty()
        self.screen = Screen(n_lines, n_columns)
        self.rest = b""
        self.is_gone = False
        self.set_size(n_lines, n_columns)
        self.modes = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            command, env={**environment, "TERM": "xterm"}, stdin=self.slave, stdout=self.slave,
            stderr=self.slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def set_size(self, n_lines, n_columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", n_lines, n_columns, 0, 0))

    def resize(self, n_lines, n_columns):
        """The size changes, of which the kernel sends a signal."""
        self.read(0)
        self.screen.resize(n_lines, n_columns)
        self.set_size(n_lines, n_columns)

    def read(self, seconds):
        """Take what comes within some time."""
        while not self.is_gone and select.select([self.master], [], [], seconds)[0]:
            seconds = 0
            self.rest = self.screen.write(self.rest + os.read(self.master, 1 << 16))

    def send(self, keys):
        os.write(self.master, keys.encode())

    def hang_up(self):
        """The terminal is gone."""
        os.close(self.master)
        os.close(self.slave)
        self.is_gone = True

    def is_restored(self):
        """Whether the terminal is as it was when the program was started."""
        self.read(0)
        return termios.tcgetattr(self.slave) == self.modes and not self.screen.is_other

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if not self.is_gone:
            self.hang_up()
