"""The files of a run on a board: which there will be, the way here, and what may then be deleted there: only
what has arrived whole. A folder is never deleted with what is in it."""

import json
import os
import shlex
import subprocess
from pathlib import Path

from deploying import account
from deploying.link import Failure

# In the folder of the run, as the program itself will be: a path may be relative to it.
ASK = 'cd "$1" && shift && exec ../udpbench files -- "$@"'
# Both here and there; cksum is the one that POSIX promises.
LIST = 'cd "$1" && find . -type f -exec cksum {} +'
DELETE = 'cd "$1" && shift && rm -f -- "$@"'
# The program's first name and its pid lie beside the folder of the run, so that nothing in it is ours. Not while
# it runs: it may not have made its files yet.
LEAVE = """
cd "$1" || exit 0
[ ! -e "$2.pid" ] || ! kill -0 "$(cat "$2.pid")" 2>/dev/null || exit 1
rm -f "$2.pid" "$2.program"
find "$2" -depth -type d -exec rmdir {} \\; 2>/dev/null
[ ! -e "$2" ] || exit 1
cd / && rmdir "$1" 2>/dev/null
exit 0
"""


def ask(link, directory, words):
    """What the program on the board makes of its command line: see src/cmd/files.rs."""
    asked = link.ask(ASK, directory, *words)
    if "unrecognized subcommand 'files'" in asked.stderr:
        raise Failure("the program is older than this script, and cannot say which files it would write: build it anew")
    if asked.returncode == 2:
        raise account.Refusal(asked.stderr.strip())
    try:
        return json.loads(asked.stdout)
    except ValueError as error:
        said = asked.stderr.strip() or f"exit code {asked.returncode}"
        raise Failure(f"the program on {link.host} does not say which files it would write: {said}") from error


def bring_back(link, directory, results, about):
    """Fetches what the run left, writes the circumstances, and deletes what arrived. Returns the place here, or
    None if there was nothing; and what is wrong with the files."""
    there = listed(link.ask(LIST, directory))
    if not there:
        return None, []
    # Under another name until all is here.
    arriving = account.new_directory(results, about.started.date(), "arriving")
    try:
        link.fetch(directory, arriving)
        room = arriving / Path(directory).name
        here = listed(subprocess.run(["sh", "-c", LIST, "sh", room], stdout=subprocess.PIPE, text=True, check=False))
        if here != there:
            raise Failure(f"what came from {link.host} is not what is there: {differences(here, there)}")
        files = unpack(room, arriving)
        board, problems = account.board_of(files)
        readme = account.readme(about, board, files)
        (arriving / account.README).write_text(readme, encoding="utf-8")
        for file in arriving.iterdir():
            keep(file)
        home = account.new_directory(results, about.started.date(), board)
        arriving.rename(home)
    except BaseException:
        subprocess.run(["rm", "-rf", arriving], check=False)
        raise
    link.ask(DELETE, directory, *there)
    return home, [problem.replace(str(arriving), str(home)) for problem in problems]


def listed(answer):
    """Names, each with its checksum and size."""
    if answer.returncode != 0:
        raise Failure(f"could not list the files of the run: {(answer.stderr or '').strip()}")
    fields = [line.split(" ", 2) for line in answer.stdout.splitlines()]
    return {name: (checksum, size) for checksum, size, name in fields}


def differences(here, there):
    return ", ".join(sorted(name for name in {**here, **there} if here.get(name) != there.get(name)))


def unpack(room, home):
    """All files in one directory, where that leaves each its name."""
    moved = []
    for file in sorted(path for path in room.rglob("*") if path.is_file()):
        target = home / file.name
        if target.exists():
            raise Failure(f"two files of the run are called {file.name}")
        moved.append(file.rename(target))
    for directory in [*sorted((path for path in room.rglob("*") if path.is_dir()), reverse=True), room]:
        directory.rmdir()
    return moved


def keep(file):
    """Safe against a power cut, before the other copy goes."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leave(link, board):
    """Leaves only the program on the board; says what stays because nobody fetched it, else None."""
    if link.ask(LEAVE, board.home, board.room).returncode == 0:
        return None
    directory = f"{board.home}/{board.room}"
    copy = shlex.join(["scp", "-r", *link.given, link.remote(directory), "."])
    return f"what the run left stays on the board, in {link.host}:{directory}\n       get it with: {copy}"
