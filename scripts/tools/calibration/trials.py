"""Trials by a plan that is written down before they are made."""

import hashlib
import json
import random
import re
import subprocess
from typing import ClassVar

from tools.command import Broken
from tools.intervals import Rate

# Operations per datagram of a pilot: enough to be seen on a busy machine; what they cost is proportional to them.
PILOT = 1000


class Trials:
    """Trials of one binary by one plan, by name, in a directory."""

    # Options of the build.
    FEATURES: ClassVar = ("--features", "calibration")

    def __init__(self, udpbench, directory, plan):
        self.udpbench = udpbench
        self.directory = directory
        self.plan = plan
        directory.mkdir(parents=True, exist_ok=True)
        self.agree()

    def agree(self):
        """Refuses a directory whose files were made by another plan or binary."""
        settled = dict(self.plan, binary=hashlib.sha256(self.udpbench.read_bytes()).hexdigest())
        path = self.directory / "plan.json"
        if not path.exists():
            path.write_text(json.dumps(settled, indent=1) + "\n")
        elif json.loads(path.read_text()) != settled:
            raise SystemExit(
                f"error: --output {self.directory}: made by another plan or binary; name another directory"
            )

    def order(self):
        """The plan's trials, shuffled by its seed and cut into its sessions: name, kind, session."""
        kinds = [kind for kind, count in self.kinds().items() for _ in range(count)]
        random.Random(self.plan["seed"]).shuffle(kinds)
        made = dict.fromkeys(kinds, 0)
        order = []
        for place, kind in enumerate(kinds):
            made[kind] += 1
            session = 1 + place * self.plan["sessions"] // len(kinds)
            order.append((f"{kind}-{made[kind]:03}", kind, session))
        return order

    def delay(self):
        """The `--delay` of all trials; kept."""
        path = self.directory / "delay.json"
        if not path.exists():
            path.write_text(json.dumps(self.found_delay()) + "\n")
        return json.loads(path.read_text())

    def log(self, name):
        return self.directory / f"{name}.jsonl"

    def seed(self, name):
        """The seed of the order within a trial."""
        return int(hashlib.sha256(f"{self.plan['seed']} {name}".encode()).hexdigest()[:8], 16)

    def call(self, name, *arguments):
        """Runs the program and returns its output. It may find a change, or a case that fails."""
        command = [self.udpbench, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in [0, 1, 3, 4]:
            raise Broken(f"{name}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
        return done.stdout


def delay(slowed, iterations):
    """The argument of `--delay`. `slowed` is an engine and, after a colon, parts of its cases' keys."""
    engine, _, parts = slowed.partition(":")
    return f"{engine}:{iterations}@{parts}" if parts else f"{engine}:{iterations}"


def stretched(change_pct, wanted_pct):
    """The factor for the operations, if so many change the speed by `change_pct`, and `wanted_pct` is wanted.

    Speed is the inverse of time, and time is what operations add to.
    """
    if change_pct >= -1:
        raise Broken(f"{PILOT} operations per datagram changed the speed by {change_pct} %: is the machine too busy?")
    return (1 / (1 - wanted_pct / 100) - 1) / (1 / (1 + change_pct / 100) - 1)


def options_of(slowed, of_plan=()):
    """Options of a sweep with no other cases of the engine than these, such as `nix:2t+300B,4t+300B`; the
    plan's own options decide the rest."""
    engine, _, alternatives = slowed.partition(":")
    values = {"--engine": [engine], "--threads": [], "--payload": [], "--connection": [], "--ip": []}
    for part in {part for one in alternatives.split(",") for part in one.split("+") if part}:
        if found := re.fullmatch(r"(\d+)t", part):
            values["--threads"].append(found[1])
        elif found := re.fullmatch(r"(\d+)B", part):
            values["--payload"].append(found[1])
        else:
            values["--ip" if part in ["v4", "v6"] else "--connection"].append(part)
    given = dict(zip(of_plan[::2], of_plan[1::2]))
    given |= {name: ",".join(sorted(these)) for name, these in values.items() if these}
    return [word for pair in given.items() for word in pair]


def counted(what, comparisons, happened, changes=()):
    """A row of the table: in how many of the comparisons, each a list of rows, it happened."""
    rate = Rate.of(sum(map(happened, comparisons)), len(comparisons)) if comparisons else None
    return {
        "what": what,
        "count": rate.count if rate else 0,
        "comparisons": len(comparisons),
        "low_pct": round(100 * rate.low, 1) if rate else "",
        "high_pct": round(100 * rate.high, 1) if rate else "",
        "change_pct": sorted(changes)[len(changes) // 2] if changes else "",
    }


def is_called(rows, *verdicts):
    return any(row["verdict"] in verdicts for row in rows)
