#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzes the reading of runs with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.

Needs clang with compiler-rt (Debian: clang libclang-rt-14-dev) and a build folder, whose commands
tell what is compiled, and how. Begins from the corpus and writes what is new into a folder of its
own; what crashes is left in it, as crash-*, and so is what takes longer than SECONDS. Minutes are
those of the processor that the fuzzer has had, so that it may run at a low priority or be stopped
for a while. What it writes on the way is in a folder in TMPDIR, which is removed even if all of this is
killed. With --keep the least part of all that reaches as much takes the place of the corpus.

    python3 tests/fuzz/run_fuzz.py --build build --work fuzz --minutes 60 --keep
"""

import argparse
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
LIBRARIES = {"export_json.c": ["-ljansson"], "export_sqlite.c": ["-lsqlite3"],
             "export_otf2.c": ["-lotf2"], "place_dwarf.c": ["-ldw"]}
LONGEST = 8192  # bytes of an input
N_VERBS = 256
SECONDS = 20  # of the processor, for one input


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--work", required=True, help="a folder for what is found")
    parser.add_argument("--minutes", type=float, default=10, help="of the processor's time")
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--keep", action="store_true", help="renew the corpus")
    return parser.parse_args()


def commands_of(build):
    """How the sources of the test are compiled: [(source, options)]; the driver is left out."""
    text = (build / "compile_commands.json").read_text(encoding="utf-8")
    for command in json.loads(text):
        source = (build / command["file"]).resolve()
        if "tests/fuzz/replay.p/" in command["output"] and source.name != "replay.c":
            words = shlex.split(command["command"])
            yield source, [word for word in words if word[:2] in ("-I", "-D")]


def compile_all(arguments, build, work):
    """Compile the fuzzer. Returns its path."""
    objects, libraries = [], ["-lm", "-lpthread", "-ldl"]
    for source, options in commands_of(build):
        objects.append(str(work / f"{source.stem}.o"))
        subprocess.run([arguments.clang, "-g", "-O1", "-std=gnu11", *SANITIZERS, *options,
                        f"-DFUZZ_SECONDS={SECONDS}", "-c", str(source), "-o", objects[-1]],
                       cwd=build, check=True)
        libraries += LIBRARIES.get(source.name, [])
    if not objects:
        sys.exit(f"run_fuzz: {build} has no test 'replay'")
    subprocess.run(["ninja", "-C", str(build), "libbcs_static.a"], check=True,
                   stdout=subprocess.DEVNULL)
    fuzzer = work / "fuzzer"
    subprocess.run([arguments.clang, *SANITIZERS, *objects, str(build / "libbcs_static.a"),
                    *libraries, "-o", str(fuzzer)], check=True)
    return fuzzer


# Which two files of a run a seed has.
FILES = (("process.00000.mds", "process.00001.mds"), ("node.00000.mds", "global.mds"),
         ("process.00000.mds", "node.00000.mds"))


def make_seed(maker, path, verb, files, parts):
    """A run of two ranks by make_run, for one verb. What calls have waited for is in it if parts is
    not 0."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(maker), folder, "ranks=2", "peers=1", "primitives=2",
                        "buckets=2", "nodes=1", "spans=2", f"seed={verb}", f"bits={verb % 8}", "program=a",
                        "argument=b c", f"parts={parts}"], check=True, stdout=subprocess.DEVNULL)
        texts = [(pathlib.Path(folder) / name).read_bytes() for name in ("manifest.txt", *files)]
    head = struct.pack("<BBHH", 1, verb, len(texts[0]), len(texts[1]))
    path.write_bytes(head + b"".join(texts))


def make_seeds(build, seeds):
    """Two runs for each verb, one with what calls have waited for."""
    maker = build / "tests/mds/make_run"
    seeds.mkdir(exist_ok=True)
    subprocess.run(["ninja", "-C", str(build), "tests/mds/make_run"], check=True,
                   stdout=subprocess.DEVNULL)
    for verb in range(N_VERBS):
        make_seed(maker, seeds / f"seed-{verb:02}.bin", verb, FILES[verb % len(FILES)], 0)
        make_seed(maker, seeds / f"waits-{verb:02}.bin", verb, FILES[0], 3)


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


def keep(fuzzer, work, folders):
    """Renew the corpus with as few files as reach every place that all of them reach."""
    least = work / "least"
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir()
    with scratch() as (folder, held):
        subprocess.run([str(fuzzer), "-merge=1", "-use_counters=0", "-close_fd_mask=1",
                        f"-max_len={LONGEST}", str(least), *map(str, folders)], check=True,
                       cwd=folder, pass_fds=[held], preexec_fn=die_with_parent)
    for path in CORPUS.glob("[0-9]*.bin"):  # others have a name, and a reason to stay
        path.unlink()
    for number, path in enumerate(sorted(least.iterdir(), key=lambda path: path.name)):
        shutil.copy(path, CORPUS / f"{number:03}.bin")
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


def main():
    arguments = parse_arguments()
    build, work = pathlib.Path(arguments.build).resolve(), pathlib.Path(arguments.work).resolve()
    found = work / "found"
    found.mkdir(parents=True, exist_ok=True)
    fuzzer = compile_all(arguments, build, work)
    make_seeds(build, work / "seeds")
    CORPUS.mkdir(exist_ok=True)
    folders = [found, CORPUS, work / "seeds"]
    status = fuzz(fuzzer, work, folders, 60 * arguments.minutes)
    if status == 0 and arguments.keep:
        keep(fuzzer, work, folders)
    return status


if __name__ == "__main__":
    sys.exit(main())
