#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bcs-hosts: hosts have a name, a network and a /dev/shm of their own and reach each other; mpirun starts
ranks on them; nothing is left of them, whatever is killed, and when. Skipped where no network can be
made: it takes root.
"""

import argparse
import glob
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import job

SKIPPED = 77
N_KILLS = 20
SERVER = """
import socket
server = socket.create_server(("", 7878))
print("listening", flush=True)
server.accept()[0].sendall(socket.gethostname().encode())
"""
CLIENT = """
import socket
print(socket.create_connection(("{host}", 7878), 10).recv(100).decode())
"""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", required=True, help="the program bcs-hosts")
    parser.add_argument("--native-launcher", required=True, help="bcsrun --native")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def why_skipped():
    """Why there can be no hosts, or None."""
    if os.geteuid() != 0:
        return "it takes root"
    tried = subprocess.run(["unshare", "--net", "--mount", "ip", "link", "add", "bridge", "type", "bridge"],
                           capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"no network can be made: {tried.stderr.strip()}"


class Hosts:
    """bcs-hosts with a folder of this test's own."""

    def __init__(self, arguments, folder):
        self.program = [arguments.hosts, "--folder", folder]
        self.folder = folder
        self.timeout = arguments.timeout

    def call(self, *words):
        return self.run(*self.program, *words)

    def run(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=self.timeout, stdin=subprocess.DEVNULL,
                              env=job.mpirun_environment())

    def networks(self):
        """The inodes of their networks, and the processes of the keepers."""
        with open(os.path.join(self.folder, "set"), encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        return {row[3] for row in rows}, [int(row[1]) for row in rows]


def processes_in(networks):
    """Those of all processes that use one of the networks."""
    found = []
    for path in glob.glob("/proc/[0-9]*/ns/net"):
        try:
            if os.readlink(path)[len("net:["):-1] in networks:
                found.append(path)
        except OSError:
            pass  # it has ended
    return found


def problems_of_call(result, status, words):
    """What is wrong with what a call has said, on both outputs, and its status."""
    said = result.stdout + result.stderr
    return ([] if result.returncode == status else [f"status {result.returncode}, not {status}: {said}"]) + \
        [f"\"{text}\" is not in \"{said}\"" for text in words if text not in said]


def problems_of_down(hosts, networks):
    """bcs-hosts down leaves nothing."""
    problems = problems_of_call(hosts.call("down"), 0, [])
    left = processes_in(networks)
    if left:
        problems.append(f"left: {left}")
    if os.path.exists(hosts.folder):
        problems.append(f"left: {os.listdir(hosts.folder)}")
    return problems


def problems_of_network(hosts):
    """A connection by name from one host to the other."""
    with subprocess.Popen([*hosts.program, "exec", "bcs1", sys.executable, "-c", SERVER],
                          stdout=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        result = hosts.call("exec", "0", sys.executable, "-c", CLIENT.format(host="bcs1"))
        if result.returncode != 0:
            server.kill()
    return problems_of_call(result, 0, ["bcs1"])


def test_hosts(hosts, report, native):
    """What hosts are."""
    problems = problems_of_call(hosts.call("up", "2"), 0, [])
    networks, _ = hosts.networks()
    report.case("up", problems)
    report.case("status", problems_of_call(hosts.call("status"), 0, ["bcs0 ", "10.78.0.2", " 0 processes"]))
    report.case("up twice", problems_of_call(hosts.call("up", "2"), 1, ["2 hosts are up"]))
    report.case("a name", problems_of_call(hosts.call("exec", "1", "hostname"), 0, ["bcs1\n"]))
    report.case("a network", problems_of_network(hosts))
    hosts.call("exec", "bcs0", "touch", "/dev/shm/mine")
    report.case("a /dev/shm", problems_of_call(hosts.call("exec", "bcs0", "ls", "/dev/shm"), 0, ["mine"]) +
                problems_of_call(hosts.call("exec", "bcs1", "ls", "/dev/shm/mine"), 2, ["No such file"]))
    report.case("no such host", problems_of_call(hosts.call("exec", "bcs2", "true"), 126,
                                                 ["no host \"bcs2\"; there are bcs0 to bcs1"]))
    report.case("no such command", problems_of_call(hosts.call("exec", "bcs1", "/nowhere"), 127,
                                                    ["/nowhere: No such file"]))
    report.case("the command's status", problems_of_call(hosts.call("exec", "1", "sh", "-c", "exit 7"), 7, []))
    result = hosts.call("exec", "bcs0", *shlex.split(native), "--host", "bcs0:2,bcs1:2", "-n", "4", "hostname")
    report.case("mpirun", problems_of_call(result, 0, ["bcs0", "bcs1"]))
    hosts.call("exec", "bcs1", "sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 &")
    report.case("a process in it", problems_of_call(hosts.call("status"), 0, [" 1 processes"]))
    report.case("down from inside", problems_of_call(hosts.call("exec", "bcs1", *hosts.program, "down"), 1,
                                                     ["this process is in bcs1 itself"]))
    report.case("down", problems_of_down(hosts, networks))
    report.case("down twice", problems_of_call(hosts.call("down"), 1, ["no hosts are up"]))
    report.case("status of none", problems_of_call(hosts.call("status"), 1, ["no hosts are up"]))


def test_killed_keeper(hosts, report):
    """A keeper that is killed is told, and the others can be taken away."""
    hosts.call("up", "3")
    networks, keepers = hosts.networks()
    os.kill(keepers[2], signal.SIGKILL)
    job.await_that(lambda: not job.is_alive(keepers[2]), hosts.timeout)
    problems = problems_of_call(hosts.call("status"), 0, ["bcs1   10.78.0.2    has ended"])
    problems += problems_of_call(hosts.call("exec", "bcs1", "true"), 126, ["host bcs1 has ended"])
    report.case("a killed keeper", problems + problems_of_down(hosts, networks))


def test_killed_start(hosts, report, seed):
    """Killed at any moment, up leaves nothing that the next one is held up by."""
    chance = random.Random(seed)
    problems = []
    for _ in range(N_KILLS):
        start = subprocess.Popen([*hosts.program, "up", "2"], stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.15))
        start.kill()
        start.wait()
        if os.path.exists(os.path.join(hosts.folder, "set")):
            hosts.call("down")
    problems += problems_of_call(hosts.call("up", "2"), 0, [])
    networks, _ = hosts.networks()
    problems += problems_of_down(hosts, networks)
    job.await_that(lambda: not keepers_of_no_set(), 5)
    report.case("a killed start", problems + keepers_of_no_set())


def keepers_of_no_set():
    """Keepers that were started by this test, whose set is gone."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/cmdline", encoding="utf-8") as file:
                words = file.read().split("\0")
            if "--folder" in words and words[words.index("--folder") + 1].startswith(FOLDER_BEGINS):
                found.append(f"left: {path} {words}")
        except OSError:
            pass  # it has ended
    return found


FOLDER_BEGINS = os.path.join(tempfile.gettempdir(), f"hosts-{os.getpid()}")


def test_wrong(hosts, report):
    """Words that are not allowed."""
    for words, said in ((["up", "1"], "allowed are 2 to 64"), (["up", "65"], "allowed are 2 to 64"),
                        (["up", "2x"], "allowed are 2 to 64"), (["up"], "up takes"), (["exec", "0"], "exec takes"),
                        ([], "allowed are up, exec")):
        report.case(" ".join(["wrong:", *words]), problems_of_call(hosts.call(*words), 1, [said]))
    report.case("wrong: a folder", problems_of_call(hosts.run(hosts.program[0], "--folder", "near", "down"), 1,
                                                    ["--folder takes"]))


def main():
    arguments = parse_arguments()
    reason = why_skipped()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    report = job.Report()
    hosts = Hosts(arguments, FOLDER_BEGINS)
    try:
        test_hosts(hosts, report, arguments.native_launcher)
        test_killed_keeper(hosts, report)
        test_killed_start(hosts, report, arguments.seed)
        test_wrong(hosts, report)
    finally:
        if os.path.exists(hosts.folder):
            hosts.call("down")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
