"""The binary that the tests of scripts use."""

import subprocess
import sys
from pathlib import Path

from tools import ROOT


def take_binary(help_text, flag="--binary"):
    """Takes this flag and its file out of the command line, or builds a release. Answers --help."""
    if {"-h", "--help"} & set(sys.argv):
        print(help_text)
        sys.exit(0)
    if flag in sys.argv:
        place = sys.argv.index(flag)
        binary = Path(sys.argv[place + 1]).resolve()
        del sys.argv[place : place + 2]
        return binary
    subprocess.run(["cargo", "build", "--locked", "--release"], cwd=ROOT, check=True)
    return ROOT / "target/release/udpbench"
