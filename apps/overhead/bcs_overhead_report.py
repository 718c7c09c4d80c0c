# SPDX-License-Identifier: BSD-3-Clause
"""Makes the report on a result, the table of a comparison, and the pages of both; and puts
the paper's table and figures into a document."""

import os
import sys
from pathlib import Path

import bcs_document as document
import bcs_overhead_figures as figures
from bcs_jobs import BenchError
from bcs_overhead_compare import (LEVEL, MOST_SEEN_FACTOR, N_WAYS, conditions_of,
                                  not_compared, path_split, side_choose, tables_compare,
                                  tables_of)
from bcs_overhead_page import (MARK, Section, factor, page_html, section_text,
                               terminal_text)
from bcs_overhead_patterns import (barrier_section, figure1_section, figure2_section,
                                   figure3_section, figure4_section, figure5_section)
from bcs_overhead_result import file_replace, result_read
from bcs_overhead_tables import (clock_section, conditions_section, copy_section,
                                 evidence_section, load_section, machine_section,
                                 placement_section, table1_section)

# What --write needs in a document, and what makes it.
PARTS = {
    "table 1": table1_section, "evidence": evidence_section, "figure 1": figure1_section,
    "figure 2": figure2_section, "barrier": barrier_section, "copies": copy_section,
    "figure 3": figure3_section, "figure 4": figure4_section, "figure 5": figure5_section,
    "placement": placement_section, "clock": clock_section,
    "conditions": conditions_section, "load": load_section, "machine": machine_section,
}
NO_GNUPLOT = ("bcs-overhead: gnuplot is not installed, so that there are no figures: install "
              "the package gnuplot-nox")


def part_name(part):
    """What the markers of a part say."""
    return f"{part} of bcs-overhead"


def sections_of(result):
    """The whole report."""
    return [make(result) for make in PARTS.values()]


def folder_check(folder):
    """BenchError unless all that is in a folder may be replaced: there is nothing, or a page of
    bcs-overhead."""
    try:
        names = os.listdir(folder)
        page = folder / "index.html"
        is_ours = "index.html" in names and MARK in page.read_text("utf-8", "replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise BenchError(f"{folder}: {error.strerror}") from None
    if names and not is_ours:
        raise BenchError(f"--page {folder}: has files, and no page of bcs-overhead; allowed is a "
                         "folder that is empty, that has such a page, or that is not there yet")


def folder_write(folder, title, sections, has_figures):
    """Write the page and all figures into a folder, which is made if it is not there."""
    folder = Path(folder)
    folder_check(folder)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise BenchError(f"{folder}: {error.strerror}") from None
    file_replace(folder / "index.html", page_html(title, sections, has_figures))
    for section in sections:
        for figure in section.figures if has_figures else ():
            for kind in ("svg", "png"):
                drawn = figures.figure_draw(figure, kind)
                if drawn:
                    (folder / f"{figure.name}.{kind}").write_bytes(drawn)


# --- comparison -----------------------------------------------------------------------


SEEN_WORDS = f"a factor of {MOST_SEEN_FACTOR:g}"


def verdict_of(difference):
    """What the table says of a quantity."""
    if difference.reason:
        return difference.reason
    if not difference.is_beyond:
        return ("too noisy to tell" if difference.seen_percent is None
                else "no difference beyond noise")
    return "B is slower" if difference.ratio > 1 else "B is faster"


def comparison_rows(differences):
    """A row for each quantity."""
    rows = []
    for one in differences:
        launches = f"{one.n_a} and {one.n_b}"
        if one.reason:
            rows.append([one.name, "-", "-", "-", launches, verdict_of(one)])
        else:
            seen = (f"over {SEEN_WORDS}" if one.seen_percent is None
                    else f"{one.seen_percent:.0f} %")
            rows.append([one.name, factor(one.ratio, 1.0, 3), f"{one.p:.4f}", seen, launches,
                         verdict_of(one)])
    return rows


def comparison_section(words, differences, apart, least_percent):
    """The table of a comparison; apart are lines on what it has not."""
    n_beyond = sum(one.is_beyond for one in differences)
    n_noisy = sum(not one.reason and one.seen_percent is None for one in differences)
    notes = [f"A: {words[0]}; B: {words[1]}.",
             f"{n_beyond} of {len(differences)} quantities differ beyond noise."]
    if n_noisy:
        notes.append(f"{n_noisy} of {len(differences)} quantities are too noisy: no difference "
                     f"below {SEEN_WORDS} could be seen. Measure on a quiet machine, or both as "
                     "sides of one run.")
    notes += [f"Rule: repetitions are dealt anew to A and B, all ways or {N_WAYS}. A "
              f"difference is beyond noise if its p, adjusted for all quantities, is at most "
              f"{LEVEL}, and it is {least_percent:g} % or more.",
              "The rule takes for granted that the machine was in the same state during A and "
              "B. Another state looks like a difference.",
              "\"Would be seen from\": the least difference that the rule would have found."]
    notes += apart
    head = ["quantity", "B / A", "p", "would be seen from", "launches", "verdict"]
    return Section("Comparison", head, comparison_rows(differences), notes)


def files_compare(words, least_percent):
    """Compare FILE or FILE:SIDE with another: (sections, whether there is a difference)."""
    results, sides = [], []
    for word in words:
        path, name = path_split(word, os.path.exists)
        results.append(result_read(path))
        sides.append(side_choose(results[-1], path, name))
    tables, left_out = tables_of(results, sides)
    differences = tables_compare(tables, least_percent)
    apart = [f"{title}: {n} launches are left out, since their cores stood otherwise."
             for title, n in left_out.items()]
    apart += not_compared(results, sides, tables) + conditions_of(results, sides)
    sections = [comparison_section(words, differences, apart, least_percent)]
    for word, result in zip(words, results):
        for make in (machine_section, conditions_section, load_section):
            section = make(result)
            section.title += f" of {word}"
            sections.append(section)
    return sections, any(one.is_beyond for one in differences)


# --- output ---------------------------------------------------------------------------


def sections_show(title, sections, folder):
    """Print a report, and write its page if a folder is named; draw if gnuplot is there."""
    has_figures = figures.is_there()
    if not has_figures and any(section.figures for section in sections):
        print(NO_GNUPLOT, file=sys.stderr)
    print(f"# {title}\n\n{terminal_text(sections, has_figures)}")
    if folder:
        folder_write(folder, title, sections, has_figures)


def document_check(path):
    """BenchError unless the document has all parts, and gnuplot can draw its figures."""
    document.file_check(path, map(part_name, PARTS))
    if not figures.is_there():
        raise BenchError("gnuplot is not installed: install the package gnuplot-nox")


def document_write(path, result):
    """Put all parts into a document, and the drawings into the folder beside it."""
    folder = Path(path).with_suffix("")
    contents = {}
    for part, make in PARTS.items():
        section = make(result)
        text = section_text(section)
        for figure in section.figures:
            drawn = figures.figure_draw(figure, "svg")
            if drawn:
                folder.mkdir(exist_ok=True)
                (folder / f"{figure.name}.svg").write_bytes(drawn)
                text += f"\n\n![{figure.title}]({folder.name}/{figure.name}.svg)"
        contents[part_name(part)] = text
    document.file_write(path, contents)
