#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of modes, and the sets of modes that stand for all."""

import fnmatch
import itertools
import unittest

import run_conformance  # makes modes importable
import modes

PROGRAM = "program"


def plan(*options):
    arguments = run_conformance.parse_arguments([*options, PROGRAM])
    return run_conformance.planned(arguments, PROGRAM)


def cases_of(planned):
    return {
        (n_ranks, *modes.values_of(name))
        for n_ranks, names in planned.items()
        for name in names
    }


class ModesTest(unittest.TestCase):
    def test_all_combinations_have_a_name(self):
        n_values = [len(values) for values in modes.DIMENSIONS.values()]
        self.assertEqual(n_values, [2, 2, 3, 2, 2, 4, 2])
        self.assertEqual(len(modes.ALL), 240)
        self.assertEqual(len(modes.VALUES), len(set(modes.VALUES)))

    def test_a_mode_sets_what_its_values_set(self):
        for name, variables in modes.ALL.items():
            expected = {}
            for values, value in zip(modes.DIMENSIONS.values(), modes.values_of(name)):
                self.assertFalse(set(expected) & set(values[value]))
                expected.update(values[value])
            self.assertEqual(variables, expected)

    def test_no_two_modes_set_the_same(self):
        settings = {tuple(sorted(chosen.items())) for chosen in modes.ALL.values()}
        self.assertEqual(len(settings), len(modes.ALL))

    def test_patterns_select(self):
        self.assertEqual(modes.select("*"), list(modes.ALL))
        self.assertEqual(len(modes.select("timed-*-none")), 12)
        self.assertEqual(len(modes.select("timed-*,demand-threads-*")), 160)
        self.assertEqual(len(modes.select("*,timed-*")), 240)
        self.assertEqual(len(modes.select("demand-*-least")), 80)
        self.assertEqual(len(modes.select("*-late")), 32)
        self.assertEqual(len(modes.select("*-far")), 32)
        self.assertEqual(len(modes.select("*-uneven")), 48)

    def test_short_names_stand_for_the_usual_values(self):
        for short, name in (
            ("one-direct", "demand-inline-one-direct-eager"),
            ("nodes2-pooled", "demand-inline-nodes2-pooled-eager"),
            ("timed", "timed-inline-one-direct-eager"),
            ("none-threads", "demand-threads-one-direct-none"),
            ("least", "demand-inline-one-direct-eager-least"),
            ("usual-nodes1", "demand-inline-nodes1-direct-eager"),
            ("nodes2-late", "demand-inline-nodes2-direct-eager-late"),
        ):
            self.assertEqual(modes.select(short), [name])

    def test_what_fits_nothing_is_refused(self):
        for patterns in ("", "sometimes-*", "one-nodes1", "timed-least", "late", "far",
                         "timed-*,nothing"):
            with self.assertRaisesRegex(ValueError, "no mode fits"):
                modes.select(patterns)


class CoverTest(unittest.TestCase):
    def assert_covers(self, cases, chosen):
        self.assertLessEqual(set(chosen), set(cases))
        have = set().union(*map(modes.pairs, chosen))
        self.assertEqual(have, set().union(*map(modes.pairs, cases)))

    def test_every_pair_of_values_is_in_a_cover(self):
        ranks_chosen = ("4", "2,4", "1,3,5,8")
        patterns_chosen = ("*", modes.USUAL, "demand-*", "demand-inline-*-eager", "one-direct")
        for ranks, patterns in itertools.product(ranks_chosen, patterns_chosen):
            options = ("--ranks", ranks, "--modes", patterns)
            everything = cases_of(plan(*options))
            chosen = cases_of(plan(*options, "--cover"))
            self.assert_covers(everything, chosen)

    def test_a_cover_is_small(self):
        self.assertLessEqual(len(cases_of(plan("--ranks", "2,4", "--cover"))), 10)
        self.assertLessEqual(len(cases_of(plan("--ranks", "1,3,5,8", "--cover"))), 14)

    def test_a_cover_is_the_same_every_time(self):
        self.assertEqual(plan("--cover"), plan("--cover"))

    def test_late_and_far_modes_take_the_place_of_others(self):
        prompt = modes.select("*-eager,*-none")
        chosen = modes.taking_turns(modes.select(modes.USUAL))
        self.assertEqual(
            [name.removesuffix("-late").removesuffix("-far") for name in chosen], prompt
        )
        for arrival in ("late", "far"):
            self.assertGreaterEqual(len(fnmatch.filter(chosen, f"*-{arrival}")), 10)
        self.assertEqual(modes.taking_turns(prompt), prompt)

    def test_covers_of_many_programs_have_all_modes_but_for_turns(self):
        names = modes.select(modes.USUAL)
        chosen = set()
        for number in range(50):
            arguments = run_conformance.parse_arguments(["--cover", f"{PROGRAM}{number}"])
            chosen.update(*run_conformance.planned(arguments, f"{PROGRAM}{number}").values())
        self.assertEqual(chosen, set(modes.taking_turns(names)))

    def test_without_an_option_everything_is_planned(self):
        planned = plan("--ranks", "2,3")
        usual = [name for name in modes.ALL if not {"least", "uneven"} & set(name.split("-"))]
        self.assertEqual(planned, {"2": usual, "3": usual})

    def test_a_program_that_needs_buffering_does_not_run_without(self):
        for options in ([], ["--cover"]):
            names = itertools.chain(*plan("--needs-buffering", *options).values())
            self.assertEqual(fnmatch.filter(names, "*-none"), [])
        self.assertEqual(
            list(filter(modes.has_buffering, modes.select("demand-inline-one-direct-*"))),
            ["demand-inline-one-direct-eager", "demand-inline-one-direct-eager-uneven"],
        )


if __name__ == "__main__":
    unittest.main()
