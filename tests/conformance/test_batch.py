#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of run_conformance.py's batches, with scripts in the place of MPI programs."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

import run_conformance  # makes job importable
import job

# Does with the programs' names what conformance_batch does; alone, it is the program.
# In a job under BCS ("carried") "bad" always fails, "shy" when it is not alone, "odd"
# prints something else, "hung" hangs, "rash" ends the job as if all were over. Natively "wrong"
# always fails, "unlucky" when it is not alone.
SCRIPT = """#!/bin/sh
how=$1; shift 3
alone=yes
[ $# -le 1 ] || alone=no
[ $# -ge 1 ] || set -- "${0##*/}"
for program; do
    [ $alone = yes ] || echo "== $program"
    case $how-$program-$alone in
    carried-bad-*) echo "bad is not true: 3" >&2; exit 3 ;;
    carried-shy-no) exit 4 ;;
    carried-odd-*) echo "odd" ;;
    carried-hung-*) echo "it hangs" >&2; exec sleep 1000 ;;
    carried-rash-*) exit 0 ;;
    carried-late-no) echo "late has passed"; echo "== end"; exit 6 ;;
    native-wrong-*) exit 5 ;;
    native-unlucky*-no) exit 7 ;;
    carried-unlucky_and_odd-*) echo "odd" ;;
    esac
    echo "$program has passed"
done
"""
# Called as: launcher -n RANKS EXECUTABLE PROGRAM...
LAUNCHER = """#!/bin/sh
how=$1; ranks=$3; executable=$4; shift 4
exec "$executable" $how -n $ranks "$@"
"""


finish = job.Job.finish


def finish_soon(one, timeout):
    """Job.finish, which takes one for hung as soon as that says so."""
    one.await_that(lambda: "it hangs" in one.errors_so_far(), timeout)
    return finish(one, 0 if "it hangs" in one.errors_so_far() else timeout)


class BatchTest(unittest.TestCase):
    def setUp(self):
        soon = unittest.mock.patch.object(job.Job, "finish", finish_soon)
        soon.start()
        self.addCleanup(soon.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.make("launch", LAUNCHER)
        self.make("batch", SCRIPT)

    def make(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o755)

    def run_batch(self, *programs, options=()):
        """Problems of the cases in which there are any, by program and mode."""
        for name in programs:
            self.make(name, SCRIPT)
        arguments = run_conformance.parse_arguments(
            [
                *("--launcher", f"{self.folder}/launch carried"),
                *("--native-launcher", f"{self.folder}/launch native"),
                *("--ranks", "2", "--modes", "demand-inline-one-*-eager"),
                *("--batch", f"{self.folder}/batch"),
                *options,
                *programs,
            ]
        )
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            cases = list(run_conformance.run_launches(arguments))
        self.printed = printed.getvalue()
        self.cases = [(case.program, case.mode) for case in cases]
        return {
            case.program: (" ".join(case.problems), case.repeat)
            for case in cases
            if case.problems
        }

    def test_every_program_is_a_case_in_every_mode(self):
        self.assertEqual(self.run_batch("a", "b", "c"), {})
        modes = ["demand-inline-one-direct-eager", "demand-inline-one-pooled-eager"]
        expected = [(name, mode) for mode in modes for name in ("a", "b", "c")]
        self.assertEqual(sorted(self.cases), sorted(expected))

    def test_a_failure_is_its_programs_and_the_others_go_on(self):
        failed = self.run_batch("a", "bad", "b", "odd", "c", "rash", "d")
        self.assertEqual(list(failed), ["bad", "odd", "rash"])
        self.assertEqual(len(self.cases), 14)
        self.assertIn("status 3, bad is not true: 3", failed["bad"][0])
        self.assertIn("alone, too: status 3", failed["bad"][0])
        self.assertTrue(failed["bad"][1].endswith("/bad"))
        self.assertIn("line 1 is 'odd'", failed["odd"][0])
        self.assertIn("status -1", failed["rash"][0])

    def test_a_failure_that_takes_others_is_repeated_with_them(self):
        problems, repeat = self.run_batch("a", "shy", "b")["shy"]
        self.assertIn("status 4", problems)
        self.assertIn("alone: status 0", problems)
        self.assertTrue(repeat.endswith("/batch a shy"))

    def test_the_last_and_only_ones_fail_as_well(self):
        self.assertEqual(list(self.run_batch("a", "bad")), ["bad"])
        self.assertEqual(list(self.run_batch("bad")), ["bad"])

    def test_a_job_that_fails_at_its_end_says_so(self):
        failed = self.run_batch("a", "late")
        self.assertEqual(list(failed), ["late"])
        self.assertTrue(failed["late"][0].startswith("all programs were over status 6"))

    def test_a_hang_is_its_programs(self):
        failed = self.run_batch("a", "hung", "b")
        self.assertEqual(list(failed), ["hung"])
        self.assertIn("hung after", failed["hung"][0])

    def test_what_fails_natively_is_not_run_in_a_mode(self):
        failed = self.run_batch("a", "wrong", "b")
        self.assertEqual(list(failed), ["wrong"])
        self.assertIn("native status 5", failed["wrong"][0])
        self.assertEqual([mode for name, mode in self.cases if name == "wrong"], [None])

    def test_what_fails_natively_among_others_is_compared_with_what_it_prints_alone(self):
        failed = self.run_batch("a", "unlucky", "unlucky_and_odd", "b")
        self.assertEqual(list(failed), ["unlucky_and_odd"])
        self.assertIn("line 1 is 'odd'", failed["unlucky_and_odd"][0])
        self.assertEqual(len(self.cases), 8)
        self.assertIn("natively unlucky, 2 ranks, has failed among others, but not alone, which "
                      "counts: native status 7", self.printed)

    def test_what_programs_print_natively_is_kept_while_they_are_the_same(self):
        keeping = ["--natives", f"{self.folder}/natives"]
        self.assertEqual(self.run_batch("a", "b", options=keeping), {})
        gone = [*keeping, "--native-launcher", "false"]
        self.assertEqual(self.run_batch("a", "b", options=gone), {})
        self.assertEqual(len(self.cases), 4)
        self.assertEqual(list(self.run_batch("a", "odd", options=gone)), ["odd"])
        self.make("batch", f"{SCRIPT}# changed")
        self.assertEqual(list(self.run_batch("a", "b", options=gone)), ["a", "b"])
        self.assertEqual(list(self.run_batch("a", "wrong", options=keeping)), ["wrong"])

    def test_the_line_that_tells_most_is_told(self):
        lines = ["----", "another", "bcs[rank 0]: copy-refused",
                 "bcsrun: mpirun was killed by signal 11", "x is not true: 3"]
        while lines[1:]:
            result = job.Result(1, "", "\n".join(lines), 0)
            self.assertEqual(run_conformance.telling_line(result), lines.pop())
        result = job.Result(1, "", "----\n", 0)
        self.assertEqual(run_conformance.telling_line(result), "nothing on standard error")


if __name__ == "__main__":
    unittest.main()
