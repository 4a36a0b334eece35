"""Manual pages and completions, which the program writes for packages and archives. Used by
scripts/package.py and scripts/release.py."""

import functools
import platform
import shutil
import subprocess

from tools import ROOT
from tools.targets import build

PARTS = ROOT / "target/package"
SHELLS = {"bash": "udpbench", "zsh": "_udpbench", "fish": "udpbench.fish"}


def make_parts():
    shutil.rmtree(PARTS, ignore_errors=True)
    (PARTS / "completions").mkdir(parents=True)
    subprocess.run([*program(), "manual", PARTS / "man"], check=True, cwd=ROOT)
    for shell, name in SHELLS.items():
        with (PARTS / "completions" / name).open("wb") as file:
            subprocess.run([*program(), "completions", shell], check=True, cwd=ROOT, stdout=file)


@functools.cache
def program():
    """One that runs here, and writes manual pages: those for boards do not."""
    if platform.machine() == "x86_64":
        return [build("x86_64-unknown-linux-musl")]
    return ["cargo", "run", "--quiet", "--locked", "--profile", "dist", "--"]
