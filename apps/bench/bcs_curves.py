# SPDX-License-Identifier: BSD-3-Clause
"""Draws curves against a number of things as SVG, both axes logarithmic, with the range of
each point.

Imported by bcs_scaling. As bcs_plot's, the drawing has no background.
"""

import math
from dataclasses import dataclass

from bcs_plot import line_at, svg_text, text_at

LEFT, TOP, WIDTH, HEIGHT = 64, 44, 420, 300
LEGEND, LEGEND_WIDTH, LINE = 20, 240, 22
DASHES = ("none", "7 4", "2 4")


@dataclass(frozen=True)
class Point:
    """One point: where, its value, and the least and the largest one that was seen."""

    x: int
    value: float
    least: float
    largest: float


@dataclass(frozen=True)
class Curve:
    """Points in ascending order, and how they are drawn."""

    title: str
    colour: str
    dash: str
    points: list


@dataclass(frozen=True)
class CurveChart:
    """What is drawn. limit is an x with a line and its name, or None."""

    title: str
    x_axis: str
    y_axis: str
    curves: list
    limit: tuple = None


def decade_ticks(least, largest):
    """1, 2 and 5 of each power of ten, from the last one up to least to the first one from
    largest on."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(largest)) + 1)
    ticks = [digit * 10 ** power for power in powers for digit in (1, 2, 5)]
    first = max(tick for tick in ticks if tick <= least * 1.000001)
    last = min(tick for tick in ticks if tick >= largest * 0.999999)
    return [tick for tick in ticks if first <= tick <= last]


def scale(least, largest, start, end):
    """A function from a value to its place on a logarithmic axis."""
    def place(value):
        if least == largest:
            return (start + end) / 2
        return start + (end - start) * math.log(value / least) / math.log(largest / least)
    return place


def axes_draw(chart, xs, x_of, ticks, y_of):
    """Both axes with their names and ticks, and the limit."""
    right, bottom = LEFT + WIDTH, TOP + HEIGHT
    for tick in ticks:
        yield line_at(LEFT, y_of(tick), right, y_of(tick), "grid")
        yield text_at(LEFT - 8, y_of(tick) + 4, f"{tick:g}", anchor="end")
    for x in xs:
        yield text_at(x_of(x), bottom + 20, str(x))
    yield line_at(LEFT, TOP, LEFT, bottom, "axis")
    yield line_at(LEFT, bottom, right, bottom, "axis")
    yield text_at(LEFT + WIDTH / 2, bottom + 44, chart.x_axis)
    middle = TOP + HEIGHT / 2
    yield text_at(18, middle, chart.y_axis, turn=f' transform="rotate(-90 18 {middle})"')
    if chart.limit and xs[0] <= chart.limit[0] < xs[-1]:
        x = x_of(chart.limit[0]) + 10
        yield line_at(x, TOP, x, bottom, "one")
        yield text_at(x + 4, TOP + 12, chart.limit[1], anchor="start")


def curve_draw(curve, x_of, y_of):
    """The points with their ranges, and the lines between them."""
    places = [(x_of(point.x), y_of(point.value)) for point in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield (f'<polyline points="{path}" fill="none" stroke="{curve.colour}" '
           f'stroke-width="2" stroke-dasharray="{curve.dash}"/>')
    for point, (x, y) in zip(curve.points, places):
        yield line_at(x, y_of(point.least), x, y_of(point.largest), "range")
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{curve.colour}"/>'


def legend_draw(curves):
    """The names of the curves below each other, right of the plot."""
    x = LEFT + WIDTH + LEGEND
    for i, curve in enumerate(curves):
        y = TOP + LINE * (i + 0.5)
        yield (f'<line x1="{x}" y1="{y}" x2="{x + 28}" y2="{y}" stroke="{curve.colour}" '
               f'stroke-width="2" stroke-dasharray="{curve.dash}"/>')
        yield text_at(x + 36, y + 4, curve.title, anchor="start")


def curves_svg(chart):
    """The drawing as text; None if there is no point."""
    curves = [curve for curve in chart.curves if curve.points]
    points = [point for curve in curves for point in curve.points]
    if not points:
        return None
    xs = sorted({point.x for point in points})
    ticks = decade_ticks(min(point.least for point in points),
                         max(point.largest for point in points))
    x_of = scale(xs[0], xs[-1], LEFT + 24, LEFT + WIDTH - 24)
    y_of = scale(ticks[0], ticks[-1], TOP + HEIGHT, TOP)
    parts = [text_at(LEFT, 20, chart.title, "title", "start"),
             *axes_draw(chart, xs, x_of, ticks, y_of), *legend_draw(curves)]
    for curve in curves:
        parts += curve_draw(curve, x_of, y_of)
    return svg_text(LEFT + WIDTH + LEGEND + LEGEND_WIDTH, TOP + HEIGHT + 60, parts)
