# SPDX-License-Identifier: BSD-3-Clause
"""A report as text for a terminal, as Markdown, and as one page of HTML that needs nothing
but itself.

A report is a list of Sections; whoever makes it does not know what becomes of it.
"""

import base64
import math
from dataclasses import dataclass, field
from html import escape

import bcs_document as document
import bcs_overhead_figures as figures

# What says that bcs-overhead has made a page, and may replace it.
MARK = '<meta name="generator" content="bcs-overhead">'

# Beyond this factor a number tells no more than that it is out of all measure.
MOST_FACTOR = 1000

STYLE = """\
:root { color-scheme: light dark; --line: #8b949e55; --quiet: #6e7781 }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem;
       max-width: 72rem }
h1, h2 { line-height: 1.2 } h2 { margin-top: 2.5rem }
.table { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
         min-width: 5rem; font-variant-numeric: tabular-nums }
th:first-child, td:first-child { text-align: left; white-space: nowrap }
img { max-width: 100%; height: auto; margin-top: 1rem } .note { color: var(--quiet) }
nav a { margin-right: 1rem; display: inline-block }"""


@dataclass
class Section:
    """A part of a report: a table with notes below it, and drawings."""

    title: str
    head: list
    rows: list
    notes: list = field(default_factory=list)
    figures: list = field(default_factory=list)


def number(value, digits=3):
    """So many significant digits, never an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 9)}f}"


def factor(value, base, digits=2):
    """How many times the base a value is; a dash where the base is 0."""
    if base == 0:
        return "-"
    if value > MOST_FACTOR * base:
        return f"over {MOST_FACTOR}"
    return (f"{value / base:.{digits}f}" if value * MOST_FACTOR >= base
            else f"below {1 / MOST_FACTOR:g}")


def percent_above(value, base):
    """By how many per cent a value is above the base; a dash where the base is 0."""
    if base == 0 or value > MOST_FACTOR * base:
        return "-" if base == 0 else f"over {MOST_FACTOR} times"
    return f"{100 * (value / base - 1):.0f} %"


def interval(value, scale=1.0):
    """A fitted value with its interval."""
    text = number(value.value * scale)
    if value.low is None:
        return text
    return f"{text} ({number(value.low * scale)} to {number(value.high * scale)})"


def table_text(section):
    """The table in Markdown."""
    clean = [[cell.replace("|", "/") for cell in row] for row in section.rows]
    return document.table_text(section.head, clean) if clean else "Not measured."


def section_text(section):
    """A section in Markdown, without its title and its drawings."""
    return "\n\n".join([table_text(section), *section.notes])


def terminal_text(sections, has_figures):
    """All of it for a terminal, with drawings in letters."""
    parts = []
    for section in sections:
        parts.append(f"## {section.title}\n\n{section_text(section)}")
        for figure in section.figures if has_figures else ():
            drawn = figures.figure_draw(figure, "txt")
            if drawn:
                parts.append(drawn.decode(errors="replace").strip("\f\n"))
    return "\n\n".join(parts)


def anchor(title):
    """A name to link to."""
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())


def table_html(section):
    """The table in HTML."""
    if not section.rows:
        return "<p>Not measured.</p>"
    head = "".join(f"<th>{escape(cell)}</th>" for cell in section.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
                   for row in section.rows)
    return (f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}'
            "</tbody></table></div>")


def image_html(figure):
    """A drawing within the page, or nothing."""
    drawn = figures.figure_draw(figure, "svg")
    if not drawn:
        return ""
    data = base64.b64encode(drawn).decode()
    return (f'<p><img alt="{escape(figure.title)}" '
            f'src="data:image/svg+xml;base64,{data}"></p>')


def page_html(title, sections, has_figures):
    """The whole page."""
    links = "".join(f'<a href="#{anchor(section.title)}">{escape(section.title)}</a>\n'
                    for section in sections)
    parts = []
    for section in sections:
        parts.append(f'<h2 id="{anchor(section.title)}">{escape(section.title)}</h2>')
        parts.append(table_html(section))
        parts += [f'<p class="note">{escape(note)}</p>' for note in section.notes]
        parts += [image_html(figure) for figure in section.figures if has_figures]
    body = "\n".join(filter(None, parts))
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{MARK}\n'
            f"<title>{escape(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
            f"<h1>{escape(title)}</h1>\n<nav>\n{links}</nav>\n{body}\n</body>\n</html>\n")
