# SPDX-License-Identifier: BSD-3-Clause
"""Draws grouped bars of ratios as SVG, with a line at 1 and the range of each bar.

Imported by bcs-reproduce. The drawing has no background, and its grey is legible on a
light page and on a dark one.
"""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

STYLE = """\
text { font: 13px sans-serif; fill: #6e7781 }
.title { font-size: 15px; font-weight: bold }
.value { font-size: 11px; font-weight: bold }
.axis, .range, .one { stroke: #6e7781; stroke-width: 1.5 }
.grid { stroke: #8b949e; stroke-opacity: 0.35 }
.one { stroke-dasharray: 6 4 }"""

LEFT, TOP, PLOT_HEIGHT, BAR, GAP = 64, 64, 260, 34, 30
LEGEND_ENTRY, CHARACTER = 34, 7.6


@dataclass(frozen=True)
class Bar:
    """One bar: its value and the least and the largest one that was seen."""

    value: float
    least: float
    largest: float


@dataclass(frozen=True)
class Chart:
    """What is drawn. sides are pairs of name and colour; bars[group][side] is a Bar, or
    None if there is no number."""

    title: str
    group_axis: str
    value_axis: str
    line: str  # what the line at 1 is
    groups: list
    sides: list
    bars: list


def tick_step(largest):
    """A round distance of ticks that gives three to eight of them."""
    power = 10 ** math.floor(math.log10(largest))
    fitting = (power * factor for factor in (0.1, 0.2, 0.5, 1, 2) if
               largest / (power * factor) <= 8)
    return next(fitting)


def svg_text(width, height, parts):
    """The drawing that its parts make, in the common style."""
    size = f"{width:.0f} {height}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img">\n'
            f"<style>\n{STYLE}\n</style>\n" + "\n".join(parts) + "\n</svg>\n")


def text_at(x, y, words, style="", anchor="middle", turn=""):
    """A piece of text."""
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}"'
            f"{turn}>{escape(words)}</text>")


def line_at(x1, y1, x2, y2, style):
    """A straight line."""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'class="{style}"/>')


def axes_draw(chart, width, y_of, largest):
    """The axes with their names, ticks, and the line at 1."""
    middle = TOP + PLOT_HEIGHT / 2
    step = tick_step(largest)
    right = LEFT + width
    for n in range(math.floor(largest / step + 1e-9) + 1):
        yield line_at(LEFT, y_of(n * step), right, y_of(n * step), "grid")
        yield text_at(LEFT - 8, y_of(n * step) + 4, f"{n * step:g}", anchor="end")
    yield line_at(LEFT, TOP, LEFT, y_of(0), "axis")
    yield line_at(LEFT, y_of(0), right, y_of(0), "axis")
    yield line_at(LEFT, y_of(1), right, y_of(1), "one")
    yield text_at(LEFT + width / 2, y_of(0) + 44, chart.group_axis)
    turn = f' transform="rotate(-90 18 {middle})"'
    yield text_at(18, middle, chart.value_axis, turn=turn)


def bar_draw(bar, x, y_of, colour):
    """One bar, its range and, clear of the line at 1, its value; or that there is none."""
    if bar is None:
        yield text_at(x + BAR / 2, y_of(0) - 4, "failed", "value")
        return
    centre = x + BAR / 2
    y_value = y_of(max(bar.value, bar.largest)) - 5
    if -4 < y_value - y_of(1) < 14:
        y_value = y_of(1) - 4
    yield (f'<rect x="{x + 1:.1f}" y="{y_of(bar.value):.1f}" width="{BAR - 2}" '
           f'height="{y_of(0) - y_of(bar.value):.1f}" fill="{colour}"/>')
    yield line_at(centre, y_of(bar.least), centre, y_of(bar.largest), "range")
    yield text_at(centre, y_value, f"{bar.value:.2f}", "value")


def legend_draw(chart):
    """The names of the sides in a row, the line at 1 last."""
    x = LEFT
    for side, colour in chart.sides:
        yield f'<rect x="{x:.1f}" y="36" width="12" height="12" fill="{colour}"/>'
        yield text_at(x + 17, 47, side, anchor="start")
        x += LEGEND_ENTRY + CHARACTER * len(side)
    yield line_at(x, 42, x + 20, 42, "one")
    yield text_at(x + 25, 47, chart.line, anchor="start")


def legend_width(chart):
    """The room that the legend takes."""
    names = [name for name, _ in chart.sides] + [chart.line]
    return sum(LEGEND_ENTRY + CHARACTER * len(name) for name in names)


def chart_svg(chart):
    """The drawing as text."""
    group_width = BAR * len(chart.sides) + GAP
    width = max(group_width * len(chart.groups), legend_width(chart))
    first = LEFT + (width - group_width * len(chart.groups)) / 2
    bars = [bar for row in chart.bars for bar in row if bar]
    largest = 1.1 * max([1.0, *(bar.largest for bar in bars)])

    def y_of(value):
        return TOP + PLOT_HEIGHT * (1 - value / largest)

    parts = [text_at(LEFT, 20, chart.title, "title", "start"), *legend_draw(chart),
             *axes_draw(chart, width, y_of, largest)]
    for g, (group, row) in enumerate(zip(chart.groups, chart.bars)):
        x = first + g * group_width
        parts.append(text_at(x + group_width / 2, y_of(0) + 20, group))
        for s, bar in enumerate(row):
            parts += bar_draw(bar, x + GAP / 2 + s * BAR, y_of, chart.sides[s][1])
    return svg_text(LEFT + width + 16, TOP + PLOT_HEIGHT + 60, parts)
