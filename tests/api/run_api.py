#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs without MPI on the BCS API: all calls and the examples, started by mpirun, by
bcsrun and alone, on one node and several, with both ways of copying; and what must go
wrong does so with one clear line and leaves nothing behind. Numbers of ranks, nodes and ways
of copying meet in pairs, or, with --all, in all combinations.
"""

import argparse
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system"))
import job  # noqa: E402
import library_suite  # noqa: E402
import modes  # noqa: E402

RANKS = (1, 2, 5)
MANY_RANKS = (1, 2, 4, 5)
# Waits in a receive that never comes, so that it can be killed there.
ENDLESS = "1000000000"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bcsrun", required=True)
    parser.add_argument("--calls", required=True, help="the test program of all calls")
    parser.add_argument("--ring", required=True)
    parser.add_argument("--heat", required=True)
    parser.add_argument("--farm", required=True)
    parser.add_argument("--cxx", help="the test program in C++, if there is one")
    parser.add_argument("--lone-pmix", required=True, help="see lone_pmix.c")
    library_suite.add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="all combinations, no others")
    return parser.parse_args()


class Suite(library_suite.LibrarySuite):
    """The cases; each method is a group of them."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.arguments = arguments

    def programs(self, n_ranks):
        """Program, what it prints, and in how many lines."""
        return (
            (self.arguments.calls, rf"^rank \d+ of {n_ranks}: \d+ checks, 0 wrong$",
             n_ranks),
            (self.arguments.ring, rf"^ring of {n_ranks}: ", 1),
            (self.arguments.heat, r"^plate of .*, as computed by one process$", 1),
        )

    def runs_of(self, program):
        """Numbers of ranks and modes: of an example, which uses few calls, each mode once."""
        cases = {(n_ranks, *modes.values_of(mode)): (n_ranks, mode)
                 for n_ranks in (MANY_RANKS if self.arguments.all else RANKS) for mode in job.MODES}
        if self.arguments.all:
            return cases.values()
        if program.startswith("example_"):
            return zip(itertools.cycle(reversed(RANKS)), job.MODES)
        return [cases[case] for case in modes.cover(cases, program)]

    def check_modes(self):
        for i, path in enumerate(self.programs(1)):
            program = pathlib.Path(path[0]).name
            for n_ranks, mode in self.runs_of(program):
                _, wanted, n_lines = self.programs(n_ranks)[i]
                command = self.mpirun(n_ranks, path[0])
                self.succeed(f"{program} {mode} on {n_ranks} ranks", command, wanted,
                             n_lines, job.MODES[mode])

    def check_others(self):
        """Programs that use few calls, each alone and in one other mode."""
        programs = [(self.arguments.farm, "^farm of {}: 1000 pieces, ", False)]
        if self.arguments.cxx:
            wanted = r"^C\+\+ rank \d+ of {}: 0 wrong$"
            programs.append((self.arguments.cxx, wanted, True))
        for program, wanted, is_line_a_rank in programs:
            name = pathlib.Path(program).name
            self.succeed(f"{name} alone", [program], wanted.format(1), 1)
            self.succeed(f"{name} on 5 ranks, nodes of 2", self.mpirun(5, program),
                         wanted.format(5), 5 if is_line_a_rank else 1,
                         {"BCS_NODE_RANKS": "2"})

    def check_starts(self):
        for program, wanted, _ in self.programs(1):
            self.succeed(f"{program} alone", [program], wanted, 1)
        for program, wanted, n_lines in self.programs(3):
            command = [self.arguments.bcsrun, "-n", "3", program]
            self.succeed(f"{program} under bcsrun", command, wanted, n_lines)
        first, wanted, _ = self.programs(3)[0]
        command = self.mpirun(1, first) + [":"] + self.mpirun(2, first)[1:]
        self.succeed("two programs in one job", command, wanted, 3)

    def check_settings(self):
        for command in ([self.arguments.ring], self.mpirun(2, self.arguments.ring)):
            how = "alone" if len(command) == 1 else "under mpirun"
            self.fail(f"unknown variable {how}", command, r"BCS_NO_SUCH",
                      {"BCS_NO_SUCH": "1"})
            self.fail(f"bad value {how}", command, r"BCS_COPY.*pooled",
                      {"BCS_COPY": "fast"})
        for setting in ("BCS_DESCRIPTORS=100", "BCS_LIMITS=ring=2,link=2"):
            command = self.mpirun(1, self.arguments.ring) + [":"]
            command += self.mpirun(2, "env", setting, self.arguments.ring)[1:]
            self.fail(f"{setting} in rank 1 alone", command,
                      r"bcs\[rank \d+\]: rank 1 has other settings than rank 0: ")

    def check_launcher(self):
        ring = self.arguments.ring
        self.fail("a launcher that is gone", [ring], r"bcs_init: PMIx_Init: ",
                  {"PMIX_NAMESPACE": "none", "PMIX_RANK": "0"})
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libpmix.so.2").write_bytes(b"")
            path = f"LD_LIBRARY_PATH={folder}"
            self.fail("a broken libpmix", self.mpirun(2, "env", path, ring),
                      r"bcs.*PMIx library cannot be loaded: .*libpmix\.so\.2")
            self.succeed("a broken libpmix, alone", ["env", path, ring], "^ring of 1", 1)

    def check_machines(self):
        """Two host names stand for two machines."""
        other = ["unshare", "--uts", "sh", "-c", 'hostname other && exec "$0"']
        if subprocess.run([*other, "true"], capture_output=True, check=False).returncode:
            print("no namespaces of host names here: two machines are not tested")
            return
        ring = self.arguments.ring
        command = self.mpirun(1, ring) + [":"] + self.mpirun(1, *other, ring)[1:]
        self.succeed("two machines", command, "^ring of 2", 1)

    def check_death(self):
        self.die(3, self.arguments.ring, ENDLESS)

    def check_death_at_the_start(self):
        """When another has died during bcs_init, the launcher ends this one: if it ended
        by itself, mpirun could take it for the first that did.
        """
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.abspath(self.arguments.lone_pmix),
                       f"{folder}/libpmix.so.2")
            self.die_at_the_start(folder)

    def die_at_the_start(self, folder):
        """The same with the PMIx library in this folder."""
        settings = {"PMIX_NAMESPACE": "test", "LD_LIBRARY_PATH": folder}
        environment = job.clean_environment(settings)
        started = job.Job([self.arguments.ring], environment)
        try:
            while started.process.poll() is None and not (
                    "fence" in started.output_so_far()
                    and job.is_asleep(started.process.pid)):
                time.sleep(0.01)
            started.process.terminate()
            result = started.finish(60)
        finally:
            started.close()
        problems = []
        if result.status != -signal.SIGTERM or "fence" not in result.stdout:
            problems = [f"{result.status}: {result.stdout!r} {result.stderr!r}"]
        self.report.case("death at the start", problems)

    def check_early_end(self):
        """A rank that ends without bcs_finalize ends the job."""
        heat = self.arguments.heat
        self.fail("a wrong argument", self.mpirun(3, heat, "4"), r"^usage: heat ")


def main():
    suite = Suite(parse_arguments())
    if not suite.arguments.all:
        suite.check_starts()
        suite.check_others()
        suite.check_settings()
        suite.check_launcher()
        suite.check_machines()
        suite.check_death()
        suite.check_death_at_the_start()
        suite.check_early_end()
    suite.check_modes()
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
