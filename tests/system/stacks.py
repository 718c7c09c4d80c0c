# SPDX-License-Identifier: BSD-3-Clause
"""Where the processes of a job that hangs stand, for whoever reads of its failure.

What rarely happens may not happen again under a debugger, so it is looked at before the job
is killed: by gdb, where it is installed and may attach, else by what the kernel tells.
"""

import re
import shutil
import subprocess

FRAMES = 16  # of each thread
PATIENCE = 60  # seconds for the debugger to attach to one process


def of_kernel(pid):
    """The first thread's state, system call and the place in the kernel where it sleeps."""
    lines = []
    for name in ("stat", "syscall", "wchan"):
        try:
            with open(f"/proc/{pid}/{name}", encoding="ascii", errors="replace") as file:
                text = file.read().strip()
        except OSError as error:
            text = error.strerror
        if name == "stat":
            text = text.rsplit(")", 1)[-1].split()[0]
        lines.append(f"{name} {text}")
    return [", ".join(lines)]


def of_debugger(pid):
    """The stacks of all threads, innermost call first; empty without a debugger."""
    if shutil.which("gdb") is None:
        return []
    words = ["gdb", "-batch", "-nx", "-p", str(pid), "-ex", "set width 0"]
    words += ["-ex", f"thread apply all backtrace {FRAMES}"]
    try:
        told = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return ["the debugger does not attach"]
    return [
        line for line in told.stdout.splitlines() if line.startswith(("#", "Thread "))
    ]


def rank_of(pid):
    """The rank of a process, or the name of its program if it has none."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = re.search(rb"\0PMIX_RANK=(\d+)\0", b"\0" + file.read())
        if found:
            return f"rank {int(found[1])}"
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "gone"


def describe(pids):
    """A text of several lines on the processes that have a rank."""
    ranks = sorted((rank_of(pid), pid) for pid in pids)
    lines = []
    for rank, pid in ranks:
        if rank.startswith("rank "):
            lines.append(f"    {rank}, process {pid}, stands in")
            lines += [f"      {line}" for line in of_debugger(pid) or of_kernel(pid)]
    return "\n".join(lines)
