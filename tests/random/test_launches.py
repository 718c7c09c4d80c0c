#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What run_random.py launches: in which modes, and with how many ranks."""

import unittest

import run_random  # makes modes importable
import modes

DEFAULT = "demand-inline-one-direct-eager"
SIZES = {8, 4, 2, 5, 16}


def launches(*words):
    """Mode and number of ranks of each launch."""
    planned = run_random.launches_of(run_random.parse_arguments(words))
    return [(launch.mode, launch.n_ranks) for launch in planned]


def carried(*words):
    return [launch for launch in launches(*words) if launch[0] != run_random.NATIVE]


def sizes_by_mode(planned):
    sizes = {}
    for mode, n_ranks in planned:
        sizes.setdefault(mode, set()).add(n_ranks)
    return sizes


class LaunchesTest(unittest.TestCase):
    def test_many_seeds_run_in_all_modes(self):
        for first in ("1", "77", "20001"):
            planned = launches("--first", first, "--seeds", "28600", "--per-launch", "100")
            self.assertEqual(len(planned), 286)
            self.assertEqual({mode for mode, _ in planned},
                             {run_random.NATIVE, *modes.ALL})

    def test_what_runs_by_default_has_the_default_mode_first(self):
        for first in range(1, 3026, 25):
            planned = launches("--first", str(first))
            names = [mode for mode, _ in planned]
            self.assertEqual(names[:2], [run_random.NATIVE, DEFAULT])
            self.assertEqual(len(set(names)), 12)
            self.assertEqual({n_ranks for _, n_ranks in planned}, SIZES)

    def test_no_mode_is_twice_before_all_were_once(self):
        planned = carried("--seeds", "6550")
        self.assertEqual(len(planned), len(modes.ALL))
        self.assertEqual({mode for mode, _ in planned}, set(modes.ALL))

    def test_a_mode_runs_with_several_numbers_of_ranks(self):
        words = ("--native-every", "0", "--per-launch", "1")
        sizes = sizes_by_mode(launches("--seeds", str(2 * len(modes.ALL)), *words))
        self.assertEqual(set(sizes), set(modes.ALL))
        self.assertEqual({len(numbers) for numbers in sizes.values()}, {2})
        for patterns in ("*", "one-direct", "demand-inline-one-*-eager", "*-least",
                         "demand-inline-one-*-eager,demand-inline-nodes1-*-eager"):
            n = 5 * len(modes.select(patterns))
            sizes = sizes_by_mode(launches("--modes", patterns, "--seeds", str(n), *words))
            self.assertEqual(set(sizes), set(modes.select(patterns)))
            for numbers in sizes.values():
                self.assertEqual(numbers, SIZES)

    def test_native_launches_have_all_numbers_of_ranks(self):
        planned = launches("--seeds", "1500")
        natively = [n for mode, n in planned if mode == run_random.NATIVE]
        self.assertEqual(natively, [8, 4, 2, 5, 16])

    def test_the_default_mode_runs_only_if_it_is_chosen(self):
        planned = carried("--modes", "timed-*")
        self.assertEqual(len(planned), 11)
        self.assertNotIn(DEFAULT, dict(planned))

    def test_only_native_launches(self):
        self.assertEqual(launches("--seeds", "50", "--native-every", "1"),
                         [(run_random.NATIVE, 8), (run_random.NATIVE, 4)])


if __name__ == "__main__":
    unittest.main()
