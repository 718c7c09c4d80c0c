# SPDX-License-Identifier: BSD-3-Clause
"""The sides that bcs-reproduce compares: native, and BCS with several settings."""

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Side:
    """A way to run a program, one object each; settings is None natively."""

    name: str  # as --sides knows it
    title: str
    colour: str
    settings: dict


def timed(length, title="timed", **more):
    """The settings of timed strobes, in the order of the fields of Side."""
    return (f"{title} {length} us",
            {"BCS_STROBE": "timed", "BCS_SLICE": f"{length}us", **more})


def sides_all():
    """All sides by name."""
    unbuffered = {"title": "unbuffered", "BCS_BUFFERING": "none"}
    nodes = {"title": "nodes of 1", "BCS_NODE_RANKS": "1"}
    # Slices by the clock, sends that wait, several nodes, a thread for each role.
    paper = {**nodes, **unbuffered, "title": "paper's form", "BCS_DRIVER": "threads"}
    threads = {"title": "threads, timed", "BCS_DRIVER": "threads"}
    table = (
        ("native", "#8b949e", ("native", None)),
        ("timed-250us", "#7fb5ec", timed(250)),
        ("timed-500us", "#2f6fb7", timed(500)),
        ("nodes-250us", "#b9a4dc", timed(250, **nodes)),
        ("nodes-500us", "#8f6fc1", timed(500, **nodes)),
        ("unbuffered-250us", "#f0b45c", timed(250, **unbuffered)),
        ("unbuffered-500us", "#c8703a", timed(500, **unbuffered)),
        ("paper-250us", "#e79aa4", timed(250, **paper)),
        ("paper-500us", "#b5394a", timed(500, **paper)),
        ("demand", "#3fa66b", ("demand", {"BCS_STROBE": "demand"})),
        ("threads", "#8f6fc1", ("demand, threads", {"BCS_DRIVER": "threads"})),
        ("threads-250us", "#8f6fc1", timed(250, **threads)),
        ("threads-500us", "#8f6fc1", timed(500, **threads)),
    )
    return {name: Side(name, title, colour, settings)
            for name, colour, (title, settings) in table}


SIDES = sides_all()
NATIVE, DEMAND, NODES_250 = SIDES["native"], SIDES["demand"], SIDES["nodes-250us"]
BLOCKING_SIDES = tuple(name for name in SIDES
                       if not name.startswith("threads") and name != "nodes-250us")
# Where nothing waits for a send, it makes no difference whether sends are buffered.
BUFFERED_SIDES = tuple(name for name in BLOCKING_SIDES
                       if not name.startswith("unbuffered"))
DISTURBING_SIDES = ("native", "demand", "timed-250us", "timed-500us", "threads-250us",
                    "threads-500us", "paper-500us")
STROBE_SIDES = ("timed-250us", "timed-500us", "native")
OVERLAP_SIDES = ("native", "timed-500us", "demand", "threads")
