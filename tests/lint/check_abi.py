#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the interface of the libraries is the one of a table.

Usage: check_abi.py [--write] TABLE SOURCE BUILD VERSION CC. The public headers below SOURCE
and BUILD are read, and a program made by the compiler CC tells the sizes and offsets of
their structs and the values of their constants. With the prototypes, and with the names that
libbcs.so and libbcs_bsp.so of BUILD export, they must be what TABLE says, and TABLE must be of
this VERSION but for its last number. --write makes TABLE anew.
"""

import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HEADERS = ("bcs/bcs.h", "bcs/cbsp.h", "bcs/channel.h", "bcs/channel_ring.h", "bcs/primitives.h",
           "bcs/remote.h", "bcs/remote_region.h", "bcs/status.h", "bcs/version.h", "bsp.h")
LIBRARIES = ("libbcs.so", "libbcs/bsplib/libbcs_bsp.so")
INTRODUCTION = """\
# What programs are compiled with: structs with their sizes and alignments, members with
# their offsets and sizes, constants, prototypes, exported names. x86-64.
# If this differs, programs that were compiled before may need to be compiled anew: raise the
# minor version in meson.build (before 1.0; the major one from then on), unless all that was
# is as it was and something was added. Then, in the build folder: ninja abi_table
"""
ADVICE = """\
The interface is not the one of the table. If that is meant: raise the version in meson.build
(how is told in the table), and then, in the build folder: ninja abi_table
"""
# These are of the headers' making only; the version changes by itself.
NO_CONSTANTS = re.compile(r"\w+_H$|BCS_PUBLIC$|BCS_VERSION|BCS_REQUEST_DONE$")


class Interface:
    """What the text of the headers declares."""

    def __init__(self, text, defines):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
        text = re.sub(r"^\s*#(?:\\\n|.)*$", " ", text, flags=re.MULTILINE)
        text = " ".join(text.split())
        self.structs = dict(re.findall(r"struct (\w+) \{([^{}]*)\};", text))
        self.enums = re.findall(r"enum (\w+) \{([^{}]*)\};", text)
        self.prototypes = [self.plain(prototype)
                           for prototype in re.findall(r"BCS_PUBLIC ([^;{}]*);", text)]
        self.types = [self.plain(words) for words in re.findall(r"typedef ([^;{}]*);", text)]
        self.constants = [name for name in defines if not NO_CONSTANTS.match(name)]
        if len(self.structs) != len(re.findall(r"struct \w+ \{", text)) or not self.structs:
            sys.exit("a struct of the headers is not understood: name it, and nest no other")

    @staticmethod
    def plain(words):
        return re.sub(r" ?__attribute__ ?\(\(.*\)\)$", "", words)

    @staticmethod
    def members(body):
        """The names of a struct's members."""
        names = []
        for declaration in filter(None, (part.strip() for part in body.split(";"))):
            pieces = declaration.split(",")
            names += [re.search(r"(\w+)(?:\[[^\]]*\])*$", piece.strip())[1]
                      for piece in pieces]
        return names

    def program(self):
        """A program that prints what only the compiler knows."""
        lines = []
        for name, body in self.structs.items():
            lines.append(f'    printf("struct {name} size %zu align %zu\\n", '
                         f"sizeof(struct {name}), _Alignof(struct {name}));")
            lines += [f'    printf("struct {name} {member} at %zu size %zu\\n", '
                      f"offsetof(struct {name}, {member}), "
                      f"sizeof(((struct {name} *)0)->{member}));"
                      for member in self.members(body)]
        for name, body in self.enums:
            lines.append(f'    printf("enum {name} size %zu\\n", sizeof(enum {name}));')
            lines += [f'    printf("enum {name} {value} %lld\\n", (long long){value});'
                      for value in re.findall(r"(\w+)(?: = [^,]*)?(?:,|$)", body.strip())]
        lines += [f'    printf("constant {name} %lld\\n", (long long)({name}));'
                  for name in self.constants]
        includes = "".join(f"#include <{header}>\n" for header in HEADERS)
        return (f"#include <stddef.h>\n#include <stdio.h>\n{includes}"
                "int main(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n")

    def declared(self):
        """The lines of the table that need no compiler."""
        return ([f"type {words}" for words in self.types] +
                [f"prototype {words}" for words in self.prototypes])


def read_headers(folders):
    text, defines = "", []
    for header in HEADERS:
        path = next(folder / header for folder in folders if (folder / header).exists())
        own = path.read_text(encoding="utf-8")
        text += own
        defines += re.findall(r"^#define (\w+)(?=\s)", own, flags=re.MULTILINE)
    return Interface(text, defines)


def compiled(interface, folders, compiler):
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "abi"
        command = [*shlex.split(compiler), "-std=c11", "-x", "c", "-", "-o", str(target),
                   *(f"-I{folder}" for folder in folders)]
        subprocess.run(command, input=interface.program(), text=True, check=True)
        done = subprocess.run([str(target)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def exported(build):
    """The names that each library exports."""
    lines = []
    for library in LIBRARIES:
        done = subprocess.run(["nm", "-D", "--defined-only", "--format=posix",
                               str(build / library)],
                              capture_output=True, text=True, check=True)
        name = pathlib.Path(library).name
        lines += [f"export {name} {line.split()[0]}" for line in done.stdout.splitlines()]
    return sorted(lines)


def table(source, build, version, compiler):
    folders = [source / "libbcs/include", build / "libbcs/include"]
    interface = read_headers(folders)
    numbers = ".".join(version.split(".")[:2])
    lines = [f"version {numbers}", *compiled(interface, folders, compiler),
             *interface.declared(), *exported(build)]
    return INTRODUCTION + "\n".join(lines) + "\n"


def main(is_writing, path, source, build, version, compiler):
    now = table(pathlib.Path(source), pathlib.Path(build), version, compiler)
    file = pathlib.Path(path)
    if is_writing:
        file.write_text(now, encoding="utf-8")
        return 0
    was = file.read_text(encoding="utf-8") if file.exists() else ""
    if now == was:
        print(f"{len(now.splitlines())} lines, all as they were")
        return 0
    sys.stdout.writelines(difflib.unified_diff(
        was.splitlines(True), now.splitlines(True), "table", "headers and libraries", n=1))
    print(ADVICE)
    return 1


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) != 5:
        sys.exit(__doc__)
    sys.exit(main("--write" in sys.argv[1:], *words))
