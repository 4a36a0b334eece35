"""Trials by a plan that is written down before they are made."""

import hashlib
import json
import os
import random
import re
import subprocess
import tomllib
from pathlib import Path

# Operations per datagram of a pilot: enough to be seen on a busy machine; what they cost is proportional to them.
PILOT = 1000


class Broken(Exception):
    """The program did not do what it was asked to."""


class Trials:
    """Trials of one binary by one plan, by name, in a directory."""

    def __init__(self, udpbench, directory, plan):
        self.udpbench = udpbench
        self.directory = directory
        self.plan = plan
        directory.mkdir(parents=True, exist_ok=True)
        self.agree()

    def agree(self):
        """What lies in the directory must have been made by the same plan and binary."""
        settled = dict(self.plan, binary=hashlib.sha256(self.udpbench.read_bytes()).hexdigest())
        path = self.directory / "plan.json"
        if not path.exists():
            path.write_text(json.dumps(settled, indent=1) + "\n")
        elif json.loads(path.read_text()) != settled:
            raise SystemExit(
                f"error: --output {self.directory}: made by another plan or binary; name another directory"
            )

    def order(self, kinds):
        """So many trials of each kind, shuffled by the plan's seed and cut into its sessions: name, kind, session."""
        kinds = [kind for kind, count in kinds.items() for _ in range(count)]
        random.Random(self.plan["seed"]).shuffle(kinds)
        made = dict.fromkeys(kinds, 0)
        order = []
        for place, kind in enumerate(kinds):
            made[kind] += 1
            session = 1 + place * self.plan["sessions"] // len(kinds)
            order.append((f"{kind}-{made[kind]:03}", kind, session))
        return order

    def log(self, name):
        return self.directory / f"{name}.jsonl"

    def seed(self, name):
        """Of the order within a trial."""
        return int(hashlib.sha256(f"{self.plan['seed']} {name}".encode()).hexdigest()[:8], 16)

    def call(self, name, *arguments):
        """What the program says. It may find a change, or a case that fails."""
        command = [self.udpbench, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in [0, 1, 3, 4]:
            raise Broken(f"{name}: exit code {done.returncode}: {done.stderr.strip()[-500:]}")
        return done.stdout


def delay(slowed, iterations):
    """As `--delay` takes it. What is slowed is an engine and, after a colon, in which of its cases."""
    engine, _, parts = slowed.partition(":")
    return f"{engine}:{iterations}@{parts}" if parts else f"{engine}:{iterations}"


def stretched(change_pct, wanted_pct):
    """By how much operations are to be more, if so many change the speed by `change_pct`, and `wanted_pct` is wanted.

    Speed is the inverse of time, and time is what operations add to.
    """
    if change_pct >= -1:
        raise Broken(f"{PILOT} operations per datagram changed the speed by {change_pct} %: is the machine too busy?")
    return (1 / (1 - wanted_pct / 100) - 1) / (1 / (1 + change_pct / 100) - 1)


def add_arguments(add):
    add("--plan", type=Path, metavar="FILE", help="the plan: a TOML file")
    add("--output", type=Path, metavar="DIR", help="where the logs of all trials go, and are kept")
    add("--session", type=int, metavar="N", help="make the trials of this session")
    add("--table", type=Path, metavar="FILE", help="write the table to this CSV file, too")
    add("--udpbench", type=Path, metavar="FILE", help="take this binary, of a build with --features calibration")
    add("--quick", action="store_true", help="a tiny plan, in a directory that goes away")


def check(args, parser, quick):
    """Reads the plan, and refuses what cannot be. It must have what the quick one has."""
    if args.udpbench and not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program")
    if args.quick:
        args.plan, args.session = quick, 1
        return
    if not args.plan or not args.output:
        parser.error("name a --plan and an --output")
    if args.table and args.table.exists():
        parser.error(f"--table {args.table}: it exists, and nothing is overwritten; choose another name")
    try:
        args.plan = tomllib.loads(args.plan.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        parser.error(f"--plan: {error}")
    if missing := quick.keys() - args.plan.keys():
        parser.error(f"--plan: it lacks {', '.join(sorted(missing))}")
    if args.session and not 1 <= args.session <= args.plan["sessions"]:
        parser.error(f"--session {args.session}: the plan has {args.plan['sessions']}")


def options_of(slowed, of_plan=()):
    """Of a sweep that has no other cases of the engine than these, such as `nix:2t+300B,4t+300B`; what they leave open
    is as the plan's own options say."""
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
