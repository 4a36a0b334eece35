"""Where a run's results go, and the README.md that says under which circumstances they came about."""

import csv
import json
import shlex
from datetime import datetime, timezone

SECOND = "%Y-%m-%d %H:%M:%S"
ENDINGS = {
    0: "done",
    1: "a case failed, or nothing could run: the column `reason` says which and why",
    2: "bad input",
    3: "the link to the board broke; what was measured until then is here",
    130: "ended early by Ctrl-C; what was measured until then is here",
    143: "ended early by SIGTERM; what was measured until then is here",
}


def now():
    return datetime.now(timezone.utc)


def board_of(files):
    """The name that the rows say, or the head of the raw samples where there is no row yet."""
    for path in files:
        with open(path, newline="", encoding="utf-8") as file:
            name = first_row(file) if path.suffix == ".csv" else header(file)
        if name:
            return name
    return "unknown"


def first_row(csv_file):
    return next((row["board"] for row in csv.DictReader(csv_file)), None)


def header(jsonl_file):
    try:
        return json.loads(jsonl_file.readline())["environment"]["board"]
    except (ValueError, KeyError):
        return None


def new_directory(results, day, board):
    """`<date>-<board>`, or with -2, -3 and so on: never one that is there."""
    results.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        directory = results / (f"{day}-{board}" + (f"-{number}" if number > 1 else ""))
        try:
            directory.mkdir()
            return directory
        except FileExistsError:
            number += 1


def readme(run, board, files):
    """The text. What only a person can know is marked, for that person."""
    listed = "\n".join(f"- `{path.name}`" for path in sorted(files))
    ending = ENDINGS.get(run.code, "it was killed")
    clock = "" if abs(run.clock_off_s) < 60 else (
        f"\n**The board's clock was off by {run.clock_off_s:.0f} s:** the times in the files are wrong by as much.\n"
    )
    return f"""# {board}, {run.started:%Y-%m-%d}

Brought back by `scripts/deploy`; the files are as the program wrote them.

{listed}

## What was run

    {shlex.join(["udpbench", *run.arguments])}

from {run.started:{SECOND}} to {run.ended:{SECOND}} UTC, by {run.version}. Exit code {run.code}: {ending}.
{clock}
## What a person has to fill in

{run.by_hand.strip()}

## What the board showed before

{run.before.strip()}

## What it showed after

{run.after.strip()}

## What `udpbench check` said before

{fenced(run.check)}

Its exit code was {run.check_code}.
"""


def fenced(text):
    return f"```text\n{text.strip()}\n```"
