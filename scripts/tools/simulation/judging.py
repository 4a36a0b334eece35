"""What `udpbench compare` says of a run against a baseline, made by the rule of `--against`: in one pass, or in two."""

import csv
import io
import subprocess
from typing import NamedTuple

from tools.command import Broken

CHANGED = ["faster", "slower"]
THRESHOLD_PCT = 2
UNATTRIBUTED = "which of them"


class Verdict(NamedTuple):
    """On one comparison."""

    # The changed engine is slower; it alone is called changed.
    found: bool
    blamed: bool
    # Another engine is called changed, or the changed one faster.
    alarm: bool
    # The exit code is 0.
    passed: bool
    # An engine is unclear, since nobody can say which one changed.
    unattributed: bool
    second: bool


def verdict(udpbench, base, passes, pattern):
    """`passes`: functions that make the files of the first and the second pass."""
    first = passes[0]()
    rows, code = compared(udpbench, base, [first])
    second = code != 3 and looks_slower(rows)
    if second:
        rows, code = compared(udpbench, base, [first, passes[1]()])
    named = {(row["label"], row["verdict"]) for row in rows if row["verdict"] in CHANGED}
    right = {(pattern.engine, "slower")} if pattern.percent else set()
    return Verdict(
        found=bool(right) and right <= named,
        blamed=bool(right) and named == right,
        alarm=bool(named - right),
        passed=code == 0,
        unattributed=any(row["kind"] == "engine" and UNATTRIBUTED in row["reason"] for row in rows),
        second=second,
    )


def compared(udpbench, base, files):
    command = [udpbench, "compare", "--format", "csv", *base, "--", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in [0, 3, 4]:
        raise Broken(f"compare: exit code {done.returncode}: {done.stderr.strip()}")
    return list(csv.DictReader(io.StringIO(done.stdout))), done.returncode


def looks_slower(rows):
    """Whether an engine looks slower, but not surely: then a second pass follows."""
    engines = [row for row in rows if row["kind"] == "engine" and row["change_pct"]]
    return any(row["verdict"] not in CHANGED and float(row["change_pct"]) <= -THRESHOLD_PCT for row in engines)
