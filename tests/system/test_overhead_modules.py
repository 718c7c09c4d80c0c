#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what of bcs-overhead needs no scipy: the file of a result and everything that can be
wrong with it, what a run is made of and how it goes on, and which samples are marked.

Arguments: the folders of the modules.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path[:0] = sys.argv[1:]
del sys.argv[1:]

import bcs_overhead_machine as machine  # noqa: E402
import bcs_overhead_plan as plan  # noqa: E402
import bcs_overhead_result as result_file  # noqa: E402
import bcs_overhead_run as run_module  # noqa: E402
import bcs_overhead_samples as samples  # noqa: E402
import overhead_results  # noqa: E402
from bcs_jobs import BenchError  # noqa: E402

HEAD = ('{"overhead":"head","experiment":"exchange","ranks":2,"mpi":"MPI \\"1\\"",'
        '"wtick_ns":1,"clock_ns":1,"coordinates":["length"]}')
OUTPUT = "\n".join([
    "a line of the launcher", HEAD,
    '{"overhead":"places","when":"begin","hosts":["a","a"],"cpus":[0,1]}',
    '{"overhead":"point","at":[0]}', '{"overhead":"trip","ns":90.5}',
    '{"overhead":"sample","point":0,"round":-1,"ns":500.0,"units":10,'
    '"counted":[1,2,3,4,5,6,7]}',
    '{"overhead":"sample","point":0,"round":0,"ns":400.0,"units":10,'
    '"counted":[0,0,0,0,0,0,0]}',
    '{"overhead":"places","when":"end","hosts":["a","a"],"cpus":[0,1]}',
    '{"overhead":"end","wrong":0}', ""])


class Files(unittest.TestCase):
    """What is read is a whole result, or one line of error."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "result.json"
        self.result = overhead_results.result_make(n_repetitions=1,
                                                   names=["exchange", "clock"])

    def error_of(self, text):
        """The error that a file with this text gives; None if it is read."""
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        try:
            result_file.result_read(self.path)
        except BenchError as error:
            self.assertNotIn("\n", str(error))
            self.assertIn(str(self.path), str(error))
            return str(error)
        return None

    def test_what_was_written_is_read(self):
        result_file.result_write(self.path, self.result)
        self.assertEqual(result_file.result_read(self.path), self.result)
        self.assertEqual(os.listdir(self.folder), ["result.json"])

    def test_a_file_that_is_cut_short_is_refused(self):
        text = json.dumps(self.result)
        for length in range(0, len(text) - 1, 97):
            self.assertIn("damaged", self.error_of(text[:length]))

    def test_foreign_files_are_refused(self):
        for text in ("[]", "1", "{}", '{"format":"other"}', '"bcs-overhead"', b"\xff\xfe",
                     "[" * 100000, "nonsense", '{"a":NaN}', "1" * 5000):
            self.assertIn("no result of bcs-overhead", self.error_of(text))
        with self.assertRaisesRegex(BenchError, "No such file"):
            result_file.result_read(self.folder / "nothing")

    def test_another_version_is_refused(self):
        for version in (1, 2, "3", None, 1.5):
            self.assertIn("allowed is 3", self.error_of(
                json.dumps({**self.result, "version": version})))

    def test_wrong_parts_are_named(self):
        def damage(change):
            broken = json.loads(json.dumps(self.result))
            change(broken)
            return self.error_of(json.dumps(broken)) or "read"

        run = "runs[0]"
        for change, words in (
                (lambda r: r.pop("machine"), "machine is missing"),
                (lambda r: r["runs"][0].pop("samples"), f"{run}.samples is missing"),
                (lambda r: r["runs"][0]["samples"]["ns"].pop(), "different lengths"),
                (lambda r: r["runs"][0]["samples"]["ns"].__setitem__(0, "1"),
                 f"{run}.samples.ns[0] is not a number"),
                (lambda r: r["runs"][0]["samples"]["ns"].__setitem__(0, -1),
                 "samples.ns: allowed are 0 to 1000000000000000000"),
                (lambda r: r["runs"][0]["samples"]["ns"].__setitem__(0, 2e18), "are 0 to"),
                (lambda r: r["runs"][0]["samples"]["units"].__setitem__(0, 0), "are 1 to"),
                (lambda r: r["runs"][0]["trips_ns"].__setitem__(0, -1), "trips_ns: allowed"),
                (lambda r: r["runs"][0]["points"].__setitem__(0, [-1]), "points: allowed"),
                (lambda r: r["runs"][0]["samples"]["point"].__setitem__(0, 99), "no such"),
                (lambda r: r["runs"][0]["points"].__setitem__(0, [1, 2]), "coordinates"),
                (lambda r: r["runs"][0].__setitem__("side", "x"), "not in the plan"),
                (lambda r: r["runs"][0].__setitem__("ranks", 3), "its job has 2"),
                (lambda r: r["runs"][0].__setitem__("experiment", "clock"), "its job has"),
                (lambda r: r["runs"][0].__setitem__("coordinates", ["x"]),
                 "allowed for exchange are length"),
                (lambda r: r["runs"][0].__setitem__("failure", "x"), "since it failed"),
                (lambda r: r["plan"]["jobs"][0].__setitem__("experiment", "x"),
                 "jobs[0].experiment: allowed are clock"),
                (lambda r: r["runs"][0].__setitem__("ranks", True), "not a whole number"),
                (lambda r: r["runs"][0].__setitem__("load", []), "no object"),
                (lambda r: r.__setitem__("runs", {}), "runs is no list"),
                (lambda r: r["sides"].append(r["sides"][0]), "each its own"),
                (lambda r: r.__setitem__("is_complete", 1), "not true or false")):
            self.assertIn(words, damage(change))
        self.assertIn("not a number", self.error_of(
            json.dumps(self.result).replace('"seconds": 1.0', '"seconds": 1e999')))

    def test_random_damage_never_gets_through_as_another_error(self):
        text = json.dumps(self.result).encode()
        chance = random.Random(1)
        for _ in range(300):
            broken = bytearray(text)
            for _ in range(chance.randint(1, 4)):
                broken[chance.randrange(len(broken))] = chance.choice(b'0129-.eE"{}[],:atn ')
            self.error_of(bytes(broken))

    def test_a_write_that_fails_leaves_the_file(self):
        self.path.write_text("before", encoding="utf-8")
        with mock.patch("os.replace", side_effect=OSError(28, "No space left")):
            with self.assertRaisesRegex(BenchError, "No space left"):
                result_file.file_replace(self.path, "after")
        self.assertEqual(self.path.read_text(encoding="utf-8"), "before")
        self.assertEqual(os.listdir(self.path.parent), [self.path.name])

    def test_no_other_file_is_written_over(self):
        for name in (f"{self.path}.new", f"{self.path}.{os.getpid()}.part"):
            Path(name).write_text("precious", encoding="utf-8")
        with self.assertRaisesRegex(BenchError, "File exists"):
            result_file.file_replace(self.path, "after")
        for name in (f"{self.path}.new", f"{self.path}.{os.getpid()}.part"):
            self.assertEqual(Path(name).read_text(encoding="utf-8"), "precious")


class Output(unittest.TestCase):
    """What overhead_measure prints."""

    def test_lines_become_columns(self):
        found = run_module.output_read(OUTPUT)
        self.assertEqual(found["mpi"], 'MPI "1"')
        self.assertEqual(found["trips_ns"], [90.5])
        self.assertEqual(found["points"], [[0]])
        self.assertEqual(found["samples"]["round"], [-1, 0])
        self.assertEqual(found["samples"]["switches"], [7, 0])

    def test_output_that_is_not_whole_is_refused(self):
        lines = OUTPUT.splitlines()
        for kept in (lines[:-1], lines[:6] + lines[-1:], []):
            with self.assertRaisesRegex(BenchError, "ends too early"):
                run_module.output_read("\n".join(kept))
        with self.assertRaisesRegex(BenchError, "damaged"):
            run_module.output_read(OUTPUT.replace('"ns":400.0', '"ns":'))
        with self.assertRaisesRegex(BenchError, "without 'ns'"):
            run_module.output_read(OUTPUT.replace('"ns":400.0,', ""))


class Runs(unittest.TestCase):
    """Which jobs are run, and what is kept of them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "result.json")
        self.jobs = [plan.Job(name, name, "exchange", "exchange", 2, ("--rounds", "1"))
                     for name in ("a", "b")]
        self.sides = [plan.RunSide(name, name, ("launch", name, "{n}"), {})
                      for name in ("x", "y")]
        self.launched = []

    def options(self, **more):
        usual = {"version": "1", "quick": True, "repetitions": 2, "seed": 1, "inject": [],
                 "resume": False, "timeout": 9, "libraries": []}
        return types.SimpleNamespace(**{**usual, **more})

    def measure(self, n_before_death=None, output=OUTPUT, failure=None, **options):
        """The result of all jobs; the process is ended by a signal before one of them."""

        def job_output(command, _settings, _timeout):
            if len(self.launched) == n_before_death:
                raise KeyboardInterrupt
            self.launched.append(command)
            return output, failure

        with mock.patch.object(run_module, "job_output", job_output), \
                contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                return run_module.all_measure(self.path, self.jobs, self.sides,
                                              self.options(**options))
            finally:
                self.said = said.getvalue()

    def test_sides_take_turns(self):
        result = self.measure()
        self.assertEqual([command[1] for command in self.launched],
                         ["x", "y", "x", "y", "y", "x", "y", "x"])
        self.assertEqual(self.launched[0], ["launch", "x", "2", "exchange", "--rounds", "1"])
        self.assertTrue(result["is_complete"])
        self.assertEqual(result["runs"][0]["arguments"], ["--rounds", "1"])
        self.assertEqual(result_file.result_read(self.path), result)
        self.assertIn("[8/8] b, x, repetition 2 of 2", self.said)

    def test_an_interrupted_run_goes_on_where_it_was(self):
        for n_before in (0, 3, 5):
            with self.assertRaises(KeyboardInterrupt):
                self.measure(n_before, resume=True)
            kept = result_file.result_read(self.path)
            self.assertEqual(len(kept["runs"]), n_before)
            self.assertFalse(kept["is_complete"])
        whole = self.measure(resume=True)
        self.assertEqual(len(self.launched), 8)
        self.assertEqual(len({(run["job"], run["side"], run["repetition"])
                              for run in whole["runs"]}), 8)
        self.assertTrue(whole["is_complete"])

    def test_a_file_that_is_there_is_not_overwritten(self):
        self.measure()
        with self.assertRaisesRegex(BenchError, "--resume"):
            self.measure()
        for change in ({"seed": 2}, {"repetitions": 3}):
            with self.assertRaisesRegex(BenchError, "plan differ"):
                self.measure(resume=True, **change)
        with self.assertRaisesRegex(BenchError, r"\(bcs differ"):
            self.measure(resume=True, version="2")
        for part in ("kernel", "cpus", "processor"):
            with mock.patch.object(run_module, "machine_describe",
                                   lambda: {**machine.machine_describe(), part: "other"}), \
                    self.assertRaisesRegex(BenchError, rf"\({part} differ"):
                self.measure(resume=True)
        with mock.patch.dict(os.environ, {"OMPI_MCA_btl": "self"}), \
                self.assertRaisesRegex(BenchError, r"\(sides differ"):
            self.measure(resume=True)

    def test_a_run_does_not_go_on_with_other_programs(self):
        program, library = self.path + ".program", self.path + ".so"
        self.sides = [plan.RunSide("x", "x", (program, "{n}"), {})]
        for path in (program, library):
            Path(path).write_text("one", encoding="utf-8")
            os.chmod(path, 0o755)
        kept = self.measure(libraries=[library])["versions"]
        self.assertEqual(self.measure(resume=True, libraries=[library])["versions"], kept)
        for path, name in ((program, r"x: result\.json\.program"), (library, r"result\.json\.so")):
            Path(path).write_text("other", encoding="utf-8")
            with self.assertRaisesRegex(BenchError, rf"\({name} differ"):
                self.measure(resume=True, libraries=[library])
            Path(path).write_text("one", encoding="utf-8")

    def test_two_do_not_write_to_one_file(self):
        with run_module.file_claimed(self.path):
            with self.assertRaisesRegex(BenchError, "another bcs-overhead"):
                self.measure()
        self.assertTrue(self.measure()["is_complete"])

    def test_a_job_that_fails_is_kept_as_failed(self):
        result = self.measure(failure="status 1: wrong")
        self.assertEqual({run["failure"] for run in result["runs"]}, {"status 1: wrong"})
        self.assertIn("status 1: wrong", self.said)
        self.assertEqual(result_file.result_read(self.path), result)
        os.remove(self.path)
        damaged = self.measure(output=OUTPUT.replace('"units":10', '"units":0'))
        self.assertIn("allowed are 1 to", damaged["runs"][0]["failure"])
        os.remove(self.path)
        other = self.measure(output=OUTPUT.replace('"ranks":2', '"ranks":3'))
        self.assertIn("its job has 2", other["runs"][0]["failure"])
        self.assertEqual(result_file.result_read(self.path), other)

    def test_a_slow_down_goes_to_its_experiment(self):
        self.measure(inject=[("exchange", 10.0)])
        self.assertEqual(self.launched[0][-2:], ["--slow", "10.0"])
        self.launched.clear()
        os.remove(self.path)
        self.measure(inject=[("barrier", 10.0)])
        self.assertNotIn("--slow", self.launched[0])

    def test_a_program_that_is_not_there_is_a_failure(self):
        output, failure = run_module.job_output(["/nowhere/at/all"], {}, 5)
        self.assertEqual((output, failure), ("", "/nowhere/at/all: No such file or directory"))
        self.assertEqual(run_module.job_output(["sh", "-c", "echo no >&2; exit 3"], {}, 5)[1],
                         "status 3: no")
        self.assertEqual(run_module.job_output(["sleep", "60"], {}, 0.1)[1], "no end in 0.1 s")


class Plans(unittest.TestCase):
    """Jobs and words of the command line."""

    def test_jobs_have_names_of_their_own(self):
        pairs = {"one-cpu": (0, 0), "one-cache": (0, 1)}
        for scale, n_ranks in ((plan.FULL, 8), (plan.QUICK, 4), (plan.FULL, 6)):
            jobs = plan.jobs_all(scale, n_ranks, pairs, 1)
            self.assertEqual(len({job.name for job in jobs}), len(jobs))
            self.assertEqual({job.part for job in jobs}, set(plan.EXPERIMENTS))
            self.assertLessEqual(max(job.n_ranks for job in jobs), n_ranks)
        self.assertEqual({job.part for job in plan.jobs_choose(jobs, ["barrier"])}, {"barrier"})

    def test_sizes_are_powers_of_two(self):
        self.assertEqual(plan.powers_to(2), [2])
        self.assertEqual(plan.powers_to(16), [2, 4, 8, 16])
        self.assertEqual(plan.powers_to(12), [2, 4, 8])

    def test_timed_strobes_have_a_tenth_of_the_rounds_or_matchings(self):
        usual = plan.RunSide("x", "x", ("go", "{n}"), {})
        timed = plan.RunSide("y", "y", ("go", "{n}"), {"BCS_STROBE": "timed"})

        def added(experiment, n_ranks, words):
            job = plan.Job("a", "a", experiment, experiment, n_ranks, words)
            self.assertEqual(usual.launch(job), ["go", str(n_ranks), experiment, *words])
            command = timed.launch(job, ["--slow", "1"])
            self.assertEqual(command[-2:], ["--slow", "1"])
            return command[3 + len(words):-2]

        self.assertEqual(added("barrier", 4, plan.FULL.barrier), ["--rounds", "10"])
        self.assertEqual(added("pingpong", 2, plan.QUICK.line), ["--rounds", "3"])
        self.assertEqual(added("pingpong", 2, plan.QUICK.placement), ["--rounds", "2"])
        self.assertEqual(added("matchings", 4, plan.FULL.matchings),
                         ["--rounds", "1", "--matchings", "25"])
        self.assertEqual(added("memcpy", 1, plan.FULL.memcpy), [])

    def test_a_side_has_the_settings_that_change_what_is_measured(self):
        with mock.patch.dict(os.environ, {"OMPI_MCA_btl": "self", "BCS_SLICE": "1ms",
                                          "HOME": "/"}, clear=True):
            found = plan.RunSide("x", "x", (), {"BCS_SLICE": None, "BCS_COPY": "direct"})
            self.assertEqual(found.described()["settings"],
                             {"OMPI_MCA_btl": "self", "BCS_COPY": "direct"})

    def test_bad_words_name_what_is_allowed(self):
        for parse, word in ((plan.launcher_parse, "name"), (plan.launcher_parse, "a=b c"),
                            (plan.launcher_parse, "a/b=c {n}"), (plan.inject_parse, "x=1"),
                            (plan.inject_parse, "barrier=x"), (plan.inject_parse, "barrier")):
            with self.assertRaisesRegex(plan.argparse.ArgumentTypeError, "allowed is"):
                parse(word)
        self.assertEqual(plan.launcher_parse("a=b -n {n} c"), ("a", ["b", "-n", "{n}", "c"]))
        self.assertEqual(plan.inject_parse("barrier=10"), ("barrier", 10.0))


class Marks(unittest.TestCase):
    """Disturbed samples are marked and counted, and still count."""

    def setUp(self):
        self.result = overhead_results.result_make(level=0, n_repetitions=2,
                                                   names=["exchange", "barrier-8"])

    def mark(self, run, column, place, value=1):
        run["samples"][column][place] = value

    def test_marks_tell_what_was_seen(self):
        run = self.result["runs"][0]
        self.mark(run, "stolen", 20)
        self.mark(run, "preempted", 20)
        self.mark(run, "paged", 21)
        self.mark(run, "interrupts", 22)
        marks = samples.sample_marks(self.result, run)
        self.assertEqual(marks[20:23], [["stolen", "preempted"], ["paged"], []])
        found = samples.disturbance_of(self.result, "native", "exchange")
        self.assertEqual((found.n_any, found.n_samples), (2, 2 * 4 * 17))
        self.assertTrue(found.is_any())

    def test_ranks_that_share_cores_preempt_each_other(self):
        run = self.result["runs"][1]
        self.mark(run, "preempted", 0)
        self.assertEqual(samples.sample_marks(self.result, run)[0], [])
        run = self.result["runs"][0]
        self.mark(run, "preempted", 0)
        self.assertEqual(samples.sample_marks(self.result, run)[0], ["preempted"])
        run["cpus_begin"] = [1, 1]
        self.assertEqual(samples.sample_marks(self.result, run)[0], [])

    def test_the_first_touch_is_kept_apart(self):
        run = self.result["runs"][0]
        usual, first = samples.point_times(run), samples.point_times(run, is_first=True)
        self.assertAlmostEqual(usual[1000,], overhead_results.line_ns(1000))
        self.assertAlmostEqual(first[1000,] / usual[1000,], 2.718, places=3)
        found = samples.disturbance_of(self.result, "native", "exchange")
        self.assertAlmostEqual(found.first_ratio, 2.718, places=3)

    def test_disturbed_samples_still_count(self):
        run = self.result["runs"][0]
        for place in range(len(run["samples"]["ns"])):
            self.mark(run, "stolen", place)
            run["samples"]["ns"][place] *= 3
        self.assertAlmostEqual(samples.point_times(run)[1000,],
                               3 * overhead_results.line_ns(1000))

    def test_failed_runs_are_counted_only(self):
        self.result["runs"][0]["failure"] = "status 1"
        found = samples.disturbance_of(self.result, "native", "exchange")
        self.assertEqual((found.n_launches, found.n_failed), (2, 1))
        self.assertEqual(len(samples.launches_of(self.result, "native", "exchange")[0,]), 1)


class Machines(unittest.TestCase):
    """How the machine is built, and what runs on it."""

    def tree(self, folder):
        """Two sockets of two cores of two threads each; a last cache for each core of the
        first socket, one for the whole second one."""
        root = Path(folder) / "cpu"
        for cpu in range(8):
            core, socket = cpu // 2 * 2, cpu // 4 * 4
            files = {"topology/thread_siblings_list": f"{core}-{core + 1}",
                     "topology/package_cpus_list": f"{socket}-{socket + 3}",
                     "cache/index0/shared_cpu_list": f"{core}-{core + 1}" if cpu < 4
                     else "4-7",
                     "cache/index0/size": "32K", "cache/index0/level": "1",
                     "cache/index0/type": "Data"}
            for name, text in files.items():
                path = root / f"cpu{cpu}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n", encoding="utf-8")
        return root

    def test_each_relation_has_a_pair(self):
        with tempfile.TemporaryDirectory() as folder:
            root = self.tree(folder)
            self.assertEqual(machine.placements(range(8), root),
                             {"one-cpu": (0, 0), "one-core": (0, 1), "one-socket": (0, 2),
                              "two-sockets": (0, 4), "one-cache": (4, 6)})
            self.assertEqual(machine.placements([3], root), {"one-cpu": (3, 3)})
            self.assertEqual([cache["bytes"] for cache in machine.caches_of([0], root)],
                             [32768])

    def test_what_is_told_fits_the_format(self):
        self.assertIsNone(result_file.schema_problem(machine.machine_describe(),
                                                     result_file.MACHINE))
        with mock.patch.object(machine, "bcs_ranks", side_effect=[3, 5]):
            watch = machine.LoadWatch()
            sum(range(1000000))
            load = watch.end()
        self.assertEqual((load["bcs_ranks_elsewhere"], load["bcs_ranks_elsewhere_after"]),
                         (3, 5))
        self.assertIsNone(result_file.schema_problem(load, result_file.LOAD))
        self.assertTrue(0 <= load["others_percent"] <= 100)


class Science(unittest.TestCase):
    """Without scipy there is one line that says what to install."""

    def test_a_missing_library_is_named(self):
        sys.modules.pop("bcs_overhead_science", None)
        with mock.patch.dict(sys.modules, {"numpy": None}):
            with self.assertRaisesRegex(BenchError, "install the package python3-scipy"):
                import bcs_overhead_science  # noqa: F401


if __name__ == "__main__":
    unittest.main()
