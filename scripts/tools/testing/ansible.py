"""The versions of ansible-core that the tests use, each in an environment of its own below target/ansible/."""

import re
import shutil
import subprocess
import sys
from unittest import SkipTest

from tools import ROOT

# The version that scripts/fleet/README.md promises, and the newest for the newest Python here.
OLDEST, NEWEST = "ansible-core==2.14.*", "ansible-core"
# ansible-core 2.14 imports what Python 3.12 no longer has, and needs 3.9.
PYTHONS = {OLDEST: range(9, 12), NEWEST: range(9, 30)}
FITS = {OLDEST: r"2\.14\.", NEWEST: r"\d"}
# Prints the minor version of a Python that can make an environment with pip: Debian has ensurepip apart.
ASK = "import sys, venv, ensurepip; print(sys.version_info.minor)"


def playbook(version):
    """The path of this version's ansible-playbook, which pip installs on the first call. Skips what tests it where
    that cannot be: without a Python for it, or without a network."""
    home = ROOT / "target/ansible" / ("newest" if version == NEWEST else "oldest")
    program = home / "bin/ansible-playbook"
    installed = version_of(program)
    fits = re.match(FITS[version], installed)
    if not fits or version == NEWEST:
        problem = install(version, home, keep=fits)
        installed = version_of(program)
        if not re.match(FITS[version], installed):
            print(f"SKIPPED: {version}: {problem}", file=sys.stderr, flush=True)
            raise SkipTest(f"{version}: {problem}")
    print(f"ansible-playbook {installed} for {version}", file=sys.stderr, flush=True)
    return program


def version_of(program):
    """Nothing if it does not run, as when its Python is gone."""
    done = run([program, "--version"])
    found = re.match(r"ansible-playbook \[core ([^\]]+)\]", done.stdout) if done else None
    return found[1] if found else ""


def install(version, home, keep):
    """Into the environment that is there, or a new one. Returns why it failed, if it did."""
    if not keep:
        python = python_for(version)
        if not python:
            minors = PYTHONS[version]
            newest = f" to 3.{minors[-1]}" if version == OLDEST else " or newer"
            return f"no Python 3.{minors[0]}{newest} with venv and ensurepip is here"
        made = run([python, "-m", "venv", "--clear", home])
        if not made or made.returncode != 0:
            return f"{python} -m venv {home} failed"
    pip = [home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = run([*pip, "--retries", "1", "--timeout", "15", "--upgrade", version])
    if done and done.returncode == 0:
        return None
    reason = (done.stderr.strip().splitlines() or [""])[-1] if done else "no pip"
    return f"pip install failed: {reason}"


def python_for(version):
    """The newest Python that this version runs on."""
    names = [f"python3.{minor}" for minor in reversed(PYTHONS[version])]
    for python in filter(None, [*map(shutil.which, names), sys.executable]):
        # A stub, as pyenv has them, is no interpreter.
        done = run([python, "-c", ASK])
        if done and done.returncode == 0 and int(done.stdout) in PYTHONS[version]:
            return python
    return None


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
