# SPDX-License-Identifier: BSD-3-Clause
"""Runs one job of a test, ends it for certain, and finds what it has left behind.

Used by the runners of the conformance and system tests. Every job carries a mark in its
environment, so that its processes are found wherever the launcher has put them.
"""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import modes
import stacks

MARK = "TEST_JOB_MARK"
FILLED_BY = "MALLOC_PERTURB_"
SHARED = "/dev/shm"

# A third of the time that a launch takes goes into what no test needs. An empty value of the caller's
# leaves the choice to the library.
QUICK_LAUNCH = {
    # What Open MPI 4.1 of Debian ends up with after 200 ms of looking for networks.
    "OMPI_MCA_pml": "ob1",
    # Without the PCI devices, which every rank would read from the hypervisor, and the screens.
    "HWLOC_COMPONENTS": "-linux:pci",
    "HWLOC_PLUGINS_BLACKLIST": "hwloc_gl.so:hwloc_opencl.so:hwloc_pci.so",
}
# Open MPI 4.1 loses a race with its own launcher now and then, natively as well.
BROKEN_PIPE = "exited on signal 13 (Broken pipe)"
SIGNALLED = "*** Process received signal ***"  # what it prints of a crash

# Of <sched.h> and <sys/mount.h>.
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_PRIVATE_REC = (1 << 18) | 0x4000

# What runners go through that do not choose: the usual values but for nodes and copies.
MODES = {name: modes.ALL[name] for name in modes.select("demand-inline-*-eager")}

# Jobs that run() waits for, in any thread.
running = set()
is_stopped = threading.Event()


# A runner that is told to end still ends its job and removes its folder on the way out.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def clean_environment(extra=None):
    """The caller's environment without BCS_* and LD_PRELOAD, with extra added."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BCS_") and name != "LD_PRELOAD"
    }
    return {**QUICK_LAUNCH, **environment, **(extra or {})}


def mpirun_environment(extra=None):
    """clean_environment in which mpirun itself runs for root, too."""
    return clean_environment(
        {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            **(extra or {}),
        }
    )


def tasks_a_core():
    """How many tasks share a core of this machine, at least one."""
    return max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


class Guard:
    """Against a hang: over after so many seconds, and as many times later as tasks share a core."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.start = time.monotonic()

    def is_over(self):
        return time.monotonic() - self.start >= self.seconds * tasks_a_core()


def await_that(is_so, timeout, may_go_on=lambda: True):
    """Wait until is_so() is true, may_go_on() is not, or a Guard of timeout seconds is over. Returns
    whether it is true."""
    guard = Guard(timeout)
    pause = 0.005
    while not is_so():
        if guard.is_over() or not may_go_on():
            return is_so()
        time.sleep(pause)
        pause = min(0.1, 1.5 * pause)
    return True


class SharedMemory:
    """/dev/shm as jobs of this process see it."""

    is_own = False

    @classmethod
    def separate(cls):
        """Give this process, and what it starts, a /dev/shm that nobody else has, where the machine
        allows that. To be called before there are threads."""
        libc = ctypes.CDLL(None)
        if libc.unshare(CLONE_NEWNS) == 0 or cls.become_owner(libc):
            cls.is_own = (
                libc.mount(None, b"/", None, ctypes.c_ulong(MS_PRIVATE_REC), None) == 0
                and libc.mount(b"none", SHARED.encode(), b"tmpfs", ctypes.c_ulong(0), None) == 0)
        if not cls.is_own:
            print(f"skipped: what jobs leave in {SHARED}, as nothing can be mounted")

    @staticmethod
    def become_owner(libc):
        """Let this process, which is not root's, mount what it alone sees. Returns whether it may."""
        uid, gid = os.getuid(), os.getgid()
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
            return False
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                           ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        return True

    @classmethod
    def entries(cls):
        """What jobs have there. Nothing, if it is not theirs alone."""
        return os.listdir(SHARED) if cls.is_own else []


class Result:
    """What has come of a job: status (None: hung and was killed), output, seconds."""

    def __init__(self, status, stdout, stderr, seconds):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds

    def ending(self):
        """How a job has ended, for a report of a failure: the status, and standard error
        from both ends. What a library says comes first; what mpirun says of a rank that
        has ended badly comes last, behind any table of what the ranks did."""
        said = self.stderr
        if len(said) > 1000:
            said = f"{said[:300]} ... {said[-700:]}"
        return f"status {self.status}, {said!r}"

    def part(self, status, stdout):
        """What has come of one of several programs that ran in this job."""
        return Result(status, stdout, self.stderr, self.seconds)


class Job:
    """A started job; its temporary folder is its own and is watched for leftovers."""

    def __init__(self, command, environment):
        self.mark = uuid.uuid4().hex
        self.folder = tempfile.mkdtemp(prefix="bcs-test-")
        self.start = time.monotonic()
        # The output goes to files: a process that is left over would hold a pipe open.
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(
            command,
            env={**environment, MARK: self.mark, "TMPDIR": self.folder},
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.errors,
            start_new_session=True,
        )
        self.ended = os.pidfd_open(self.process.pid)  # can be read then

    def output_so_far(self):
        """Everything on standard output until now."""
        return written_to(self.output)

    def errors_so_far(self):
        """Everything on standard error until now."""
        return written_to(self.errors)

    def await_that(self, is_so, timeout):
        """await_that, while the launcher runs."""
        return await_that(is_so, timeout, lambda: self.process.poll() is None)

    def has_ended(self, seconds):
        """Whether the launcher has ended, or does so within some seconds."""
        return bool(select.select([self.ended], [], [], seconds)[0])

    def finish(self, timeout):
        """Wait for the launcher, or kill everything when a Guard of timeout seconds is over (a
        hang), and print where its ranks were."""
        guard = Guard(timeout)
        while not self.has_ended(min(timeout, 1)) and not guard.is_over():
            pass
        status = self.process.wait() if self.has_ended(0) else None
        if status is None:
            print(stacks.describe(self.processes()), flush=True)
            self.kill()
        seconds = time.monotonic() - self.start
        stdout = self.output_so_far()
        return Result(status, stdout, self.errors_so_far(), seconds)

    def kill(self):
        """Ask the launcher's group to end, then kill whatever carries the mark."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def processes(self):
        """Living processes of this job."""
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and is_alive(name):
                try:
                    with open(f"/proc/{name}/environ", "rb") as file:
                        if wanted in file.read().split(b"\0"):
                            found.append(int(name))
                except OSError:
                    pass
        return found

    def find_rank(self, rank):
        """The process of a rank that has attached; its memory tells."""
        guard = Guard(120)
        while not guard.is_over():
            for pid in self.processes():
                try:
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        environ = file.read()
                    with open(f"/proc/{pid}/maps", encoding="ascii",
                              errors="replace") as file:
                        maps = file.read()
                except OSError:
                    continue
                if f"\0PMIX_RANK={rank}\0".encode() in environ and "memfd:bcs " in maps:
                    return pid
            time.sleep(0.01)
        raise RuntimeError(f"rank {rank} has not started")

    def leftovers(self, patience=60.0, with_folder=True):
        """Texts that name every process and file which the job has left, if any: also in its folder,
        if wanted. What is in /dev/shm is the job's if SharedMemory is separate, and not looked at
        otherwise."""
        left = []

        def is_gone():
            left[:] = [f"process {pid}" for pid in self.processes()]
            if with_folder:
                left.extend(f"file {name}" for name in os.listdir(self.folder))
            left.extend(f"{SHARED}/{name}" for name in SharedMemory.entries())
            return not left

        await_that(is_gone, patience)
        return left

    def close(self):
        """Kill what is left of the job and remove its folder."""
        if self.processes() or self.process.poll() is None:
            self.kill()
        os.close(self.ended)
        self.output.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def written_to(file):
    """What a file has now, wherever its place for reading is. No more room is taken than that, as Meson
    may have malloc fill it."""
    n_bytes = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), n_bytes, 0).decode(errors="replace")


def is_alive(pid):
    """Whether a process exists and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def is_asleep(pid):
    """Whether no thread of a process runs or could run."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii",
                      errors="replace") as file:
                if file.read().rsplit(")", 1)[1].split()[0] != "S":
                    return False
    except OSError:
        return False
    return True


def run(command, environment=None, timeout=120):
    """Run a job to its end; nothing of it is left afterwards. Where Open MPI has lost its race with
    its own launcher, run it once more, and say so."""
    environment = clean_environment() if environment is None else environment
    result = run_once(command, environment, timeout)
    if BROKEN_PIPE in result.stderr:
        print(f"run once more: {result.ending()}")
        result = run_once(command, environment, timeout)
    return result


def run_plain(command, timeout=120):
    """run() of a program without BCS. Open MPI ends such a one by a crash behind its results now and
    then, without mpirun or under load: then it runs once more, and that is said."""
    result = run(command, mpirun_environment(), timeout)
    if SIGNALLED in result.stderr or result.status == -signal.SIGSEGV:
        print(f"once more, as it has crashed: {shell_line(command)}\n{result.stderr}")
        result = run(command, mpirun_environment(), timeout)
    return result


def run_once(command, environment, timeout):
    """Run a job to its end; nothing of it is left afterwards."""
    job = Job(command, environment)
    running.add(job)
    try:
        if is_stopped.is_set():
            raise RuntimeError("no more jobs are to run")
        return job.finish(timeout)
    finally:
        running.discard(job)
        job.close()


def stop_running():
    """Kill what run() has started in other threads; they start nothing more."""
    is_stopped.set()
    for job in list(running):
        job.kill()


def shell_line(command, environment=None):
    """The command as a line for a shell, to repeat a failing run.

    What Meson has malloc fill its memory with may be what a failure takes.
    """
    variables = {
        **{name: os.environ[name] for name in [FILLED_BY] if name in os.environ},
        **(environment or {}),
    }
    words = [f"{name}={value}" for name, value in variables.items()]
    return " ".join(words + [str(word) for word in command])


class Report:
    """Counts cases and prints a line for each failure, then the closing line."""

    def __init__(self):
        self.n_passed = 0
        self.n_failed = 0

    def case(self, name, problems, repeat=""):
        """One case: problems is a list of texts, empty when it has passed."""
        if not problems:
            self.n_passed += 1
            return
        self.n_failed += 1
        print(f"FAILED {name}: {'; '.join(problems)}", flush=True)
        if repeat:
            print(f"    repeat: {repeat}", flush=True)

    def end(self):
        """Print the closing line. Returns the exit status: 1 also when nothing ran."""
        print(f"{self.n_passed} passed, {self.n_failed} failed")
        return 0 if self.n_passed and not self.n_failed else 1
