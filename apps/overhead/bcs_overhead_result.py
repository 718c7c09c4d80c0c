# SPDX-License-Identifier: BSD-3-Clause
"""The file of a result of bcs-overhead: its format, reading with all checks, and writing
so that there is never half a file.

docs/overhead.md describes the format for those who read it by other programs. What is read
is untrusted: whatever is wrong with it is one line of error.
"""

import itertools
import json
import math
import os

from bcs_jobs import BenchError

FORMAT = "bcs-overhead"
VERSION = 3

# The columns of the samples of a run. All have the same length.
COLUMNS = ("point", "round", "ns", "units", "preempted", "waited", "faults", "paged",
           "stolen", "interrupts", "switches")
# How overhead_measure has them behind "counted" in a line.
COUNTED = COLUMNS[4:]

# The most of a time in ns, a length or a number: more than one can measure.
MOST = 10 ** 18

TEXT, FLAG, COUNT, NUMBER = "text", "true or false", "a whole number", "a number"


class Optional:
    """Of a schema: null is allowed, too."""

    def __init__(self, schema):
        self.schema = schema


class Every:
    """Of a schema: an object whose values, under any names, are all of one kind."""

    def __init__(self, schema):
        self.schema = schema


LOAD = {"load_average": NUMBER, "busy_percent": NUMBER, "others_percent": NUMBER,
        "stolen_percent": NUMBER, "interrupts": COUNT, "switches": COUNT,
        "bcs_ranks_elsewhere": COUNT, "bcs_ranks_elsewhere_after": COUNT,
        "processes": [{"name": TEXT, "cpu_seconds": NUMBER}],
        "clock_mhz_before": [NUMBER], "clock_mhz_after": [NUMBER]}
RUN = {"job": TEXT, "side": TEXT, "repetition": COUNT, "arguments": [TEXT], "begun": TEXT,
       "seconds": NUMBER, "failure": Optional(TEXT), "load": Optional(LOAD),
       "experiment": TEXT, "ranks": COUNT, "mpi": TEXT, "wtick_ns": NUMBER,
       "clock_ns": NUMBER, "trips_ns": [NUMBER], "hosts": [TEXT], "cpus_begin": [COUNT],
       "cpus_end": [COUNT], "coordinates": [TEXT], "points": [[COUNT]],
       "samples": {column: [NUMBER] for column in COLUMNS}}
SIDE = {"name": TEXT, "title": TEXT, "command": [TEXT], "settings": Every(TEXT)}
JOB = {"name": TEXT, "title": TEXT, "experiment": TEXT, "ranks": COUNT,
       "arguments": [TEXT]}
MACHINE = {"host": TEXT, "processor": TEXT, "kernel": TEXT, "memory_bytes": COUNT,
           "is_virtual": FLAG, "cpus": [COUNT], "cores": [[COUNT]],
           "packages": [[COUNT]], "numa_nodes": [[COUNT]],
           "caches": [{"level": COUNT, "kind": TEXT, "bytes": COUNT, "cpus": [COUNT]}],
           "hwloc": Optional(TEXT)}
RESULT = {"format": TEXT, "version": COUNT, "begun": TEXT, "is_complete": FLAG,
          "machine": MACHINE, "versions": Every(TEXT),
          "plan": {"is_quick": FLAG, "repetitions": COUNT, "seed": COUNT,
                   "injected": Every(NUMBER), "jobs": [JOB]},
          "sides": [SIDE], "runs": [RUN]}


def is_number(value):
    """Whether it is a number that one can reckon with."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and abs(value) < 1e300 and math.isfinite(value))


def is_leaf(value, kind):
    """Whether the value is of one of the simple kinds."""
    if kind == TEXT:
        return isinstance(value, str)
    if kind == FLAG:
        return isinstance(value, bool)
    return is_number(value) and (kind == NUMBER or isinstance(value, int))


def schema_problem(value, schema, where=""):
    """What is wrong with a value, in words, or None."""
    if isinstance(schema, Optional):
        return None if value is None else schema_problem(value, schema.schema, where)
    if isinstance(schema, str):
        return None if is_leaf(value, schema) else f"{where or 'the file'} is not {schema}"
    if isinstance(schema, list):
        if not isinstance(value, list):
            return f"{where} is no list"
        parts = ((part, schema[0], f"{where}[{i}]") for i, part in enumerate(value))
    else:
        if not isinstance(value, dict):
            return f"{where or 'the file'} is no object"
        if isinstance(schema, Every):
            parts = ((part, schema.schema, f"{where}.{key}") for key, part in value.items())
        else:
            missing = [key for key in schema if key not in value]
            if missing:
                return f"{where + '.' if where else ''}{missing[0]} is missing"
            parts = ((value[key], schema[key], f"{where}.{key}".lstrip("."))
                     for key in schema)
    return next(filter(None, (schema_problem(*part) for part in parts)), None)


def run_problem(run, where):
    """What does not fit together in a run, or None."""
    samples = run["samples"]
    if len({len(column) for column in samples.values()}) != 1:
        return f"{where}.samples: columns of different lengths"
    if any(point not in range(len(run["points"])) for point in samples["point"]):
        return f"{where}.samples.point: there is no such point"
    if any(len(point) != len(run["coordinates"]) for point in run["points"]):
        return f"{where}.points: others than the coordinates"
    for what, values, least in (("samples.units", samples["units"], 1),
                                ("samples.ns", samples["ns"], 0),
                                ("trips_ns", run["trips_ns"], 0),
                                ("points", itertools.chain(*run["points"]), 0)):
        if any(not least <= value <= MOST for value in values):
            return f"{where}.{what}: allowed are {least} to {MOST}"
    if run["coordinates"] == ["processes"] and any(n < 1 for n, in run["points"]):
        return f"{where}.points: allowed are numbers of processes from 1"
    return None


# What the points of an experiment are called; placement is a ping-pong.
COORDINATES = {
    "clock": ["clock", "what"], "memcpy": ["length", "source_offset", "target_offset", "fresh"],
    "exchange": ["length"], "pingpong": ["length"], "barrier": ["processes"],
    "hypercube": ["length"], "matchings": ["matching", "length"], "contention": ["length"],
}


def fit_problem(run, job, where):
    """How a run does not fit its job, or None. A failed run has no coordinates."""
    for name in ("experiment", "ranks"):
        if run[name] != job[name]:
            return f"{where}.{name}: {run[name]}; its job has {job[name]}"
    allowed = [] if run["failure"] is not None else COORDINATES[job["experiment"]]
    if run["coordinates"] != allowed:
        return (f"{where}.coordinates: allowed for {job['experiment']} are "
                f"{', '.join(allowed) or 'none, since it failed'}")
    return None


def result_problem(result):
    """What is wrong with a whole result of this version, or None."""
    problem = schema_problem(result, RESULT)
    if problem:
        return problem
    sides = [side["name"] for side in result["sides"]]
    jobs = {job["name"]: job for job in result["plan"]["jobs"]}
    if (not sides or len(set(sides)) < len(sides)
            or len(jobs) < len(result["plan"]["jobs"])):
        return "sides and jobs need names, each its own"
    for i, job in enumerate(result["plan"]["jobs"]):
        if job["experiment"] not in COORDINATES:
            return f"plan.jobs[{i}].experiment: allowed are {', '.join(COORDINATES)}"
    for i, run in enumerate(result["runs"]):
        if run["side"] not in sides or run["job"] not in jobs:
            return f"runs[{i}]: its side or job is not in the plan"
        problem = (run_problem(run, f"runs[{i}]")
                   or fit_problem(run, jobs[run["job"]], f"runs[{i}]"))
        if problem:
            return problem
    return None


def number_refuse(text):
    """JSON has no NaN and no Infinity."""
    raise ValueError(f"{text} is no number of JSON")


def result_read(path):
    """The result in a file; BenchError if it is none, or damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file, parse_constant=number_refuse)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise BenchError(f"{path}: no result of bcs-overhead, or damaged: {reason}") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise BenchError(f"{path}: no result of bcs-overhead: allowed is what "
                         "'bcs-overhead run' has written")
    if result.get("version") != VERSION:
        raise BenchError(f"{path}: version {result.get('version')!r} of the format; allowed "
                         f"is {VERSION}")
    problem = result_problem(result)
    if problem:
        raise BenchError(f"{path}: damaged: {problem}")
    return result


def file_replace(path, text):
    """Write a file, whole or not at all, whatever ends this process or the machine."""
    new = f"{path}.{os.getpid()}.part"
    try:
        with open(new, "x", encoding="utf-8") as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.replace(new, path)
            except BaseException:
                os.unlink(new)
                raise
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise BenchError(f"{path}: {error.strerror}") from None


def result_write(path, result):
    """Replace the file of a result."""
    file_replace(path, json.dumps(result, separators=(",", ":"), allow_nan=False) + "\n")
