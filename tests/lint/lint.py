#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check what a compiler does not: who may include whom, and the rules of the house.

Usage: lint.py ROOT. Prints one line for each finding, "file:line: text", and exits with
status 1 if there is any. Each rule is a function that takes a Source and yields pairs of
line number and text; RULES at the end lists them. Those in TREE_RULES take all Sources and
yield texts. test_lint.py shows that each fires.
"""

import os
import re
import sys

from edges import (EVERYBODY, INCLUDE_EDGES, KNOWN_CIRCLES, RESTRICTED_HEADERS,
                   STANDALONE)
from known import CALLS_IN_HOT_FOLDERS, KNOWN_ELSEWHERE

MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 525  # about 500
MAX_PARAMETERS = 6
MAX_COLUMNS = 88

PRODUCTS = ["libbcs", "nic_threads", "mds", "mpi_shim", "apps/tools"]
# Every message of a job goes through these: nothing there may allocate, look at a clock or log.
HOT_FOLDERS = ["nic_threads/rules", "nic_threads/roles"]
COLD_CALL = re.compile(r"\b((?:m|c|re)alloc|free|clock_gettime|bcs_clock_\w+|bcs_log\w*|bcs_error"
                       r"|bcs_warn|bcs_notice\w*|bcs_job_error|v?f?printf)\s*\(")
GETENV_FOLDERS = ["libbcs/fabric/base", "apps", "tests"]
# The MPI standard fixes the parameters of these.
PARAMETERS_EXEMPT = ["mpi_shim"]
# A table may be as long as what it lists.
LENGTH_EXEMPT_SUFFIXES = [".def"]

C_SUFFIXES = (".c", ".h", ".def")
SOURCE_SUFFIXES = C_SUFFIXES + (".py", ".sh", ".f90", ".F90", ".build", ".1", ".in")
TEXT_SUFFIXES = SOURCE_SUFFIXES + (".md", ".txt")
SPDX = "SPDX-License-Identifier: BSD-3-Clause"


class Source:
    """One file: its path from the root, its lines, and the lines without comments."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.splitlines()
        self.is_c = path.endswith(C_SUFFIXES)
        self.code = strip_comments(text).splitlines() if self.is_c else self.lines

    def is_in(self, folders):
        return any(is_within(self.path, folder) for folder in folders)


def is_within(path, folder):
    return path == folder or path.startswith(folder + "/")


def strip_comments(text):
    """Blank out comments and the insides of literals; line breaks stay."""

    def blank(match):
        part = match.group(0)
        if part[0] in "\"'":
            return part[0] + part[-1]
        return " " + "\n" * part.count("\n")

    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, blank, text, flags=re.S)


def layer_of(path):
    """The entry of INCLUDE_EDGES that a file belongs to, or None."""
    layers = [layer for layer in INCLUDE_EDGES if is_within(path, layer)]
    return max(layers, key=len, default=None)


def included_path(source, line):
    """What an #include line names, from the root; None if it is not one of ours."""
    match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
    if not match:
        return None
    name = match.group(2)
    if name.startswith("bcs/"):
        return "libbcs/include/" + name
    if layer_of(name):
        return name
    if match.group(1) == '"':
        return os.path.normpath(os.path.join(os.path.dirname(source.path), name))
    return None


def allowed_places(layer):
    """What the files of an entry of INCLUDE_EDGES may include beside their own folder."""
    if INCLUDE_EDGES[layer] is None:
        return []
    is_apart = is_within(layer, "apps") and not is_within(layer, "apps/tools")
    everybody = [] if layer in STANDALONE or is_apart else EVERYBODY
    return everybody + INCLUDE_EDGES[layer]


def is_edge_allowed(source, target):
    layer = layer_of(source.path)
    if layer is None or layer_of(target) == layer:
        return True
    return any(is_within(target, place) for place in allowed_places(layer))


def check_includes(source):
    if not source.is_c:
        return
    for number, line in enumerate(source.lines, 1):
        target = included_path(source, line)
        if target is None:
            continue
        if not is_edge_allowed(source, target):
            yield number, f"{layer_of(source.path)} must not include {target}"
        restricted = RESTRICTED_HEADERS.get(target)
        if restricted and not source.is_in(restricted + ["tests"]):
            yield number, f"only {' and '.join(restricted)} may include {target}"


def check_getenv(source):
    if not source.is_c or source.is_in(GETENV_FOLDERS):
        return
    for number, line in enumerate(source.code, 1):
        if re.search(r"\b(secure_)?getenv\s*\(|\benviron\b", line):
            yield number, "the environment is read in libbcs/fabric/base only"


def check_docstrings(source):
    """A prototype in a header follows directly on the end of a /** comment."""
    if not source.path.endswith(".h"):
        return
    for number, line in enumerate(source.lines, 1):
        if not is_prototype_start(source, number):
            continue
        if not has_docstring(source.lines, number - 1):
            name = re.search(r"(\w+)\s*\(", line)
            yield number, f"no docstring for {name.group(1) if name else line.strip()}"


def is_prototype_start(source, number):
    """Whether a declaration of a function starts at this line, in column 0."""
    line = source.code[number - 1] if number <= len(source.code) else ""
    if not re.match(r"[A-Za-z_]", line):
        return False
    if re.match(r"(static|typedef|enum|union|extern\s+\"C\"|_Static_assert)\b", line):
        return False
    declaration = ""
    for following in source.code[number - 1 : number + 12]:
        declaration += following + " "
        if re.search(r"[;{]", following):
            break
    return bool(re.match(r"[\w\s\*]+\b\w+\s*\((?!\s*\*).*\)[^{=]*;", declaration))


def has_docstring(lines, index):
    """Whether the comment that ends above lines[index] starts with /**."""
    index -= 1
    if index < 0 or not lines[index].rstrip().endswith("*/"):
        return False
    while index >= 0 and "/*" not in lines[index]:
        index -= 1
    return index >= 0 and lines[index].lstrip().startswith("/**")


def functions(source):
    """Yield (first line, last line, signature) of each function defined in a C file."""
    for index, line in enumerate(source.code):
        if line.rstrip() != "{":
            continue
        first = index
        while first > 0 and re.match(r"[\w\s\*,()\[\]]", source.code[first - 1]):
            if re.match(r"\s*$|#", source.code[first - 1]):
                break
            first -= 1
        last = index
        while last < len(source.code) and not source.code[last].startswith("}"):
            last += 1
        yield first + 1, last + 1, " ".join(source.code[first:index])


def check_function_length(source):
    if not source.is_c:
        return
    for first, last, _ in functions(source):
        n_lines = last - first + 1
        if n_lines > MAX_FUNCTION_LINES:
            yield first, f"function of {n_lines} lines (up to {MAX_FUNCTION_LINES})"


# Functions whose parameters others have laid down: MPI's, played too, and what OTF2's library and libdwfl call.
OTHERS_SIGNATURE = re.compile(r"\b(fake_)?P?MPI_\w+\s*\(|\bOTF2_(CallbackCode|ErrorCode)\b"
                              r"|\(Dwfl_Module \*\w+, void \*\*")


def n_parameters(signature):
    start = signature.find("(")
    if start < 0:
        return 0
    depth = 0
    count = 1
    for character in signature[start:]:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 1:
            count += 1
        if depth == 0:
            break
    return count


def check_parameters(source):
    if not source.is_c or source.is_in(PARAMETERS_EXEMPT):
        return
    for first, _, signature in functions(source):
        if OTHERS_SIGNATURE.search(signature):
            continue
        count = n_parameters(signature)
        if count > MAX_PARAMETERS:
            yield first, f"function of {count} parameters (up to {MAX_PARAMETERS})"


def check_file_length(source):
    if not source.path.endswith(SOURCE_SUFFIXES):
        return
    if source.path.endswith(tuple(LENGTH_EXEMPT_SUFFIXES)):
        return
    if len(source.lines) > MAX_FILE_LINES:
        yield 1, f"file of {len(source.lines)} lines (up to {MAX_FILE_LINES})"


def check_spdx(source):
    if is_script(source) or source.path.endswith(SOURCE_SUFFIXES):
        if not any(SPDX in line for line in source.lines[:3]):
            yield 1, "no SPDX line"


def is_script(source):
    return source.text.startswith("#!")


def check_machine_paths(source):
    """Nothing may depend on where somebody's checkout or home is."""
    for number, line in enumerate(source.lines, 1):
        match = re.search(r"(?<![\w./*])/(work|farm|root|home|Users)/[\w.]", line)
        if match:
            yield number, f"path of one machine: {match.group(0)}..."


def check_hot_calls(source):
    """The rules and the roles call nothing that is slow, or that depends on the time."""
    if not source.is_c or not source.is_in(HOT_FOLDERS):
        return
    for number, line in enumerate(source.code, 1):
        for name in COLD_CALL.findall(line):
            if (source.path, name) not in CALLS_IN_HOT_FOLDERS:
                yield number, f"{name} in a folder that is hot"


def check_hot_calls_known(sources):
    """An exception that nobody uses would let somebody through unnoticed."""
    used = {
        (source.path, name)
        for source in sources
        if source.is_c and source.is_in(HOT_FOLDERS)
        for name in COLD_CALL.findall("\n".join(source.code))
    }
    for path, name in sorted(set(CALLS_IN_HOT_FOLDERS) - used):
        yield f"{path} has no {name}: shorten the table"


def all_includes(sources):
    """Yield (source, target) of each include of a file of ours."""
    for source in sources:
        for line in source.lines if source.is_c else []:
            target = included_path(source, line)
            if target is not None:
                yield source, target


def check_edges_used(sources):
    """An edge of the table that nobody uses would let somebody through unnoticed."""
    used = {(layer_of(source.path), target) for source, target in all_includes(sources)}
    for layer, places in INCLUDE_EDGES.items():
        for place in places or []:
            if not any(by == layer and is_within(to, place) for by, to in used):
                yield f"nobody in {layer} includes {place}: take it out of the table"


def circles(edges):
    """The sets of files that can be reached from each other; edges by file."""

    def reached(start):
        found, todo = set(), [start]
        while todo:
            for file in edges.get(todo.pop(), ()):
                if file not in found:
                    found.add(file)
                    todo.append(file)
        return found

    reachable = {file: reached(file) for file in edges}
    return {
        frozenset(other for other in reachable[file] if file in reachable.get(other, ()))
        for file in edges
        if file in reachable[file]
    }


def compare_circles(what, edges, known_circles):
    """Circles that are not known, and known ones that are none any more."""
    found = circles(edges)
    known = {frozenset(circle) for circle in known_circles}
    for circle in sorted(map(sorted, found)):
        if not any(set(circle) <= other for other in known):
            yield f"a circle of {what}: " + ", ".join(circle)
    for circle in sorted(map(sorted, known - found)):
        yield "no circle any more, shorten the table: " + ", ".join(circle)


def check_circles(sources):
    """Files of a folder include each other in one direction, but for those known."""
    edges = {}
    for source, target in all_includes(sources):
        file, other = (os.path.splitext(path)[0] for path in (source.path, target))
        if file != other and os.path.dirname(file) == os.path.dirname(other):
            edges.setdefault(file, set()).add(other)
    yield from compare_circles("includes", edges, KNOWN_CIRCLES)


def check_folder_circles(_):
    """The table leads down only: no folder comes back to itself by what it may include."""
    edges = {
        layer: {
            other
            for place in allowed_places(layer)
            for other in INCLUDE_EDGES
            if other != layer and (is_within(other, place) or other == layer_of(place))
        }
        for layer in INCLUDE_EDGES
    }
    yield from compare_circles("folders", edges, [])


def check_names(sources):
    """The name of a file of the product stands once in the tree. A program of apps/ has its own."""
    paths = {}
    for source in sources:
        is_program = is_within(source.path, "apps") and not is_within(source.path, "apps/tools")
        if source.is_c and not is_program and not is_within(source.path, "tests"):
            paths.setdefault(os.path.basename(source.path), []).append(source.path)
    for name, places in sorted(paths.items()):
        inside = [path for path in places if not path.startswith("libbcs/include/")]
        if len(inside) > 1:
            yield f"several files are called {name}: {', '.join(inside)}"


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def name_of_function(text):
    """The name that stands before the first parenthesis."""
    match = re.search(r"(\w+)\s*\(", text)
    return match.group(1) if match else None


def functions_elsewhere(sources):
    """Headers whose prototypes are of functions in files of another name: {header: {file}}."""
    products = [source for source in sources if source.is_c and source.is_in(PRODUCTS)]
    homes = {}
    for source in products:
        for _, _, signature in functions(source):
            if not re.match(r"\s*static\b", signature):
                homes.setdefault(name_of_function(signature), set()).add(source.path)
    elsewhere = {}
    for source in products:
        if not source.path.endswith(".h") or source.is_in(["libbcs/include"]):
            continue
        for number, line in enumerate(source.code, 1):
            if is_prototype_start(source, number):
                for home in homes.get(name_of_function(line), ()):
                    if stem(home) != stem(source.path):
                        elsewhere.setdefault(source.path, set()).add(home)
    return elsewhere


def check_homes(sources):
    """A function of X.h is defined in X.c. Else an inline function of X.h may call another file
    that includes X.h: a circle that neither includes nor objects show."""
    found = functions_elsewhere(sources)
    for header in sorted(set(found) | set(KNOWN_ELSEWHERE)):
        homes, known = found.get(header, set()), set(KNOWN_ELSEWHERE.get(header, ()))
        for home in sorted(homes - known):
            yield f"{header}: declares functions of {home}"
        for home in sorted(known - homes):
            yield f"{header} declares nothing of {home}: shorten the table"


def check_columns(source):
    """A line of C has at most MAX_COLUMNS."""
    for number, line in enumerate(source.lines if source.is_c else [], 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns (up to {MAX_COLUMNS})"


RULES = [
    check_includes,
    check_getenv,
    check_docstrings,
    check_function_length,
    check_parameters,
    check_file_length,
    check_spdx,
    check_machine_paths,
    check_hot_calls,
    check_columns,
]


TREE_RULES = [
    check_edges_used,
    check_circles,
    check_folder_circles,
    check_names,
    check_hot_calls_known,
    check_homes,
]


def is_checked(path):
    name = os.path.basename(path)
    return path.endswith(TEXT_SUFFIXES) or "." not in name or path.startswith(".ci/")


def find_files(root):
    """All source files below root, without build folders and hidden ones but .ci."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if (name == ".ci" or not name.startswith("."))
            and name != "__pycache__"
            and not os.path.exists(os.path.join(folder, name, "meson-private"))
        )
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            if is_checked(path):
                yield path


def lint(source):
    """All findings in one file, as lines of text."""
    findings = []
    for rule in RULES:
        for number, text in rule(source):
            findings.append((number, text))
    return [f"{source.path}:{number}: {text}" for number, text in sorted(findings)]


def tell(findings, n_read, what):
    """Print the findings; the exit status, 1 as well if nothing was read."""
    for finding in findings:
        print(finding)
    print(f"{n_read} {what}, {len(findings)} findings")
    return 1 if findings or n_read == 0 else 0


def main(root):
    sources = []
    for path in find_files(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            sources.append(Source(path.replace(os.sep, "/"), file.read()))
    findings = [finding for source in sources for finding in lint(source)]
    findings += [finding for rule in TREE_RULES for finding in rule(sources)]
    return tell(findings, len(sources), "files")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
