"""Groups of sweeps for `udpbench compare`: a baseline, and passes in which an engine is slower by a known delay."""

import csv
import io
from typing import ClassVar

from tools.calibration.trials import PILOT, Trials, counted, delay, is_called, stretched

PASSES = [1, 2]


class Sweeps(Trials):
    QUICK: ClassVar = {
        "seed": 1,
        "sessions": 1,
        "groups": 2,
        "options": "--engine std,nix,mmsg --payload 26,1460 --warmup 5ms --duration 100ms --soak 0s",
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
            given = ["--resume", self.log(name)]
        else:
            given = [*self.plan["options"].split(), *delayed, "--seed", self.seed(name)]
            given += ["--output", self.directory / f"{name}.csv"]
        self.call(name, "--quiet", *given)

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
        names = [name for name, _ in made]
        plain = [f"{name}-plain" for name in names]
        same = [self.judged(base, passes, by) for base, *passes in zip(plain, plain[1:], plain[2:])]
        yield counted("nothing changed: anything faster or slower", same, lambda rows: is_called(rows, *WORDS[by]))
        for percent in self.plan["percents"]:
            yield from self.answers_about(percent, names, by)

    def answers_about(self, percent, names, by):
        better, worse = WORDS[by]
        found = []
        for name in names:
            rows = self.judged(f"{name}-plain", [f"{name}-{percent}-{nth}" for nth in PASSES], by)
            engine = self.slowed(name)
            found.append([row | {"is_slowed": row["label"] == engine} for row in rows])
        changes = [
            float(row["change_pct"])
            for rows in found
            for row in rows
            if row["is_slowed"] and row["kind"] == "engine" and row["change_pct"]
        ]
        for what, happened in [
            (f"found, {worse}", lambda rows: is_called([row for row in rows if row["is_slowed"]], worse)),
            (f"anything else, or {better}", lambda rows: is_alarm(rows, better, worse)),
        ]:
            yield counted(f"one engine {percent} % slower: {what}", found, happened, changes)

    def judged(self, base, passes, by):
        """The rows of `compare`: on the first pass, or on both where the first does not find a change."""
        for some in [passes[:1], passes]:
            files = [f"{name}.csv" for name in some]
            said = self.call(
                "compare",
                "compare",
                self.directory / f"{base}.csv",
                "--",
                *[self.directory / file for file in files],
                "--by",
                by,
                "--format",
                "csv",
            )
            rows = list(csv.DictReader(io.StringIO(said)))
            if is_called(rows, WORDS[by][1]):
                break
        return rows


# The verdicts of `compare --by`: better, and worse.
WORDS = {"speed": ("faster", "slower"), "cpu": ("cheaper", "dearer")}


def is_alarm(rows, better, worse):
    others = [row for row in rows if not row["is_slowed"]]
    return is_called(others, better, worse) or is_called(rows, better)
