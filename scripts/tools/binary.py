"""The program of this working copy."""

import json
import subprocess
import sys
from pathlib import Path

from tools import ROOT


def built(profile="dist", *options, directory=None):
    """Builds the program, and returns its path."""
    command = ["cargo", "build", "--locked", "--profile", profile, "--message-format=json-render-diagnostics", *options]
    command += ["--target-dir", directory] if directory else []
    try:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"error: cannot run cargo: {error.strerror}; name a program with --udpbench")
    if done.returncode != 0:
        sys.exit("error: udpbench cannot be built; see above")
    # Cargo's own word on where it is: CARGO_TARGET_DIR or a configuration may move it.
    executables = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return Path(next(path for path in executables if path))


def take_binary(help_text, flag="--binary"):
    """Takes this flag and its file out of the command line, or builds a release. Answers --help."""
    if {"-h", "--help"} & set(sys.argv):
        print(help_text)
        sys.exit(0)
    if flag not in sys.argv:
        return built("release")
    place = sys.argv.index(flag)
    binary = Path(sys.argv[place + 1]).resolve()
    del sys.argv[place : place + 2]
    return binary
