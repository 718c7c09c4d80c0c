# SPDX-License-Identifier: BSD-3-Clause
"""What the paper does with its monitoring system: it looks at the runtime system itself (section
5.3), at SAGE (table 5.3), and at its own cost (table 6.1). Each function measures one part of
bcs-reproduce."""

import os
import re
import statistics
import subprocess
import tempfile

import bcs_document as document
from bcs_jobs import BenchError, number_find
from bcs_session import Case
from bcs_sides import DEMAND, NODES_250, SIDES

# The paper's benchmark, and the slices of it that are looked at.
COMPUTE_MS, N_ITERATIONS, WINDOW = "1.9", "10000", "7500,5000"
N_ITERATIONS_QUICK, WINDOW_QUICK = "200", "100,200"
GRID_US, SLICES_A_BARRIER = "20", "9"
N_POINTS = "400"  # of a drawing
FIGURES = {"5.3": ("GETTS", ()), "5.4": ("NCOLLDEM", ("--node", "0")),
           "5.5": ("NCOLLMSM", ("--node", "0"))}

SOLVE = r"^time: solve (\S+) s$"
ROW = re.compile(r"^(MPI_\w+|Comp Granularity|Comm Overhead)" + r" +(\S+)" * 5 + "$", re.M)
# What is looked at for what a mode costs: program, line, nanoseconds of its unit.
PROBE, MESSAGE = ("bench_polling", "polling_miss", 1), ("bench_latency", "latency", 1000)
COSTS = {"mmds": (PROBE, MESSAGE), "trace": (PROBE, MESSAGE), "emds": (MESSAGE,)}


def bcs_mds(session, *words):
    """What bcs-mds says."""
    result = subprocess.run([session.places.program("bcs-mds"), *words], capture_output=True,
                            text=True, check=False)
    if result.stderr:
        raise BenchError(result.stderr.splitlines()[0])
    return result.stdout


def recorded(session, side, case, settings):
    """Run with the monitoring system; the folder that it leaves and the report, or None."""
    parent = tempfile.mkdtemp(dir=session.folder)
    result = session.run(side, case, {**settings, "BCS_MDS_DIR": parent})
    return result and (os.path.join(parent, os.listdir(parent)[0]), result.stderr)


def drawings_make(session, folder):
    """The paper's figures as drawings by name; none without gnuplot, which is said."""
    drawings = {}
    for name, (metric, words) in FIGURES.items():
        path = os.path.join(session.folder, "figure.svg")
        try:
            bcs_mds(session, "slices", folder, "--metric", metric, *words, "--most", N_POINTS,
                    "-o", path)
        except BenchError as error:
            return {}, f"\n\nNo drawings: {error}"
        with open(path, encoding="utf-8") as file:
            drawings[name] = file.read()
    return drawings, ""


def runtime_measure(session, title):
    """Section 5.3: a barrier every 1.9 ms under slices of 250 us, by slice numbers."""
    is_quick = session.options.quick
    n_ranks = session.options.ranks[0]
    case = Case(str(n_ranks), n_ranks,
                ("bench_barrier", "--compute", COMPUTE_MS, "--batches", "1", "--iterations",
                 N_ITERATIONS_QUICK if is_quick else N_ITERATIONS))
    window = WINDOW_QUICK if is_quick else WINDOW
    found = recorded(session, NODES_250, case, {"BCS_MDS": "emds", "BCS_MDS_WINDOW": window})
    if not found:
        return document.Outcome("failed")
    options = ["--grid", GRID_US, "--every", f"NCOLLDEM={SLICES_A_BARRIER}", "--every",
               f"NCOLLMSM={SLICES_A_BARRIER}"]
    told = bcs_mds(session, "check", found[0], *options)
    print(f"{title}:\n{told}", flush=True)
    drawings, note = drawings_make(session, found[0])
    command = " ".join(["bcs-mds check FOLDER", *options])
    return document.Outcome(f"{n_ranks} ranks:\n\n    {command}\n    " +
                            told.strip().replace("\n", "\n    ") + note, drawings=drawings)


def primitives_measure(session, title, case):
    """Table 5.3: what each primitive costs SAGE, with 500 us slices."""
    found = recorded(session, SIDES["timed-500us"], case, {"BCS_MDS": "mmds"})
    if not found:
        return document.Outcome("failed")
    whole = bcs_mds(session, "summary", found[0])
    rows = [list(match.groups()) for match in ROW.finditer(whole)]
    gap = re.search(r"^Run time (\S+) ms.*gap (\S+) %", found[1], re.M)
    if not rows or not gap:
        raise BenchError("the report has no table")
    for row in rows:
        print(f"{title}: {', '.join(row)}", flush=True)
    head = ["primitive", "min (ms)", "max (ms)", "total (ms)", "count", "average (ms)"]
    return document.Outcome(
        f"{case.title} ranks:\n\n{document.table_text(head, rows)}\n\nRun time of all ranks "
        f"together {gap[1]} ms; computation and communication differ from it by {gap[2]} %.")


def extra_cost(session, mode, program, line, unit_ns):
    """What one turn of a program costs more with this mode than without, in ns: the least of the
    rounds of each."""
    case = Case(mode, 2, (program, "--min", "8", "--max", "8"))
    texts = session.rounds(["off", mode], lambda mds: monitored(session, case, mds))
    if not all(texts.values()):
        return None
    least = {mds: min(number_find(rf"^{line} 8 (\S+) ", text.stdout, line) for text in runs)
             for mds, runs in texts.items()}
    return (least[mode] - least["off"]) * unit_ns


def call_cost(session, mode):
    """What a call costs at most, or, for emds, a message with its slice. A message has two calls,
    which are here as dear as both together."""
    costs = [extra_cost(session, mode, *what) for what in COSTS[mode]]
    return None if None in costs else max(costs)


def monitored(session, case, mds):
    """The result of a job on demand with BCS_MDS set to this."""
    return session.run(DEMAND, case, {"BCS_MDS": mds, "BCS_MDS_DIR": session.folder})


def calls_of(report, mode):
    """How many calls a rank makes, or, for emds, how many slices it has, by a report."""
    if mode == "emds":
        return number_find(r"^EMDS, all \d+ nodes?, (\d+) slices", report, "slices")
    return sum(int(match[5]) for match in ROW.finditer(report) if match[1].startswith("MPI_"))


def cost_cells(base, times, n_calls, cost_ns):
    """The cells of one mode: both times, overhead with its range, and overhead by count."""
    if not base or not times:
        return ["failed", "-", "-", "-"]
    off, on = statistics.median(base), statistics.median(times)
    ratios = [100 * (time / other - 1) for time, other in zip(times, base)]
    share = ("-" if cost_ns is None else
             f"{n_calls:.0f} x {cost_ns:.0f} ns = {n_calls * cost_ns / off / 1e7:.3f} %")
    return [f"{off:.3f} s", f"{on:.3f} s",
            f"{100 * (on / off - 1):+.2f} % ({min(ratios):+.2f} to {max(ratios):+.2f})", share]


def cost_measure(session, title, cases):
    """Table 6.1: what the monitoring system costs programs, on demand."""
    costs = {mode: call_cost(session, mode) for mode in COSTS}
    rows = []
    for case in cases:
        runs = session.rounds(["off", *COSTS], lambda mds, case=case: monitored(session, case, mds))
        times = {mds: of_mds and [number_find(SOLVE, run.stdout, case.title) for run in of_mds]
                 for mds, of_mds in runs.items()}
        for mode, cost_ns in costs.items():
            n_calls = runs[mode] and calls_of(runs[mode][0].stderr, mode) / case.n_ranks
            rows.append([f"{case.title} ranks", mode,
                         *cost_cells(times["off"], times[mode], n_calls, cost_ns)])
            print(f"{title}: {', '.join(rows[-1])}", flush=True)
    head = ["program", "BCS_MDS", "off", "on", "overhead, medians (rounds)", "by count, a rank"]
    return document.Outcome(document.table_text(head, rows))
