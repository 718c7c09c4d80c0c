# SPDX-License-Identifier: BSD-3-Clause
"""What explains the figures: how regular strobes are, what goes on beside computation, and
what is taken from it. Each function measures one figure of bcs-reproduce."""

import os
import re
import statistics

import bcs_document as document
from bcs_jobs import Conditions, number_find
from bcs_session import Case
from bcs_sides import DISTURBING_SIDES, NATIVE, OVERLAP_SIDES, STROBE_SIDES


POLL_US = "250"

# What ranks that compute post meanwhile, with the options of disturb: some 0.2 ms of steps.
DISTURBANCES = {"none": (), "one each 0.2 ms": ("--post-steps", "180000")}


def strobes_text(session, side, case):
    """What tells how regular strobes were, or None if the job failed. Natively there are none,
    and every core polls the clock instead: no strobe can be more regular."""
    if side is not NATIVE:
        return session.report(case, side)
    n_points = "400" if session.options.quick else "8000"
    polling = Case(case.title, os.cpu_count() or 1,
                   ("disturb", "--poll-us", POLL_US, "--blocks", n_points))
    return session.output(side, polling)


def strobes_row(side, case, rounds):
    """How regular the strobes were, medians of the rounds. A round is the text that tells it
    and how much of the time the hypervisor took; there is none if one failed."""
    title = f"none, polling {POLL_US} us" if side is NATIVE else side.title
    lines = [re.search(r"^(?:Strobes|Points) (\d+) every \S+ us(?:, not needed (\d+))?, "
                       r"left out (\d+); 99 % at most (\S+) us late", text, re.M)
             for text, _ in rounds or ()]
    cells = [title, case.title]
    if not rounds or not all(lines):
        return cells + ["not reported" if rounds else "failed", *"----"]
    *counts, late = zip(*(map(float, line.groups("0")) for line in lines))
    stolen = [percent for _, percent in rounds]
    return cells + [f"{statistics.median(count):.0f}" for count in counts] + [
        f"{statistics.median(late):.0f} us ({min(late):.0f} to {max(late):.0f})",
        f"{statistics.mean(stolen):.1f} %"]


def strobes_measure(session, title):
    """How late timed strobes are while ranks compute for 1.9 ms at a time."""
    batch_ms = "5" if session.options.quick else "60"
    sides = session.sides(STROBE_SIDES)
    rows = []
    for n_ranks in session.options.ranks:
        case = Case(str(n_ranks), n_ranks,
                    ("bench_overlap", "--min", "8", "--max", "8", "--compute", "1.9",
                     "--batch-ms", batch_ms))

        def run(side, case=case):
            conditions = Conditions()
            text = strobes_text(session, side, case)
            return text and (text, conditions.stolen_percent())

        rounds = session.rounds(sides, run)
        for side in sides:
            rows.append(strobes_row(side, case, rounds[side]))
            print(f"{title}: {', '.join(rows[-1])}", flush=True)
    head = ["strobes", "ranks", "sent", "not needed", "left out", "99 % late by at most",
            "taken by the hypervisor"]
    return document.Outcome(document.table_text(head, rows))


def overlap_cells(texts):
    """What is left of an exchange beside computation, from the outputs of a side."""
    if not texts:
        return ["failed", "-", "-"]
    values = [statistics.median(number_find(rf"^{name} \d+ (\S+) ", text, name)
                                for text in texts)
              for name in ("overlap_alone", "overlap_exposed", "overlap")]
    return [f"{document.number_text(value)} {unit}"
            for value, unit in zip(values, ("us", "us", "%"))]


def overlap_case(session, n_computing, n_bytes):
    """Two ranks that exchange so many bytes, of which so many compute meanwhile."""
    n_batches = "11" if session.options.quick else "151"
    return Case(str(n_computing), 2,
                ("bench_overlap", "--min", n_bytes, "--max", n_bytes, "--compute", "10",
                 "--computing", str(n_computing), "--batches", n_batches))


def overlap_measure(session, title):
    """How much of an exchange of 1 MB is hidden behind 10 ms of computation."""
    sides = session.sides(OVERLAP_SIDES)
    rows = []
    for n_computing in (1, 2):
        outputs = session.outputs(sides, overlap_case(session, n_computing, "1M"))
        for side in sides:
            rows.append([side.title, str(n_computing), *overlap_cells(outputs[side])])
            print(f"{title}: {', '.join(rows[-1])}", flush=True)
        if NATIVE in sides:
            few = session.outputs([NATIVE], overlap_case(session, n_computing, "8"))
            alone, exposed, _ = overlap_cells(few[NATIVE])
            rows.append(["native, 8 bytes", str(n_computing), alone, exposed, "-"])
            print(f"{title}: {', '.join(rows[-1])}", flush=True)
    head = ["side", "ranks that compute", "exchange alone", "not hidden", "share hidden"]
    return document.Outcome(document.table_text(head, rows))


def strobe_rate(session, case, side):
    """How many strobes a second a run had, as text; "-" where there is none to send."""
    if "BCS_SLICE" not in (side.settings or {}):
        return "-"
    report = session.report(case, side) or ""
    n_strobes = re.search(r"^Strobes (\d+) ", report, re.M)
    run_ms = re.search(r"^Run time (\S+) ms", report, re.M)
    if not n_strobes or not run_ms:
        return "not reported"
    return f"{float(n_strobes[1]) / float(run_ms[1]) * 1e3:.0f}"


def disturbance_rows(session, case, sides, messages):
    """The rows of ranks that compute, with or without messages beside it, and with neither
    how little a thread that only wakes can take."""
    rows = [(side.title, texts, strobe_rate(session, case, side) if texts else "-")
            for side, texts in session.outputs(sides, case).items()]
    for wake_us in ("250", "500") if NATIVE in sides and messages == "none" else ():
        alone = Case(case.title, case.n_ranks, (*case.command, "--wake-us", wake_us))
        rows.append((f"native, a thread that wakes every {wake_us} us",
                     session.outputs([NATIVE], alone)[NATIVE], "-"))
    medians = [texts and statistics.median(number_find(r"^all ranks (\S+) ms$", text,
                                                       "the loop") for text in texts)
               for _, texts, _ in rows]
    native = dict(zip((title for title, *_ in rows), medians)).get(NATIVE.title)
    return [[title, messages, f"{median:.0f} ms" if median else "failed",
             f"{100 * (median / native - 1):+.2f} %" if median and native else "-", rate]
            for (title, _, rate), median in zip(rows, medians)]


def disturbance_measure(session, title):
    """How much is taken from ranks that compute, one on each core: while nothing is
    posted, so that no strobe is needed, and while each slice has a message."""
    n_blocks = "20" if session.options.quick else "200"
    n_ranks = os.cpu_count() or 1
    sides = session.sides(DISTURBING_SIDES)
    rows = []
    for messages, options in DISTURBANCES.items():
        case = Case(str(n_ranks), n_ranks, ("disturb", "--blocks", n_blocks, *options))
        for row in disturbance_rows(session, case, sides, messages):
            rows.append(row)
            print(f"{title}: {', '.join(row)}", flush=True)
    head = ["side", "messages", "computation, all ranks", "more than native",
            "strobes a second"]
    return document.Outcome(f"Ranks: {n_ranks}.\n\n{document.table_text(head, rows)}")
