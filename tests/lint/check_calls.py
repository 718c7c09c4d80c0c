#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check which file calls which: what includes do not show.

Usage: check_calls.py ROOT BUILD. The objects of the libraries tell what each file defines
and what it needs. A folder may need only what the tables below allow; files of a folder need
each other in one direction, but for the circles that are known. A function that is handed
down by address in a table is needed by who hands it down. Exit status 1 if there is any
finding.
"""

import json
import os
import subprocess
import sys

import lint

# Whose functions and data a folder may use, beside its own and libbcs/base. More than INCLUDE_EDGES
# of edges.py where a header declares what another folder defines, less where it has no function
# that is called: two tables, as edges.py says.
CALL_EDGES = {
    "libbcs/base": [],
    "libbcs/transport": ["libbcs/transport/shm"],
    "libbcs/transport/shm": ["libbcs/transport"],
    "libbcs/copy": [],
    "libbcs/core": ["libbcs/transport"],
    "libbcs/ring": ["libbcs/core"],
    "libbcs/session": ["libbcs/copy", "libbcs/core", "mds", "nic_threads"],
    "libbcs/api": [
        "libbcs/core",
        "libbcs/ring",
        "libbcs/session",
        "mds",
        "nic_threads",
        "nic_threads/drivers",
        "nic_threads/node",
        "nic_threads/rules",
    ],
    "libbcs/bsplib": ["libbcs/cbsp"],
    "libbcs/cbsp": ["libbcs/copy", "libbcs/core", "libbcs/session", "mds"],
    "libbcs/channel": ["libbcs/core", "libbcs/session", "mds", "nic_threads/rules"],
    "libbcs/look": ["libbcs/ring"],
    "libbcs/tools": ["libbcs/session", "libbcs/transport"],
    "libbcs/tools/top": ["libbcs/look", "mds/tool"],
    "mds": ["nic_threads/node"],
    "mds/tool": ["mds"],
    "mpi_shim/real": ["libbcs/api", "mds"],
    "mpi_shim/data": ["mpi_shim/real", "nic_threads/rules"],
    "mpi_shim/comm": ["libbcs/api", "mpi_shim/real"],
    "mpi_shim/collective": ["libbcs/api", "mds", "mpi_shim/comm", "mpi_shim/data", "mpi_shim/real"],
    "mpi_shim/request": [
        "libbcs/api",
        "libbcs/session",
        "mds",
        "mpi_shim/collective",
        "mpi_shim/comm",
        "mpi_shim/data",
        "mpi_shim/real",
    ],
    "mpi_shim/calls": [
        "libbcs/api",
        "libbcs/session",
        "mds",
        "mpi_shim/collective",
        "mpi_shim/comm",
        "mpi_shim/data",
        "mpi_shim/real",
        "mpi_shim/request",
        "nic_threads",
    ],
    "nic_threads": [],
    "nic_threads/rules": ["libbcs/ring"],
    "nic_threads/node": [
        "libbcs/copy",
        "libbcs/core",
        "libbcs/ring",
        "nic_threads",
        "nic_threads/rules",
    ],
    "nic_threads/roles": [
        "libbcs/core",
        "libbcs/ring",
        "nic_threads/node",
        "nic_threads/rules",
    ],
    "nic_threads/drivers": [
        "libbcs/ring",
        "nic_threads/node",
        "nic_threads/roles",
        "nic_threads/rules",
    ],
}
# Circles of folders that are known: a transport implements what the folder above it declares,
# which has the list of transports.
KNOWN_FOLDER_CIRCLES = [{"libbcs/transport", "libbcs/transport/shm"}]
# Circles of files that are known. None may be new or grow; what is not one any more goes.
KNOWN_CIRCLES = []
# Functions of the system that only some folders may use.
SYSTEM_CALLS = {
    "_exit": ["libbcs/base", "libbcs/bsplib", "libbcs/session", "libbcs/tools",
              "libbcs/tools/top", "libbcs/transport", "mds/tool"],
    "clone": ["libbcs/session"],
    "dladdr": ["libbcs/base", "libbcs/session", "mpi_shim/real"],
    "dl_iterate_phdr": ["libbcs/cbsp", "mds", "mpi_shim/calls", "mpi_shim/real"],
    "dlopen": ["libbcs/session", "mds/tool", "mpi_shim/real"],
    "dlsym": ["libbcs/session", "mds/tool", "mpi_shim/real"],
    "execv": ["libbcs/tools"],
    "exit": ["libbcs/bsplib", "mds/tool", "mpi_shim/calls", "mpi_shim/real"],
    "fork": ["libbcs/tools", "libbcs/tools/top", "mds/tool"],
    "ftruncate64": ["libbcs/base"],
    "getenv": ["libbcs/base"],
    "kill": ["libbcs/tools", "libbcs/tools/top", "libbcs/transport/shm", "mds/tool"],
    "memfd_create": ["libbcs/base", "libbcs/tools"],
    "mmap64": ["libbcs/base", "libbcs/tools", "libbcs/transport", "mds"],
    "nanosleep": ["libbcs/transport/shm"],
    "posix_spawnp": ["libbcs/session"],
    "prctl": ["libbcs/copy", "libbcs/tools", "libbcs/tools/top", "mds/tool",
              "nic_threads/drivers"],
    "process_vm_readv": ["libbcs/copy"],
    "process_vm_writev": ["libbcs/copy"],
    "pthread_atfork": ["libbcs/base"],
    "pthread_create": ["libbcs/channel", "nic_threads/drivers"],
    "pthread_setaffinity_np": ["nic_threads/drivers"],
    "pthread_sigmask": ["libbcs/channel", "libbcs/session", "nic_threads/drivers"],
    "sched_getaffinity": ["libbcs/session"],
    "sched_setscheduler": ["nic_threads/drivers"],
    "sched_yield": [
        "libbcs/api",
        "libbcs/cbsp",
        "libbcs/channel",
        "libbcs/core",
        "libbcs/transport/shm",
        "mds",
        "mpi_shim/calls",
        "mpi_shim/collective",
        "mpi_shim/real",
        "mpi_shim/request",
        "nic_threads/drivers",
    ],
    "setenv": ["libbcs/tools"],
    "sigaction": ["libbcs/base", "libbcs/channel", "libbcs/tools"],
    "sigprocmask": ["libbcs/tools", "libbcs/tools/top", "mds/tool"],
    "sleep": ["libbcs/session"],
    "syscall": ["libbcs/base", "mds/tool", "nic_threads/drivers"],
    "waitpid": ["libbcs/session", "libbcs/tools", "libbcs/tools/top", "mds/tool"],
}
EVERYBODY = "libbcs/base"
PRODUCTS = ("libbcs", "mpi_shim", "nic_threads", "mds")


def read_symbols(text):
    """What "nm -A -P" has printed, by object: what it defines for others, and needs."""
    symbols = {}
    for line in text.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        defined, needed = symbols.setdefault(path, (set(), set()))
        if kind == "U":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return symbols


def find_objects(root, build):
    """The source files of the products, and the object of each: {source: object}."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    sources = {}
    for command in commands:
        source = os.path.relpath(os.path.join(build, command["file"]), root)
        is_of_tests = command["output"].startswith("tests/")
        if source.startswith(PRODUCTS) and not is_of_tests:
            sources.setdefault(source, command["output"])
    return sources


def run_nm(build, objects, *options):
    """What "nm -A" prints of objects."""
    done = subprocess.run(
        ["nm", "-A", *options, *objects],
        cwd=build,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def read_objects(root, build):
    """The symbols of each source file of the products: {path: (defined, needed)}."""
    sources = find_objects(root, build)
    symbols = read_symbols(run_nm(build, sources.values(), "-P"))
    return {source: symbols[path] for source, path in sources.items() if path in symbols}


def needs(objects):
    """Pairs of files of which the first needs the second, with a name: {(a, b): name}."""
    owners = {name: path for path, (defined, _) in objects.items() for name in defined}
    return {
        (path, owners[name]): name
        for path, (_, needed) in sorted(objects.items())
        for name in sorted(needed, reverse=True)
        if name in owners and owners[name] != path
    }


def unused(used, allowed):
    """Texts of what is allowed and not used; both are pairs of a folder and what it uses."""
    for folder, what in allowed:
        if (folder, what) not in used:
            yield f"nobody in {folder} uses {what}: shorten the table"


def check_edges(objects, table):
    """Calls between folders are in the table, and the table has no others."""
    used = set()
    for (path, owner), name in needs(objects).items():
        folder, other = os.path.dirname(path), os.path.dirname(owner)
        if other in (folder, EVERYBODY):
            continue
        used.add((folder, other))
        if other not in table.get(folder, []):
            yield f"{path}: must not use {name} of {owner}"
    yield from unused(used, [(a, b) for a, bs in table.items() for b in bs])


def check_folder_circles(table, known_circles):
    """The table leads down only: no folder comes back to itself by what it may use."""
    edges = {folder: {*others, EVERYBODY} - {folder} for folder, others in table.items()}
    yield from lint.compare_circles("folders", edges, known_circles)


def check_circles(objects, known_circles):
    """Files need each other in one direction, but for those known."""
    edges = {}
    for path, owner in needs(objects):
        edges.setdefault(path, set()).add(owner)
    yield from lint.compare_circles("calls", edges, known_circles)


def check_system(objects, table):
    """Some functions of the system are for some folders only."""
    used = set()
    for path, (_, needed) in sorted(objects.items()):
        for name in sorted(needed & set(table)):
            used.add((os.path.dirname(path), name))
            if os.path.dirname(path) not in table[name]:
                yield f"{path}: must not use {name}"
    yield from unused(used, [(b, a) for a, bs in table.items() for b in bs])


def main(root, build):
    objects = read_objects(root, build)
    findings = [
        *check_edges(objects, CALL_EDGES),
        *check_folder_circles(CALL_EDGES, KNOWN_FOLDER_CIRCLES),
        *check_circles(objects, KNOWN_CIRCLES),
        *check_system(objects, SYSTEM_CALLS),
    ]
    return lint.tell(findings, len(objects), "objects")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
