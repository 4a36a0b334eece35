"""The files of a run on a board: which there will be, the way here, and what may then be deleted there: only
what has arrived whole. A folder is never deleted with what is in it."""

import json
import shlex
import subprocess
from pathlib import Path

from deploying import account
from deploying.link import TEXT, Failure, called

# In the folder of the run, as the program itself will be: a path may be relative to it.
ASK = 'cd "$1" && shift && exec ../udpbench files -- "$@"'
# Both here and there; cksum is the one that POSIX promises.
LIST = 'cd "$1" && find . -type f -exec cksum {} +'
DELETE = 'cd "$1" && shift && rm -f -- "$@"'
LEAVE = Path(__file__).with_name("leave.sh")


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
        here = listed(called(["sh", "-c", LIST, "sh", room], stdout=subprocess.PIPE, **TEXT))
        if here != there:
            raise Failure(f"what came from {link.host} is not what is there: {differences(here, there)}")
        files = unpack(room, arriving)
        board, problems = account.board_of(files)
        account.write(arriving, account.readme(about, board, files))
        account.sync(*arriving.iterdir(), arriving)
        home = account.new_directory(results, about.started.date(), board)
        arriving.rename(home)
        account.sync(results)
    except BaseException:
        subprocess.run(["rm", "-rf", arriving], check=False)
        raise
    link.ask(DELETE, directory, *there)
    return home, [problem.replace(str(arriving), str(home)) for problem in problems]


def listed(answer):
    """Names, each with its checksum and size."""
    if answer.returncode != 0:
        raise Failure(f"could not list the files of the run: {(answer.stderr or '').strip()}")
    # Not splitlines: a name may hold what Unicode calls an end of a line.
    fields = [line.split(" ", 2) for line in answer.stdout.split("\n")[:-1]]
    if any(len(line) != 3 or not line[2].startswith("./") for line in fields):
        raise Failure("could not list the files of the run: the name of one holds a line break")
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


def leave(link, board):
    """Leaves only the program on the board; says what stays because nobody fetched it, else None."""
    directory = f"{board.home}/{board.room}"
    script = LEAVE.read_text(encoding="utf-8")
    if link.ask('exec sh -s "$1"', directory, stdin=script).returncode == 0:
        return None
    copy = shlex.join(["scp", "-r", *link.given, link.remote(directory), "."])
    return f"what the run left stays on the board, in {link.host}:{directory}\n       get it with: {copy}"
