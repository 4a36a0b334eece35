#!/usr/bin/env python3
"""How often does `udpbench ab` give a false alarm, and how often does it find one case that is slower?

Goes through a plan that is written down before: trials of a build against itself, and trials in which one case of B
is slower by a known delay per datagram, in an order shuffled by the plan's seed and cut into sessions. What is there
is not measured again; the table is of all that is there.

The delay is in no ordinary build: this script builds one with the feature `calibration`, in a separate place.
"""

import argparse
import csv
import io
import json
import sys
import tempfile
import time
from pathlib import Path

from tools.calibration import plan as plans
from tools.calibration.build import built_udpbench
from tools.calibration.plan import PILOT, Broken, Trials
from tools.intervals import Rate

EXAMPLES = """\
examples:
  scripts/calibrate.py --plan scripts/tools/calibration/ab.toml --output trials --session 1
  scripts/calibrate.py --plan scripts/tools/calibration/ab.toml --output trials      the table of what is there
  scripts/calibrate.py --plan ... --output trials --table ab.csv               the same, as a file
  scripts/calibrate.py --quick                             does the script work? No figures to rely on

Leave the machine alone meanwhile. Ctrl-C ends a session; the same command goes on with it.

exit codes: 0 done, 1 something broke, 2 bad input, 130 Ctrl-C"""

QUICK = {
    "seed": 1,
    "sessions": 1,
    "same": 1,
    "tries": 1,
    "case": "std:std/1t/300B/connected/v4",
    "percent": 50,
    "options": "--engine std --threads 1 --payload 300 --connection connected,unconnected --ip v4 --warmup 5ms --duration 400ms",
}


class Pairs(Trials):
    """Trials of `ab`, of a build against itself."""

    def run(self, name, kind, iterations, options=None):
        """Makes the trial, or goes on with it. Returns its rows."""
        if self.log(name).exists():
            given = ["--resume", self.log(name)]
        else:
            given = ["--seed", self.seed(name), "--output", self.log(name)]
            if rounds := self.plan.get("rounds"):
                given += ["--rounds", rounds]
            if kind == "slower":
                given += ["--b", f"--delay {plans.delay(self.slowed(), iterations)}"]
            given += ["--", *(options or self.plan["options"].split())]
        return list(csv.DictReader(io.StringIO(self.call(name, "ab", "--quiet", "--format", "csv", *given))))

    def slowed(self):
        """The case, as `--delay` names it."""
        engine, _, parts = self.plan["case"].partition(":")
        return f"{engine}:{'+'.join(parts.split('/')[1:])}"

    def iterations(self):
        """Operations per datagram that make the case as much slower as the plan says; kept, as all trials share it."""
        path = self.directory / "delay.json"
        if not path.exists():
            options = [*plans.options_of(self.slowed()), "--duration", "2s"]
            rows = self.run("pilot", "slower", PILOT, options)
            [change] = [float(row["change_pct"]) for row in rows if row["kind"] == "case"]
            found = max(1, round(PILOT * plans.stretched(change, self.plan["percent"])))
            path.write_text(json.dumps(found) + "\n")
        return json.loads(path.read_text())


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        args.output = args.output or Path(scratch)
        go_through(args)
    return 0


def go_through(args):
    trials = Pairs((args.udpbench or built_udpbench()).resolve(), args.output, args.plan)
    order = trials.order({"same": args.plan["same"], "slower": args.plan["tries"]})
    if args.session:
        iterations = trials.iterations()
        for name, kind, session in order:
            if session == args.session:
                began = time.monotonic()
                trials.run(name, kind, iterations)
                print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    found = [(session, kind, trials.run(name, kind, 0)) for name, kind, session in order if trials.log(name).exists()]
    rows = table(found, args.plan)
    show(rows)
    if args.table:
        with open(args.table, "x", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def is_called(rows, case=None, verdicts=("faster", "slower")):
    return any(row["verdict"] in verdicts for row in rows if case is None or row["case"] == case)


def beside(rows, case):
    """The answers about other cases, and other engines: what a slower case must not change."""
    engine = case.partition(":")[0]
    return [row for row in rows if row["label"] != engine or (row["kind"] == "case" and row["case"] != case)]


def table(found, plan):
    """Each session by itself, then all of them."""
    sessions = sorted({session for session, _, _ in found})
    rows = []
    for name, of_name in [*((str(n), {n}) for n in sessions), ("all", set(sessions))]:
        same = [rows for session, kind, rows in found if kind == "same" and session in of_name]
        slower = [rows for session, kind, rows in found if kind == "slower" and session in of_name]
        case = plan["case"]
        changes = [float(row["change_pct"]) for rows in slower for row in rows if row["case"] == case]
        questions = [
            ("nothing changed: anything faster or slower", same, is_called),
            (f"{case} slower: found", slower, lambda rows: is_called(rows, case, ("slower",))),
            (f"{case} slower: anything else", slower, lambda rows: is_called(beside(rows, case))),
        ]
        for what, trials, happened in questions:
            if trials:
                rate = Rate.of(sum(map(happened, trials)), len(trials))
                change = sorted(changes)[len(changes) // 2] if trials is slower and changes else ""
                rows.append(
                    {
                        "session": name,
                        "what": what,
                        "count": rate.count,
                        "trials": rate.of_all,
                        "low_pct": round(100 * rate.low, 1),
                        "high_pct": round(100 * rate.high, 1),
                        "change_pct": change,
                    }
                )
    return rows


def show(rows):
    for row in rows:
        interval = f"{row['low_pct']} to {row['high_pct']} %"
        change = f"  (by {row['change_pct']} % in the median)" if row["change_pct"] != "" else ""
        print(f"{row['session']:>4}  {row['count']:>4} of {row['trials']:<4} {interval:<18} {row['what']}{change}")


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    plans.add_arguments(parser.add_argument)
    args = parser.parse_args()
    plans.check(args, parser, QUICK)
    return args


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; what was measured is kept: the same command goes on", file=sys.stderr)
        sys.exit(130)
    except Broken as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(1)
