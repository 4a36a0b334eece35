#!/usr/bin/env python3
"""Does udpbench say of datagrams between two hosts what happened to them? Tries it where much goes wrong.

Each try is drawn from a seed: two network namespaces and what joins them (scripts/wire_lab.py), up to two faults, and
one case of `udpbench wire`. Beside the program, the kernel and the test wire count: nftables at both ends each datagram
by its length, /proc/net/snmp, ip and tc. Its row has to agree with these to the last datagram, place by place; each
fault that needs a warning has one, and no other warning is there. Root.
"""

import argparse
import csv
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from tools import ROOT
from tools.command import Broken
from tools.tries import row_warnings
from tools.tries.case import draw
from tools.tries.counts import Counts
from tools.tries.lab import Lab
from tools.tries.truth import Reading, Truth
from tools.wire import cable, ends
from tools.wire.ends import Skipped

EXAMPLES = """\
examples:
  scripts/try_wire.py                                 ten tries, with target/release/udpbench
  scripts/try_wire.py --tries 200 --seed 7 >log
  scripts/try_wire.py --seed 7 --only 31 --verbose    that one again, with all counters

exit codes: 0 all agree, 1 not all do, or something broke, 2 bad input, 77 this machine cannot have such a lab"""

PATIENCE_S = 60


def main():
    args = arguments()
    try:
        ends.check_tools()
        test_wire = args.test_wire_program or cable.build(ROOT)
        bad = [number for number in args.numbers if not agrees(args, number, test_wire)]
    except Skipped as reason:
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return cable.SKIPPED
    except KeyboardInterrupt:
        return 130
    print(f"seed {args.seed}: {len(args.numbers) - len(bad)} of {len(args.numbers)} agree")
    if bad:
        print(f"again: scripts/try_wire.py --seed {args.seed} --verbose --only {','.join(map(str, bad))}")
    return 1 if bad else 0


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    add("--udpbench", type=Path, default=ROOT / "target/release/udpbench", metavar="PATH")
    add("--seed", type=int, default=random.randrange(10**6), help="[default: random]")
    add("--tries", type=int, default=10, metavar="N", help="[default: 10]")
    add("--only", metavar="LIST", help="only the tries of these numbers, such as 3,17")
    add("--verbose", action="store_true", help="show what was counted, and the command, also where it agrees")
    add("--keep", type=Path, metavar="DIR", help="keep the rows and raw samples there of tries that disagree")
    add("--test-wire-program", type=Path, metavar="FILE", help="[default: cargo builds it]")
    args = parser.parse_args()
    if not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program; build it: cargo build --release")
    args.udpbench = args.udpbench.resolve()
    args.numbers = [int(it) for it in args.only.split(",")] if args.only else range(1, args.tries + 1)
    return args


def agrees(args, number, test_wire):
    """Makes one try and prints what came of it."""
    attempt = draw(args.seed, number)
    try:
        with Lab(attempt.link, test_wire) as lab:
            run, truths = measure(args.udpbench, lab, attempt)
            complaints = complain(attempt, run, truths)
            if complaints and args.keep:
                shutil.copytree(run.directory, args.keep / f"{args.seed}-{number}", dirs_exist_ok=True)
    except Broken as problem:
        run, complaints = None, [f"broken: {problem}"]
    outcome = "DISAGREES" if complaints else "ok" if run.is_measured else f"{run.row['status']}: {run.row['reason']}"
    print(f"{args.seed}/{number}  {attempt}  |  {' '.join(map(str, attempt.words))}  |  {outcome}", flush=True)
    for complaint in complaints:
        print(f"    {complaint}", flush=True)
    if args.verbose and run and run.is_measured:
        print(*[f"    {truth}" for truth in truths], f"    {run}", sep="\n", flush=True)
    return not complaints


def measure(udpbench, lab, attempt):
    """Runs udpbench there. Returns what it said, and what is true of each direction."""
    before = {at: Reading(lab, at) for at in lab.ends}
    with ExitStack() as stack:
        for fault in attempt.faults:
            stack.enter_context(fault.on(lab))
        run = Run(udpbench, lab, attempt)
    report = lab.wire.report() or {}
    after = {at: Reading(lab, at) for at in lab.ends}
    wires = {"near": report.get("a>b"), "far": report.get("b>a")}
    return run, [Truth(attempt.case, way, before, after, wires[way[0]]) for way in attempt.case.ways]


def complain(attempt, run, truths):
    """Disagreements."""
    counts = Counts(attempt, run, truths).complaints if run.is_measured else []
    return [*counts, *row_warnings.complaints(attempt, run, truths)]


class Run:
    """The files and the exit code of a run of udpbench."""

    def __init__(self, udpbench, lab, attempt):
        self.directory = lab.room.path / "out"
        self.directory.mkdir()
        rows = self.directory / "rows.csv"
        command = [
            udpbench,
            "wire",
            "board",
            "--rsh",
            f"ssh -F {shlex.quote(str(lab.board.config))}",
            "--agent",
            udpbench,
        ]
        command += [
            "--no-reference",
            "--heat",
            "0s",
            "--rounds",
            6,
            "-q",
            "--columns",
            "all",
            "-o",
            rows,
        ]
        command += attempt.words
        process = lab.start("near", *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            self.said = process.communicate(timeout=PATIENCE_S)[0].strip().replace("\n", " / ")
        except subprocess.TimeoutExpired:
            raise Broken(f"udpbench has not ended after {PATIENCE_S} s") from None
        self.code = process.returncode
        found = list(csv.DictReader(rows.open())) if rows.exists() else []
        if len(found) != 1:
            raise Broken(f"exit code {self.code}, {len(found)} rows: {self.said}")
        self.row = found[0]
        events = [json.loads(line) for line in rows.with_suffix(".jsonl").open()]
        self.samples = [event["window"]["sample"] for event in events if "window" in event]
        # Whose counts are in no column; and None for a window that failed, which nobody has counts of.
        besides = [event["verified"] for event in events if "verified" in event]
        besides += [event["repeated"]["sample"] for event in events if "repeated" in event]
        self.samples_besides = [sample for sample in besides if sample]
        self.has_all_samples = None not in besides
        words = list(map(str, attempt.words))
        self.warmup_s = int(words[words.index("--warmup") + 1].removesuffix("ms")) / 1e3
        # A closed port answers, and a later call is told.
        misdirects = "misdirect" in (attempt.link.rules or "")
        self.calls_may_fail = misdirects or any(fault.fails_calls for fault in attempt.faults)

    @property
    def is_measured(self):
        return bool(self.row["sent_packets"])

    def number(self, column):
        """0 where there is none."""
        value = self.row.get(column) or "0"
        return float(value) if "." in value else int(value)

    def __str__(self):
        names = [name for name in self.row if re.search("packets|requests|calls|windows|status|reason|warnings", name)]
        return ", ".join(f"{name} {self.row[name]}" for name in names if self.row[name] not in ["", "0"])


if __name__ == "__main__":
    sys.exit(main())
