#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs natively and under BCS and compares exit status and output.

Each program runs natively once for each number of ranks, then under BCS in all modes,
in those that --modes names, or, with --cover, in a few of them. Standard output must be
equal to the letter. With --batch, all programs that are to run in a mode do so in one
job, one after the other, and one that fails there runs once more, alone, under BCS only to
tell what it is. The time limit is only a guard against hangs.
"""

import argparse
import dataclasses
import fnmatch
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import job  # noqa: E402  (found through the line above)
import modes  # noqa: E402
import natives as kept_natives  # noqa: E402

# The status of a program with which a batch has ended as if it were over.
ENDED_EARLY = -1
# What a batch prints when all its programs are over.
END_LINE = "== end\n"


@dataclasses.dataclass
class Case:
    """What has come of one run; mode is None for the native one."""

    program: str
    n_ranks: str
    mode: str
    problems: list
    is_hung: bool
    repeat: str

    def __str__(self):
        return f"{self.program}, {self.n_ranks} ranks, {self.mode or 'native'}"


def parse_arguments(words):
    """The options in words; modes becomes a list of names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun", help="starts a job under BCS")
    parser.add_argument("--native-launcher", default="bcsrun --native")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks, with commas")
    add_mode_arguments(parser)
    parser.add_argument(
        "--cover",
        action="store_true",
        help="only a few runs, such that any two values, or a value and a number of "
        "ranks, that may meet do so in one of them",
    )
    parser.add_argument(
        "--only-ranks", help="of what would run, only that with this number of ranks"
    )
    parser.add_argument(
        "--only-modes",
        default="*",
        help="of what would run, only that in modes that fit this pattern",
    )
    parser.add_argument(
        "--batch",
        help="the executable that runs many programs in one job; it lies beside them, "
        "and programs are named without a folder",
    )
    parser.add_argument(
        "--natives",
        metavar="FOLDER",
        help="keep there what programs print natively, and do not run those that have",
    )
    parser.add_argument(
        "--needs-buffering",
        action="store_true",
        help="the programs rely on buffered standard sends: not in modes with none "
        "or least",
    )
    parser.add_argument(
        "--needs-network", action="store_true", help="skip where there is only the loopback"
    )
    parser.add_argument(
        "--expect-failure",
        action="store_true",
        help="the programs must end with a status other than 0, not with the same one",
    )
    parser.add_argument(
        "--expect-line",
        default="",
        metavar="TEXT",
        help="what a line of standard error must begin with, under BCS",
    )
    parser.add_argument(
        "--native-may-fail",
        action="store_true",
        help="where the MPI library itself fails a program, say so, and expect that the "
        "program ends well under BCS, without comparing its output",
    )
    parser.add_argument(
        "--timeout", type=float, default=120, help="seconds for one run"
    )
    parser.add_argument(
        "programs", nargs="*", help="a program, with arguments if quoted"
    )
    arguments = parser.parse_args(words)
    select_modes(parser, arguments)
    if not arguments.programs:
        parser.error("no program is named")
    return arguments


def add_mode_arguments(parser):
    """The options that choose modes."""
    parser.add_argument(
        "--modes",
        default=modes.USUAL,
        help="patterns of modes as for file names, with commas; a name without some "
        "kinds of values, as nodes1-pooled, has the usual ones of those",
    )
    parser.add_argument(
        "--list-modes", action="store_true", help="print the modes and what they set"
    )


def select_modes(parser, arguments):
    """Make a list of names of the option --modes, or print it and end."""
    try:
        arguments.modes = modes.select(arguments.modes)
    except ValueError as error:
        parser.error(str(error))
    if arguments.list_modes:
        print(modes.listing(arguments.modes))
        parser.exit()


def first_difference(native, carried):
    """A text that shows the first line in which two outputs differ."""
    native_lines, carried_lines = native.splitlines(), carried.splitlines()
    for number, (left, right) in enumerate(zip(native_lines, carried_lines), 1):
        if left != right:
            return f"line {number} is {right!r}, natively {left!r}"
    return f"{len(carried_lines)} lines of output, natively {len(native_lines)}"


def telling_line(result):
    """The line of standard error that tells most of a failure: a test's own, else how the
    launcher says that a job has ended, else the library's first, else the first."""
    lines = [line for line in result.stderr.splitlines() if line.strip("- \t")]
    for pattern in ("not true", "^bcsrun", "^bcs", ""):
        for line in lines:
            if re.search(pattern, line):
                return line
    return "nothing on standard error"


def problems_of(result, native, arguments):
    """What is wrong with a run under BCS, as a list of texts; native may be None."""
    expect_failure, line = arguments.expect_failure, arguments.expect_line
    stdout = result.stdout.removesuffix(END_LINE)
    problems = ["all programs were over"] if stdout != result.stdout else []
    if result.status is None:
        hung = f"hung after {result.seconds:.0f} s, output {stdout[-200:]!r}"
        return [*problems, hung]
    if expect_failure and result.status == 0:
        problems.append("ended with status 0")
    elif not expect_failure and result.status != (native.status if native else 0):
        problems.append(f"status {result.status}, {telling_line(result)}")
        if result.status is not None and result.status > 128:  # who was it?
            problems.append(f"a signal: {result.stderr[-1500:]!r}")
    if native and stdout != native.stdout:
        problems.append(first_difference(native.stdout, stdout))
    if not any(told.startswith(line) for told in result.stderr.splitlines() or [""]):
        problems.append(f"no line of standard error begins with {line!r}")
    return problems


def native_problems(result, expect_failure):
    """What is wrong with the native run, as a list of texts."""
    if result.status is None:
        return ["the native run hung"]
    if (result.status != 0) != expect_failure:
        return [f"native status {result.status}, {telling_line(result)}"]
    return []


def planned(arguments, program):
    """The modes to run a program in, as a list for each number of ranks."""
    names = arguments.modes
    if arguments.needs_buffering:
        names = [name for name in names if modes.has_buffering(name)]
    if arguments.cover:
        names = modes.taking_turns(names)
    numbers = arguments.ranks.split(",")
    cases = [(n_ranks, *modes.values_of(name)) for n_ranks in numbers for name in names]
    if arguments.cover:
        cases = modes.cover(cases, " ".join([name_of(program), *numbers]))
    plan = {n_ranks: [] for n_ranks, *_ in cases}
    for n_ranks, *values in cases:
        plan[n_ranks].append(modes.name_of(values))
    return plan


def launches(arguments):
    """For each number of ranks, for each mode, the programs that run in it."""
    chosen = {}
    for program in arguments.programs:
        for n_ranks, names in planned(arguments, program).items():
            for name in fnmatch.filter(names, arguments.only_modes):
                by_mode = chosen.setdefault(n_ranks, {})
                by_mode.setdefault(name, []).append(program)
    if arguments.only_ranks:
        chosen = {arguments.only_ranks: chosen[arguments.only_ranks]}
    return chosen


def name_of(program):
    """A program's name, with its arguments, without its folder."""
    first, *others = shlex.split(program)
    return " ".join([pathlib.Path(first).name, *others])


def outputs_of(stdout):
    """What each program of a batch has printed, by name, in the order of the programs."""
    outputs = {}
    lines = []
    for line in stdout.splitlines(keepends=True):
        if line == END_LINE:
            lines = []
        elif line.startswith("== "):
            lines = outputs.setdefault(line.split()[1], [])
        else:
            lines.append(line)
    return {name: "".join(lines) for name, lines in outputs.items()}


class Launcher:
    """Starts programs in one mode, or natively, which is mode None, on some ranks."""

    def __init__(self, arguments, n_ranks, mode):
        launcher = arguments.launcher if mode else arguments.native_launcher
        self.words = [*shlex.split(launcher), "-n", n_ranks]
        self.settings = modes.ALL.get(mode)
        self.batch = arguments.batch
        self.timeout = arguments.timeout

    def executable(self, program):
        """The file that a program is in."""
        return self.batch or shlex.split(program)[0]

    def command(self, programs):
        """What starts one program, or several in one job."""
        if len(programs) > 1:
            return [*self.words, self.batch, *programs]
        if self.batch:
            return [*self.words, str(pathlib.Path(self.batch).parent / programs[0])]
        return [*self.words, *shlex.split(programs[0])]

    def repeat(self, programs):
        """The same as a line for a shell."""
        return job.shell_line(self.command(programs), self.settings)

    def start(self, programs):
        """Run a job of one or several programs to its end."""
        environment = job.mpirun_environment(self.settings)
        timeout = self.timeout * (1 + len(programs) / 4)
        return job.run(self.command(programs), environment, timeout)

    def run(self, programs):
        """The result of each program by its name; those of a batch run in one job.

        A program with which a job ends gets the job's status, and those that should
        have come after it run in another job. Where all were over, and the job's end has
        failed, the last one gets it, with END_LINE behind its output.
        """
        if not self.batch:
            return {program: self.start([program]) for program in programs}
        results = {}
        left = list(programs)
        while left:
            whole = self.start(left)
            if len(left) == 1:
                return {**results, left[0]: whole}
            outputs = outputs_of(whole.stdout)
            is_over = whole.status == 0 and len(outputs) == len(left)
            n_ended = len(left) if is_over else max(len(outputs) - 1, 0)
            for program in left[:n_ended]:
                results[program] = whole.part(0, outputs[program])
            left = left[n_ended:]
            if left:
                status = ENDED_EARLY if whole.status == 0 else whole.status
                output = outputs.get(left[0], "")
                if whole.stdout.endswith(END_LINE):  # the job's end has failed, not a program
                    output += END_LINE
                results[left[0]] = whole.part(status, output)
                left = left[1:]
        return results


def case_of(launcher, mode, program, result, problems, together):
    """The Case of a program that ran together with others, if there are any.

    One that has failed among others runs once more, alone, to tell what it is.
    """
    repeat = launcher.repeat([program])
    if problems and len(together) > 1:
        alone = launcher.start([program])
        if alone.status == result.status or alone.status not in (0, ENDED_EARLY):
            problems = [*problems, f"alone, too: status {alone.status}"]
        else:
            problems = [*problems, f"alone: status {alone.status}"]
            repeat = launcher.repeat(together[: together.index(program) + 1])
    n_ranks = launcher.words[-1]
    is_hung = result.status is None
    return Case(name_of(program), n_ranks, mode, problems, is_hung, repeat)


def run_natively(arguments, n_ranks, programs):
    """Run programs natively: results by program, and Cases of those that fail.

    One that fails among others runs once more, alone: the MPI library has faults of its own that
    come now and then, and what it prints is only what others are compared with. The result of one
    that fails then, too, but may, is None; of one that must not, there is none.
    """
    launcher = Launcher(arguments, n_ranks, None)
    results = launcher.run(programs)
    cases = []
    for program, result in list(results.items()):
        problems = native_problems(result, arguments.expect_failure)
        if problems and len(programs) > 1:
            again = launcher.run([program])[program]
            if not native_problems(again, arguments.expect_failure):
                print(f"natively {name_of(program)}, {n_ranks} ranks, has failed among others, but "
                      f"not alone, which counts: {problems[0]}")
                results[program] = again
                continue
        if problems and arguments.native_may_fail:
            name = name_of(program)
            print(f"not compared: {name}, {n_ranks} ranks: {problems[0]}")
            results[program] = None
        elif problems:
            cases.append(case_of(launcher, None, program, result, problems, programs))
            del results[program]
    return results, cases


def native_results(arguments, n_ranks, programs):
    """As run_natively, but only what is not kept, and then with all other programs of the test."""
    if not arguments.natives:
        return run_natively(arguments, n_ranks, programs)
    kept = kept_natives.Natives(arguments.natives, n_ranks)
    executable = Launcher(arguments, n_ranks, None).executable
    with kept.lock():
        results = {name: kept.find(executable(name), name) for name in arguments.programs}
        missing = [name for name in arguments.programs if results[name] is None]
        cases = []
        if not set(missing).isdisjoint(programs):
            new, cases = run_natively(arguments, n_ranks, missing)
            for name, result in new.items():
                kept.keep(executable(name), name, result)
            results.update(new)
    return {name: results[name] for name in programs if results[name] is not None}, cases


def run_in_mode(arguments, n_ranks, mode, natives):
    """Run the programs that have a native result in a mode. Yields Cases."""
    launcher = Launcher(arguments, n_ranks, mode)
    for program, result in launcher.run(list(natives)).items():
        problems = problems_of(result, natives[program], arguments)
        yield case_of(launcher, mode, program, result, problems, list(natives))


def run_launches(arguments):
    """Run everything that is chosen. Yields Cases."""
    for n_ranks, by_mode in launches(arguments).items():
        chosen = set().union(*by_mode.values())
        programs = [program for program in arguments.programs if program in chosen]
        natives, failed = native_results(arguments, n_ranks, programs)
        yield from failed
        for mode, names in by_mode.items():
            compared = {name: natives[name] for name in names if name in natives}
            yield from run_in_mode(arguments, n_ranks, mode, compared)


def main():
    arguments = parse_arguments(sys.argv[1:])
    if arguments.needs_network and kept_natives.networks() == ["lo"]:
        print("Skipped: without a network but the loopback Open MPI starts no more processes.")
        return 77
    report = job.Report()
    for case in run_launches(arguments):
        report.case(str(case), case.problems, case.repeat)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
