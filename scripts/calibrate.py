#!/usr/bin/env python3
"""How often do `udpbench ab` and `udpbench compare` give a false alarm, and how often do they find what became slower?

Goes through a plan that is written down before, in an order shuffled by its seed and cut into sessions.

  ab        trials of a build against itself, and trials in which one case of B is slower by a known delay per datagram
  busy      trials of `ab` of a build against itself, beside programs that take its CPUs
  compare   groups of sweeps: a baseline, and passes in which the senders of one engine are slower by a known delay,
            compared as `--against` compares them. Baselines against each other are for false alarms

What is there is not measured again; the table is of all that is there. The delay is in no ordinary build: this script
builds one with the feature `calibration`, in a separate place. `busy` has an ordinary build. Needs cargo.
"""

import argparse
import csv
import os
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from tools import ROOT
from tools.binary import built
from tools.calibration.ab import Pairs
from tools.calibration.busy import Busy
from tools.calibration.compare import WORDS, Sweeps
from tools.command import run

EXAMPLES = """\
examples:
  scripts/calibrate.py ab --output trials --session 1
  scripts/calibrate.py ab --output trials                       the table of what is there
  scripts/calibrate.py busy --output busy --session 1           results also in busy/trials.csv, a line per trial
  scripts/calibrate.py compare --output sweeps --table compare.csv    the same, as a file
  scripts/calibrate.py compare --output sweeps --by cpu         the same sweeps, judged by CPU time
  scripts/calibrate.py ab --quick                               does the script work? No figures to rely on

Leave the machine alone meanwhile: a session takes half an hour or more. Ctrl-C ends it; the same command goes on.

exit codes: 0 done, 1 something broke, 2 bad input, 130 Ctrl-C"""

KINDS = {"ab": Pairs, "busy": Busy, "compare": Sweeps}


def main():
    args = arguments()
    # Not in target/dist: it must not be taken for a program to measure with.
    udpbench = args.udpbench or built("dist", *KINDS[args.of].FEATURES, directory=ROOT / "target/calibration")
    with tempfile.TemporaryDirectory() as scratch:
        trials = KINDS[args.of](udpbench.resolve(), args.output or Path(scratch), args.plan)
        for name, kind, session in trials.order():
            if session == args.session and not trials.is_done(name):
                began = time.monotonic()
                trials.measure(name, kind)
                print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
        rows = table(trials, args.by)
    show(rows)
    if args.table:
        with open(args.table, "x", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


def table(trials, by):
    """Each session by itself, then all of them."""
    made = [trial for trial in trials.order() if trials.is_done(trial[0])]
    sessions = sorted({session for _, _, session in made})
    rows = []
    for title, some in [*((str(session), {session}) for session in sessions), ("all", set(sessions))]:
        names = [(name, kind) for name, kind, session in made if session in some]
        rows += [{"session": title} | row for row in trials.answers(names, by)]
    return rows


def show(rows):
    for row in rows:
        interval = f"{row['low_pct']} to {row['high_pct']} %" if row["comparisons"] else ""
        change = f"  (by {row['change_pct']} % in the median)" if row["change_pct"] != "" else ""
        count = f"{row['count']} of {row['comparisons']}"
        print(f"{row['session']:>4}  {count:>10}  {interval:<16}  {row['what']}{change}")


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    add("of", choices=KINDS, help="what is calibrated")
    add("--plan", type=Path, metavar="FILE", help="[default: tools/calibration/ab.toml, busy.toml or compare.toml]")
    add("--output", type=Path, metavar="DIR", help="where the logs of all trials go, and are kept")
    add("--session", type=int, metavar="N", help="make the trials of this session")
    add("--by", choices=WORDS, default="speed", help="what `compare` judges [default: speed]")
    add("--table", type=Path, metavar="FILE", help="write the table to this CSV file, too")
    add("--udpbench", type=Path, metavar="FILE", help="take this binary; not for busy: --features calibration")
    add("--quick", action="store_true", help="a tiny plan, in a directory that goes away")
    args = parser.parse_args()
    if args.udpbench and not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program")
    if args.table and args.table.exists():
        parser.error(f"--table {args.table}: it exists, and nothing is overwritten; choose another name")
    quick = KINDS[args.of].QUICK
    if args.quick:
        args.plan, args.session = quick, 1
        return args
    if not args.output:
        parser.error("name an --output, or --quick")
    try:
        args.plan = tomllib.loads((args.plan or ROOT / f"scripts/tools/calibration/{args.of}.toml").read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        parser.error(f"--plan: {error}")
    if missing := quick.keys() - args.plan.keys():
        parser.error(f"--plan: it lacks {', '.join(sorted(missing))}")
    if args.session and not 1 <= args.session <= args.plan["sessions"]:
        parser.error(f"--session {args.session}: the plan has {args.plan['sessions']}")
    return args


if __name__ == "__main__":
    run(main, "interrupted; what was measured is kept: the same command goes on")
