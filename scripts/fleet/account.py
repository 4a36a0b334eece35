#!/usr/bin/env python3
"""Files a run's results, and writes the README.md about its circumstances.

The playbooks call it:
    account.py require-in-folder <files.json  refuses what could not be brought back from the board
    account.py new-directory RESULTS NAME     makes RESULTS/<date>-NAME, or one with -2, and prints it
    account.py readme DIRECTORY <run.json     writes DIRECTORY/README.md about the files there,
                                              and sees to it that they survive a power cut
"""

import csv
import json
import os
import re
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

README = "README.md"
SECOND = "%Y-%m-%d %H:%M:%S"
ENDINGS = {
    0: "done",
    1: "a case failed, or nothing could run: the column `reason` says which and why",
    2: "bad input",
    3: "the link to the board broke; what was measured until then is here",
    124: "ended early at its time limit; what was measured until then is here",
    130: "ended early by Ctrl-C; what was measured until then is here",
    143: "ended early by SIGTERM; what was measured until then is here",
}


class Refusal(Exception):
    """A command line that cannot be obeyed from here; exit code 2."""


def require_in_folder(files):
    """Refuses files that could not be brought back from the folder of the run. What they are, `udpbench files`
    has said."""
    if not files["sweep"]:
        raise Refusal("error: these arguments are for no sweep: it would have no results")
    if files["resume"]:
        raise Refusal(f"error: resume {files['resume']}: resume a sweep on the board itself, where its files are")
    if files["output"] == "-":
        raise Refusal(
            "error: --output -: the results are to come back as files: name a file with --output, or leave --format out"
        )
    for flag in ["output", "samples"]:
        path = PurePosixPath(files[flag] or "")
        if path.is_absolute() or ".." in path.parts:
            raise Refusal(f"error: --{flag} {path}: it would stay on the board: name a file without a directory")
        if path.name == README:
            raise Refusal(f"error: --{flag} {path}: the circumstances go to a file of this name: choose another one")
        if not str(path).isprintable():
            raise Refusal(f"error: --{flag} {str(path)!r}: it holds control characters: use printable ones")


def now():
    return datetime.now(UTC)


def board_of(files):
    """The name of the board in the rows, or in the head of the raw samples where there is no row yet; and what is
    wrong with a file of either kind. A file's kind is known by its content: --samples may name a CSV."""
    problems = []
    for path in files:
        if path.suffix not in [".csv", ".jsonl"]:
            continue
        try:
            with open(path, "rb") as file:
                begin = file.read(1)
            # Rows as JSON or as Markdown, under a name of the user's.
            if begin in [b"[", b"|"]:
                continue
            with open(path, newline="", encoding="utf-8") as file:
                name = header(file) if begin == b"{" else first_row(file)
        except (csv.Error, UnicodeDecodeError, KeyError, OSError) as problem:
            message = f"it has no column {problem}" if isinstance(problem, KeyError) else problem
            problems.append(f"{path}: it is damaged: {message}")
            continue
        if name:
            # The name becomes part of a path.
            return re.sub(r"[^\w.-]|^\.", "_", str(name)), problems
    return "unknown", problems


def first_row(csv_file):
    # The machine is named by its board first.
    return next((row["machine_id"].split(", ")[0] for row in csv.DictReader(csv_file)), None)


def header(jsonl_file):
    try:
        return json.loads(jsonl_file.readline())["header"]["environment"]["board"]
    except (ValueError, KeyError, TypeError, RecursionError):
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
    clock = ""
    if abs(run.clock_off_s) >= 60:
        off = f"**The board's clock was off by {run.clock_off_s:.0f} s:**"
        clock = f"\n{off} the times in the files are wrong by as much.\n"
    return f"""# {board}, {run.started:%Y-%m-%d}

Brought back by `{run.by}`; the files are as the program wrote them.

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


def write(directory, readme):
    """The names of files need not be UTF-8."""
    (directory / README).write_text(readme, encoding="utf-8", errors="backslashreplace")


def sync(*paths):
    """Files and directories, safe against a power cut before the other copy is deleted."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def fenced(text):
    return f"```text\n{text.strip()}\n```"


def main():
    command, *words = sys.argv[1:] or [""]
    if command == "new-directory" and len(words) == 2:
        print(new_directory(Path(words[0]), now().date(), words[1]))
    elif command == "require-in-folder" and not words:
        try:
            require_in_folder(json.load(sys.stdin))
        except Refusal as refusal:
            print(refusal, file=sys.stderr)
            sys.exit(2)
    elif command == "readme" and len(words) == 1:
        directory = Path(words[0])
        run = SimpleNamespace(**json.load(sys.stdin))
        run.arguments, run.clock_off_s = shlex.split(run.arguments), float(run.clock_off_s)
        run.code, run.check_code = int(run.code), int(run.check_code)
        run.started, run.ended = map(datetime.fromisoformat, [run.started, run.ended])
        files = [path for path in sorted(directory.iterdir()) if path.name != README]
        board, problems = board_of(files)
        write(directory, readme(run, board, files))
        sync(*directory.iterdir(), directory, directory.parent, directory.parent.parent)
        # Complains of damage only after all is written.
        sys.exit("; ".join(problems) or 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"error: {error}")
