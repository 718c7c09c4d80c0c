#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bcsrun --json, --sarif and --junit: each kind of finding is in each document, with its ranks, its places
and its report, and so is how the job has ended, also if it was killed. The documents are whole or not
there, and a file that cannot be written is told of before anything starts.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import signal
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

import job

RANKS = 2
WRITTEN_S = 10  # for who goes on when bcsrun is killed
FORMS = ("json", "sarif", "junit")
LEVELS = {"deadlock": "error", "misuse": "error", "truncation": "error", "argument": "error", "failure": "error",
          "buffer": "error", "collective": "warning", "unreceived": "warning", "leak": "warning",
          "absence": "warning", "suspicion": "note", "standstill": "note"}


class Case:
    """A job: the program with its words, what is found at least once, what may be found beside it, and the exit
    status."""

    def __init__(self, program, words, kinds, status, options=(), settings=None, ranks=RANKS, also=()):
        self.program, self.words, self.kinds, self.status = program, words, set(kinds), status
        self.options, self.settings, self.ranks, self.also = options, settings or {}, ranks, set(also)
        self.program_path = None


CASES = {
    "deadlock": Case("deadlocks", ["both_receive_first"], ["deadlock"], 86),
    "no deadlock": Case("deadlocks", ["late_message"], [], 0),
    "misuse": Case("misuse", ["op_of_allreduce", "wrong"], ["misuse"], 87),
    "misuse of threads": Case("misuse", ["crowd_long", "wrong"], ["misuse"], 0),
    "truncation": Case("misuse", ["truncated_recv", "wrong"], ["truncation"], 15),
    "argument": Case("misuse", ["argument_root", "wrong"], ["argument"], 8),
    "leak": Case("left_behind", ["both"], ["leak", "unreceived"], 0, ["--lint"], ranks=4),
    "collective": Case("left_behind", ["order"], ["collective"], 0, ["--lint"], ranks=4),
    "buffer": Case("misused_buffers", ["send"], ["buffer"], 0, settings={"BCS_REFEREE_BUFFERS": "on"}),
    "nothing": Case("greet", [], [], 0),
    "status of the program": Case("greet", ["exit", "3"], [], 3),
}
WITHOUT_PLACES = {"suspicion", "absence", "unreceived"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    for name in ("deadlocks", "misuse", "left-behind", "misused-buffers", "doubts", "standstills", "greet", "block"):
        parser.add_argument(f"--{name}", required=True, help=f"the program {name}")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top is built, and knows lines")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def problems_of_json(document, case):
    """What is wrong with the document of our own."""
    run, findings = document["run"], document["findings"]
    problems = []
    if document["format"] != "bcs-findings 1":
        problems.append(f"the format is {document['format']}")
    if (run["status"], run["ranks"], run["unreadable"]) != (case.status, case.ranks, 0):
        problems.append(f"the run is {run}")
    if not case.kinds <= {one["kind"] for one in findings} <= case.kinds | case.also:
        problems.append(f"the kinds are {[one['kind'] for one in findings]}")
    for one in findings:
        if one["level"] != LEVELS[one["kind"]] or not one["page"].startswith("docs/"):
            problems.append(f"level or page of {one}")
        if one["message"] not in one["text"] or not one["ranks"] == sorted(set(one["ranks"])):
            problems.append(f"text or ranks of {one}")
        if one["ranks"] and not set(one["ranks"]) <= set(range(case.ranks)):
            problems.append(f"ranks of {one}")
        if one["kind"] in ("deadlock", "misuse") and case.status and one.get("status") != case.status:
            problems.append(f"status of {one}")
    return problems


def problems_of_places(document, program):
    """What is wrong with the places of the document of our own."""
    problems = []
    for one in document["findings"]:
        if one["kind"] in WITHOUT_PLACES:
            continue
        files = {place.get("file") for place in one["places"]}
        if not any(file and os.path.basename(file).startswith(program) for file in files):
            problems.append(f"the files of {one['kind']} are {files}")
        for place in one["places"]:
            if place.get("file") and not (place["line"] > 0 and place["function"] and place["call"]):
                problems.append(f"a place of {one['kind']} is {place}")
            if place.get("place", "") not in one["text"]:
                problems.append(f"{place['place']} is not in {one['text']}")
    return problems


def problems_of_sarif(document, own, case):
    """What is wrong with the SARIF, beside the document of our own: what the standard demands of what is there."""
    problems = []
    if document["version"] != "2.1.0" or "sarif" not in document["$schema"] or len(document["runs"]) != 1:
        return ["it has another version, schema or number of runs"]
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    if run["tool"]["driver"]["name"] != "bcs" or {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules} != LEVELS:
        problems.append(f"the rules are {rules}")
    if not all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules):
        problems.append("a rule has no texts")
    call = run["invocations"][0]
    if call["exitCode"] != case.status or call["executionSuccessful"] is not (case.status == 0):
        problems.append(f"the invocation is {call}")
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    if not (base.startswith("file:///") and base.endswith("/")):
        problems.append(f"the base is {base}")
    if [(one["ruleId"], one["message"]["text"]) for one in run["results"]] != [
            (one["kind"], one["text"]) for one in own["findings"]]:
        problems.append("the results are not the findings")
    for one in run["results"]:
        if rules[one["ruleIndex"]]["id"] != one["ruleId"] or one["level"] != LEVELS[one["ruleId"]]:
            problems.append(f"the rule of {one}")
        problems += problems_of_locations(one)
    return problems


def problems_of_locations(result):
    """What is wrong with the locations of a result."""
    problems = []
    if len(result["locations"]) != 1:
        problems.append("it has not one location")
    numbers = [location["id"] for location in result["relatedLocations"]]
    if len(numbers) != len(set(numbers)):
        problems.append(f"the related locations are numbered {numbers}")
    for location in result["locations"] + result["relatedLocations"]:
        artifact = location["physicalLocation"]["artifactLocation"]
        is_relative = not artifact["uri"].startswith("file:///")
        if urllib.parse.quote(urllib.parse.unquote(artifact["uri"]), safe="/:") != artifact["uri"]:
            problems.append(f"{artifact} is no URI")
        if is_relative is not (artifact.get("uriBaseId") == "%SRCROOT%") or artifact["uri"].startswith("/"):
            problems.append(f"{artifact} has no base, or one too many")
        if location["physicalLocation"].get("region", {"startLine": 1})["startLine"] < 1:
            problems.append(f"a line of {artifact}")
    return problems


def problems_of_junit(root, own, case):
    """What is wrong with the JUnit, beside the document of our own."""
    suites = root.findall("testsuite")
    cases = root.findall("testsuite/testcase")
    if root.tag != "testsuites" or len(suites) != 1 or len(cases) != 1:
        return ["it has not one suite and one case"]
    errors = [one for one in own["findings"] if one["level"] == "error"]
    failures, ends = cases[0].findall("failure"), cases[0].findall("error")
    problems = []
    if cases[0].get("name") != case.program_path:
        problems.append(f"the case is named {cases[0].get('name')}")
    if [(one.get("type"), one.get("message"), one.text) for one in failures] != [
            (one["kind"], one["message"], one["text"]) for one in errors]:
        problems.append("the failures are not the errors that were found")
    is_error = case.status != 0 and not errors
    if len(ends) != is_error or (ends and str(case.status) not in ends[0].get("message")):
        problems.append(f"{len(ends)} errors")
    if (suites[0].get("tests"), suites[0].get("failures"), suites[0].get("errors")) != (
            "1", str(int(bool(errors))), str(int(is_error))):
        problems.append(f"the suite is {suites[0].attrib}")
    output = "".join(one.text for one in cases[0].findall("system-out"))
    if not all(one["text"] in output for one in own["findings"] if one["level"] != "error"):
        problems.append("a warning or a note is missing")
    return problems


class Suite:
    """The cases, in a folder."""

    def __init__(self, arguments, folder, beside):
        self.arguments = arguments
        self.beside = pathlib.Path(beside)
        self.bcsrun = [str(pathlib.Path(word).resolve()) if os.sep in word else word
                       for word in shlex.split(arguments.launcher)]
        self.folder = pathlib.Path(folder)
        self.report = job.Report()
        os.chdir(folder)

    def program(self, name):
        return getattr(self.arguments, name)

    def options(self):
        return [word for form in FORMS for word in (f"--{form}", f"found.{form}")]

    def clear(self):
        for form in FORMS:
            pathlib.Path(f"found.{form}").unlink(missing_ok=True)

    def problems(self, case, has_places=True):
        """What is wrong with the three documents of a job that has ended."""
        if sorted(os.listdir()) != sorted(f"found.{form}" for form in FORMS):
            return [f"the folder has {os.listdir()}"]
        own = json.loads(pathlib.Path("found.json").read_text(encoding="utf-8"))
        sarif = json.loads(pathlib.Path("found.sarif").read_text(encoding="utf-8"))
        root = xml.etree.ElementTree.parse("found.junit").getroot()
        problems = problems_of_json(own, case) + problems_of_sarif(sarif, own, case)
        problems += problems_of_junit(root, own, case)
        if self.arguments.has_lines and has_places:
            problems += problems_of_places(own, case.program)
        return problems

    def command(self, case):
        return [*self.bcsrun, *self.options(), *case.options, "--oversubscribe", "-n", str(case.ranks),
                case.program_path or self.program(case.program), *case.words]

    def run_case(self, name, case):
        """A job from its begin to its end."""
        case.program_path = case.program_path or self.program(case.program)
        self.clear()
        result = job.run(self.command(case), job.clean_environment(case.settings), self.arguments.timeout)
        problems = [] if result.status == case.status else [result.ending()]
        problems += self.problems(case)
        self.report.case(name, problems, job.shell_line(self.command(case), case.settings))

    def run_until(self, name, case, is_so, end, ended="exit"):
        """A job to which something is done when is_so(job): what is known at its end is written, and nothing is
        left behind."""
        case.program_path = case.program_path or self.program(case.program)
        self.clear()
        one = job.Job(self.command(case), job.mpirun_environment(case.settings))
        try:
            problems = [] if one.await_that(lambda: is_so(one), self.arguments.timeout) else ["it does not come so far"]
            end(one)
            one.finish(self.arguments.timeout)
            job.await_that(lambda: pathlib.Path("found.junit").exists(), WRITTEN_S)
            problems += [f"it leaves {left}" for left in one.leftovers()]
            problems += self.problems(case, False)
            own = json.loads(pathlib.Path("found.json").read_text(encoding="utf-8"))["run"]["ended"]
            problems += [] if own == ended else [f"it has ended by {own}"]
            problems += [one.errors_so_far()] if problems else []
        finally:
            one.close()
        self.report.case(name, problems)

    def run_killed(self, name, end, status, ended):
        """A job that is ended from outside."""
        case = Case("block", ["barrier", "0"], [], status, settings={"BCS_REFEREE": "off"})
        self.run_until(name, case, lambda one: len(one.output_so_far().splitlines()) >= RANKS, end, ended)

    def run_talking(self):
        """Jobs that wait until it is told of them."""
        go_on = self.beside / "go"
        case = Case("doubts", ["thread_that_sleeps", str(go_on)], ["suspicion"], 0, also=["misuse"])
        self.run_until("suspicion", case, lambda one: "suspicion:" in one.errors_so_far(), lambda _: go_on.touch())
        if self.arguments.has_lines:
            case = Case("standstills", ["still", "0"], ["standstill"], 0, ["--patience", "400ms"])
            self.run_until("standstill", case, lambda one: "nothing has moved" in one.errors_so_far(),
                           lambda one: one.process.send_signal(signal.SIGUSR2))

    def run_absent(self):
        """A job without BCS."""
        wrapper = self.beside / 'wrap "1"\n<&.sh'
        wrapper.write_text('#!/bin/sh\nunset LD_PRELOAD\nexec "$@"\n', encoding="ascii")
        wrapper.chmod(0o755)
        go_on = self.beside / "go on"
        case = Case("doubts", [self.program("doubts"), "thread_that_sleeps", str(go_on)], ["absence"], 0)
        case.program_path = str(wrapper)
        self.run_until("absence", case, lambda one: "BCS is not in this job" in one.errors_so_far(),
                       lambda _: go_on.touch())

    def refuse(self, name, options, words):
        """Nothing is started, and the reason is told in one line."""
        self.clear()
        command = [*self.bcsrun, *options, "-n", str(RANKS), self.program("greet")]
        result = job.run_plain(command, self.arguments.timeout)
        problems = [] if result.status == 1 and words in result.stderr and not result.stdout else [result.ending()]
        problems += [] if result.stderr.count("\n") == 1 else [f"it says {result.stderr}"]
        problems += [f"it leaves {os.listdir()}"] if os.listdir() else []
        self.report.case(name, problems)

    def run_refused(self):
        """Files that cannot be written."""
        (self.beside / "folder").mkdir()
        self.refuse("no folder", ["--json", "there/is/none.json"], "--json: cannot write there/is/none.json: No such")
        self.refuse("a folder", ["--sarif", str(self.beside / "folder")], "it is no regular file")
        self.refuse("a device", ["--junit", "/dev/null"], "it is no regular file")
        self.refuse("one file twice", ["--json", "x", "--junit", "./../" + self.folder.name + "/x"], "name the same file")
        self.refuse("natively", ["--native", "--json", "x"], "--json is for one run under BCS")

    def run_without_top(self):
        """A bcs without bcs-top: ranks and headline are known, places are not."""
        bcsrun, *options = self.bcsrun
        build = pathlib.Path(bcsrun).parents[3]
        for part in ("apps/tools/launch/bcsrun", "mpi_shim/libbcs_mpi.so"):
            (self.beside / part).parent.mkdir(parents=True)
            shutil.copy(build / part, self.beside / part)
        case = Case("deadlocks", ["both_receive_first"], ["deadlock"], 86, settings={"PATH": "/usr/bin:/bin"})
        self.bcsrun = [str(self.beside / "apps/tools/launch/bcsrun"), *options]
        case.program_path = self.program(case.program)
        self.clear()
        result = job.run(self.command(case), job.clean_environment(case.settings), self.arguments.timeout)
        problems = [] if result.status == case.status else [result.ending()]
        problems += self.problems(case, False)
        own = json.loads(pathlib.Path("found.json").read_text(encoding="utf-8"))
        if [one["ranks"] for one in own["findings"]] != [[0, 1]] or own["findings"][0]["places"]:
            problems.append(f"the findings are {own['findings']}")
        self.report.case("no bcs-top", problems)
        self.bcsrun = [bcsrun, *options]


def kill_keeper(one):
    """End the process below bcsrun."""
    with open(f"/proc/{one.process.pid}/task/{one.process.pid}/children", encoding="ascii") as children:
        os.kill(int(children.read().split()[0]), signal.SIGKILL)


def kill_rank(one):
    os.kill(one.find_rank(0), signal.SIGKILL)


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as beside:
        for name in ("deadlocks", "misuse", "left_behind", "misused_buffers", "doubts", "standstills", "greet", "block"):
            setattr(arguments, name, os.path.join(here, getattr(arguments, name)))
        suite = Suite(arguments, folder, beside)
        for name, case in CASES.items():
            if arguments.only in name:
                suite.run_case(name, case)
        if arguments.only in "talking":
            suite.run_talking()
        if arguments.only in "absent":
            suite.run_absent()
        if arguments.only in "refused":
            suite.run_refused()
        if arguments.only in "without_top":
            suite.run_without_top()
        if arguments.only in "killed":
            suite.run_killed("a rank is killed", kill_rank, 137, "signal")
            suite.run_killed("bcsrun is killed", lambda one: one.process.kill(), 143, "interrupted")
            suite.run_killed("bcsrun is told to end", lambda one: one.process.terminate(), 143, "interrupted")
            suite.run_killed("the keeper is killed", kill_keeper, 137, "killed")
        os.chdir(here)
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
