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
SLICES_OPTIONS = ("--grid", GRID_US, "--every", f"NCOLLDEM={SLICES_A_BARRIER}", "--every",
                  f"NCOLLMSM={SLICES_A_BARRIER}")
# How often they hold, in what bcs-mds check says.
ASSUMPTIONS = (r"^all nodes: slices are within .* grid (\d+) of (\d+) times$",
               r"^node \d+: NCOLLDEM comes every \d+ slices (\d+) of (\d+) times$",
               r"^node \d+: NCOLLMSM comes every \d+ slices (\d+) of (\d+) times$")
N_POINTS = "400"  # of a drawing
FIGURES = {"5.3": ("GETTS", ()), "5.4": ("NCOLLDEM", ("--node", "0")),
           "5.5": ("NCOLLMSM", ("--node", "0"))}

# Table 5.3 of the paper: total in ms, and count, of one process.
PERIODS = ("Comp Granularity", "Comm Overhead")
NONBLOCKING = ("MPI_Isend", "MPI_Irecv")  # the paper's are of messages, from posting to end
PAPER_SAGE = {
    "MPI_Isend": (21026.554, 4396), "MPI_Recv": (10.469, 19), "MPI_Irecv": (24280.771, 5617),
    "MPI_Probe": (36.923, 136), "MPI_Waitall": (2481.633, 2140), "MPI_Barrier": (0.736, 2),
    "MPI_Bcast": (348.312, 312), "MPI_Allreduce": (18906.279, 7025),
    "MPI_Allgather": (500.593, 45), "MPI_Alltoall": (645.445, 34),
    "Comp Granularity": (92440.640, 9771), "Comm Overhead": (22587.242, 9770),
}

SOLVE = r"^time: solve (\S+) s$"
ROW = re.compile(r"^(MPI_\w+|Comp Granularity|Comm Overhead)" + r" +(\S+)" * 5 + "$", re.M)
# What is looked at for what a mode costs: program, line, nanoseconds of its unit.
PROBE, MESSAGE = ("bench_polling", "polling_miss", 1), ("bench_latency", "latency", 1000)
COST_SIDES = ("timed-500us", "demand")
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


def slices_check(session, case):
    """What bcs-mds check says of one run, and the folder that the run leaves; None if it fails."""
    window = WINDOW_QUICK if session.options.quick else WINDOW
    found = recorded(session, NODES_250, case, {"BCS_MDS": "emds", "BCS_MDS_WINDOW": window})
    return found and (bcs_mds(session, "check", found[0], *SLICES_OPTIONS), found[0])


def slices_row(case, number, told):
    """The cells of one run: how often each of the three assumptions holds."""
    cells = [str(case.n_ranks), str(number)]
    for pattern in ASSUMPTIONS:
        counts = [tuple(map(int, found)) for found in re.findall(pattern, told, re.M)]
        n_right, n_all = (sum(numbers) for numbers in zip(*counts)) if counts else (0, 0)
        cells.append(f"{n_right} of {n_all}, {100 * n_right / n_all:.1f} %" if n_all else "-")
    return cells


def runtime_measure(session, title):
    """Section 5.3: a barrier every 1.9 ms under slices of 250 us, by slice numbers; as many runs
    as there are rounds, on the least and the most ranks. The drawings are of the first run."""
    rows, shown = [], None
    for n_ranks in sorted({session.options.ranks[0], session.options.ranks[-1]}):
        case = Case(str(n_ranks), n_ranks,
                    ("bench_barrier", "--compute", COMPUTE_MS, "--batches", "1", "--iterations",
                     N_ITERATIONS_QUICK if session.options.quick else N_ITERATIONS))
        for number in range(1, session.options.rounds + 1):
            found = slices_check(session, case)
            rows.append(slices_row(case, number, found[0]) if found else
                        [case.title, str(number), *["failed"] * len(ASSUMPTIONS)])
            shown = shown or found and (case, *found)
            print(f"{title}: {', '.join(rows[-1])}", flush=True)
    head = ["ranks", "run", "all nodes: slices on their grid", "nodes: barriers every 9 slices",
            "node 0: scheduled every 9 slices"]
    text = document.table_text(head, rows)
    if shown is None:
        return document.Outcome(text)
    case, told, folder = shown
    drawings, note = drawings_make(session, folder)
    command = " ".join(["bcs-mds check FOLDER", *SLICES_OPTIONS])
    return document.Outcome(f"{text}\n\nThe first run, {case.n_ranks} ranks:\n\n    {command}\n    " +
                            told.strip().replace("\n", "\n    ") + note, drawings=drawings)


def shares_of(rows):
    """{name: (share of calls, share of time)} in per cent, None where there is none. rows: {name:
    (total, count)}. Time of blocking calls is that of all of them, computation and communication
    are parts of both together."""
    n_calls = sum(count for name, (_, count) in rows.items() if name.startswith("MPI_"))
    blocking = sum(total for name, (total, _) in rows.items()
                   if name.startswith("MPI_") and name not in NONBLOCKING)
    whole = sum(rows[name][0] for name in PERIODS if name in rows)
    shares = {}
    for name, (total, count) in rows.items():
        base = whole if name in PERIODS else 0 if name in NONBLOCKING else blocking
        shares[name] = (None if name in PERIODS or not n_calls else 100 * count / n_calls,
                        100 * total / base if base else None)
    return shares


def share_text(shares, name, place):
    """The cell of a share."""
    value = shares[name][place] if name in shares else None
    return "-" if value is None else f"{value:.1f} %"


def primitives_rows(found):
    """The rows of table 5.3, the paper's first, each with both shares. found: {name: [min, max,
    total, count, average]} in words."""
    paper = shares_of(PAPER_SAGE)
    here = shares_of({name: (float(words[2]), int(words[3])) for name, words in found.items()})
    names = [name for name in PAPER_SAGE if name not in PERIODS]
    names += [name for name in found if name not in PAPER_SAGE] + list(PERIODS)
    return [[name, *found.get(name, ["-", "-", "-", "0", "-"]),
             *(share_text(shares, name, place) for place in (0, 1) for shares in (paper, here))]
            for name in names]


def primitives_measure(session, title, case):
    """Table 5.3: what each primitive costs SAGE, with 500 us slices."""
    found = recorded(session, SIDES["timed-500us"], case, {"BCS_MDS": "mmds"})
    if not found:
        return document.Outcome("failed")
    whole = bcs_mds(session, "summary", found[0])
    words = {match[1]: list(match.groups()[1:]) for match in ROW.finditer(whole)}
    gap = re.search(r"^Run time (\S+) ms.*gap (\S+) %", found[1], re.M)
    if not words or not gap:
        raise BenchError("the report has no table")
    rows = primitives_rows(words)
    for row in rows:
        print(f"{title}: {', '.join(row)}", flush=True)
    head = ["primitive", "min (ms)", "max (ms)", "total (ms)", "count", "average (ms)",
            "of all calls: paper", "here", "of the time: paper", "here"]
    return document.Outcome(
        f"{case.title} ranks:\n\n{document.table_text(head, rows)}\n\nOf the time: of a blocking call "
        f"that of all blocking calls; of the last two that of both.\n\nRun time of all ranks "
        f"together {gap[1]} ms; computation and communication differ from it by {gap[2]} %.")


def extra_cost(session, mode, program, line, unit_ns):
    """What one turn of a program costs more with this mode than without, in ns: the least of the
    rounds of each."""
    case = Case(mode, 2, (program, "--min", "8", "--max", "8"))
    texts = session.rounds(["off", mode], lambda mds: monitored(session, DEMAND, case, mds))
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


def monitored(session, side, case, mds):
    """The result of a job on a side with BCS_MDS set to this."""
    return session.run(side, case, {"BCS_MDS": mds, "BCS_MDS_DIR": session.folder})


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


def cost_rows(session, side, case, costs):
    """The rows of a program on a side, one for each mode."""
    runs = session.rounds(["off", *COSTS], lambda mds: monitored(session, side, case, mds))
    times = {mds: of_mds and [number_find(SOLVE, run.stdout, case.title) for run in of_mds]
             for mds, of_mds in runs.items()}
    for mode, cost_ns in costs.items():
        n_calls = runs[mode] and calls_of(runs[mode][0].stderr, mode) / case.n_ranks
        yield [f"{case.title} ranks", side.title, mode,
               *cost_cells(times["off"], times[mode], n_calls, cost_ns)]


def cost_measure(session, title, cases):
    """Table 6.1: what the monitoring system costs programs, with timed strobes as in the paper, and
    on demand. What a call costs is found on demand, where no clock hides it."""
    costs = {mode: call_cost(session, mode) for mode in COSTS}
    rows = []
    for case in cases:
        for side in session.sides(COST_SIDES):
            for row in cost_rows(session, side, case, costs):
                rows.append(row)
                print(f"{title}: {', '.join(row)}", flush=True)
    head = ["program", "strobes", "BCS_MDS", "off", "on", "overhead, medians (rounds)",
            "by count, a rank"]
    return document.Outcome(document.table_text(head, rows))
