"""Counts the verdicts of `udpbench compare` on two files."""

import csv
import io
import subprocess
from typing import NamedTuple

from tools.command import Broken
from tools.simulation.patterns import SLOWED

CHANGED = ["faster", "slower"]


class Verdict(NamedTuple):
    """On one comparison."""

    # The slowed engine; a single case of it; its parts, and only these.
    found: bool
    by_case: bool
    named: bool
    same: bool
    # Anything else is called changed, or the slowed engine faster.
    alarm: bool


def verdict(udpbench, base, new, pattern):
    command = [udpbench, "compare", base, new, "--format", "csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in [0, 3, 4]:
        raise Broken(f"compare: exit code {done.returncode}: {done.stderr.strip()}")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    own = [row for row in rows if row["label"] == SLOWED]
    others = [row for row in rows if row["label"] != SLOWED]
    engine = next(row for row in own if row["kind"] == "engine")
    named = {row["part"] for row in own if row["kind"] == "part" and row["verdict"] in CHANGED}
    is_slower = pattern.percent > 0
    return Verdict(
        found=is_slower and engine["verdict"] == "slower",
        by_case=is_slower and any(row["kind"] == "case" and row["verdict"] == "slower" for row in own),
        named=is_slower and engine["verdict"] == "slower" and named == pattern.parts,
        same=engine["verdict"] == "same",
        alarm=any(row["verdict"] in (CHANGED if not is_slower else ["faster"]) for row in own)
        or any(row["verdict"] in CHANGED for row in others),
    )
