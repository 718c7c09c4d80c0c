# SPDX-License-Identifier: BSD-3-Clause
"""The modes of BCS that tests run in: one table of what can be chosen, names for all
combinations, and small sets of combinations that stand for all.

Used by job.py and the runners. A mode's name is its values joined by "-", without those of
UNNAMED.
"""

import fnmatch
import itertools
import random

# What can be chosen, each value with the variables that it sets. The first value of a
# dimension is the usual one.
DIMENSIONS = {
    "strobe": {
        "demand": {},
        # Shorter slices than the usual ones: a blocking call takes at least one.
        "timed": {"BCS_STROBE": "timed", "BCS_SLICE": "100us"},
    },
    "driver": {"inline": {}, "threads": {"BCS_DRIVER": "threads"}},
    "nodes": {
        "one": {},
        "nodes1": {"BCS_NODE_RANKS": "1"},
        # With short chunks, so that the same messages take many slices.
        "nodes2": {"BCS_NODE_RANKS": "2", "BCS_CHUNK": "48k", "BCS_EAGER_LIMIT": "4k"},
    },
    "copy": {"direct": {"BCS_COPY": "direct"}, "pooled": {"BCS_COPY": "pooled"}},
    "buffering": {"eager": {}, "none": {"BCS_BUFFERING": "none"}},
    # What nodes put to each other: at once, or as late as a network may be; or the nodes are on
    # machines, played on this one: two that the ranks are dealt to in turn, or three with unequal
    # numbers of ranks.
    "arrival": {
        "prompt": {},
        "late": {"BCS_DEFER": "1"},
        "far": {"BCS_FAR": "2", "BCS_FAR_MAP": "cyclic"},
        "uneven": {"BCS_FAR": "3", "BCS_FAR_MAP": "uneven"},
    },
    # Rings, batches and blocks as small as they may be: all of them become full. Not with
    # timed strobes, where a slice would carry out next to nothing: every message took some.
    "sizes": {"usual": {}, "least": {"BCS_LIMITS": "least"}},
}
UNNAMED = {"prompt", "usual"}
# What does not go together: a node alone puts nothing.
EXCLUDED = ({"one", "late"}, {"one", "far"}, {"timed", "least"})
# Patterns of all modes with usual sizes, but for those of a few tests.
USUAL = "*-eager,*-none,*-late,*-far"
VALUES = [value for values in DIMENSIONS.values() for value in values]

# Orders in which cover() looks for its set, to keep the smallest.
N_TRIES = 20


def name_of(values):
    """The name of the mode with these values, one of each dimension."""
    return "-".join(value for value in values if value not in UNNAMED)


def values_of(name):
    """A mode's values, one of each dimension; the first where a name has none."""
    words = name.split("-")
    return tuple(
        next((value for value in values if value in words), next(iter(values)))
        for values in DIMENSIONS.values()
    )


def has_buffering(name):
    """Whether a mode buffers what programs may not rely on but do."""
    return not {"none", "least"} & set(values_of(name))


def all_modes():
    """Every mode's name with its variables."""
    modes = {}
    choices = [values.items() for values in DIMENSIONS.values()]
    for values in itertools.product(*choices):
        if any(pair <= {value for value, _ in values} for pair in EXCLUDED):
            continue
        variables = {}
        for _, settings in values:
            variables.update(settings)
        modes[name_of(value for value, _ in values)] = variables
    return modes


ALL = all_modes()


def complete(pattern):
    """A short name, such as nodes1-pooled, with the usual values for what it omits."""
    words = pattern.split("-")
    if not set(words) <= set(VALUES):
        return pattern
    chosen = values_of(pattern)
    return name_of(chosen) if set(words) <= set(chosen) else pattern


def select(patterns):
    """Names of the modes that fit one of the patterns, a text with commas.

    A pattern is as for file names (timed-*-none) or a short name. ValueError if one
    fits no mode.
    """
    chosen = set()
    for pattern in patterns.split(","):
        fitting = fnmatch.filter(ALL, complete(pattern))
        if not fitting:
            values = "; ".join(
                f"{name}: {', '.join(choice)}" for name, choice in DIMENSIONS.items()
            )
            raise ValueError(
                f"no mode fits {pattern!r}; a name has one value of each, joined by "
                f"'-', without usual: {values}"
            )
        chosen.update(fitting)
    return [name for name in ALL if name in chosen]


def taking_turns(names):
    """The modes without one of each two that are equal but for the arrival, by turns.

    So late and far modes add none, and each of the others has such ones that differ in one value.
    """
    at = list(DIMENSIONS).index("arrival")
    chosen = []
    for name in names:
        values = values_of(name)
        n_steps = sum(
            list(choice).index(value)
            for choice, value in zip(DIMENSIONS.values(), values)
            if value not in DIMENSIONS["arrival"]
        )
        equal = [name_of((*values[:at], arrival, *values[at + 1 :]))
                 for arrival in DIMENSIONS["arrival"]]
        equal = [mode for mode in equal if mode in names]
        if name == equal[n_steps % len(equal)]:
            chosen.append(name)
    return chosen


def pairs(case):
    """All pairs of values that a case, a sequence of values, combines."""
    return set(itertools.combinations(enumerate(case), 2))


def cover(cases, seed):
    """A few of the cases that have every pair of values which occurs in any of them.

    Cases are sequences of values. Another seed, a text, gives another set; the same
    seed gives the same one.
    """
    bits = {}  # of each pair: sets as numbers, since each program has a cover of its own
    sets = {
        case: sum(1 << bits.setdefault(pair, len(bits)) for pair in pairs(case))
        for case in cases
    }
    generator = random.Random(seed)
    best = list(cases)
    for _ in range(N_TRIES):
        candidates = generator.sample(list(cases), len(cases))
        missing = (1 << len(bits)) - 1
        chosen = []
        while missing:
            gains = [(sets[case] & missing).bit_count() for case in candidates]
            chosen.append(candidates[gains.index(max(gains))])
            missing &= ~sets[chosen[-1]]
        if len(chosen) < len(best):
            best = chosen
    return [case for case in cases if case in best]


def add_in_turn(parser):
    """The option of of_case()."""
    parser.add_argument("--in-turn", type=int, metavar="N",
                        help="each case in N of the modes, which take turns (default: in all)")


def of_case(names, i, n_modes):
    """The modes that the case of number i runs in: all of the names; or, where cases take turns,
    so many of them, far from each other in the list."""
    if n_modes is None or n_modes >= len(names):
        return names
    stride = len(names) // n_modes
    return [names[(i + k * stride) % len(names)] for k in range(n_modes)]


def listing(names):
    """Text that shows modes with their variables, a mode a line."""
    lines = []
    for name in names:
        settings = [f"{variable}={value}" for variable, value in ALL[name].items()]
        lines.append(" ".join([f"{name:36}", *settings]).rstrip())
    return "\n".join(lines)
