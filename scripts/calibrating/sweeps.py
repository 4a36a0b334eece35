"""Sweeps, each made once and kept, and what `compare` says of two of them."""

import csv
import hashlib
import io
import subprocess
import sys
import time


class Broken(Exception):
    """The program did not do what it was asked to."""


class Sweeps:
    """Sweeps of one binary with the same options, by name, in a directory."""

    def __init__(self, udpbench, judge, by, directory, options):
        self.udpbench = udpbench
        self.judge = judge
        self.by = by
        self.directory = directory
        self.options = options
        directory.mkdir(parents=True, exist_ok=True)

    def fingerprint(self):
        """Of the binary: all sweeps are made by the same one."""
        return hashlib.sha256(self.udpbench.read_bytes()).hexdigest()

    def path(self, name):
        return self.directory / f"{name}.csv"

    def run(self, name, delay, progress):
        """Makes the sweep, unless it is there."""
        if self.path(name).exists():
            return
        delayed = ["--delay", delay] if delay else []
        # A file by this name is whole, however this script ends.
        part = self.path(name).with_suffix(".part")
        began = time.monotonic()
        with open(part, "wb") as output:
            command = [self.udpbench, *self.options, *delayed, "--output", "-"]
            done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True)
        # 1: a case failed, and its row says so.
        if done.returncode not in [0, 1] or not part.stat().st_size:
            raise Broken(f"{name}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
        part.rename(self.path(name))
        print(f"{name}, {progress}: {time.monotonic() - began:.1f} s", file=sys.stderr)

    def rows(self, name):
        with open(self.path(name), newline="") as file:
            return list(csv.DictReader(file))

    def compare(self, base, new):
        """The rows of `udpbench compare`; none, if it finds nothing to compare."""
        command = [self.judge, "compare", self.path(base), self.path(new), "--by", self.by, "--format", "csv"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 2 and "nothing of it can be compared" in done.stderr:
            print(done.stderr.strip(), file=sys.stderr)
            return []
        if done.returncode not in [0, 3]:
            raise Broken(f"compare {base} {new}: exit code {done.returncode}: {done.stderr.strip()}")
        return list(csv.DictReader(io.StringIO(done.stdout)))
