#!/usr/bin/env python3
"""How often does `udpbench compare` give a false alarm, and how often does it find what a part of an engine's cases
became slower by?

Goes through a plan that is written down before: pairs of sweeps, one as it is, and one in which the senders of some
engines are slower in some of their cases by a known delay per datagram. Of each such engine `compare` is asked by
itself: the others that are slower are left out of both sweeps. Sweeps as they are, two by two, are for false alarms.
What is there is not measured again; the table is of all that is there.

The delay is in no ordinary build: this script builds one with the feature `calibration`, in a separate place.
"""

import argparse
import csv
import io
import json
import random
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
  scripts/calibrate.py --plan scripts/tools/calibration/compare.toml --output sweeps --session 1
  scripts/calibrate.py --plan scripts/tools/calibration/compare.toml --output sweeps     the table of what is there
  scripts/calibrate.py --plan ... --output sweeps --table compare.csv              the same, as a file
  scripts/calibrate.py --plan ... --output sweeps --by cpu                         the same sweeps, judged by CPU time
  scripts/calibrate.py --quick                                does the script work? No figures to rely on

Leave the machine alone meanwhile. Ctrl-C ends a session; the same command goes on with it.

exit codes: 0 done, 1 something broke, 2 bad input, 130 Ctrl-C"""

QUICK = {
    "seed": 1,
    "sessions": 1,
    "pairs": 2,
    "engines": ["std", "nix"],
    "options": "--threads 1 --payload 26,300,700,1460 --connection connected,unconnected --ip v4 --warmup 5ms --duration 100ms",
    "schedule": "--soak 0s",
    "percent": 30,
    "slowed": ["nix:300B"],
}
# What `compare --by` calls better, and worse.
WORDS = {"speed": ("faster", "slower"), "cpu": ("cheaper", "dearer")}


class Sweeps(Trials):
    """Sweeps as they are, and with what the plan slows."""

    def run(self, name, delay):
        output = self.directory / f"{name}.csv"
        if self.log(name).exists():
            self.call(name, "--quiet", "--resume", self.log(name))
        else:
            delayed = ["--delay", delay] if delay else []
            self.call(
                name,
                "--quiet",
                *self.options(),
                *delayed,
                "--seed",
                self.seed(name),
                "--columns",
                "all",
                "--output",
                output,
            )

    def options(self):
        return ["--engine", ",".join(self.plan["engines"]), *f"{self.plan['options']} {self.plan['schedule']}".split()]

    def delay(self):
        """What slows all that the plan slows; kept, as all sweeps share it."""
        path = self.directory / "delay.json"
        if not path.exists():
            path.write_text(json.dumps(";".join(map(self.found_delay, self.plan["slowed"]))) + "\n")
        return json.loads(path.read_text())

    def found_delay(self, slowed):
        """By a pilot of the engine's own cases."""
        name = f"pilot-{slowed.partition(':')[0]}"
        given = ["--b", f"--delay {plans.delay(slowed, PILOT)}", "--output", self.log(name)]
        options = plans.options_of(slowed, self.plan["options"].split())
        said = self.call(name, "ab", "--quiet", "--format", "csv", *given, "--", *options)
        [row] = [row for row in csv.DictReader(io.StringIO(said)) if row["kind"] == "engine"]
        times = plans.stretched(float(row["change_pct"]), self.plan["percent"])
        return plans.delay(slowed, max(1, round(PILOT * times)))

    def compared(self, base, new, by, left_out=()):
        """The rows of `compare` on two sweeps without the cases of some engines."""
        with tempfile.TemporaryDirectory() as scratch:
            files = [self.without(name, left_out, Path(scratch)) for name in [base, new]]
            said = self.call("compare", "compare", *files, "--by", by, "--format", "csv")
        return list(csv.DictReader(io.StringIO(said)))

    def without(self, name, engines, directory):
        with open(self.directory / f"{name}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        path = directory / f"{name}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for row in rows if row["sender"] not in engines)
        return path


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        sweeps = Sweeps((args.udpbench or built_udpbench()).resolve(), args.output or Path(scratch), args.plan)
        order = sweeps.order({"pair": args.plan["pairs"]})
        if args.session:
            delay = sweeps.delay()
            for pair, _, session in order:
                if session == args.session:
                    measure(sweeps, pair, delay)
        made = [(pair, session) for pair, _, session in order if (sweeps.directory / f"{pair}.done").exists()]
        rows = table(sweeps, made, args.by)
        show(rows)
        if args.table:
            with open(args.table, "x", newline="") as file:
                writer = csv.DictWriter(file, rows[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    return 0


def measure(sweeps, pair, delay):
    done = sweeps.directory / f"{pair}.done"
    if done.exists():
        return
    both = [(f"{pair}-plain", None), (f"{pair}-slowed", delay)]
    random.Random(sweeps.seed(pair)).shuffle(both)
    for name, delayed in both:
        began = time.monotonic()
        sweeps.run(name, delayed)
        print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr)
    done.touch()


def table(sweeps, made, by):
    """Each session by itself, then all of them."""
    sessions = sorted({session for _, session in made})
    rows = []
    for name, of_name in [*((str(n), {n}) for n in sessions), ("all", set(sessions))]:
        pairs = [pair for pair, session in made if session in of_name]
        rows += [{"session": name, "by": by} | row for row in of_pairs(sweeps, pairs, by)]
    return rows


def of_pairs(sweeps, pairs, by):
    better, worse = WORDS[by]
    plain = [f"{pair}-plain" for pair in pairs]
    # Disjoint: each sweep is in one of them.
    same = [sweeps.compared(*two, by) for two in zip(plain[::2], plain[1::2])]
    yield counted("nothing changed: anything " + f"{better} or {worse}", same, lambda rows: is_called(rows, *WORDS[by]))
    engines = {slowed.partition(":")[0] for slowed in sweeps.plan["slowed"]}
    for slowed in sweeps.plan["slowed"]:
        engine = slowed.partition(":")[0]
        found = [sweeps.compared(f"{pair}-plain", f"{pair}-slowed", by, engines - {engine}) for pair in pairs]
        own = [[row for row in rows if row["label"] == engine] for rows in found]
        engine_itself = [[row for row in rows if row["kind"] == "engine"] for rows in own]
        changes = sorted(float(row["change_pct"]) for rows in parts_of(own, slowed) for row in rows)
        change = changes[len(changes) // 2] if changes else ""
        for what, rows, happened in [
            (f"found, {worse}", own, lambda rows: is_called(rows, worse)),
            (f"the engine {worse}", engine_itself, lambda rows: is_called(rows, worse)),
            ("called same", engine_itself, lambda rows: is_called(rows, "same")),
            (f"anything else, or {better}", found, lambda rows: is_alarm(rows, engine, WORDS[by])),
        ]:
            yield counted(f"{slowed} slower: {what}", rows, happened) | {"change_pct": change}


def parts_of(own, slowed):
    """The rows that are about what is slower: cases with one of the alternatives in their keys."""
    alternatives = [part.split("+") for part in slowed.partition(":")[2].split(",")]
    for rows in own:
        yield [
            row
            for row in rows
            if row["kind"] == "case"
            and row["change_pct"]
            and any(all(part in row["case"].split("/") for part in parts) for parts in alternatives)
        ]


def is_called(rows, *verdicts):
    return any(row["verdict"] in verdicts for row in rows)


def is_alarm(rows, engine, words):
    better, worse = words
    others = [row for row in rows if row["label"] != engine]
    return is_called(others, better, worse) or is_called(rows, better)


def counted(what, compared, happened):
    rate = Rate.of(sum(map(happened, compared)), len(compared)) if compared else None
    percents = [round(100 * value, 1) for value in [rate.low, rate.high]] if rate else ["", ""]
    count, of_all = (rate.count, rate.of_all) if rate else (0, 0)
    return {
        "what": what,
        "count": count,
        "comparisons": of_all,
        "low_pct": percents[0],
        "high_pct": percents[1],
        "change_pct": "",
    }


def show(rows):
    for row in rows:
        interval = f"{row['low_pct']} to {row['high_pct']} %" if row["comparisons"] else ""
        change = f"  (cases by {row['change_pct']} % in the median)" if row["change_pct"] != "" else ""
        count = f"{row['count']} of {row['comparisons']}"
        print(f"{row['session']:>4}  {count:>10}  {interval:<16}  {row['what']}{change}")


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    plans.add_arguments(parser.add_argument)
    parser.add_argument("--by", choices=WORDS, default="speed", help="what `compare` judges [default: speed]")
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
