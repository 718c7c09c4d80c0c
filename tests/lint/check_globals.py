#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the product has no variables that live as long as the process.

Usage: check_globals.py ROOT BUILD. What a process knows of its job belongs to the context or
state that it was given, so that several processes of a job can be in one process of the
system. The objects of the libraries tell which writable data they have; the table below has
those that belong to the process, or to a thread, by their nature, each with its reason. What
is never written must say so (const). Exit status 1 if there is any finding.
"""

import sys

import check_calls
import lint

# {file: {variable: why it is the process's own}}; static ones of a function by their name.
PROCESS_STATE = {
    "libbcs/fabric/base/forked.c": {
        "forked": "forks are of the process: the system calls its one handler in each child",
        "once": "as that handler is set once",
    },
    "libbcs/fabric/base/log.c": {"sink": "standard error is the process's"},
    "libbcs/fabric/base/notice.c": {"said": "part of the log sink: what standard error has said"},
    "libbcs/fabric/base/system.c": {"in_force": "the kernel is the process's, and so its stand-in"},
    "libbcs/bsplib/bsplib_check.c": {"bsplib_self": "the current one: <bsp.h> names none"},
    "libbcs/cbsp/cbsp_transfer.c": {"cbsp_self": "the current one: <bcs/cbsp.h> names none"},
    "libbcs/channel/channel_job.c": {
        "channels_self": "the current one: its opening functions name none",
    },
    "libbcs/channel/channel_record.c": {
        "channels_collect": "of the current one, apart, so that a call costs one test of it",
    },
    "libbcs/session/entry.c": {
        "has_entered": "the launcher knows the process, as long as it lives, as one of a job",
    },
    "mds/mmds.c": {"mds_call": "a thread's: calls in calls are of one thread"},
    "mpi_shim/real/door.c": {"n_nested": "a thread's: calls of handlers in its calls"},
    "mpi_shim/real/fallback.c": {"thread": "a thread's: what it does in the MPI library"},
    "mpi_shim/real/handles.c": {
        "shim_handles": "where the MPI library of this process is; set once",
    },
    "mpi_shim/real/program_dlsym.c": {
        "shim_dlsym_next": "where the C library's dlsym of this process is; set once",
    },
    "mpi_shim/real/real.c": {
        "shim_library": "where the MPI library of this process is; set once",
        "shim_real": "where the MPI library of this process is; set once",
        "shim_tool": "where a tool of this process is; set once",
    },
    "mpi_shim/real/state.c": {"shim_state": "the shim's one state: <mpi.h> names none"},
}
# Sections of data that may be written while the program runs.
WRITABLE = (".data", ".bss", ".tdata", ".tbss", "*COM*", "COMMON")
# ... of which the loader alone writes these, before it begins.
RELOCATED = ".data.rel.ro"


def read_variables(text):
    """Writable data in what "nm -A -f sysv" has printed: {object: [variable]}."""
    variables = {}
    for line in text.splitlines():
        path, colon, row = line.partition(":")
        fields = [field.strip() for field in row.split("|")]
        if not colon or len(fields) < 7:
            continue
        name, section = fields[0], fields[6]
        if section.startswith(WRITABLE) and not section.startswith(RELOCATED):
            # The compiler numbers the static ones of functions.
            stem, dot, number = name.rpartition(".")
            name = stem if dot and number.isdigit() else name
            variables.setdefault(path, []).append(name)
    return variables


def check_variables(variables, table):
    """Writable data of source files {path: [variable]} are in the table, and it has no others."""
    for path in sorted(variables):
        for name in variables[path]:
            if name not in table.get(path, {}):
                yield (
                    f"{path}: {name} lives as long as the process: move it to what it is of, "
                    "or make it const"
                )
    for path, names in table.items():
        for name in names:
            if name not in variables.get(path, []):
                yield f"{path} has no {name}: shorten the table"


def main(root, build):
    sources = check_calls.find_objects(root, build)
    text = check_calls.run_nm(build, sources.values(), "-f", "sysv")
    variables = read_variables(text)
    by_source = {source: variables.get(path, []) for source, path in sources.items()}
    findings = list(check_variables(by_source, PROCESS_STATE))
    return lint.tell(findings, len(sources), "objects")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
