# SPDX-License-Identifier: BSD-3-Clause
"""The rows of bcs-bench's table: what is run, which number counts, and its bar."""

import re
from dataclasses import dataclass, field

LOWER, HIGHER, NO_RATIO = "lower", "higher", "no ratio"

# What stands in a row's command for an input file of an application.
INPUTS = ("input.bench", "timing_h.input", "timing_c.input")

SLICE_US = 500
TIMED = {"BCS_STROBE": "timed", "BCS_SLICE": f"{SLICE_US}us"}
# A call that is posted when a slice begins is carried out in the next one and done when
# the one after that begins; so much is one blocking call after another.
SLICES_BAR = 2.05


@dataclass(frozen=True)
class Row:
    """One line of the table: where its number comes from and what it must reach."""

    name: str  # as --only knows it
    title: str
    n_ranks: int
    command: tuple  # program and its arguments
    pattern: str  # finds the number in the program's output
    unit: str
    better: str = LOWER
    bar: float = None
    settings: dict = field(default_factory=dict)  # of the side of BCS
    reference: float = None  # what the number is compared with, if not with native runs

    def ratio_of(self, native, bcs):
        """BCS to native, turned so that less than 1 is better; None if senseless."""
        if self.better == NO_RATIO or native <= 0 or bcs <= 0:
            return None
        return bcs / native if self.better == LOWER else native / bcs

    def is_missed(self, ratio):
        """Whether there is a bar and the ratio is not shown to be within it."""
        return self.bar is not None and (ratio is None or ratio > self.bar)

    def side_key(self):
        """What tells the settings of two rows apart."""
        return tuple(sorted(self.settings.items()))


def size_text(n_bytes):
    """A length as people write it."""
    for unit, factor in (("MB", 1 << 20), ("KB", 1 << 10)):
        if n_bytes >= factor:
            return f"{n_bytes // factor} {unit}"
    return f"{n_bytes} B"


def line_row(program, n_ranks, n_bytes=0, *, title, line=None, unit="us", bar=None,
             better=LOWER):
    """A row from the line `name n_bytes value unit` of a program of this folder."""
    line = line or program
    name = f"{line}-{n_ranks}"
    command = (f"bench_{program}",)
    if n_bytes:
        name += "-" + size_text(n_bytes).replace(" ", "")
        command += ("--min", str(n_bytes), "--max", str(n_bytes))
    return Row(name=name, title=title.format(size=size_text(n_bytes)),
               n_ranks=n_ranks, command=command,
               pattern=rf"^{line} {n_bytes} (\S+) {re.escape(unit)}$",
               unit=unit, better=better, bar=bar)


def two_rank_rows():
    """Ping-pong and the rest on two ranks."""
    ping_pong_bars = {8: 2.0, 1 << 10: None, 8 << 10: 0.95, 64 << 10: 0.95,
                      256 << 10: 0.95, 1 << 20: 0.95, 4 << 20: 0.95}
    ping_pongs = [line_row("latency", 2, n_bytes, title="ping-pong {size}", bar=bar)
                  for n_bytes, bar in ping_pong_bars.items()]
    return ping_pongs + [
        line_row("bandwidth", 2, 1 << 20, title="bandwidth {size}", unit="MB/s",
                 better=HIGHER),
        line_row("message_rate", 2, 8, title="message rate {size}", unit="M/s",
                 better=HIGHER),
        line_row("barrier", 2, title="barrier", bar=1.8),
        line_row("allreduce", 2, 8, title="allreduce {size}", bar=1.8),
        line_row("bcast", 2, 8, title="bcast {size}"),
        line_row("bcast", 2, 64 << 10, title="bcast {size}"),
        *polling_rows(2, 1.5),
        line_row("polling", 2, 8, title="Iprobe that finds nothing",
                 line="polling_miss", unit="ns", bar=1.5),
        line_row("alltoall", 2, 8, title="alltoall {size}"),
        line_row("alltoall", 2, 64 << 10, title="alltoall {size}"),
        line_row("overlap", 2, 1 << 20, title="overlap {size}, time not hidden",
                 line="overlap_exposed"),
        line_row("overlap", 2, 1 << 20, title="overlap {size}, share hidden", unit="%",
                 better=NO_RATIO),
    ]


def polling_rows(n_ranks, bar):
    """Ping-pong of pairs that poll."""
    return [
        line_row("polling", n_ranks, 8, title="polling, Iprobe {size}", bar=bar),
        line_row("polling", n_ranks, 8, title="polling, Test {size}",
                 line="polling_test", bar=bar),
    ]


def many_rank_rows(n_ranks):
    """The rows with more ranks than cores."""
    return [
        line_row("latency", n_ranks, 8, title="ping-pong {size}", bar=0.3),
        line_row("barrier", n_ranks, title="barrier", bar=0.6),
        line_row("allreduce", n_ranks, 8, title="allreduce {size}", bar=0.6),
        *polling_rows(n_ranks, 2.0),
    ]


def sweep_row(mode, bar, n_ranks, grid):
    """The solve time of the transport sweep on one process grid."""
    return Row(name=f"sweep3d-{mode}-{n_ranks}", title=f"SWEEP3D {mode}",
               n_ranks=n_ranks,
               command=("sweep3d", f"--{mode}", "--grid", grid, "input.bench"),
               pattern=r"^time: solve (\S+) s$",
               unit="s", bar=bar)


def sage_row(deck, n_ranks):
    """The solve time of the gas dynamics with one of its decks."""
    return Row(name=f"sage-{deck}-{n_ranks}", title=f"SAGE {deck}", n_ranks=n_ranks,
               command=("sage", f"{deck}.input"),
               pattern=r"^time: solve (\S+) s$",
               unit="s", bar=1.02)


def timed(row, bar, reference=None):
    """The same row with strobes by the clock."""
    return Row(**{**vars(row), "name": f"timed-{row.name}", "bar": bar,
                  "title": f"{row.title}, timed {SLICE_US} us", "settings": TIMED,
                  "reference": reference})


def timed_rows(applications):
    """What strobes by the clock cost: calls in slices, applications against native runs.
    Blocking SWEEP3D has no bar: its loss is what the paper shows. SWEEP3D with 2 ranks only: its
    steps take a tenth of a slice here, and with 4 and 8 a run takes a minute and more."""
    calls = [line_row("latency", 2, 8, title="ping-pong {size}")]
    calls += [row for n_ranks in (2, 8)
              for row in (line_row("barrier", n_ranks, title="barrier"),
                          line_row("allreduce", n_ranks, 8, title="allreduce {size}"))]
    return [timed(row, SLICES_BAR, float(SLICE_US)) for row in calls] + [
        timed(row, None if "-blocking-" in row.name else 1.05) for row in applications
        if not row.name.startswith("sweep3d") or row.n_ranks == 2]


def all_rows():
    """The table, in its order."""
    grids = {2: "2x1", 4: "2x2", 8: "4x2"}
    applications = [sweep_row(mode, bar, n_ranks, grid)
                    for mode, bar in (("blocking", 1.05), ("nonblocking", 1.02))
                    for n_ranks, grid in grids.items()]
    applications += [sage_row(deck, n_ranks) for deck in ("timing_h", "timing_c")
                     for n_ranks in grids]
    return [*two_rank_rows(), *many_rank_rows(8), *many_rank_rows(16), *applications,
            *timed_rows(applications)]
