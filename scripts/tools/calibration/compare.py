"""Groups of sweeps for `udpbench compare`: a baseline, and passes in which an engine is slower by a known delay."""

import csv
import io
from typing import ClassVar

from tools.calibration.trials import PILOT, Trials, counted, delay, is_called, stretched
from tools.simulation.judging import looks_slower

PASSES = [1, 2]


class Sweeps(Trials):
    QUICK: ClassVar = {
        "seed": 1,
        "sessions": 1,
        "groups": 2,
        "options": "--engine std,nix,mmsg --payload 26,1460 --warmup 5ms --duration 100ms --heat 0s",
        "slowed": ["std", "nix"],
        "percents": [30],
    }

    def kinds(self):
        return {"group": self.plan["groups"]}

    def is_done(self, name):
        return (self.directory / f"{name}.done").exists()

    def slowed(self, name):
        """The engine that is slower in a group."""
        engines = self.plan["slowed"]
        return engines[int(name.rpartition("-")[2]) % len(engines)]

    def measure(self, name, _kind):
        delays = self.delay()[self.slowed(name)]
        self.sweep(f"{name}-plain", [])
        for nth in PASSES:
            for percent in self.plan["percents"]:
                self.sweep(f"{name}-{percent}-{nth}", ["--delay", delays[str(percent)]])
        (self.directory / f"{name}.done").touch()

    def sweep(self, name, delayed):
        if self.log(name).exists():
            return self.call(name, "resume", self.log(name), "--quiet")
        given = [*self.plan["options"].split(), *delayed, "--seed", self.seed(name)]
        given += ["--output", self.directory / f"{name}.csv"]
        return self.call(name, "--quiet", *given)

    def found_delay(self):
        return {engine: self.found_for(engine) for engine in self.plan["slowed"]}

    def found_for(self, engine):
        """Finds the delay for each percentage by a pilot of the engine alone."""
        name = f"pilot-{engine}"
        given = ["--b", f"--delay {delay(engine, PILOT)}", "--output", self.log(name)]
        options = ["--engine", engine, *self.plan["options"].split()]
        said = self.call(name, "ab", "--quiet", "--format", "csv", *given, "--", *options)
        [row] = [row for row in csv.DictReader(io.StringIO(said)) if row["kind"] == "engine"]
        change = float(row["change_pct"])
        needed = {percent: PILOT * stretched(change, percent) for percent in self.plan["percents"]}
        return {str(percent): delay(engine, max(1, round(times))) for percent, times in needed.items()}

    def answers(self, made, by):
        """With one run of the baseline, as planned; and with two, the second of which is that of the next group."""
        names = [name for name, _ in made]
        plain = [f"{name}-plain" for name in names]
        for runs in [1, 2]:
            bases = [plain[n : n + runs] for n in range(len(plain) - runs + 1)]
            yield from self.answers_by(runs, bases, plain, names, by)

    def answers_by(self, runs, bases, plain, names, by):
        better, worse = WORDS[by]
        same = [self.judged(base, plain[n : n + 2], by) for n, base in enumerate(bases, runs) if n + 2 <= len(plain)]
        what = f"baseline of {runs}"
        yield counted(
            f"{what}, nothing changed: anything {better} or {worse}", same, lambda rows: is_called(rows, *WORDS[by])
        )
        for percent in self.plan["percents"]:
            found = []
            for name, base in zip(names, bases):
                rows = self.judged(base, [f"{name}-{percent}-{nth}" for nth in PASSES], by)
                found.append([row | {"is_slowed": row["label"] == self.slowed(name)} for row in rows])
            own = [[row for row in rows if row["is_slowed"]] for rows in found]
            engines = [row for rows in own for row in rows if row["kind"] == "engine"]
            changes = [float(row["change_pct"]) for row in engines if row["change_pct"]]
            yield counted(f"{what}, {percent} % slower: found", own, lambda rows: is_called(rows, worse), changes)
            alarm = f"{what}, {percent} % slower: anything else, or {better}"
            yield counted(alarm, found, lambda rows: is_alarm(rows, better, worse), changes)

    def judged(self, base, passes, by):
        """The rows of `compare`, by the rule of `--against`: of one pass, or of both where an engine looks slower."""
        for some in [passes[:1], passes]:
            files = [[self.directory / f"{name}.csv" for name in names] for names in [base, some]]
            said = self.call("compare", "compare", "--by", by, "--format", "csv", *files[0], "--", *files[1])
            rows = list(csv.DictReader(io.StringIO(said)))
            if is_called(rows, WORDS[by][1]) or not looks_slower(rows):
                break
        return rows


# The verdicts of `compare --by`: better, and worse.
WORDS = {"speed": ("faster", "slower"), "cpu": ("cheaper", "dearer")}


def is_alarm(rows, better, worse):
    others = [row for row in rows if not row["is_slowed"]]
    return is_called(others, better, worse) or is_called(rows, better)
