#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What bcsrun promises: the same as mpirun with LD_PRELOAD, --native, --versus, exit
status, more ranks than cores, programs in scripts, arguments, nothing left behind.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import job
import promptness

# After that many seconds bcsrun, which has been told to end, kills mpirun (bcsrun.1).
GRACE_SECONDS = 5
SANITIZED = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int n_words, char **words)
{
    int rank, sum;
    char *block = malloc(8);
    MPI_Init(&n_words, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    block[n_words == 1 ? 7 : 8] = 1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d\\n", sum);
    }
    free(block);
    MPI_Finalize();
    return 0;
}
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--shim", required=True, help="path of libbcs_mpi.so")
    parser.add_argument("--greet", required=True, help="the program greet")
    parser.add_argument("--block", required=True, help="the program block")
    return parser.parse_args()


def greeting(n_ranks, arguments, preload):
    """What greet prints."""
    lines = [f"ranks {n_ranks} sum {n_ranks * (n_ranks - 1) // 2}"]
    lines += [f"argument {argument}" for argument in arguments]
    return "\n".join(lines + [f"preload {preload}", ""])


class Ending:
    """A blocked job, and how it is made to end."""

    def __init__(self, name, number, status, is_stopped=False, is_repeated=False,
                 is_doubled=False):
        self.name = name
        self.number = number  # of the signal to bcsrun; None: SIGKILL to its keeper
        self.status = status
        self.is_stopped = is_stopped
        self.is_repeated = is_repeated
        self.is_doubled = is_doubled  # SIGTERM comes right behind: both are one
        self.job = None
        self.sent = None
        self.seconds = None  # until nothing of the job was left

    def start(self, command):
        self.job = job.Job(command, job.mpirun_environment())

    def send(self):
        """Once all ranks are there."""
        self.job.find_rank(0), self.job.find_rank(1)
        keeper = children(self.job.process.pid)[0]
        if self.is_stopped:
            os.kill(children(keeper)[0], signal.SIGSTOP)
        self.sent = time.monotonic()
        if self.number is None:
            os.kill(keeper, signal.SIGKILL)
        else:
            self.job.process.send_signal(self.number)
            if self.is_doubled:
                self.job.process.send_signal(signal.SIGTERM)

    def has_ended(self):
        """Whether nothing is left of the job. A signal that is to be repeated is sent again."""
        if self.seconds is None:
            if self.job.process.poll() is None:
                if self.is_repeated:
                    self.job.process.send_signal(self.number)
            elif not self.job.processes():
                self.seconds = time.monotonic() - self.sent
        return self.seconds is not None

    def promised(self):
        """A signal that comes again ends the grace that mpirun has."""
        grace = 0 if self.is_repeated else GRACE_SECONDS
        return grace + promptness.DEATH_SECONDS

    def problems(self, prompt, start_seconds, measure_start):
        if self.seconds is None:
            return [f"hung, with the processes {self.job.processes()}"]
        result = self.job.finish(0)
        found = [] if result.status == self.status else [f"status {result.status}"]
        found += [f"left {left}" for left in self.job.leftovers()]
        if self.is_doubled and "is killed" in result.stderr:
            found.append(f"mpirun had no time to end the job: {result.stderr!r}")
        return found + prompt.problems(self.seconds, self.promised(), start_seconds,
                                       measure_start)

    def close(self):
        if self.job is not None:
            self.job.close()


def wait_for_blocked(running):
    """Wait until both ranks of a blocked job, which may be a native one, have printed their
    process ids.
    """
    if not running.await_that(
            lambda: len(re.findall(r"^rank \d pid ", running.output_so_far(), re.M)) == 2,
            promptness.HANG_SECONDS):
        raise RuntimeError(f"no two ranks: {running.errors_so_far()[:200]!r}")


def children(pid):
    """Process ids of the children of a process with one thread."""
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text(encoding="ascii").split()]


class Suite:
    """The cases; each method that starts with case_ is one or more of them."""

    def __init__(self, arguments, folder):
        self.bcsrun = arguments.bcsrun
        self.greet = arguments.greet
        self.block = arguments.block
        self.shim = os.path.realpath(arguments.shim)
        self.folder = pathlib.Path(folder)
        self.report = job.Report()

    def must_print(self, name, command, stdout, status=0, extra=None):
        """The command must end with this status and print this, and leave nothing."""
        running = job.Job(command, job.mpirun_environment(extra))
        try:
            result = running.finish(90)
            problems = []
            if result.status != status:
                problems.append(f"status {result.status}: {result.stderr[:300]!r}")
            if stdout is not None and result.stdout != stdout:
                problems.append(f"printed {result.stdout!r} instead of {stdout!r}")
            if result.status is not None:
                problems += [f"left {left}" for left in running.leftovers()]
        finally:
            running.close()
        self.report.case(name, problems, job.shell_line(command, extra))
        return result

    def case_same_as_mpirun(self):
        for n_ranks in (1, 2, 5):
            words = ["-n", str(n_ranks), self.greet, "a b", "-x", "*"]
            expected = greeting(n_ranks, words[3:], self.shim)
            self.must_print(f"bcsrun, {n_ranks}", [self.bcsrun, *words], expected)
            preload = {"LD_PRELOAD": self.shim}
            self.must_print(
                f"mpirun, {n_ranks}", ["mpirun", *words], expected, 0, preload
            )

    def case_native(self):
        run = [self.bcsrun, "--native", "-n", "3", self.greet]
        self.must_print("--native", run, greeting(3, [], "none"))
        self.must_print(
            "-np", [self.bcsrun, "-np", "3", self.greet], greeting(3, [], self.shim)
        )

    def case_many_ranks(self):
        run = [self.bcsrun, "-n", "12", self.greet]
        self.must_print("12 ranks", run, greeting(12, [], self.shim))

    def case_yields(self):
        """mpirun believes that there is a core for each rank; natively ranks keep it."""
        many = 2 * (os.cpu_count() or 1)
        for n_ranks, native, carried in ((1, "no", "no"), (many, "no", "yes")):
            run = ["mpirun", "--host", f"localhost:{n_ranks}", "--bind-to", "none", "-n",
                   str(n_ranks), self.greet, "yields"]
            for yields, preload in ((native, "none"), (carried, self.shim)):
                expected = greeting(n_ranks, ["yields"], preload) + f"yields {yields}\n"
                extra = {"LD_PRELOAD": preload} if preload != "none" else {}
                self.must_print(f"yields, {n_ranks}", run, expected, 0, extra)

    def case_exit_status(self):
        for status in (1, 3, 77):
            words = ["-n", "2", self.greet, "exit", str(status)]
            self.must_print(f"status {status}", [self.bcsrun, *words], None, status)
            native = [self.bcsrun, "--native", *words]
            self.must_print(f"native status {status}", native, None, status)

    def case_mpirun_options(self):
        run = [self.bcsrun, "-n", "2", "--tag-output", "-x", "TEXT=word", self.greet]
        result = self.must_print("mpirun's options pass", run, None)
        is_tagged = "[1,0]<stdout>:ranks 2" in result.stdout
        self.report.case("output is tagged", [] if is_tagged else [result.stdout])

    def case_script(self):
        script = self.folder / "script.sh"
        script.write_text(f'#!/bin/sh\nexec "{self.greet}" "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        run = [self.bcsrun, "-n", "2", str(script), "x y"]
        self.must_print("a script", run, greeting(2, ["x y"], self.shim))

    def case_program_from_the_path(self):
        extra = {"PATH": f"{os.path.dirname(self.greet)}:{os.environ['PATH']}"}
        run = [self.bcsrun, "-n", "2", os.path.basename(self.greet)]
        self.must_print("found in PATH", run, greeting(2, [], self.shim), 0, extra)

    def case_program_from_folders(self):
        """A folder in PATH has a folder of that name; an empty one is the current one."""
        greet, name = os.path.abspath(self.greet), os.path.basename(self.greet)
        (self.folder / "first" / name).mkdir(parents=True)
        bcsrun = os.path.abspath(self.bcsrun)
        beside = ["env", "-C", os.path.dirname(greet), bcsrun, "-n", "2"]
        expected = greeting(2, [], self.shim)
        path = f"{self.folder}/first:{os.path.dirname(greet)}:{os.environ['PATH']}"
        self.must_print("a folder of that name", [bcsrun, "-n", "2", name], expected, 0,
                        {"PATH": path})
        self.must_print("an empty folder in PATH", [*beside, name], expected, 0,
                        {"PATH": f":{os.environ['PATH']}"})
        run = [bcsrun, "-n", "2", "-wdir", os.path.dirname(greet), f"./{name}"]
        self.must_print("beside the folder of the ranks", run, expected)

    def case_mpirun_of_another_library(self):
        """The administrator has chosen that of MPICH: Open MPI's is beside it."""
        folder = self.folder / "chosen"
        folder.mkdir()
        (folder / "mpirun.mpich").write_text("#!/bin/sh\nexit 9\n", encoding="ascii")
        (folder / "mpirun.mpich").chmod(0o755)
        (folder / "mpirun").symlink_to("mpirun.mpich")
        (folder / "mpirun.openmpi").symlink_to(shutil.which("mpirun"))
        extra = {"PATH": f"{folder}:{os.environ['PATH']}"}
        run = [self.bcsrun, "-n", "2", self.greet]
        self.must_print("mpirun is MPICH's", run, greeting(2, [], self.shim), 0, extra)

    def case_networks(self):
        """Open MPI looks for no networks on one machine, unless somebody has chosen them."""
        tell = ["-n", "1", "sh", "-c", 'echo "${OMPI_MCA_pml-open}"']
        here = ["env", "-u", "OMPI_MCA_pml", f"HOME={self.folder}", self.bcsrun]
        (self.folder / "user" / ".openmpi").mkdir(parents=True)
        parameters = self.folder / "user" / ".openmpi" / "mca-params.conf"
        parameters.write_text("pml = ob1,cm\n", encoding="ascii")
        for name, command, expected in (
            ("nobody has chosen", [*here, *tell], "ob1"),
            ("native", [*here, "--native", *tell], "open"),
            ("a host is named", [*here, "--host", "localhost", *tell], "open"),
            ("btl is chosen", [*here, "--mca", "btl", "self,vader,tcp", *tell], "open"),
            ("mtl is chosen", [*here[:-1], "OMPI_MCA_mtl=^ofi", self.bcsrun, *tell], "open"),
            ("the user's file", [*here[:-2], f"HOME={self.folder}/user", self.bcsrun, *tell],
             "open"),
        ):
            self.must_print(f"networks, {name}", command, f"{expected}\n")

    def case_another_preload_stays(self):
        library = self.folder / "libother.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library],
            input=b"int other_preload;\n",
            check=True,
        )
        extra = {"LD_PRELOAD": str(library)}
        run = [self.bcsrun, "-n", "2", self.greet]
        self.must_print("a preload before", run, greeting(2, [], self.shim), 0, extra)

    def case_modes(self):
        for name, extra in job.MODES.items():
            run = [self.bcsrun, "-n", "4", self.greet]
            self.must_print(f"mode {name}", run, greeting(4, [], self.shim), 0, extra)

    def case_versus(self):
        run = [self.bcsrun, "--versus", "2", "-n", "2", self.greet]
        result = self.must_print("--versus", run, None)
        problems = []
        rows = [line.split()[0] for line in result.stdout.splitlines()]
        if rows != ["pair", "1", "2", "median", "launcher", "program"]:
            problems.append(f"printed {result.stdout!r}")
        if "preload" in result.stdout:
            problems.append("the program's output is shown")
        self.report.case("--versus prints a table", problems)
        script = self.folder / "complains.sh"
        script.write_text(f'#!/bin/sh\necho complaint >&2\nexec "{self.greet}"\n', encoding="utf-8")
        script.chmod(0o755)
        run = [self.bcsrun, "--versus", "1", "-n", "1", str(script)]
        errors = self.must_print("--versus of a script", run, None).stderr
        self.report.case("its errors are not shown", [errors] if "complaint" in errors else [])
        run = [self.bcsrun, "--versus", "1", "-n", "2", self.greet, "exit", "9"]
        self.must_print("--versus of a failing program", run, None, 9)

    def case_end_from_outside(self):
        """However bcsrun is told to end, the whole job ends and leaves nothing, also if
        mpirun is stopped. All of these run side by side, since some take their time."""
        ends = [Ending(*words) for words in (
            ("SIGINT", signal.SIGINT, 130),
            ("SIGTERM", signal.SIGTERM, 143),
            ("SIGINT and SIGTERM", signal.SIGINT, 130, False, False, True),
            ("SIGHUP", signal.SIGHUP, 129),
            ("SIGKILL", signal.SIGKILL, -9),
            ("SIGTERM, mpirun is stopped", signal.SIGTERM, 143, True),
            ("SIGTERM again and again, mpirun is stopped", signal.SIGTERM, 143, True, True),
            ("SIGKILL, mpirun is stopped", signal.SIGKILL, -9, True),
            ("SIGKILL of the keeper", None, 137),
        )]
        # A bcsrun that is started by nohup does not hear of SIGHUP: the tests may be.
        words = ["-n", "2", self.block, "recv", "1"]
        command = ["env", "--default-signal=HUP", self.bcsrun, *words]

        def measure_start():
            return promptness.measure_start(command, wait_for_blocked)

        prompt = promptness.Promptness(lambda: promptness.measure_start(
            [self.bcsrun, "--native", *words], wait_for_blocked))
        start_seconds = measure_start()[0]  # alone
        try:
            for end in ends:
                end.start(command)
            for end in ends:
                end.send()
            guard = job.Guard(promptness.HANG_SECONDS)
            while (not all([end.has_ended() for end in ends])
                   and not guard.is_over()):
                time.sleep(0.1)
            for end in ends:
                problems = end.problems(prompt, start_seconds, measure_start)
                self.report.case(end.name, problems, job.shell_line(command))
        finally:
            for end in ends:
                end.close()

    def case_sanitizer(self):
        """A program with AddressSanitizer wants its runtime before all other libraries."""
        program = self.folder / "sanitized"
        done = subprocess.run(
            ["mpicc", "-fsanitize=address", "-x", "c", "-", "-o", program],
            input=SANITIZED.encode(), capture_output=True, check=False,
        )
        if done.returncode:
            print("skipped: a program with AddressSanitizer (cannot be built)")
            return
        # What the MPI library does not free is not what this is about.
        extra = {"ASAN_OPTIONS": "detect_leaks=0"}
        run = [self.bcsrun, "-n", "2", str(program)]
        self.must_print("AddressSanitizer", run, "sum 1\n", 0, extra)
        result = self.must_print("it finds an error", [*run, "overrun"], None, 1, extra)
        found = "heap-buffer-overflow" in result.stderr
        self.report.case("the error is named", [] if found else [result.stderr[:300]])

    def case_little_room(self):
        """Open MPI hangs if its files find no room: bcsrun looks before."""
        mount = 'mount -t tmpfs -o "size=$1" none /dev/shm && shift && exec "$@"'
        inside = ["unshare", "--mount", "sh", "-c", mount, "sh"]
        if job.run([*inside, "1m", "true"]).status != 0:
            print("skipped: little room in /dev/shm (unshare and mount are refused)")
            return
        # The folder of each job, its TMPDIR, has room.
        run = [self.bcsrun, "-n", "2", self.greet]
        expected = greeting(2, [], self.shim)
        self.must_print("2 MB in /dev/shm", [*inside, "2m", *run], expected)
        if pathlib.Path(self.shim).resolve().is_relative_to("/tmp"):
            print("skipped: little room in /tmp, too (the build is there)")
            return
        both = [*inside, "2m", "sh", "-c",
                'mount -t tmpfs -o size=1m none /tmp && exec "$@"', "sh"]
        extra = {"PATH": os.environ["PATH"]}
        command = [*both, "env", "TMPDIR=/tmp", *run]
        result = self.must_print("2 MB and 1 MB", command, "", 1, extra)
        text = "/dev/shm has 2 MB free and /tmp 1 MB"
        problems = [] if text in result.stderr else [result.stderr[:300]]
        self.report.case("it says how much is free", problems)

    def case_help(self):
        for option in ("--help", "--version"):
            result = job.run([self.bcsrun, option])
            is_right = result.status == 0 and result.stdout and not result.stderr
            self.report.case(option, [] if is_right else [result.stderr])

    def run(self):
        for name in dir(self):
            if name.startswith("case_"):
                getattr(self, name)()
        return self.report.end()


def main():
    job.SharedMemory.separate()
    with tempfile.TemporaryDirectory(prefix="bcs-launcher-") as folder:
        return Suite(parse_arguments(), folder).run()


if __name__ == "__main__":
    sys.exit(main())
