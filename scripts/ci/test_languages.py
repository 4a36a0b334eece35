#!/usr/bin/env python3
"""Builds the programs of examples/languages/ and lets udpbench run them: floods and round trips with --verify, over
connected and unconnected sockets, against each other and against std; and latency.

Fails if a program cannot be built, a row is not `ok`, a datagram is wrong, or the sources are not formatted. What lacks
its compiler or interpreter is skipped, and named. Takes about two minutes.
"""

import argparse
import csv
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT
from tools.binary import built
from tools.command import Broken, run
from tools.rows import problems

EXAMPLES = ROOT / "examples" / "languages"
SHORT = ["--threads", "2", "--payload", "300", "--ip", "v4", "--rounds", "5", "--duration", "50ms", "--output", "-"]
# They have no roles of requests and responses.
BATCHES = {"c-mmsg", "go-batch"}
# They cannot send over a descriptor that is connected already.
UNCONNECTED_ONLY = {"node-dgram"}
FAULTS = ["duplicated_packets", "truncated_packets", "corrupted_packets"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--udpbench", type=Path, metavar="FILE", help="run this program, build none")
    args = parser.parse_args()
    programs = build()
    check_formatting()
    udpbench = (args.udpbench or built("dev")).resolve()
    for connection in ["connected", "unconnected"]:
        able = [name for name in programs if connection == "unconnected" or name not in UNCONNECTED_ONLY]
        answering = [name for name in able if name not in BATCHES]
        test(udpbench, ["--connection", connection, "--engine", engines(able)])
        test(udpbench, ["--connection", connection, "--workload", "rr", "--engine", engines(answering)])
        for own, other in [("--sender", "--receiver"), ("--receiver", "--sender")]:
            test(udpbench, ["--connection", connection, other, "std", own, engines(able)])
            test(udpbench, ["--connection", connection, "--workload", "rr", other, "std", own, engines(answering)])
    clients = [name for name in programs if name not in BATCHES | UNCONNECTED_ONLY]
    measure(udpbench, ["latency", "--connection", "connected", "--engine", f"std,{engines(clients)}"], may_skip=True)
    print(f"{', '.join(programs)}: all is as it must be")


def build():
    """Builds all, and returns the names of those that can run here."""
    done = subprocess.run([EXAMPLES / "build.py"], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        raise Broken("the programs cannot be built; see above")
    names = [Path(line).name for line in done.stdout.splitlines() if not line.startswith("SKIPPED: ")]
    if not names:
        raise Broken("no program can be built here")
    return names


def check_formatting():
    if not shutil.which("gofmt"):
        return
    unformatted = output_of(["gofmt", "-l", EXAMPLES / "go"])
    if unformatted:
        raise Broken(f"gofmt would change {unformatted}")
    output_of(["go", "vet", "./..."], cwd=EXAMPLES / "go")


def engines(names):
    return ",".join(f"exec:{ROOT / 'target' / 'languages' / name}" for name in names)


def test(udpbench, options):
    for row in measure(udpbench, [*options, "--verify"]):
        if not int(row["verified_packets"] or 0):
            raise Broken(f"{row['case']}: no datagram was verified")
        for fault in FAULTS:
            if row[fault] != "0":
                raise Broken(f"{row['case']}: {fault} is {row[fault]}")


def measure(udpbench, options, may_skip=False):
    """Returns the rows of a run, each of which measured something. `may_skip`: some may be skipped."""
    print("udpbench", " ".join(re.sub(r"exec:\S*?/(?=[\w-]+(,|$))", "", word) for word in options), flush=True)
    text = output_of([udpbench, *options, *SHORT, "--columns", "all"], accepts=(0, 1))
    rows = list(csv.DictReader(io.StringIO(text)))
    faults = problems(rows)
    if not may_skip:
        faults += [f"{row['case']} is skipped: {row['reason']}" for row in rows if row["status"] == "skipped"]
    if faults:
        raise Broken("; ".join(faults))
    return rows


def output_of(command, accepts=(0,), **place):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **place)
    if done.returncode not in accepts:
        raise Broken(f"exit code {done.returncode} from {command[0]}: {done.stderr.strip()[-1000:]}")
    return done.stdout


if __name__ == "__main__":
    run(main)
