#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes what reads files and memory of others, with libFuzzer, AddressSanitizer and
UndefinedBehaviorSanitizer: "run", how bcs-mds reads the files of a run; "job", how bcs-top reads the
memory of a running job; "place", how both read debug information. Without --reader one after the other,
each for its part of the minutes.

Needs clang with compiler-rt (Debian: clang libclang-rt-14-dev) and a build folder, whose commands
tell what is compiled, and how. Begins from the corpus and writes what is new into a folder of its
own; what crashes is left in it, as crash-*, and so is what takes longer than SECONDS. Minutes are
those of the processor that the fuzzer has had, so that it may run at a low priority or be stopped
for a while. What it writes on the way is in a folder in TMPDIR, which is removed even if all of this is
killed. With --keep the least part of all that reaches as much takes the place of the corpus.

    python3 tests/fuzz/run_fuzz.py --build build --work fuzz --minutes 60 --keep
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
SANITIZERS = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=undefined"]
READERS = ("run", "job", "place")
LONGEST = 8192  # bytes of an input
N_VERBS = 256
SECONDS = 20  # of the processor, for one input


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--work", required=True, help="a folder for what is found")
    parser.add_argument("--reader", choices=READERS, action="append",
                        help="what is fuzzed; all, if it is not given")
    parser.add_argument("--minutes", type=float, default=10, help="of the processor's time")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--keep", action="store_true", help="renew the corpus")
    return parser.parse_args()


def commands_of(build, target):
    """How the sources of a target are compiled: [(source, options)]; the driver is left out."""
    text = (build / "compile_commands.json").read_text(encoding="utf-8")
    for command in json.loads(text):
        source = (build / command["file"]).resolve()
        if command["output"].startswith(f"{target}.p/") and source.name != "replay.c":
            words = shlex.split(command["command"])
            yield source, [word for word in words if word[:2] in ("-I", "-D")]


def libraries_of(build, target):
    """The shared libraries that the build links a target with."""
    commands = subprocess.run(["ninja", "-t", "commands", target], cwd=build, check=True,
                              capture_output=True, text=True).stdout
    return [word for word in shlex.split(commands.splitlines()[-1])
            if word.startswith("-l") or word == "-pthread" or word.endswith(".so")]


def compile_target(clang, build, work, target):
    """Compile the sources of a target. Returns the objects."""
    work.mkdir(exist_ok=True)
    sources = list(commands_of(build, target))
    objects = [str(work / f"{number}-{source.stem}.o")
               for number, (source, _) in enumerate(sources)]

    def compile_one(work_piece):
        (source, options), target_path = work_piece
        subprocess.run([clang, "-g", "-O1", "-std=gnu11", *SANITIZERS, *options,
                        f"-DFUZZ_SECONDS={SECONDS}", "-c", str(source), "-o", target_path],
                       cwd=build, check=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, zip(sources, objects)))
    if not objects:
        sys.exit(f"run_fuzz: {build} has no target {target}")
    return objects


def compile_library(clang, build, work):
    """Compile what all readers are linked with. Returns its path."""
    library = work / "library.a"
    library.unlink(missing_ok=True)
    objects = compile_target(clang, build, work / "library", "libbcs_static.a")
    subprocess.run(["ar", "rc", str(library), *objects], check=True)
    return library


def compile_reader(clang, build, work, reader, library):
    """Compile the fuzzer of a reader. Returns its path."""
    target = f"tests/fuzz/replay_{reader}"
    objects = compile_target(clang, build, work / "objects", target)
    fuzzer = work / "fuzzer"
    subprocess.run([clang, *SANITIZERS, *objects, str(library), *libraries_of(build, target),
                    "-o", str(fuzzer)], check=True)
    return fuzzer


# Which two files of a run a seed has.
FILES = (("process.00000.mds", "process.00001.mds"), ("node.00000.mds", "global.mds"),
         ("process.00000.mds", "node.00000.mds"))


def make_run_seed(maker, path, verb, files, parts):
    """A run of two ranks by make_run, for one verb. What calls have waited for is in it if parts is
    not 0."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(maker), folder, "ranks=2", "peers=1", "primitives=2",
                        "buckets=2", "nodes=1", "spans=2", f"seed={verb}", f"bits={verb % 8}", "program=a",
                        "argument=b c", f"parts={parts}"], check=True, stdout=subprocess.DEVNULL)
        texts = [(pathlib.Path(folder) / name).read_bytes() for name in ("manifest.txt", *files)]
    head = struct.pack("<BBHH", 1, verb, len(texts[0]), len(texts[1]))
    path.write_bytes(head + b"".join(texts))


def make_run_seeds(build, seeds):
    """Two runs for each verb, one with what calls have waited for."""
    maker = build / "tests/mds/make_run"
    subprocess.run(["ninja", "-C", str(build), "tests/mds/make_run"], check=True,
                   stdout=subprocess.DEVNULL)
    for verb in range(N_VERBS):
        make_run_seed(maker, seeds / f"seed-{verb:02}.bin", verb, FILES[verb % len(FILES)], 0)
        make_run_seed(maker, seeds / f"waits-{verb:02}.bin", verb, FILES[0], 3)


# A function in a public header, inline, and one around it.
CODE = """
#include "bcs/channel.h"
int around(int a) { return within(a) + a; }
static int local(int a) { return around(a) * 3; }
int (*const pointer)(int) = local;
"""
HEADER = """
static inline int within(int a) { extern int outside(int); return outside(a + 1); }
"""


def make_place_seeds(_build, seeds):
    """Small files of code with debug information, of some kinds."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bcs").mkdir()
        (folder / "bcs/channel.h").write_text(HEADER)
        (folder / "code.c").write_text(CODE)
        for number, options in enumerate((["-g"], ["-gdwarf-4"], ["-g", "-gz"], ["-g0"])):
            code = folder / "code.o"
            subprocess.run(["cc", "-O1", "-c", *options, "code.c", "-o", str(code)],
                           cwd=folder, check=True)
            head = struct.pack("<BH", 16, 1)
            (seeds / f"seed-{number}.bin").write_bytes(head + code.read_bytes())


def make_job_seeds(_build, seeds):
    """A change in each of the areas, of each node."""
    for place in range(24):
        (seeds / f"seed-{place:02}.bin").write_bytes(
            struct.pack("<BHBB", place, 0, 0, 64) + bytes(range(1, 65)))


MAKE_SEEDS = {"run": make_run_seeds, "job": make_job_seeds, "place": make_place_seeds}


def die_with_parent():
    """In a child: whoever has started it is not to leave it behind."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


@contextlib.contextmanager
def scratch():
    """A folder to run in, and a file descriptor that all who use it are to inherit: when the last of them
    has ended, in whatever way, another process takes the folder away."""
    folder = tempfile.mkdtemp(prefix="bcs-fuzz-")
    last, held = os.pipe()
    with subprocess.Popen(["sh", "-c", 'cat >/dev/null; rm -rf "$1"', "sh", folder], stdin=last,
                          start_new_session=True):
        os.close(last)
        try:
            yield folder, held
        finally:
            os.close(held)


def keep(fuzzer, work, corpus, folders):
    """Renew a corpus with as few files as reach every place that all of them reach."""
    least = work / "least"
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir()
    with scratch() as (folder, held):
        subprocess.run([str(fuzzer), "-merge=1", "-use_counters=0", "-close_fd_mask=1",
                        f"-max_len={LONGEST}", str(least), *map(str, folders)], check=True,
                       cwd=folder, pass_fds=[held], preexec_fn=die_with_parent)
    for path in corpus.glob("[0-9]*.bin"):  # others have a name, and a reason to stay
        path.unlink()
    for number, path in enumerate(sorted(least.iterdir(), key=lambda path: path.name)):
        shutil.copy(path, corpus / f"{number:03}.bin")
    print(f"{number + 1} files in the corpus")


def processor_seconds(pid):
    """What a process has had of the processors; None: it has ended."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()
    if fields[0] in "ZX":
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(fuzzer, work, folders, seconds):
    """Run the fuzzer for so long, or until it finds something. Returns its status."""
    with scratch() as (folder, held), subprocess.Popen(
            [str(fuzzer), "-close_fd_mask=1", f"-max_len={LONGEST}", "-timeout=86400",
             "-rss_limit_mb=2048", f"-artifact_prefix={work}{os.sep}", *map(str, folders)],
            cwd=folder, pass_fds=[held], preexec_fn=die_with_parent) as process:
        had = 0
        while had is not None and had < seconds:
            time.sleep(1)
            last, had = had, processor_seconds(process.pid)
        if had is not None:
            last = had
            process.send_signal(signal.SIGUSR1)  # "exit gracefully"
        process.wait()
    print(f"{last / 60:.1f} minutes of the processor's time, status {process.returncode}")
    return process.returncode


def fuzz_reader(arguments, reader, minutes, library):
    """Fuzz one reader. Returns the fuzzer's status."""
    build, work = pathlib.Path(arguments.build).resolve(), library.parent
    corpus, work = CORPUS / reader, work / reader
    folders = [work / "found", corpus, work / "seeds"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    print(f"{reader}: {minutes:.1f} minutes", flush=True)
    fuzzer = compile_reader(arguments.clang, build, work, reader, library)
    MAKE_SEEDS[reader](build, folders[-1])
    status = fuzz(fuzzer, work, folders, 60 * minutes)
    if status == 0 and arguments.keep:
        keep(fuzzer, work, corpus, folders)
    return status


def main():
    arguments = parse_arguments()
    readers = arguments.reader or READERS
    work = pathlib.Path(arguments.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    library = compile_library(arguments.clang, pathlib.Path(arguments.build).resolve(), work)
    statuses = [fuzz_reader(arguments, reader, arguments.minutes / len(readers), library)
                for reader in readers]
    return max(map(abs, statuses))


if __name__ == "__main__":
    sys.exit(main())
