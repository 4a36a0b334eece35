"""The cable between two ends: a pair of virtual interfaces, or the test wire; and their queues."""

import json
import subprocess
import sys
from pathlib import Path

from tools.command import Broken
from tools.wire.ends import INTERFACE, Skipped

SKIPPED = 77
BAD_INPUT = 2


class Refused(Exception):
    """The rules cannot be read; the reason, for people."""


class Veth:
    """A pair of virtual interfaces (veth(4)), which loses nothing."""

    def __init__(self, near, far):
        ends = ["name", INTERFACE, "netns", near.pid, "type", "veth", "peer", "name", INTERFACE, "netns", far.pid]
        done = subprocess.run(["ip", "link", "add", *map(str, ends)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(f"no pair of virtual interfaces can be had: {done.stderr.strip()}")

    def report(self):
        """None: it writes nothing down."""
        return None

    def end(self):
        """Nothing: a pair of interfaces ends with its namespaces."""
        return None


class TestWire:
    """The program examples/test_wire, between two TAP devices."""

    def __init__(self, program, rules, near, far):
        ends = [word for end in [near, far] for word in ["--end", f"{end.pid}:{INTERFACE}"]]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [program, *ends, rules], stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        if self.process.stdout.readline() != "ready\n":
            raise self.problem()

    def problem(self):
        """The reason for its end."""
        reason = self.process.communicate()[1].strip()
        kinds = {SKIPPED: Skipped, BAD_INPUT: Refused}
        return kinds.get(self.process.returncode, Broken)(reason.partition(": ")[2] or "the test wire has ended")

    def report(self):
        """The report until now."""
        try:
            self.process.stdin.write("report\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, ValueError):
            raise self.problem() from None

    def end(self):
        """Ends it, and returns what it has done."""
        output = self.process.communicate()[0]
        if self.process.returncode != 0:
            raise Broken("the test wire has ended before its time")
        return json.loads(output)


def build(repository):
    """Builds the test wire, and returns where it is."""
    command = "cargo build --quiet --locked --example test_wire --message-format=json-render-diagnostics"
    done = subprocess.run(command.split(), cwd=repository, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Broken("the test wire cannot be built")
    # Cargo's own word on where it is: CARGO_TARGET_DIR or a configuration may move it.
    found = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return next(path for path in found if path)


def deliver_by_napi(end):
    """Turns GRO on and TSO off there, so that packets arrive by NAPI (Linux 5.13)."""
    end.run(sys.executable, Path(__file__).with_name("features.py"), INTERFACE)


def token_bucket(end, words):
    """TBF: tc-tbf(8). A short queue, unless it is told."""
    words = words if "burst" in words else [*words, "burst", "32kb"]
    words = words if {"limit", "latency"} & set(words) else [*words, "limit", "100kb"]
    end.run("tc", "qdisc", "add", "dev", INTERFACE, "root", "tbf", "rate", *words)


def hierarchy(end, words):
    """HTB: tc-htb(8), with one class for all."""
    end.run("tc", "qdisc", "add", "dev", INTERFACE, "root", "handle", "1:", "htb", "default", "1")
    end.run("tc", "class", "add", "dev", INTERFACE, "parent", "1:", "classid", "1:1", "htb", "rate", *words)
