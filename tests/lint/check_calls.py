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

# Whose functions and data a folder may use, beside its own and libbcs/fabric/base. More than INCLUDE_EDGES
# of edges.py where a header declares what another folder defines, less where it has no function
# that is called: two tables, as edges.py says.
CALL_EDGES = {
    "libbcs/fabric/base": [],
    "libbcs/fabric/transport": ["libbcs/fabric/transport/shm", "libbcs/fabric/transport/ucx"],
    "libbcs/fabric/copy": [],
    "libbcs/fabric/core": ["libbcs/fabric/transport"],
    "libbcs/fabric/ring": ["libbcs/fabric/core"],
    "nic_threads": [],
    "nic_threads/rules": ["libbcs/fabric/ring"],
    "nic_threads/node": ["libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads/rules"],
    "nic_threads/machine": [
        "libbcs/fabric/copy", "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads",
        "nic_threads/rules", "nic_threads/node",
    ],
    "nic_threads/roles": [
        "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node",
        "nic_threads/machine",
    ],
    "nic_threads/referee": [
        "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node", "nic_threads/machine",
        "nic_threads/roles",
    ],
    "nic_threads/service": [
        "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node", "nic_threads/machine",
        "nic_threads/roles", "nic_threads/referee",
    ],
    "nic_threads/drivers": [
        "libbcs/fabric/ring", "nic_threads/node", "nic_threads/machine", "nic_threads/roles",
        "nic_threads/service",
    ],
    "mds": ["nic_threads/node"],
    "libbcs/report": [],
    "libbcs/session": [
        "libbcs/fabric/copy", "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads", "mds",
    ],
    "libbcs/api/context": [],
    "libbcs/api/record": [
        "libbcs/fabric/ring", "nic_threads/node", "nic_threads/referee", "libbcs/report",
    ],
    "libbcs/api/message": [
        "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node",
        "nic_threads/machine", "nic_threads/referee", "nic_threads/drivers", "libbcs/report",
        "libbcs/api/context", "libbcs/api/record",
    ],
    "libbcs/api/collective": [
        "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads/rules", "nic_threads/node",
        "nic_threads/machine", "libbcs/api/record", "libbcs/api/message",
    ],
    "libbcs/api": [
        "libbcs/fabric/core", "libbcs/fabric/ring", "nic_threads", "nic_threads/rules",
        "nic_threads/node", "nic_threads/machine", "nic_threads/service",
        "nic_threads/drivers", "mds", "libbcs/session", "libbcs/api/context",
        "libbcs/api/record", "libbcs/api/message", "libbcs/api/collective",
    ],
    "libbcs/cbsp": [
        "libbcs/fabric/copy", "libbcs/fabric/core", "mds", "libbcs/report", "libbcs/session",
    ],
    "libbcs/channel": [
        "libbcs/fabric/core", "nic_threads/rules", "mds", "libbcs/report", "libbcs/session",
    ],
    "libbcs/bsplib": ["libbcs/cbsp"],
    "mpi_shim/real": [
        "mds", "libbcs/api/record", "libbcs/api/message", "libbcs/api",
    ],
    "mpi_shim/data": ["nic_threads/rules", "mpi_shim/real"],
    "mpi_shim/comm": ["libbcs/api/message", "libbcs/api", "mpi_shim/real"],
    "mpi_shim/collective": [
        "mds", "libbcs/api/collective", "mpi_shim/real", "mpi_shim/data", "mpi_shim/comm",
    ],
    "mpi_shim/request": [
        "mds", "libbcs/report", "libbcs/api/record", "libbcs/api/message", "libbcs/api",
        "mpi_shim/real", "mpi_shim/data", "mpi_shim/comm", "mpi_shim/collective",
    ],
    "mpi_shim/calls": [
        "nic_threads", "mds", "libbcs/report", "libbcs/session", "libbcs/api/record",
        "libbcs/api/message", "libbcs/api/collective", "libbcs/api", "mpi_shim/real",
        "mpi_shim/data", "mpi_shim/comm", "mpi_shim/collective", "mpi_shim/request",
    ],
    "mds/source": [],
    "mds/tool/read": ["mds"],
    "mds/tool/analysis": ["mds", "mds/source", "mds/tool/read"],
    "mds/tool/report": ["mds", "mds/source", "mds/tool/read", "mds/tool/analysis"],
    "mds/tool/export": ["mds/source", "mds/tool/read", "mds/tool/analysis"],
    "mds/tool/diff": ["mds/source", "mds/tool/read", "mds/tool/analysis"],
    "mds/tool/verbs": [
        "mds", "mds/source", "mds/tool/read", "mds/tool/analysis", "mds/tool/report",
        "mds/tool/export", "mds/tool/diff",
    ],
    "mds/tool": ["mds/tool/read", "mds/tool/verbs"],
    "apps/tools/findings": ["libbcs/report", "mds/tool/read"],
    "apps/tools/launch": [
        "libbcs/fabric/transport", "libbcs/report", "libbcs/session", "apps/tools/findings",
    ],
    "apps/tools/look": ["libbcs/fabric/ring"],
    "apps/tools/top": ["libbcs/report", "mds/source", "mds/tool/read", "apps/tools/look"],
    "libbcs/fabric/transport/shm": ["libbcs/fabric/transport"],
    "libbcs/fabric/transport/ucx": ["libbcs/fabric/transport", "libbcs/fabric/transport/shm"],
}
# Circles of folders that are known: a transport implements what the folder above it declares,
# which has the list of transports.
KNOWN_FOLDER_CIRCLES = [
    {"libbcs/fabric/transport", "libbcs/fabric/transport/shm", "libbcs/fabric/transport/ucx"},
]
# Circles of files that are known. None may be new or grow; what is not one any more goes.
KNOWN_CIRCLES = []
# Functions of the system that only some folders may use, or none. What waits or looks at the clock
# goes through libbcs/fabric/base/system.h; the others of clock_gettime want the time of day, or are
# linked without libbcs/fabric/base.
SYSTEM_CALLS = {
    "_exit": [
        "libbcs/fabric/base", "libbcs/report", "libbcs/bsplib",
        "mds/source", "apps/tools/hosts", "apps/tools/launch", "apps/tools/top",
    ],
    "clock_gettime": ["libbcs/fabric/base", "libbcs/bsplib", "mds"],
    "clock_nanosleep": [],
    "clone": ["libbcs/report"],
    "dl_iterate_phdr": ["mds", "libbcs/cbsp", "mpi_shim/real", "mpi_shim/calls"],
    "dladdr": ["libbcs/fabric/base", "libbcs/report", "mpi_shim/real"],
    "dlopen": ["libbcs/fabric/transport/ucx", "libbcs/session", "mpi_shim/real", "mds/source"],
    "dlsym": ["libbcs/fabric/transport/ucx", "libbcs/session", "mpi_shim/real", "mds/source"],
    "execv": ["apps/tools/launch"],
    "exit": ["libbcs/bsplib", "mpi_shim/real", "mpi_shim/calls", "mds/tool"],
    "fork": ["mds/source", "apps/tools/hosts", "apps/tools/launch", "apps/tools/top"],
    "ftruncate64": ["libbcs/fabric/base"],
    "getenv": ["libbcs/fabric/base"],
    "kill": [
        "libbcs/fabric/base", "mds/source", "mds/tool/analysis", "apps/tools/hosts", "apps/tools/launch",
        "apps/tools/top",
    ],
    "memfd_create": ["libbcs/fabric/base", "apps/tools/launch", "apps/tools/top"],
    "mmap64": ["libbcs/fabric/base", "libbcs/fabric/transport", "mds", "apps/tools/launch"],
    "nanosleep": [],
    "posix_spawnp": ["libbcs/report"],
    "prctl": [
        "libbcs/fabric/copy", "nic_threads/machine", "mds/source", "apps/tools/hosts", "apps/tools/launch",
        "apps/tools/top",
    ],
    "process_vm_readv": ["libbcs/fabric/copy"],
    "process_vm_writev": ["libbcs/fabric/copy"],
    "pthread_atfork": ["libbcs/fabric/base"],
    "pthread_create": ["libbcs/fabric/base"],
    "pthread_setaffinity_np": ["nic_threads/machine"],
    "pthread_sigmask": ["libbcs/fabric/base", "libbcs/report"],
    "sched_getaffinity": ["libbcs/session"],
    "sched_setscheduler": ["nic_threads/machine"],
    "sched_yield": ["libbcs/fabric/base"],
    "setenv": ["libbcs/fabric/transport/ucx", "apps/tools/hosts", "apps/tools/launch"],
    "sigaction": ["libbcs/fabric/base", "libbcs/channel", "apps/tools/launch"],
    "sigprocmask": ["mds/source", "apps/tools/launch", "apps/tools/top"],
    "sleep": [],
    "syscall": ["libbcs/fabric/base", "nic_threads/machine", "mds/source"],
    "usleep": [],
    "waitpid": ["libbcs/report", "mds/source", "apps/tools/hosts", "apps/tools/launch", "apps/tools/top"],
}
# What an inline function of another folder may not bring into lint.HOT_FOLDERS either. Without the
# clock: on some processors even its ticks come from the table of system.h.
COLD_SYMBOLS = {
    "malloc", "calloc", "realloc", "free", "bcs_log", "bcs_notice", "bcs_job_error",
}
# Functions of the system that a file of ours takes over for programs: who needs them means the system's.
TAKEN_OVER = {"dlsym"}
EVERYBODY = "libbcs/fabric/base"
PRODUCTS = ("libbcs", "mpi_shim", "nic_threads", "mds", "apps/tools")


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
    owners = {name: path for path, (defined, _) in objects.items() for name in defined - TAKEN_OVER}
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


def check_hot(objects):
    """The hot folders neither allocate nor log, by inline functions of others neither."""
    for path, (_, needed) in sorted(objects.items()):
        for name in sorted(needed & COLD_SYMBOLS):
            if os.path.dirname(path) in lint.HOT_FOLDERS:
                yield f"{path}: must not use {name}, it is hot"


def main(root, build):
    objects = read_objects(root, build)
    findings = [
        *check_edges(objects, CALL_EDGES),
        *check_folder_circles(CALL_EDGES, KNOWN_FOLDER_CIRCLES),
        *check_circles(objects, KNOWN_CIRCLES),
        *check_system(objects, SYSTEM_CALLS),
        *check_hot(objects),
    ]
    return lint.tell(findings, len(objects), "objects")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
