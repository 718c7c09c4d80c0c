# SPDX-License-Identifier: BSD-3-Clause
"""The cores that this process may use, and which of them share a cache.

Imported by bcs_scaling. What the kernel does not tell is taken as a core, or a cache, of each
CPU's own.
"""

import os
from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
MANY_CPUS = 1023


def cpus_parse(text):
    """The CPUs of a list as the kernel writes it: 0-3,8."""
    cpus = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def sharing_read(path, cpu):
    """The CPUs that share something with this one, by the kernel's file; itself if there is
    none."""
    try:
        return cpus_parse(path.read_text(encoding="ascii"))
    except OSError:
        return frozenset([cpu])


def core_of(cpu, root=CPUS):
    """The CPUs of the core that this one is of."""
    return sharing_read(root / f"cpu{cpu}/topology/thread_siblings_list", cpu)


def last_cache_of(cpu, root=CPUS):
    """The CPUs that share the last cache of this one."""
    folders = (root / f"cpu{cpu}/cache").glob("index*")
    last = max(folders, key=lambda folder: int(folder.name[len("index"):]), default=None)
    return sharing_read(last / "shared_cpu_list", cpu) if last else frozenset([cpu])


def is_narrowed():
    """Whether this process may use fewer CPUs than it could be given, as by taskset: mpirun
    does not heed that when it binds ranks to cores."""
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, range(max(MANY_CPUS, *allowed) + 1))
        return os.sched_getaffinity(0) != allowed
    finally:
        os.sched_setaffinity(0, allowed)


def cores_here(allowed=None, root=CPUS):
    """One CPU of each core that this process may use, or that has an allowed CPU."""
    firsts = {}
    for cpu in sorted(os.sched_getaffinity(0) if allowed is None else allowed):
        firsts.setdefault(core_of(cpu, root), cpu)
    return sorted(firsts.values())


def trips_sort(trips, root=CPUS):
    """The trips, by pair of CPUs, in lists: of all pairs, of those with one last cache, of the
    others. What has no pair is left out."""
    kinds = {"of one last cache": [], "of different caches": [], "all": []}
    for (cpu, other), trip in trips.items():
        is_one = other in last_cache_of(cpu, root)
        kinds["of one last cache" if is_one else "of different caches"].append(trip)
        kinds["all"].append(trip)
    return {title: values for title, values in kinds.items() if values}
