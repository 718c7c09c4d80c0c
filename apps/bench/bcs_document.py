# SPDX-License-Identifier: BSD-3-Clause
"""Tables and captions in Markdown, and the document whose marked parts they replace.

Imported by bcs-bench, bcs-reproduce and cbsp-reproduce. A marked part of a document is
whatever stands between the two comments of markers().
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bcs_jobs import BenchError


@dataclass
class Outcome:
    """What a part of the document becomes: text in Markdown, a drawing or None, and more
    drawings by the figures' names."""

    text: str
    svg: str = None
    drawings: dict = field(default_factory=dict)


def number_text(value):
    """Three figures, never an exponent."""
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{digits}f}"


def table_text(head, rows):
    """A table, columns aligned: the first one to the left, the others to the right."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    text_lines = ["| " + " | ".join([line[0].ljust(widths[0])] +
                                    [cell.rjust(width) for cell, width
                                     in zip(line[1:], widths[1:])]) + " |"
                  for line in lines]
    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    text_lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(text_lines)


def machine_text():
    """One sentence on what the numbers were measured with."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    try:
        version = subprocess.run(["mpirun", "--version"], capture_output=True,
                                 text=True, check=False).stdout
    except OSError:
        version = ""
    mpi = re.match(r"mpirun \((.*)\) (\S+)", version)
    return (f"{model.group(1) if model else platform.machine()}, "
            f"{len(os.sched_getaffinity(0))} cores, "
            f"{platform.system()} {platform.release()}, "
            f"{' '.join(mpi.groups()) if mpi else 'unknown MPI'}")


def settings_text():
    """The BCS_ variables in the environment, or that there are none."""
    names = sorted(name for name in os.environ if name.startswith("BCS_"))
    return " ".join(f"{name}={os.environ[name]}" for name in names) or "defaults"


def commit_text():
    """The commit of the folder that the program is in, and whether there are changes to it; of
    an installed program only that it is one."""
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    said = []
    for words in (["rev-parse", "--short=7", "HEAD"], ["status", "--porcelain", "-uno"]):
        try:
            done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True,
                                  check=True)
        except (OSError, subprocess.CalledProcessError):
            return "commit not known"
        said.append(done.stdout.strip())
    return f"commit {said[0]}{' with changes' if said[1] else ''}"


def caption_text(notes, conditions):
    """What stands under a table: when, of what, on what, how and beside what it was measured."""
    notes = [*notes, f"disturbed rounds: {conditions.n_repeated} repeated, "
                     f"{conditions.n_disturbed} kept"]
    return "; ".join([time.strftime("%Y-%m-%d"), commit_text(), machine_text(),
                      f"settings: {settings_text()}", *notes,
                      f"load average at the start: {conditions.load:.2f}",
                      f"taken by the hypervisor: {conditions.stolen_percent():.1f} %"])


def markers(part):
    """The two comments around a part of a document."""
    return f"<!-- {part}: begin -->", f"<!-- {part}: end -->"


def text_replace(text, path, part, content):
    """The text with the content between the markers of the part."""
    begin, end = markers(part)
    try:
        head, rest = text.split(begin)
        _, tail = rest.split(end)
    except ValueError:
        raise BenchError(f"{path}: needs '{begin}' and then '{end}', once each") from None
    return f"{head}{begin}\n\n{content}\n\n{end}{tail}"


def file_check(path, parts):
    """BenchError unless the file is there and has all these parts."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None
    for part in parts:
        text_replace(text, path, part, "")


def file_write(path, contents):
    """Put contents[part] between the markers of each part; all of it or nothing."""
    text = Path(path).read_text(encoding="utf-8")
    for part, content in contents.items():
        text = text_replace(text, path, part, content)
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder,
                                     delete=False) as new:
        new.write(text)
    shutil.copymode(path, new.name)
    os.replace(new.name, path)


def rounds_text(options, conditions):
    """The caption of a figure that was measured in rounds."""
    return caption_text([f"rounds: {options.rounds}",
                         f"runs: {'short' if options.quick else 'full'}"], conditions)


def outcome_write(path, part, outcome, figure):
    """Put an outcome into the document, and its drawings, named after the figures, into the
    folder beside it."""
    folder = Path(path).with_suffix("")
    drawings = {**({figure: outcome.svg} if outcome.svg else {}), **outcome.drawings}
    links = []
    for name, svg in drawings.items():
        plot = folder / f"figure-{name.replace('.', '-')}.svg"
        folder.mkdir(exist_ok=True)
        plot.write_text(svg, encoding="utf-8")
        links.append(f"![Figure {name}]({folder.name}/{plot.name})\n\n")
    file_write(path, {part: "".join(links) + outcome.text})
