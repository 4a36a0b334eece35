"""Trials of `udpbench ab`, of a build against itself."""

import csv
import io
from typing import ClassVar

from tools.calibration.trials import PILOT, Trials, counted, delay, is_called, options_of, stretched


class Pairs(Trials):
    QUICK: ClassVar = {
        "seed": 1,
        "sessions": 1,
        "same": 1,
        "tries": 1,
        "case": "std:std/1t/300B/connected/v4",
        "percent": 50,
        "options": "--engine std --threads 1 --payload 300 --connection connected,unconnected --ip v4"
        " --warmup 5ms --duration 400ms",
    }

    def kinds(self):
        return {"same": self.plan["same"], "slower": self.plan["tries"]}

    def is_done(self, name):
        return self.log(name).exists()

    def measure(self, name, kind):
        self.run(name, self.delay() if kind == "slower" else None, self.plan["options"].split())

    def run(self, name, slowed_by=None, options=()):
        """Makes the trial, or goes on with it. Returns its rows."""
        if self.log(name).exists():
            given = ["resume", self.log(name)]
        else:
            given = ["ab", "--seed", self.seed(name), "--output", self.log(name)]
            given += ["--rounds", self.plan["rounds"]] if "rounds" in self.plan else []
            given += ["--b", f"--delay {slowed_by}"] if slowed_by else []
        end = [] if self.log(name).exists() else ["--", *options]
        said = self.call(name, *given, "--quiet", "--format", "csv", *end)
        return list(csv.DictReader(io.StringIO(said)))

    def found_delay(self):
        engine, _, parts = self.plan["case"].partition(":")
        slowed = f"{engine}:{'+'.join(parts.split('/')[1:])}"
        rows = self.run("pilot", delay(slowed, PILOT), [*options_of(slowed), "--duration", "2s"])
        [change] = [float(row["change_pct"]) for row in rows if row["kind"] == "case"]
        return delay(slowed, max(1, round(PILOT * stretched(change, self.plan["percent"]))))

    def answers(self, made, _by):
        case = self.plan["case"]
        same, slower = ([self.run(name) for name, kind in made if kind == one] for one in ["same", "slower"])
        own = [[row for row in rows if row["case"] == case] for rows in slower]
        others = [beside(rows, case) for rows in slower]
        changes = [float(row["change_pct"]) for rows in own for row in rows]
        yield counted("nothing changed: anything faster or slower", same, is_changed)
        yield counted(f"{case} slower: found", own, lambda rows: is_called(rows, "slower"), changes)
        yield counted(f"{case} slower: anything else", others, is_changed, changes)


def is_changed(rows):
    return is_called(rows, "faster", "slower")


def beside(rows, case):
    """The answers about other cases, and other engines: what a slower case must not change."""
    engine = case.partition(":")[0]
    return [row for row in rows if row["label"] != engine or (row["kind"] == "case" and row["case"] != case)]
