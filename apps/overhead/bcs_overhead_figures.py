# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures by gnuplot, as SVG, as PNG, and as text for a terminal."""

import shutil
import subprocess
from dataclasses import dataclass, field

from bcs_jobs import BenchError

COLOURS = ("#2f6fb7", "#c8703a", "#3fa66b", "#8f6fc1", "#b5394a", "#6e7781")
TERMINALS = {
    "svg": "svg size 760,460 dynamic noenhanced background 'white' font 'sans,13'",
    "png": "png size 1140,690 noenhanced font 'sans,13'",
    "txt": "dumb noenhanced size 100,32",
}
STYLES = {"points": "with points pt 7 ps 0.35", "lines": "with lines lw 2",
          "dashed": "with lines lw 1.5 dt 2", "linespoints": "with linespoints pt 7 ps 0.5"}


@dataclass
class Curve:
    """Points (x, y) with a title, None for what needs none; colour is an index."""

    title: str
    points: list
    colour: int = 0
    style: str = "linespoints"


@dataclass
class Figure:
    """One drawing."""

    name: str
    title: str
    x_axis: str
    y_axis: str
    curves: list = field(default_factory=list)
    is_x_log: bool = False
    is_y_log: bool = False


def is_there():
    """Whether gnuplot is installed."""
    return shutil.which("gnuplot") is not None


def quoted(text):
    """A string of gnuplot that stands for nothing but itself."""
    return "'" + text.replace("'", "''").replace("\n", " ") + "'"


def script_of(figure, kind):
    """What gnuplot is to do, with all data in it."""
    curves = [curve for curve in figure.curves if curve.points]
    lines = [f"set terminal {TERMINALS[kind]}", f"set title {quoted(figure.title)}",
             f"set xlabel {quoted(figure.x_axis)}", f"set ylabel {quoted(figure.y_axis)}",
             "set grid", "set key above"]
    lines += ["set logscale x 2"] if figure.is_x_log else []
    lines += ["set logscale y"] if figure.is_y_log else ["set yrange [*<0:*]"]
    plots = []
    for i, curve in enumerate(curves):
        lines += [f"$d{i} << END", *(f"{x:.10g} {y:.10g}" for x, y in curve.points), "END"]
        title = f"title {quoted(curve.title)}" if curve.title else "notitle"
        colour = COLOURS[curve.colour % len(COLOURS)]
        plots.append(f"$d{i} {STYLES[curve.style]} lc rgb '{colour}' {title}")
    return "\n".join(lines) + "\nplot " + ", \\\n  ".join(plots) + "\n"


def figure_draw(figure, kind):
    """The drawing as bytes; BenchError if gnuplot fails. None without any point."""
    if not any(curve.points for curve in figure.curves):
        return None
    done = subprocess.run(["gnuplot"], input=script_of(figure, kind).encode(),
                          capture_output=True, check=False)
    if done.returncode or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise BenchError(f"gnuplot: {figure.name}: {said[-1] if said else 'no drawing'}")
    return done.stdout
