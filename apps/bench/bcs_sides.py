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
    table = (
        ("native", "#8b949e", ("native", None)),
        ("timed-250us", "#7fb5ec", timed(250)),
        ("timed-500us", "#2f6fb7", timed(500)),
        ("unbuffered-250us", "#f0b45c", timed(250, **unbuffered)),
        ("unbuffered-500us", "#c8703a", timed(500, **unbuffered)),
        ("demand", "#3fa66b", ("demand", {"BCS_STROBE": "demand"})),
        ("threads", "#8f6fc1", ("demand, threads", {"BCS_DRIVER": "threads"})),
        ("threads-250us", "#8f6fc1",
         timed(250, "threads, timed", BCS_DRIVER="threads")),
        ("threads-500us", "#8f6fc1",
         timed(500, "threads, timed", BCS_DRIVER="threads")),
    )
    return {name: Side(name, title, colour, settings)
            for name, colour, (title, settings) in table}


SIDES = sides_all()
NATIVE, DEMAND = SIDES["native"], SIDES["demand"]
BUFFERED_SIDES = ("native", "timed-250us", "timed-500us", "demand")
BLOCKING_SIDES = tuple(name for name in SIDES if not name.startswith("threads"))
DISTURBING_SIDES = ("native", "demand", "timed-250us", "timed-500us", "threads-250us",
                    "threads-500us")
STROBE_SIDES = ("timed-250us", "timed-500us", "native")
OVERLAP_SIDES = ("native", "timed-500us", "demand", "threads")
