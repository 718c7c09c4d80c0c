# SPDX-License-Identifier: BSD-3-Clause
"""The rows of bcs-bench's table: what is run, which number counts, and its bar."""

import re
from dataclasses import dataclass, field, replace

LOWER, HIGHER, NO_RATIO = "lower", "higher", "no ratio"
NATIVE = "native"  # the side without BCS
OTHER = "other"  # that of another library
TO_ONE_NODE = "-to-one-node"  # ends the names of rows that compare with one node

# What stands in a row's command for an input file of an application.
INPUTS = ("input.bench", "timing_h.input", "timing_c.input")

# Pairs of runs: of programs that time messages, of applications, and where a run takes long or
# shows what hardly varies.
MESSAGE_PAIRS = 15
APPLICATION_PAIRS = 7
FEW_PAIRS = 3

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
    pattern: str  # finds the number in the output; None: the seconds of the whole job
    unit: str
    better: str = LOWER
    bar: float = None
    settings: dict = field(default_factory=dict)  # of the side of BCS
    # What the number is compared with: runs of BCS with the settings in base, else native
    # ones, or, if there is a reference, that number; and what the table calls it. Base runs
    # under another bcsrun if base_launcher names one.
    base: dict = None
    base_launcher: str = None
    reference: float = None
    base_title: str = NATIVE
    n_pairs: int = APPLICATION_PAIRS  # of runs, unless told otherwise
    is_quick: bool = True  # whether --quick has it, too
    launch: tuple = ()  # options of mpirun, on all sides
    has_loops: bool = False  # a busy process for each core runs beside it, on all sides

    def ratio_of(self, native, bcs):
        """BCS to native, turned so that less than 1 is better; None if senseless."""
        if self.better == NO_RATIO or native <= 0 or bcs <= 0:
            return None
        return bcs / native if self.better == LOWER else native / bcs

    def is_missed(self, ratio):
        """Whether there is a bar and the ratio is not shown to be within it."""
        return self.bar is not None and (ratio is None or ratio > self.bar)

    def side(self):
        """The side of BCS, equal for rows with the same settings."""
        return tuple(sorted(self.settings.items()))

    def base_side(self):
        """The side that it is compared with, if there is no reference."""
        if self.base is None:
            return NATIVE
        launcher = (self.base_launcher,) if self.base_launcher else ()
        return launcher + tuple(sorted(self.base.items()))

    def job(self):
        """What rows that share their runs have in common."""
        return self.n_ranks, self.command, self.launch, self.has_loops


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
               unit=unit, better=better, bar=bar, n_pairs=MESSAGE_PAIRS)


def two_rank_rows():
    """Ping-pong and the rest on two ranks."""
    ping_pong_bars = {8: 1.15, 64: 1.1, 256: 1.1, 1 << 10: 1.1, 2 << 10: 1.1,
                      **{n_kb << 10: 0.95 for n_kb in (4, 8, 16, 32, 64, 256, 1024, 4096)}}
    ping_pongs = [line_row("latency", 2, n_bytes, title="ping-pong {size}", bar=bar)
                  for n_bytes, bar in ping_pong_bars.items()]
    return ping_pongs + [
        line_row("bandwidth", 2, 1 << 20, title="bandwidth {size}", unit="MB/s",
                 better=HIGHER),
        line_row("message_rate", 2, 8, title="message rate {size}", unit="M/s",
                 better=HIGHER, bar=1.0),
        line_row("barrier", 2, title="barrier", bar=1.2),
        line_row("allreduce", 2, 8, title="allreduce {size}", bar=1.2),
        line_row("bcast", 2, 8, title="bcast {size}", bar=1.2),
        line_row("bcast", 2, 64 << 10, title="bcast {size}"),
        *polling_rows(2, 1.05),
        line_row("polling", 2, 8, title="Iprobe that finds nothing",
                 line="polling_miss", unit="ns", bar=1.5),
        line_row("alltoall", 2, 8, title="alltoall {size}", bar=1.2),
        line_row("alltoall", 2, 64 << 10, title="alltoall {size}", bar=1.0),
        line_row("overlap", 2, 1 << 20, title="overlap {size}, time not hidden",
                 line="overlap_exposed"),
        line_row("overlap", 2, 1 << 20, title="overlap {size}, share hidden", unit="%",
                 better=NO_RATIO),
    ]


def nodes_rows():
    """Two ranks on two nodes of one machine: against native runs, and against one node."""
    alone = line_row("latency", 2, 8, title="ping-pong {size}, nodes of 1")
    alone = replace(alone, name=f"nodes1-{alone.name}", settings={"BCS_NODE_RANKS": "1"})
    return [alone, replace(alone, name=alone.name + TO_ONE_NODE, bar=1.5, base={},
                           base_title="one node")]


def polling_rows(n_ranks, bar):
    """Ping-pong of pairs that poll."""
    return [
        line_row("polling", n_ranks, 8, title="polling, Iprobe {size}", bar=bar),
        line_row("polling", n_ranks, 8, title="polling, Test {size}",
                 line="polling_test", bar=bar),
    ]


def loaded_rows(n_ranks):
    """The same while other programs want all cores."""
    return [replace(row, name=f"loaded-{row.name}", title=f"{row.title}, beside busy loops",
                    has_loops=True)
            for row in polling_rows(n_ranks, 2.0)]


def many_rank_rows(n_ranks):
    """The rows with more ranks than cores."""
    return [
        line_row("latency", n_ranks, 8, title="ping-pong {size}", bar=0.12),
        line_row("barrier", n_ranks, title="barrier", bar=0.55),
        line_row("allreduce", n_ranks, 8, title="allreduce {size}", bar=0.55),
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


def start_rows(n_ranks, memory_bar):
    """What a job of many ranks takes that does nothing: a launch takes from seconds to a
    minute, so a few of them must do."""
    few = {"n_ranks": n_ranks, "n_pairs": FEW_PAIRS, "is_quick": False}
    return [
        Row(name=f"startup-{n_ranks}", title="start-up", command=("bench_empty",),
            pattern=None, unit="s", bar=1.15, **few),
        Row(name=f"memory-{n_ranks}", title="resident memory", command=("bench_resident",),
            pattern=r"^resident 0 (\S+) MB$", unit="MB", bar=memory_bar, **few),
    ]


def timed(row, bar, reference=None):
    """The same row with strobes by the clock, of which a reference is the length."""
    return replace(row, name=f"timed-{row.name}", bar=bar, settings=TIMED, n_pairs=FEW_PAIRS,
                   title=f"{row.title}, timed {SLICE_US} us", reference=reference,
                   base_title="slice" if reference else row.base_title)


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


def against(row, launcher):
    """The same row compared with BCS as another bcsrun has it, without a bar."""
    return replace(row, base=row.settings, base_launcher=launcher, base_title=OTHER,
                   reference=None, bar=None)


def all_rows():
    """The table, in its order."""
    grids = {2: "2x1", 4: "2x2", 8: "4x2"}
    applications = [sweep_row(mode, bar, n_ranks, grid)
                    for mode, bar in (("blocking", 1.0), ("nonblocking", 1.02))
                    for n_ranks, grid in grids.items()]
    applications += [sage_row(deck, n_ranks) for deck in ("timing_h", "timing_c")
                     for n_ranks in grids]
    return [*two_rank_rows(), *nodes_rows(), *many_rank_rows(8), *many_rank_rows(16),
            *loaded_rows(2), *loaded_rows(8),
            *start_rows(64, None), *start_rows(256, 1.3), *applications,
            *timed_rows(applications)]
