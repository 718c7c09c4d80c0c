#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often bcs-overhead compare is right on this machine: measures the same again and again, and in
between with one experiment slower on purpose. Two results that follow each other must not differ
beyond noise, and the slower one must be found slower than the one before it, in that experiment. With
--in-turns all three are sides of one command, which launches them in turns. Prints a row of
docs/overhead.md, and fails if fewer than --least of the pairs are right. Nothing else should run
meanwhile.
"""

import argparse
import json
import os
import re
import shlex
import sys
import tempfile

import job

# A row of compare's table: what, ratio, p, from which difference on it would be seen, launches, verdict.
ROW = re.compile(r"^\| (\S.*?) +\| +([0-9.]+) \|[^|]*\| +(\d+ %) \|[^|]*\| +(\S[^|]*?) \|$", re.MULTILINE)

TIMEOUT = 3600  # seconds, of a command


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", required=True, help="bcs-overhead")
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--least", type=int, default=19, help="of the pairs")
    parser.add_argument("--only", action="append", help="what is measured, as for run; may be repeated")
    parser.add_argument("--inject", default="barrier", help="which experiment is made slower")
    parser.add_argument("--percent", type=int, default=10, help="by how much")
    parser.add_argument("--side", default="native")
    parser.add_argument("--repetitions", type=int, default=8)
    parser.add_argument("--in-turns", action="store_true", help="natively, three sides of one command")
    arguments = parser.parse_args()
    if arguments.in_turns and arguments.side != "native":
        parser.error("--in-turns: allowed is --side native alone")
    return arguments


def ended(words):
    """What a command has printed; it must succeed."""
    result = job.run(words, job.mpirun_environment(), TIMEOUT)
    if result.status != 0:
        sys.exit(f"{' '.join(words)}: {result.ending()}")
    return result.stdout


def measure(arguments, path, *more):
    """Make a result."""
    only = [word for name in arguments.only or [] for word in ("--only", name)]
    ended([arguments.driver, "run", "--quick", "--build", arguments.build,
           "--repetitions", str(arguments.repetitions), "--output", path, *only, *more])
    return path


def slow_program(arguments, folder, program):
    """A program that is overhead_measure, but for one experiment that is slower."""
    path = f"{folder}/slow"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nif [ "$1" = {arguments.inject} ]; then set -- "$@" --slow {arguments.percent}; '
                   f'fi\nexec {shlex.quote(program)} "$@"\n')
    os.chmod(path, 0o755)
    return path


def titles_of(path, experiment):
    """How the quantities of an experiment begin in compare's table."""
    with open(path, encoding="utf-8") as file:
        return tuple(one["title"] for one in json.load(file)["plan"]["jobs"]
                     if one["experiment"] == experiment)


def differences(arguments, number, what, one, other):
    """{quantity: "slower" or "faster"}; prints all quantities."""
    rows = ROW.findall(ended([arguments.driver, "compare", one, other]))
    words = "; ".join(f"{name}: {ratio}, seen from {seen}" for name, ratio, seen, _ in rows)
    found = {name: verdict[len("B is "):] for name, _, _, verdict in rows
             if verdict.startswith("B is ")}
    print(f"{number}, {what}: {words or 'nothing to compare'}: {found or 'no difference'}", file=sys.stderr,
          flush=True)
    return found


def triples_apart(arguments, folder):
    """For each pair the file of the slower result, and three results: one, the slower one after it, and
    one more of the same."""
    side = ("--side", arguments.side)
    last = measure(arguments, f"{folder}/0.json", *side)
    for i in range(1, arguments.pairs + 1):
        slow = measure(arguments, f"{folder}/slow-{i}.json", *side, "--inject",
                       f"{arguments.inject}={arguments.percent}")
        following = measure(arguments, f"{folder}/{i}.json", *side)
        yield slow, last, slow, following
        last = following


def triples_in_turns(arguments, folder):
    """For each pair the file of a result, and three sides of it, as triples_apart."""
    build = os.path.abspath(arguments.build)
    program = f"{build}/apps/overhead/overhead_measure"
    programs = {"one": program, "slow": slow_program(arguments, folder, program), "same": program}
    launchers = [word for name, started in programs.items() for word in (
        "--launcher", f"{name}={build}/apps/tools/launch/bcsrun --native -n {{n}} {started}")]
    for i in range(1, arguments.pairs + 1):
        path = measure(arguments, f"{folder}/{i}.json", *launchers)
        yield path, *(f"{path}:{name}" for name in programs)


def main():
    arguments = parse_arguments()
    n_equal = n_found = 0
    triples_make = triples_in_turns if arguments.in_turns else triples_apart
    with tempfile.TemporaryDirectory() as folder:
        for i, (path, one, slow, same) in enumerate(triples_make(arguments, folder), 1):
            titles = titles_of(path, arguments.inject)
            n_found += any(name.startswith(titles) and verdict == "slower" for name, verdict in
                           differences(arguments, i, "slower", one, slow).items())
            n_equal += not differences(arguments, i, "the same", one, same)
    how = "natively, in turns" if arguments.in_turns else arguments.side
    print(f"| {', '.join(arguments.only or ['all'])} | {how} | {n_equal} of {arguments.pairs} | "
          f"{arguments.inject}, {arguments.percent} %: {n_found} of {arguments.pairs} |")
    return 0 if min(n_equal, n_found) >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
