"""Pairs of sweeps for `udpbench compare`: one as it is, and one with what the plan slows."""

import csv
import io
import random
import tempfile
from pathlib import Path
from typing import ClassVar

from tools.calibration.trials import PILOT, Trials, counted, delay, is_called, options_of, stretched

# The verdicts of `compare --by`: better, and worse.
WORDS = {"speed": ("faster", "slower"), "cpu": ("cheaper", "dearer")}


class Sweeps(Trials):
    QUICK: ClassVar = {
        "seed": 1,
        "sessions": 1,
        "pairs": 2,
        "engines": ["std", "nix"],
        "options": "--threads 1 --payload 26,300,700,1460 --connection connected,unconnected --ip v4"
        " --warmup 5ms --duration 100ms",
        "schedule": "--soak 0s",
        "percent": 30,
        "slowed": ["nix:300B"],
    }

    def kinds(self):
        return {"pair": self.plan["pairs"]}

    def is_done(self, name):
        return (self.directory / f"{name}.done").exists()

    def measure(self, name, _kind):
        both = [(f"{name}-plain", []), (f"{name}-slowed", ["--delay", self.delay()])]
        random.Random(self.seed(name)).shuffle(both)
        for sweep, delayed in both:
            self.run(sweep, delayed)
        (self.directory / f"{name}.done").touch()

    def run(self, name, delayed):
        if self.log(name).exists():
            given = ["--resume", self.log(name)]
        else:
            given = ["--engine", ",".join(self.plan["engines"]), *self.plan["options"].split()]
            given += [*self.plan["schedule"].split(), *delayed, "--seed", self.seed(name), "--columns", "all"]
            given += ["--output", self.directory / f"{name}.csv"]
        self.call(name, "--quiet", *given)

    def found_delay(self):
        return ";".join(map(self.found_for, self.plan["slowed"]))

    def found_for(self, slowed):
        """Finds it by a pilot of the engine's own cases."""
        name = f"pilot-{slowed.partition(':')[0]}"
        given = ["--b", f"--delay {delay(slowed, PILOT)}", "--output", self.log(name)]
        options = options_of(slowed, self.plan["options"].split())
        said = self.call(name, "ab", "--quiet", "--format", "csv", *given, "--", *options)
        [row] = [row for row in csv.DictReader(io.StringIO(said)) if row["kind"] == "engine"]
        times = stretched(float(row["change_pct"]), self.plan["percent"])
        return delay(slowed, max(1, round(PILOT * times)))

    def answers(self, made, by):
        words = WORDS[by]
        plain = [f"{name}-plain" for name, _ in made]
        # Disjoint: each sweep is in one of them.
        same = [self.compared(*two, by) for two in zip(plain[::2], plain[1::2])]
        yield counted(f"nothing changed: anything {' or '.join(words)}", same, lambda rows: is_called(rows, *words))
        for slowed in self.plan["slowed"]:
            yield from self.answers_about(slowed, made, by)

    def answers_about(self, slowed, made, by):
        """Answers about one of the engines that are slower, by itself."""
        better, worse = WORDS[by]
        engine = slowed.partition(":")[0]
        others = {other.partition(":")[0] for other in self.plan["slowed"]} - {engine}
        found = [self.compared(f"{name}-plain", f"{name}-slowed", by, others) for name, _ in made]
        own = [[row for row in rows if row["label"] == engine] for rows in found]
        engine_itself = [[row for row in rows if row["kind"] == "engine"] for rows in own]
        changes = [float(row["change_pct"]) for rows in own for row in rows if is_in(row, slowed)]
        for what, rows, happened in [
            (f"found, {worse}", own, lambda rows: is_called(rows, worse)),
            (f"the engine {worse}", engine_itself, lambda rows: is_called(rows, worse)),
            ("called same", engine_itself, lambda rows: is_called(rows, "same")),
            (f"anything else, or {better}", found, lambda rows: is_alarm(rows, engine, better, worse)),
        ]:
            yield counted(f"{slowed} slower: {what}", rows, happened, changes)

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


def is_in(row, slowed):
    """Tells whether the row is about a slowed case: one of the alternatives is in its key."""
    if row["kind"] != "case" or not row["change_pct"]:
        return False
    alternatives = [part.split("+") for part in slowed.partition(":")[2].split(",")]
    return any(all(part in row["case"].split("/") for part in parts) for parts in alternatives)


def is_alarm(rows, engine, better, worse):
    others = [row for row in rows if row["label"] != engine]
    return is_called(others, better, worse) or is_called(rows, better)
