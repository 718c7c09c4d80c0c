# SPDX-License-Identifier: BSD-3-Clause
"""Results of bcs-overhead that nobody has measured: their times are known, with the noise
that is put on them. Used by the tests of its modules.

The noise has heavy tails at each level: samples with spikes, launches of which some are
slow for all their life, and what a whole repetition has in common.
"""

import math
import random

MACHINE = {"host": "machine", "processor": "processor", "kernel": "Linux 1",
           "memory_bytes": 2 ** 30, "is_virtual": True, "cpus": [0, 1, 2, 3],
           "cores": [[0], [1], [2], [3]], "packages": [[0, 1, 2, 3]],
           "numa_nodes": [[0, 1, 2, 3]],
           "caches": [{"level": 1, "kind": "Data", "bytes": 32768, "cpus": [0]}],
           "hwloc": None}
LOAD = {"load_average": 0.1, "busy_percent": 50.0, "others_percent": 0.5,
        "stolen_percent": 0.0, "interrupts": 100, "switches": 50, "bcs_ranks_elsewhere": 3,
        "bcs_ranks_elsewhere_after": 5,
        "processes": [{"name": "other", "cpu_seconds": 0.1}], "clock_mhz_before": [2000.0],
        "clock_mhz_after": [2000.0]}
COUNTERS = ("preempted", "waited", "faults", "paged", "stolen", "interrupts", "switches")


def line_ns(length):
    """The time of a message whose formula is known: two lines that meet nowhere."""
    return 300 + 0.05 * length if length <= 8000 else 900 + 0.12 * length


# name: experiment, ranks, coordinates, nanoseconds by point
JOBS = {
    "exchange": ("exchange", 2, ["length"],
                 {(n,): (250 if n == 0 else line_ns(n)) for n in range(0, 16001, 1000)}),
    "pingpong": ("pingpong", 2, ["length"],
                 {(n,): 200 + 0.1 * n for n in range(0, 16001, 1000)}),
    **{f"barrier-{n}": ("barrier", n, ["processes"], {(n,): 400 * math.log2(n) + 100})
       for n in (2, 4, 8)},
    **{f"hypercube-{n}": ("hypercube", n, ["length"],
                          {(m,): math.log2(n) * (300 + 0.1 * m)
                           for m in (0, 4096, 8192)}) for n in (2, 4, 8)},
    **{f"contention-{n}": ("contention", n, ["length"],
                           {(m,): 300 + 0.1 * m * n / 2 for m in (0, 4096, 8192)})
       for n in (2, 4, 8)},
    "matchings-8": ("matchings", 8, ["matching", "length"],
                    {(k, m): 400 + 0.1 * m for k in range(4) for m in (0, 4096, 8192)}),
    "memcpy": ("memcpy", 1, ["length", "source_offset", "target_offset", "fresh"],
               {(65536, 0, 0, 0): 0.04, (128 << 20, 0, 0, 0): 0.09, (65536, 1, 0, 0): 0.06, (65536, 0, 0, 1): 0.2}),
    "clock": ("clock", 1, ["clock", "what"], {(c, w): 20.0 for c in (0, 1)
                                              for w in range(4)}),
}


class Noise:
    """Factors on times, drawn from a seed. level 0 is no noise at all."""

    def __init__(self, seed, level=1.0):
        self.random = random.Random(seed)
        self.level = level

    def heavy(self):
        """Student's t with three degrees of freedom."""
        spread = math.sqrt(sum(self.random.gauss(0, 1) ** 2 for _ in range(3)) / 3)
        return self.random.gauss(0, 1) / max(spread, 1e-9)

    def repetition(self):
        """Logarithm of what a repetition has in common."""
        slow = self.random.uniform(0.05, 0.3) if self.random.random() < 0.015 else 0
        return self.level * (0.005 * self.heavy() + slow)

    def launch(self):
        """Logarithm of what a launch has in common."""
        slow = self.random.uniform(0.05, 0.5) if self.random.random() < 0.03 else 0
        return self.level * (0.01 * self.heavy() + slow)

    def sample(self):
        """Logarithm of a sample's own."""
        spike = self.random.uniform(0.1, 2) if self.random.random() < 0.05 else 0
        return self.level * (0.03 * self.random.gauss(0, 1) + spike)


def run_make(name, repetition, noise, common, slow=0.0, n_rounds=3):
    """A run of a job; slow is the logarithm of an injected factor."""
    experiment, n_ranks, coordinates, times = JOBS[name]
    points = [list(point) for point in times]
    launch = common + noise.launch() + slow
    samples = {column: [] for column in ("point", "round", "ns", "units", *COUNTERS)}
    for number in range(-1, n_rounds):
        for place, ns in enumerate(times.values()):
            first = 1.0 if number == -1 else 0.0
            samples["point"].append(place)
            samples["round"].append(number)
            samples["ns"].append(100 * ns * math.exp(launch + noise.sample() + first))
            samples["units"].append(100)
            for counter in COUNTERS:
                samples[counter].append(0)
    return {"job": name, "side": "native", "repetition": repetition,
            "arguments": [], "begun": "2000-01-01T00:00:00", "seconds": 1.0, "failure": None, "load": LOAD,
            "experiment": experiment, "ranks": n_ranks, "mpi": "MPI 1", "wtick_ns": 1.0,
            "clock_ns": 1, "trips_ns": [100.0, 101.0] if n_ranks == 2 else [],
            "hosts": ["machine"] * n_ranks, "cpus_begin": list(range(n_ranks)),
            "cpus_end": list(range(n_ranks)), "coordinates": coordinates, "points": points,
            "samples": samples}


def result_make(seed=1, level=1.0, n_repetitions=10, slow=None, names=None):
    """A whole result; slow is {experiment: percent}."""
    noise = Noise(seed, level)
    names = list(names or JOBS)
    runs = []
    for repetition in range(n_repetitions):
        common = noise.repetition()
        for name in names:
            percent = (slow or {}).get(JOBS[name][0], 0)
            runs.append(run_make(name, repetition, noise, common,
                                 math.log1p(percent / 100)))
    jobs = [{"name": name, "title": f"title of {name}", "experiment": JOBS[name][0],
             "ranks": JOBS[name][1], "arguments": []} for name in names]
    return {"format": "bcs-overhead", "version": 3, "begun": "2000-01-01T00:00:00",
            "is_complete": True, "machine": MACHINE, "versions": {"bcs": "1"},
            "plan": {"is_quick": False, "repetitions": n_repetitions, "seed": 1,
                     "injected": {}, "jobs": jobs},
            "sides": [{"name": "native", "title": "native", "command": ["bcsrun"],
                       "settings": {}}],
            "runs": runs}
