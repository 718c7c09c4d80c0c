# SPDX-License-Identifier: BSD-3-Clause
"""The machine that bcs-overhead measures on: how it is built, and what else runs on it.

Read from the kernel's files, so that it needs nothing; what lstopo of hwloc prints is kept
beside it where that is installed.
"""

import collections
import os
import platform
import re
import resource
import shutil
import subprocess
from pathlib import Path

from bcs_cores import CPUS, core_of, cpus_parse, last_cache_of, sharing_read

PROCESSES_SHOWN = 5
TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
PRELOAD = "libbcs_mpi.so"


# --- how it is built ------------------------------------------------------------------


def text_read(path, otherwise=""):
    """What a file of the kernel says, or something else if it is not there."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return otherwise


def groups_of(cpus, group_of):
    """The distinct groups of these CPUs, each in order, as lists."""
    return sorted({tuple(sorted(group_of(cpu) & set(cpus) or {cpu})) for cpu in cpus})


def caches_of(cpus, root=CPUS):
    """The caches of these CPUs, each once."""
    found = {}
    for cpu in cpus:
        for index in sorted((root / f"cpu{cpu}/cache").glob("index*")):
            size = re.fullmatch(r"(\d+)([KMG]?)", text_read(index / "size"))
            level = text_read(index / "level")
            if not size or not level.isdigit():
                continue
            n_bytes = int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2]]
            shared = sorted(cpus_parse(text_read(index / "shared_cpu_list", str(cpu))))
            key = (int(level), text_read(index / "type", "Unified"), tuple(shared))
            found[key] = n_bytes
    return [{"level": level, "kind": kind, "bytes": n_bytes, "cpus": list(shared)}
            for (level, kind, shared), n_bytes in sorted(found.items())]


def package_of(cpu, root=CPUS):
    """The CPUs of the socket that this one is of."""
    return sharing_read(root / f"cpu{cpu}/topology/package_cpus_list", cpu)


def numa_nodes(root=CPUS):
    """The CPUs of each NUMA node."""
    lists = sorted((root.parent / "node").glob("node[0-9]*/cpulist"))
    return [sorted(cpus_parse(text_read(path))) for path in lists]


def hwloc_text():
    """What lstopo says of the machine, or None without it."""
    for name in ("lstopo-no-graphics", "lstopo"):
        program = shutil.which(name)
        if program:
            done = subprocess.run([program, "--of", "console", "--no-io"], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            return done.stdout or None
    return None


def machine_describe(root=CPUS):
    """The machine, as the result has it."""
    cpus = sorted(os.sched_getaffinity(0))
    info = text_read("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info)
    return {"host": platform.node(), "processor": model[1] if model else platform.machine(),
            "kernel": f"{platform.system()} {platform.release()}",
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "is_virtual": bool(re.search(r"^flags\s*:.*\bhypervisor\b", info, re.M)),
            "cpus": cpus,
            "cores": [list(core) for core in groups_of(cpus, lambda c: core_of(c, root))],
            "packages": [list(group)
                         for group in groups_of(cpus, lambda c: package_of(c, root))],
            "numa_nodes": numa_nodes(root), "caches": caches_of(cpus, root),
            "hwloc": hwloc_text()}


def program_version(command):
    """The first line that a program says of its version."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError:
        return "not found"
    return next(iter((done.stdout or done.stderr).splitlines()), "says nothing")


def placements(cpus=None, root=CPUS):
    """A pair of CPUs for each relation that two of them can have here, by its name."""
    cpus = sorted(os.sched_getaffinity(0)) if cpus is None else sorted(cpus)
    found = {"one-cpu": (cpus[0], cpus[0])}
    for first in cpus[:1] + [core[0] for core in groups_of(cpus, lambda c: core_of(c, root))]:
        for other in cpus:
            if other != first:
                found.setdefault(relation_of(first, other, root), (first, other))
    return found


def relation_of(cpu, other, root=CPUS):
    """What two CPUs have in common."""
    if other in core_of(cpu, root):
        return "one-core"
    if other in last_cache_of(cpu, root):
        return "one-cache"
    return "one-socket" if other in package_of(cpu, root) else "two-sockets"


# --- what else runs on it -------------------------------------------------------------


def stat_numbers():
    """Ticks of all CPUs by kind, interrupts, context switches."""
    text = text_read("/proc/stat")
    ticks = [int(word) for word in text.split()[1:9]]
    return {"busy": sum(ticks[i] for i in (0, 1, 2, 5, 6)), "all": sum(ticks),
            "stolen": ticks[7],
            "interrupts": int(re.search(r"^intr (\d+)", text, re.M)[1]),
            "switches": int(re.search(r"^ctxt (\d+)", text, re.M)[1])}


def process_ticks():
    """{(pid, start): (name, ticks of user and system)} of all processes."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            head, _, tail = text_read(f"/proc/{entry.name}/stat").rpartition(")")
            words = tail.split()
            if len(words) > 19:
                found[entry.name, words[19]] = (head.partition("(")[2],
                                                int(words[11]) + int(words[12]))
    return found


def bcs_ranks():
    """How many processes run under BCS, as far as this user may look."""
    n_found = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/environ", "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            n_found += any(word.startswith(b"LD_PRELOAD=") and PRELOAD.encode() in word
                           for word in words)
    return n_found


def clock_rates():
    """MHz of each CPU at present, as far as they are told."""
    files = sorted(CPUS.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    if files:
        return [int(text_read(path, "0")) / 1000 for path in files]
    return [float(rate) for rate in
            re.findall(r"^cpu MHz\s*: (\S+)", text_read("/proc/cpuinfo"), re.M)]


class LoadWatch:
    """What the machine did since this was made, beside this process and its children."""

    def __init__(self):
        self.load_average = os.getloadavg()[0]
        self.n_bcs_ranks = bcs_ranks()
        self.rates = clock_rates()
        self.processes = process_ticks()
        self.own = self.own_ticks()
        self.stat = stat_numbers()

    @staticmethod
    def own_ticks():
        """Ticks of this process and of the children that have ended."""
        usages = [resource.getrusage(who)
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages) / TICK_SECONDS

    def others(self):
        """CPU seconds of the processes that took most since then, but for this one."""
        taken = collections.Counter()
        for key, (name, ticks) in process_ticks().items():
            before = self.processes.get(key, (name, 0))[1]
            if key[0] != str(os.getpid()) and ticks > before:
                taken[name] += (ticks - before) * TICK_SECONDS
        return [{"name": name, "cpu_seconds": round(seconds, 3)}
                for name, seconds in taken.most_common(PROCESSES_SHOWN)]

    def end(self):
        """The load as the result has it."""
        own = self.own_ticks() - self.own
        stat = {key: value - self.stat[key] for key, value in stat_numbers().items()}
        percent = 100 / max(stat["all"], 1)
        return {"load_average": self.load_average,
                "busy_percent": round(percent * stat["busy"], 2),
                "others_percent": round(percent * max(stat["busy"] - own, 0), 2),
                "stolen_percent": round(percent * stat["stolen"], 2),
                "interrupts": stat["interrupts"], "switches": stat["switches"],
                "bcs_ranks_elsewhere": self.n_bcs_ranks,
                "bcs_ranks_elsewhere_after": bcs_ranks(), "processes": self.others(),
                "clock_mhz_before": self.rates, "clock_mhz_after": clock_rates()}
