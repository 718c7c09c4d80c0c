#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each rule of lint.py and of the checks of objects fires on what it forbids and leaves alone what it allows."""

import contextlib
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import check_abi
import check_calls
import check_globals
import check_headers
import check_paths
import lint

HEAD = "/* " + "SPDX-License-Identifier: BSD-3-Clause */\n"


def findings(path, body, head=HEAD):
    return lint.lint(lint.Source(path, head + body))


class LintTest(unittest.TestCase):
    def assert_fires(self, path, body, text, head=HEAD):
        found = findings(path, body, head)
        self.assertEqual(len(found), 1, found)
        self.assertIn(text, found[0])

    def assert_silent(self, path, body, head=HEAD):
        self.assertEqual(findings(path, body, head), [])

    def test_an_upward_include_is_found(self):
        self.assert_fires(
            "libbcs/fabric/core/a.c", '#include "libbcs/api/message/p2p.h"\n', "must not include"
        )
        self.assert_fires(
            "libbcs/fabric/base/a.c", '#include "libbcs/fabric/core/core.h"\n', "must not include"
        )
        self.assert_fires("nic_threads/a.c", '#include "mds/mmds.h"\n', "must not")
        self.assert_fires("libbcs/fabric/base/a.c", '#include "mds/collect.h"\n', "must not")
        self.assert_fires("libbcs/fabric/ring/a.c", "#include <nic_threads/b.h>\n", "must not")
        body = '#include "nic_threads/service/crew.h"\n'
        self.assert_fires("nic_threads/roles/a.c", body, "must not")

    def test_a_relative_upward_include_is_found(self):
        self.assert_fires("libbcs/fabric/core/a.c", '#include "../api/p2p.h"\n', "must not")

    def test_an_application_includes_nothing_of_ours(self):
        for name in ('"libbcs/fabric/base/log.h"', "<bcs/primitives.h>", '"mds/collect.h"'):
            self.assert_fires("apps/x/a.c", f"#include {name}\n", "must not")
        self.assert_silent("apps/x/a.c", '#include "b.h"\n#include <mpi.h>\n')

    def test_an_example_includes_the_api_only(self):
        for name in ('"libbcs/fabric/base/log.h"', "<bcs/primitives.h>", '"mds/collect.h"'):
            self.assert_fires("apps/examples/a.c", f"#include {name}\n", "must not")
        self.assert_silent("apps/examples/a.c", "#include <bcs/bcs.h>\n")

    def test_allowed_includes_are_silent(self):
        body = '#include "libbcs/fabric/base/log.h"\n'
        for folder in ("libbcs/fabric/ring", "libbcs/api", "nic_threads", "mpi_shim/comm", "mds"):
            self.assert_silent(folder + "/a.c", body)
        self.assert_silent("nic_threads/a.c", '#include "libbcs/fabric/ring/port.h"\n')
        self.assert_silent("mpi_shim/real/a.c", '#include "mds/collect.h"\n')
        self.assert_silent("mpi_shim/data/a.c", '#include "nic_threads/rules/reduce_ops.h"\n')
        self.assert_silent("tests/unit/a.c", '#include "nic_threads/machine/wire.h"\n')

    def test_the_environment_header_is_for_the_programs(self):
        body = '#include "libbcs/fabric/base/environment.h"\n'
        self.assert_fires("nic_threads/a.c", body, "only libbcs/fabric/base")
        self.assert_silent("apps/tools/launch/a.c", body)

    def test_getenv_outside_base_is_found(self):
        body = 'const char *a = getenv("X");\n'
        self.assert_fires("nic_threads/a.c", body, "environment")
        self.assert_fires("mpi_shim/a.c", "char **e = environ;\n", "environment")
        self.assert_fires("mds/a.c", 'x = secure_getenv ("X");\n', "environment")
        self.assert_silent("libbcs/fabric/base/a.c", body)
        self.assert_silent("apps/x/a.c", body)
        self.assert_silent("mds/a.c", '/* getenv("X") */ char s[] = "getenv(x)";\n')

    def test_an_undocumented_prototype_is_found(self):
        for prototype in (
            "int f(void);",
            "struct a *f(int b,\n      int c);",
            "void g(void) __attribute__((noreturn));",
            "const char *const *h(int (*callback)(void));",
            "extern int i(void);",
            "/* a comment */\nint f(void);",
            "/** far above */\n\nint f(void);",
            "/** only the first */\nint e;\nint f(void);",
        ):
            self.assert_fires("mds/a.h", prototype + "\n", "no docstring")

    def test_what_is_no_prototype_needs_no_docstring(self):
        for declaration in (
            "/** does it */\nint f(void);",
            "/**\n * does it\n */\nint f(int a,\n      int b);",
            "static inline int f(void)\n{\n    return g();\n}",
            "typedef int (*f)(void *arg);",
            "extern unsigned int (*f)(void);",
            "struct a {\n    int (*f)(void);\n};",
            "extern const struct table a_table;",
            "#define f(x) g(x)",
            "enum a { B, C };",
        ):
            self.assert_silent("mds/a.h", declaration + "\n")

    def test_a_long_function_is_found(self):
        body = "int f(void)\n{\n" + "    g();\n" * 58 + "}\n"
        self.assert_fires("mds/a.c", body, "function of 61 lines")
        body = "int f(int a,\n      int b)\n{\n" + "    g();\n" * 56 + "}\n"
        self.assert_silent("mds/a.c", body)

    def test_too_many_parameters_are_found(self):
        body = "int f(int a, int b, int c, int d,\n      int e, int f, int g)\n{\n}\n"
        self.assert_fires("mds/a.c", body, "7 parameters")
        self.assert_silent("mpi_shim/a.c", body)
        self.assert_silent("tests/unit/a.c", body.replace("int f(int", "int MPI_F(int"))
        self.assert_silent("mds/a.c", body.replace("int f(int", "OTF2_ErrorCode f(int"))
        self.assert_silent("mds/a.c", body.replace("f(int", "f(Dwfl_Module *m, void **u, int"))
        callback = "int f(int (*g)(int, int, int), int a, int b, int c, int d, int e)"
        self.assert_silent("mds/a.c", callback + "\n{\n}\n")

    def test_a_long_file_is_found(self):
        self.assert_fires("mds/a.c", "int a;\n" * lint.MAX_FILE_LINES, "file of")
        self.assert_silent("mds/a.c", "int a;\n" * 499)
        self.assert_silent("mpi_shim/a.def", "ROW\n" * 600)

    def test_a_missing_licence_line_is_found(self):
        self.assert_fires("mds/a.c", "int a;\n", "no SPDX", head="")
        self.assert_fires("some_script", "#!/bin/sh\n", "no SPDX", head="")
        self.assert_silent("README.md", "text\n", head="")

    def test_a_path_of_one_machine_is_found(self):
        for folder in ("work", "home", "root"):
            text = "See /" + folder + "/somebody.\n"
            self.assert_fires("README.md", text, "path of one machine", head="")
        self.assert_silent("README.md", "a/work/b, ../home/c, /usr/bin\n", head="")

    def test_every_rule_has_a_test_above(self):
        self.assertEqual(len(lint.RULES), 10)
        self.assertEqual(len(lint.TREE_RULES), 6)

    def test_a_slow_call_in_a_hot_folder_is_found(self):
        for name in (
            "malloc", "calloc", "realloc", "free", "clock_gettime", "bcs_clock_now_ns", "bcs_log",
            "bcs_error", "bcs_warn", "bcs_notice", "bcs_job_error", "printf", "fprintf",
        ):
            body = f"int a = {name} (1);\n"
            self.assert_fires("nic_threads/rules/a.c", body, name + " in a folder that is hot")
            self.assert_fires("nic_threads/roles/a.h", body, name + " in a folder that is hot")
            self.assert_silent("nic_threads/service/a.c", body)
            with mock.patch.dict(lint.CALLS_IN_HOT_FOLDERS, {("nic_threads/roles/a.c", name): ""}):
                self.assert_silent("nic_threads/roles/a.c", body)
                self.assert_fires("nic_threads/roles/b.c", body, name)
        self.assert_silent("nic_threads/roles/a.c", "nic_item_free(a); /* malloc() */\n")
        objects = {"nic_threads/roles/a.c": (set(), {"malloc", "memcpy"}), "mds/a.c": (set(), {"free"})}
        self.assertEqual(list(check_calls.check_hot(objects)),
                         ["nic_threads/roles/a.c: must not use malloc, it is hot"])

    def test_a_slow_call_that_is_gone_is_found(self):
        source = lint.Source("nic_threads/roles/a.c", "int a = malloc(1);\n")
        table = {(source.path, "malloc"): "", (source.path, "free"): ""}
        with mock.patch.object(lint, "CALLS_IN_HOT_FOLDERS", table):
            self.assertEqual(list(lint.check_hot_calls_known([source])),
                             [f"{source.path} has no free: shorten the table"])

    def homes_found(self, known, *texts):
        sources = [lint.Source(path, text) for path, text in texts]
        with mock.patch.object(lint, "KNOWN_ELSEWHERE", known):
            return list(lint.check_homes(sources))

    def test_a_function_away_from_its_header_is_found(self):
        header = ("mds/a.h", "int f(int b,\n      int c);\nstatic inline int g(void)\n{\n}\n")
        home = ("mds/tool/b.c", "int f(int b,\n      int c)\n{\n}\nint g(void)\n{\n}\n")
        said = ["mds/a.h: declares functions of mds/tool/b.c"]
        self.assertEqual(self.homes_found({}, header, home), said)
        self.assertEqual(self.homes_found({"mds/a.h": ["mds/tool/b.c"]}, header, home), [])
        self.assertEqual(self.homes_found({}, header, ("mds/tool/a.c", home[1])), [])
        self.assertEqual(self.homes_found({}, header, (home[0], "static " + home[1])), [])
        self.assertEqual(self.homes_found({"mds/a.h": ["mds/b.c"]}, header),
                         ["mds/a.h declares nothing of mds/b.c: shorten the table"])

    def test_a_line_of_more_columns_is_found(self):
        self.assert_fires("mds/a.c", "x" * 89 + "\n", "89 columns")
        self.assert_silent("mds/a.c", "x" * 88 + "\n")
        self.assert_silent("mds/a.py", "x" * 99 + "\n")

    def test_a_public_header_includes_no_private_one(self):
        for name in ("libbcs/fabric/base/log.h", "mds/collect.h", "libbcs/fabric/ring/port.h"):
            body = f'#include "{name}"\n'
            self.assert_fires("libbcs/include/bcs/a.h", body, "must not include")
        self.assert_silent("libbcs/include/bcs/a.h", "#include <bcs/status.h>\n")

    def test_a_header_that_does_not_stand_alone_is_found(self):
        compiler = ["cc", "-std=c11", "-x", "c"]
        with tempfile.TemporaryDirectory() as folder:
            for name, body, is_good in (
                ("whole.h", "#pragma once\n#include <stdint.h>\nextern uint8_t a;\n", 1),
                ("needs.h", "#pragma once\nextern uint8_t a;\n", 0),
                ("private.h", '#pragma once\n#include "libbcs/fabric/base/log.h"\n', 0),
                ("twice.h", "struct a { int b; };\n", 0),
            ):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(body)
                said = check_headers.problem([folder], name, compiler)
                self.assertEqual(said is None, bool(is_good), said)

    def test_what_a_header_declares_is_read(self):
        text = ("/** One. */\nstruct one {\n    int a, b[2]; /* c; */\n    const char *d;\n};\n"
                "enum two {\n    X, /* first */\n    Y = 4,\n};\n#define THREE(x) \\\n    x;\n"
                "typedef int (*four)(void);\nBCS_PUBLIC int five(struct one *one)\n"
                "    __attribute__((cold));\nstatic inline int six(void)\n{\n    return 1;\n}\n")
        interface = check_abi.Interface(text, ["SEVEN", "HEADER_H"])
        self.assertEqual(interface.members(interface.structs["one"]), ["a", "b", "d"])
        self.assertEqual(interface.declared(),
                         ["type int (*four)(void)", "prototype int five(struct one *one)"])
        program = interface.program()
        for wanted in ("offsetof(struct one, b)", "(long long)Y)", "(long long)(SEVEN)"):
            self.assertIn(wanted, program)
        self.assertNotIn("HEADER_H", program)

    def test_a_struct_that_is_not_understood_is_refused(self):
        with self.assertRaises(SystemExit):
            check_abi.Interface("struct a {\n    struct b {\n    int c;\n    } d;\n};\n", [])

    def test_an_interface_that_has_changed_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "table"
            for was, now, is_writing, result in (
                (None, "a 1\n", False, 1),
                (None, "a 1\n", True, 0),
                ("a 1\n", "a 1\n", False, 0),
                ("a 1\n", "a 2\n", False, 1),
            ):
                path.unlink(missing_ok=True)
                if was is not None:
                    path.write_text(was, encoding="utf-8")
                with mock.patch.object(check_abi, "table", return_value=now), \
                        contextlib.redirect_stdout(io.StringIO()):
                    rc = check_abi.main(is_writing, path, "", "", "0.1.0", "cc")
                self.assertEqual(rc, result, (was, now))
                if is_writing:
                    self.assertEqual(path.read_text(encoding="utf-8"), now)

    def test_an_edge_that_nobody_uses_is_found(self):
        edges = {"mds": ["libbcs/fabric/ring", "libbcs/api/message/p2p.h"], "libbcs/fabric/ring": []}
        sources = [
            lint.Source("mds/a.c", '#include "libbcs/fabric/ring/port.h"\n'),
            lint.Source("libbcs/fabric/ring/a.c", '#include "libbcs/api/message/p2p.h"\n'),
        ]
        with mock.patch.object(lint, "INCLUDE_EDGES", {**edges, "libbcs/api": []}):
            found = list(lint.check_edges_used(sources))
        self.assertEqual(len(found), 1, found)
        self.assertIn("nobody in mds includes libbcs/api/message/p2p.h", found[0])

    def folder_circles_found(self, edges, everybody=()):
        with mock.patch.object(lint, "INCLUDE_EDGES", edges), \
                mock.patch.object(lint, "EVERYBODY", list(everybody)):
            return list(lint.check_folder_circles([]))

    def test_a_circle_of_folders_in_the_table_is_found(self):
        edges = {"mds": ["libbcs/fabric/ring/port.h"], "libbcs/fabric/ring": ["libbcs/fabric/core"],
                 "libbcs/fabric/core": [], "apps": None, "tests": ["libbcs", "mds"]}
        self.assertEqual(self.folder_circles_found(edges), [])
        up = {**edges, "libbcs/fabric/core": ["mds/mmds.h"]}
        three = ["a circle of folders: libbcs/fabric/core, libbcs/fabric/ring, mds"]
        self.assertEqual(self.folder_circles_found(up), three)
        self.assertEqual(self.folder_circles_found(edges, ["mds/collect.h"]), three)
        down = {**edges, "libbcs/fabric/base": []}
        self.assertEqual(self.folder_circles_found(down, ["libbcs/fabric/base"]), [])

    def test_a_circle_of_folders_by_calls_is_found(self):
        def found(table, known=()):
            return list(check_calls.check_folder_circles(table, known))

        edges = {"mds": ["libbcs/fabric/ring"], "libbcs/fabric/ring": ["libbcs/fabric/core"], "libbcs/fabric/base": []}
        self.assertEqual(found(edges), [])
        up = {**edges, "libbcs/fabric/core": ["mds"]}
        all_three = {"mds", "libbcs/fabric/ring", "libbcs/fabric/core"}
        self.assertEqual(
            found(up), ["a circle of folders: libbcs/fabric/core, libbcs/fabric/ring, mds"]
        )
        self.assertEqual(found(up, [all_three]), [])
        self.assertIn("no circle any more", found(edges, [all_three])[0])
        self.assertEqual(
            found({**edges, "libbcs/fabric/base": ["mds"]}),
            ["a circle of folders: libbcs/fabric/base, libbcs/fabric/ring, mds"],
        )

    def circles_found(self, known, *includes):
        sources = [
            lint.Source(f"mds/{by}", f'#include "mds/{to}"\n') for by, to in includes
        ]
        with mock.patch.object(lint, "KNOWN_CIRCLES", known):
            return list(lint.check_circles(sources))

    def test_a_circle_of_files_is_found(self):
        own = ("a.c", "a.h"), ("b.c", "b.h"), ("b.c", "a.h")
        self.assertEqual(self.circles_found([], *own), [])
        two = [*own, ("a.c", "b.h")]
        self.assertEqual(
            self.circles_found([], *two), ["a circle of includes: mds/a, mds/b"]
        )
        three = [("a.h", "b.h"), ("b.h", "c.h"), ("c.c", "a.h"), ("d.c", "a.h")]
        self.assertEqual(
            self.circles_found([], *three), ["a circle of includes: mds/a, mds/b, mds/c"]
        )

    def test_a_known_circle_may_only_shrink(self):
        two = [("a.c", "b.h"), ("b.c", "a.h")]
        self.assertEqual(self.circles_found([{"mds/a", "mds/b"}], *two), [])
        more = [*two, ("b.c", "c.h"), ("c.c", "a.h")]
        grown = self.circles_found([{"mds/a", "mds/b"}], *more)
        self.assertIn("a circle of includes: mds/a, mds/b, mds/c", grown)
        gone = self.circles_found([{"mds/a", "mds/b"}], two[0])
        self.assertEqual(len(gone), 1, gone)
        self.assertIn("no circle any more", gone[0])

    def test_a_name_that_stands_twice_is_found(self):
        def found(*paths):
            return list(lint.check_names([lint.Source(path, "") for path in paths]))

        self.assertEqual(found("mds/a.c", "mds/tool/b.c", "libbcs/include/bcs/c.h", "mds/c.h"), [])
        self.assertEqual(found("apps/sage/a.c", "mds/a.c", "tests/unit/a.c"), [])
        self.assertEqual(found("apps/tools/top/a.c", "mds/a.c"),
                         ["several files are called a.c: apps/tools/top/a.c, mds/a.c"])

    def test_the_symbols_of_objects_are_read(self):
        lines = "a.o: f T 0 1", "a.o: g U         ", "a.o: h t 10 2", "b.o: i D 0 8"
        self.assertEqual(
            check_calls.read_symbols("\n".join(lines)),
            {"a.o": ({"f"}, {"g"}), "b.o": ({"i"}, set())},
        )

    def test_a_call_between_folders_is_found(self):
        objects = {"mds/a.c": ({"a"}, {"b", "c"}), "libbcs/fabric/base/b.c": ({"b"}, set())}
        self.assertEqual(list(check_calls.check_edges(objects, {"mds": []})), [])
        objects["libbcs/api/c.c"] = ({"c"}, {"b"})
        found = list(check_calls.check_edges(objects, {"mds": []}))
        self.assertEqual(found, ["mds/a.c: must not use c of libbcs/api/c.c"])
        table = {"mds": ["libbcs/api", "libbcs/fabric/ring"]}
        found = list(check_calls.check_edges(objects, table))
        self.assertEqual(found, ["nobody in mds uses libbcs/fabric/ring: shorten the table"])

    def test_a_circle_of_calls_is_found(self):
        objects = {"mds/a.c": ({"a"}, {"b"}), "mds/b.c": ({"b"}, {"c"})}
        self.assertEqual(list(check_calls.check_circles(objects, [])), [])
        objects["mds/c.c"] = ({"c"}, {"a", "c"})
        all_three = set(objects)
        found = list(check_calls.check_circles(objects, []))
        self.assertEqual(found, ["a circle of calls: mds/a.c, mds/b.c, mds/c.c"])
        self.assertEqual(list(check_calls.check_circles(objects, [all_three])), [])
        objects["mds/c.c"] = ({"c"}, set())
        found = list(check_calls.check_circles(objects, [all_three]))
        self.assertEqual(len(found), 1, found)
        self.assertIn("no circle any more", found[0])

    def test_a_call_of_the_system_is_found(self):
        objects = {"mds/a.c": ({"a"}, {"fork", "free"}), "mpi_shim/b.c": (set(), {"fork"})}
        found = list(check_calls.check_system(objects, {"fork": ["mpi_shim", "libbcs/api"]}))
        self.assertEqual(
            found,
            [
                "mds/a.c: must not use fork",
                "nobody in libbcs/api uses fork: shorten the table",
            ],
        )

    def test_what_has_a_home_is_found_elsewhere(self):
        table = check_calls.SYSTEM_CALLS
        for name in (
            "clock_gettime", "clock_nanosleep", "dl_iterate_phdr", "dlopen", "dlsym", "execv", "exit", "fork", "ftruncate64",
            "nanosleep", "pthread_atfork", "pthread_setaffinity_np", "pthread_sigmask",
            "sched_getaffinity", "sched_yield", "setenv", "sigprocmask", "sleep", "usleep",
            "waitpid",
        ):
            self.assertIn(name, table)
        for name, homes in table.items():
            objects = {f"{home}/a.c": (set(), {name}) for home in homes}
            objects["libbcs/fabric/ring/a.c"] = (set(), {name})
            found = list(check_calls.check_system(objects, {name: homes}))
            self.assertEqual(found, [f"libbcs/fabric/ring/a.c: must not use {name}"])

    def test_writable_data_of_objects_are_read(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(
                    "int zero, set = 1;\nextern int elsewhere;\n"
                    "static _Thread_local int of_thread, set_of_thread = 2;\n"
                    "int *pointer = &zero;\nint *const constant_pointer = &zero;\n"
                    "const int constant = 3;\nconst char *const names[] = {\"a\"};\n"
                    "int f(void)\n{\n    static int in_function;\n    return "
                    "in_function++ + elsewhere + of_thread++ + set_of_thread++;\n}\n"
                )
            for option in "-fPIC", "-fno-pic", "-fcommon", "-fdata-sections":
                subprocess.run(["cc", option, "-c", "a.c"], cwd=folder, check=True)
                text = check_calls.run_nm(folder, ["a.o"], "-f", "sysv")
                self.assertEqual(
                    {path: sorted(v) for path, v in check_globals.read_variables(text).items()},
                    {"a.o": ["in_function", "of_thread", "pointer", "set", "set_of_thread",
                             "zero"]},
                    option,
                )

    def test_a_variable_of_the_process_is_found(self):
        table = {"mds/a.c": {"allowed": "its reason"}}
        variables = {"mds/a.c": ["allowed"], "mds/b.c": []}
        self.assertEqual(list(check_globals.check_variables(variables, table)), [])
        variables["mds/b.c"] = ["allowed", "was_called"]
        found = list(check_globals.check_variables(variables, table))
        self.assertEqual(len(found), 2, found)
        self.assertIn("mds/b.c: allowed lives as long as the process", found[0])
        self.assertIn("mds/b.c: was_called lives as long as the process", found[1])

    def test_a_variable_that_is_gone_is_found(self):
        table = {"mds/a.c": {"gone": "its reason"}}
        found = list(check_globals.check_variables({"mds/a.c": []}, table))
        self.assertEqual(found, ["mds/a.c has no gone: shorten the table"])

    def test_the_lists_of_paths_are_read(self):
        text = ("## One\n1. `no/path.c`\n## Path: a send\nDown:\n1. `a/a.c`: first\n"
                "2. `a/b.c`, by the table in `a/t.c`: second\nUp:\n1. `a/c.c`\n## Next\n"
                "1. `no/path.c`\n")
        self.assertEqual(
            check_paths.lists_of(text),
            [
                ("a send", [("a/a.c", None), ("a/b.c", "a/t.c")]),
                ("a send", [("a/c.c", None)]),
            ],
        )

    def test_a_path_that_nobody_takes_is_found(self):
        edges = {("a", "b"), ("b", "c"), ("t", "d")}

        def found(*steps):
            return list(check_paths.check_list("it", steps, edges))

        self.assertEqual(found(("a", None), ("b", None), ("c", None), ("d", "t")), [])
        self.assertEqual(
            found(("a", None), ("c", None)), ["it: nobody before it calls c"]
        )
        self.assertEqual(
            found(("a", None), ("b", "t")), ["it: t does not name what is in b"]
        )
        upwards = found(("b", None), ("a", None))
        self.assertIn("it: a calls b, which stands before it", upwards)

    def test_a_file_that_is_not_there_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            text = "see `a/b.c` and `b.c`"
            self.assertEqual(list(check_paths.check_files(text, root)), ["there is no a/b.c"])

    def test_build_folders_are_left_out(self):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("src", "build/meson-private", ".git", ".ci"):
                os.makedirs(os.path.join(root, folder))
            for path in ("src/a.c", "build/b.c", ".git/c.c", ".ci/run", "d.dat"):
                open(os.path.join(root, path), "w", encoding="utf-8").close()
            self.assertEqual(sorted(lint.find_files(root)), [".ci/run", "src/a.c"])


if __name__ == "__main__":
    unittest.main()
