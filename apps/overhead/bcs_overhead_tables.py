# SPDX-License-Identifier: BSD-3-Clause
"""The report on a result: what it was measured on and beside what, Table 1 of the overhead
paper with the evidence for its formulas, and its figures."""

import statistics

from bcs_overhead_figures import Curve, Figure
from bcs_overhead_fit import LEAST_LAUNCHES, count_fit, line_fit, middle_of
from bcs_overhead_page import Section, factor, interval, number
from bcs_overhead_samples import (disturbance_of, good_runs, jobs_of, launches_of,
                                  medians_of)

NS_PER_US = 1e-3
# What Table 1 has: a length in the caches, and one that no cache holds, as local.c has it. The paper
# has "large blocks of data in memory".
COPY_BYTES, COPY_MEMORY_BYTES = 65536, 128 << 20

# The machines of the paper, as its Table 1 has them; microseconds.
PAPER_ROWS = (
    ["Paragon (paper)", "-", "0.0140", "126 d - 113", "58", "75 + 0.011 m", "135 + 0.011 m",
     "8640"],
    ["SP2 (paper)", "-", "0.0043", "72 d - 52", "48", "70 + 0.043 m", "-50 + 0.056 m", "10000"],
    ["CS-2 (paper)", "-", "0.0153", "17 d - 5.6", "103", "105 + 0.025 m", "105 + 0.025 m",
     "-"],
)


def named_sides(result):
    """(name, title) of each side."""
    return [(side["name"], side["title"]) for side in result["sides"]]


def by_length(launches):
    """{length: values} of points that are lengths only."""
    return {point[0]: values for point, values in launches.items()}


# --- what it was measured on ----------------------------------------------------------


def machine_section(result):
    """The machine, the versions and the sides."""
    machine = result["machine"]
    caches = [f"L{cache['level']} {cache['kind'].lower()} {cache['bytes'] // 1024} KB of "
              f"{len(cache['cpus'])}" for cache in machine["caches"]]
    rows = [["processor", machine["processor"]],
            ["cores", f"{len(machine['cores'])}, {len(machine['cpus'])} CPUs, "
                      f"{len(machine['packages'])} sockets, "
                      f"{max(len(machine['numa_nodes']), 1)} NUMA nodes"],
            ["caches", ", ".join(dict.fromkeys(caches)) or "not told"],
            ["memory", f"{machine['memory_bytes'] / 2 ** 30:.1f} GB"],
            ["kernel", machine["kernel"] + (", virtual machine" if machine["is_virtual"]
                                            else "")]]
    rows += [[name, version] for name, version in result["versions"].items()]
    libraries = {run["mpi"].split(", ident")[0] for run in result["runs"] if run["mpi"]}
    rows.append(["MPI library", "; ".join(sorted(libraries)) or "-"])
    for side in result["sides"]:
        settings = " ".join(f"{k}={v}" for k, v in sorted(side["settings"].items()))
        rows.append([f"side {side['name']}", f"{side['title']}; settings: "
                                             f"{settings or 'none'}"])
    plan = result["plan"]
    rows.append(["measured", f"{result['begun']}; {plan['repetitions']} repetitions"
                 + (", quick" if plan["is_quick"] else "")
                 + ("" if result["is_complete"] else ", not complete")])
    rows += [["injected", f"{name}: {percent} % slower"]
             for name, percent in plan["injected"].items()]
    return Section("Machine", ["", ""], rows)


def range_text(values, form):
    """The least and the most of some values; one where they look alike, - without any."""
    ends = [form.format(end) for end in ((min(values), max(values)) if values else ())]
    return " to ".join(dict.fromkeys(ends)) or "-"


def load_section(result):
    """The load beside the launches of each job, from the least to the most."""
    rows = []
    for job in result["plan"]["jobs"]:
        for name, title in named_sides(result):
            loads = [run["load"] for run in result["runs"] if run["load"]
                     and (run["side"], run["job"]) == (name, job["name"])]
            if loads:
                rows.append([f"{job['title']}, {title}",
                             range_text([load["load_average"] for load in loads], "{:.2f}"),
                             *(range_text([rate for load in loads for rate in load[when]],
                                          "{:.0f}")
                               for when in ("clock_mhz_before", "clock_mhz_after")),
                             *(range_text([load[when] for load in loads], "{}")
                               for when in ("bcs_ranks_elsewhere",
                                            "bcs_ranks_elsewhere_after"))])
    head = ["job, side", "load average before", "MHz before", "MHz after",
            "BCS processes before", "and after"]
    notes = ["The least to the most of all launches, of clock rates also of all CPUs. BCS "
             "processes are those of others, before a launch and after its end."]
    return Section("Conditions: load", head, rows, notes)


def conditions_section(result):
    """What went on beside each job."""
    rows = []
    for job in result["plan"]["jobs"]:
        for name, title in named_sides(result):
            found = disturbance_of(result, name, job["name"])
            if not found.n_launches:
                continue
            marks = [f"{n} {mark}" for mark, n in found.n_marked.items() if n]
            launches = str(found.n_launches) + (f", {found.n_failed} failed"
                                                if found.n_failed else "")
            rows.append([f"{job['title']}, {title}", launches, str(found.n_samples),
                         ", ".join(marks) or "0", str(found.n_busy),
                         f"{found.others_percent:.1f} %", f"{found.stolen_percent:.1f} %",
                         f"{found.interrupts:.0f}",
                         "-" if found.first_ratio is None else factor(found.first_ratio, 1.0),
                         found.programs or "-"])
    notes = ["Disturbed samples are in all numbers; they are marked, not left out. A launch "
             "counts as busy if others had 2 % or more of the cores' time. Where ranks share "
             "cores, preemption is their own and no mark. First touch: the first round, "
             "which is in no other number, to the others."]
    failures = {f"{run['job']}, {run['side']}: {run['failure']}"
                for run in result["runs"] if run["failure"]}
    notes += [f"Failed: {failure}" for failure in sorted(failures)]
    head = ["job, side", "launches", "samples", "disturbed", "busy launches",
            "others, most", "stolen, most", "interrupts/s", "first touch", "took most"]
    return Section("Conditions: what disturbed", head, rows, notes)


# --- Table 1 --------------------------------------------------------------------------


def fits_of(result, experiment, part=None):
    """{side: LineFit} of the longest job of an experiment of two ranks; None without."""
    jobs = jobs_of(result, experiment, part)
    return {name: line_fit(by_length(launches_of(result, name, jobs[0]["name"])))
            if jobs else None for name, _ in named_sides(result)}


def barrier_launches(result, side):
    """{number of processes: [nanoseconds]}."""
    found = {}
    for job in jobs_of(result, "barrier"):
        for point, values in launches_of(result, side, job["name"]).items():
            found[point[0]] = values
    return found


def formula_text(pair):
    """a + b m in microseconds, with intervals."""
    a, b = (interval(value, NS_PER_US) for value in pair)
    return f"{a} + {b} m" if pair[1].low is not None else f"{a} + {b} m".replace("+ -", "- ")


COUNT_TEXTS = {"a": "{0}", "a d + b": "{0} d + {1}", "a n + b": "{0} n + {1}",
               "a n d + b": "{0} n d + {1}", "a n^c": "{0} n^{1}"}


def count_text(fit):
    """The formula of a barrier in microseconds; an exponent has no unit."""
    scales = [NS_PER_US, 1.0 if fit.name == "a n^c" else NS_PER_US]
    return COUNT_TEXTS[fit.name].format(*(interval(value, scale) for value, scale
                                          in zip(fit.parameters, scales)))


def copy_cell(result, side, n_bytes):
    """Microseconds a byte of aligned copies of a length, or a dash."""
    launches = launches_of(result, side, "memcpy")
    values = launches.get((n_bytes, 0, 0, 0))
    return interval(middle_of(values), NS_PER_US) if values else "-"


def table1_row(result, side, title, fit):
    """Our line of Table 1."""
    barriers = count_fit(barrier_launches(result, side))
    cells = [title, copy_cell(result, side, COPY_BYTES),
             copy_cell(result, side, COPY_MEMORY_BYTES),
             count_text(barriers) if barriers else "-"]
    if fit is None:
        return cells + ["-"] * 4
    zero = interval(fit.zero, NS_PER_US) if fit.zero else "-"
    if fit.large is None:
        return cells + [zero, formula_text(fit.small), "the same", "-"]
    return cells + [zero, formula_text(fit.small), formula_text(fit.large),
                    interval(fit.break_bytes)]


def table1_section(result):
    """Table 1 of the paper with a line for each side."""
    fits = fits_of(result, "exchange")
    rows = list(PAPER_ROWS) + [table1_row(result, name, title, fits[name])
                               for name, title in named_sides(result)]
    head = ["machine", "copy in a cache, us a byte", "copy in memory, us a byte", "barrier of n = 2^d, us", "zero bytes, us",
            "small, us", "large, us", "break, bytes"]
    return Section("Table 1: summary", head, rows, [
        f"Copies are of {COPY_BYTES} bytes in a cache and of {COPY_MEMORY_BYTES} in memory. m is "
        "the length in bytes. In brackets: 95 % of fits to launches drawn anew; there "
        f"are none with fewer than {LEAST_LAUNCHES} launches, nor a barrier's formula with "
        "fewer than three numbers of processes."])


def evidence_rows(title, fit):
    """A row for each formula that was tried."""
    rest = [abs(value) for value in fit.residuals]
    residual = f"{100 * statistics.median(rest):.1f} %, {100 * max(rest):.1f} %"
    best = min(fit.formulas, key=lambda formula: formula.aicc)
    return [[title, formula.text, number(formula.aicc, 5), f"{100 * formula.weight:.1f} %",
             residual if formula is best else "-"] for formula in fit.formulas]


def evidence_section(result):
    """Why these formulas."""
    rows, curves = [], []
    for experiment, words in (("exchange", "exchange"), ("pingpong", "ping-pong")):
        fits = fits_of(result, experiment)
        for name, title in named_sides(result):
            fit = fits[name]
            if fit:
                rows += evidence_rows(f"{words}, {title}", fit)
                curves.append(Curve(f"{words}, {title}", [
                    (length, 100 * value) for length, value
                    in zip(fit.residual_lengths, fit.residuals)], len(curves), "points"))
    for name, title in named_sides(result):
        fit = count_fit(barrier_launches(result, name))
        if fit:
            rows += evidence_rows(f"barrier, {title}", fit)
    figure = Figure("residuals", "What the formulas leave", "bytes",
                    "per cent of the time", curves)
    return Section("Evidence for the formulas", ["fit", "formula", "AICc", "share of the evidence",
                                "residuals: median, most"], rows,
                   ["The formula with the least AICc is taken. d is log2 n."],
                   [figure] if curves else [])


# --- clock and memory -----------------------------------------------------------------

CLOCKS = ("CLOCK_MONOTONIC", "MPI_Wtime")
CLOCK_WHATS = ("cost of a reading", "resolution", "longest gap in 10 ms",
               "lost to gaps in 10 ms")


def clock_section(result):
    """The clocks, and what interrupts a rank that only reads one."""
    rows = []
    for name, title in named_sides(result):
        launches = launches_of(result, name, "clock")
        for clock, words in enumerate(CLOCKS):
            cells = [interval(middle_of(launches[clock, what])) + " ns"
                     if (clock, what) in launches else "-"
                     for what in range(len(CLOCK_WHATS))]
            if launches:
                rows.append([f"{words}, {title}", *cells])
    ticks = sorted({run["wtick_ns"] for run in result["runs"] if run["wtick_ns"]})
    notes = [f"MPI_Wtick says {', '.join(number(tick) for tick in ticks)} ns."] * bool(ticks)
    return Section("Clock", ["clock, side", *CLOCK_WHATS], rows, notes)


def copy_section(result):
    """Copies by length, with pages that are new, and by alignment."""
    rows, curves = [], []
    for i, (name, title) in enumerate(named_sides(result)):
        medians = medians_of(launches_of(result, name, "memcpy"))
        for fresh, words in ((0, "touched"), (1, "new pages")):
            points = [(point[0], ns) for point, ns in medians.items()
                      if point[1:] == (0, 0, fresh)]
            curves.append(Curve(f"{words}, {title}", points, 2 * i + fresh))
            rows += [[f"{length} bytes, {words}, {title}", f"{number(ns)} ns", "-"]
                     for length, ns in points]
        rows += alignment_rows(medians, title)
    figure = Figure("memcpy", "Copies within memory", "bytes", "ns a byte", curves,
                    is_x_log=True, is_y_log=True)
    return Section("Copies within memory", ["copy", "a byte", "to the aligned one"], rows,
                   ["Offsets are those of source and target from the beginning of a page."],
                   [figure] if rows else [])


def alignment_rows(medians, title):
    """What alignment costs, with the aligned copy of that length beside it."""
    rows = []
    for point, ns in medians.items():
        base = medians.get((point[0], 0, 0, 0))
        if point[1:] != (0, 0, 0) and point[3] == 0 and base is not None:
            rows.append([f"{point[0]} bytes, offsets {point[1]} and {point[2]}, {title}",
                         f"{number(ns)} ns", factor(ns, base)])
    return rows


def placement_section(result):
    """The ping-pong on chosen CPUs."""
    rows = []
    for job in result["plan"]["jobs"]:
        if not job["name"].startswith("placement-"):
            continue
        for name, title in named_sides(result):
            launches = by_length(launches_of(result, name, job["name"]))
            runs = good_runs(result, name, job["name"])
            if launches:
                hosts = {host for run in runs for host in run["hosts"]}
                rows.append([f"{job['title']}, {title}", job["arguments"][-1],
                             str(len(hosts)),
                             "; ".join(f"{length}: {interval(middle_of(values), NS_PER_US)}"
                                       for length, values in launches.items())])
    return Section("Placement", ["where, side", "CPUs", "machines", "bytes: us one way"],
                   rows)
