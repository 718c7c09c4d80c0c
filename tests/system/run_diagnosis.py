#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bcsrun --diagnose: one page that has what was found, with its places, and what was recorded; it loads
nothing. There is a page also if nothing was found, nothing was recorded, or the job was told to end.
"""

import argparse
import html.parser
import os
import pathlib
import shlex
import sys
import tempfile

import job

RANKS = 2
USUAL = "bcs-diagnosis.html"
GUIDE, RECORDED, NOTHING = "How to read this page", "What was recorded", "Nothing was found"
RECORDS = "parallel efficiency"  # of a run that was recorded
LOADS = ("src", "href", "data", "action", "srcset")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launcher", default="bcsrun")
    for name in ("deadlocks", "left-behind", "misused-buffers", "greet", "block"):
        parser.add_argument(f"--{name}", required=True, help=f"the program {name}")
    parser.add_argument("--reader", required=True, help="the program bcs-mds")
    parser.add_argument("--has-lines", action="store_true", help="bcs-top is built, and knows lines")
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


class Page(html.parser.HTMLParser):
    """The text of a page, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.text, self.loads, self.policy = "", [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.loads += [f"{tag} {name}" for name, _ in attributes if name in LOADS]
        self.loads += [tag] if tag in ("script", "link", "iframe") else []
        if tag == "meta" and ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]

    def handle_data(self, data):
        self.text += data


class Suite:
    """The cases, in a folder."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.bcsrun = [os.path.abspath(word) if os.sep in word else word for word in shlex.split(arguments.launcher)]
        self.report = job.Report()

    def command(self, options, program):
        return [*self.bcsrun, *options, "--oversubscribe", "-n", str(RANKS), *program]

    def problems_of_page(self, name, words, has_records=True):
        """What is wrong with a page that is to have these words; it is removed."""
        path = pathlib.Path(name)
        if not path.exists():
            return ["there is no page"]
        page = Page(path.read_text(encoding="utf-8"))
        path.unlink()
        problems = [f"{word!r} is not on the page" for word in (*words, GUIDE, RECORDED) if word not in page.text]
        problems += [f"it has {load}" for load in page.loads]
        problems += ["it says that nothing was found"] if NOTHING in page.text and NOTHING not in words else []
        problems += [] if "default-src 'none'" in page.policy else [f"its policy is {page.policy}"]
        problems += [] if (RECORDS in page.text) is has_records else ["what was recorded is there, or not"]
        return problems + [f"it leaves {left}" for left in os.listdir() if left != "kept"]

    def run(self, name, program, status, words, said, options=("--diagnose",), has_records=True, settings=None):
        """A job from its begin to its end: words are on the page, said at the end of standard error."""
        command = self.command(options, program)
        result = job.run(command, job.clean_environment(settings), self.arguments.timeout)
        file = options[0].partition("=")[2] or USUAL
        problems = [] if result.status == status else [result.ending()]
        problems += self.problems_of_page(file, words, has_records)
        tail = "\n".join(result.stderr.splitlines()[-6:])
        problems += [f"{word!r} is not said, but {tail}" for word in (*said, f"the diagnosis is {file}") if word not in tail]
        self.report.case(name, problems, job.shell_line(command, settings))

    def run_told_to_end(self):
        """A job that does not end by itself."""
        command = self.command(["--diagnose"], [self.arguments.block, "barrier", "0"])
        one = job.Job(command, job.mpirun_environment({"BCS_REFEREE": "off"}))
        try:
            begun = one.await_that(lambda: len(one.output_so_far().splitlines()) >= RANKS, self.arguments.timeout)
            one.process.terminate()
            result = one.finish(self.arguments.timeout)
            problems = [] if begun and result.status == 143 else [result.ending()]
            problems += self.problems_of_page(USUAL, ["interrupted", NOTHING])
            problems += [f"it leaves {left}" for left in one.leftovers()]
        finally:
            one.close()
        self.report.case("told to end", problems)

    def run_other_document(self):
        """What is no document of --json has no page."""
        pathlib.Path("kept/other").write_text('{"format": "bcs-lint 1"}', encoding="ascii")
        result = job.run_plain([self.arguments.reader, "diagnosis", "kept/other", "kept", "-o", "page"],
                               self.arguments.timeout)
        is_refused = result.status == 1 and "is no document of bcsrun --json: bcs-lint 1" in result.stderr
        self.report.case("another document", [] if is_refused and not os.path.exists("page") else [result.ending()])

    def run_refused(self):
        """A page that cannot be written."""
        result = job.run_plain(self.command(["--diagnose=none/page.html"], [self.arguments.greet]), self.arguments.timeout)
        said = "bcsrun: --diagnose: cannot write none/page.html: No such file or directory\n"
        self.report.case("refused", [] if (result.status, result.stderr, result.stdout) == (1, said, "") else [result.ending()])


def main():
    arguments = parse_arguments()
    job.SharedMemory.separate()
    for name in ("deadlocks", "left_behind", "misused_buffers", "greet", "block", "reader"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    suite = Suite(arguments)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        places = ["deadlocks.c:", "Function"] if arguments.has_lines else []
        verdict = "deadlock: ranks 0-1 wait for each other and can never continue"
        suite.run("deadlock", [arguments.deadlocks, "both_receive_first"], 86,
                  ["What is wrong", verdict, "each waits for the next one", *places], [f"error: {verdict}"])
        suite.run("lint", [arguments.left_behind, "one"], 0, ["What is left", "datatypes that were not freed"],
                  ["1 finding:", "warning: 1 datatypes that were not freed"], ["--diagnose=a <b>.html"])
        suite.run("buffers", [arguments.misused_buffers, "send"], 0, ["What is wrong", "the send buffer of MPI_"],
                  ["error: buffers: the send buffer"])
        suite.run("nothing", [arguments.greet], 0, [NOTHING], ["nothing was found"])
        suite.run("another status", [arguments.greet, "exit", "3"], 3, [NOTHING, "But the job ended with exit status 3"],
                  ["nothing was found", "the job ended with exit status 3 (exit)"])
        suite.run("no MPI", ["/bin/true"], 0, [NOTHING], ["nothing was found"], has_records=False)
        suite.run("records that are kept", [arguments.greet], 0, [NOTHING], ["nothing was found"],
                  ["--diagnose", "--mds=kept"])
        suite.report.case("there are records", [] if len(os.listdir("kept")) == 1 else [str(os.listdir("kept"))])
        suite.run_other_document()
        suite.run_told_to_end()
        suite.run_refused()
        os.chdir(here)
    return suite.report.end()


if __name__ == "__main__":
    sys.exit(main())
