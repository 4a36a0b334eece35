"""The versions of ansible-core that the tests use, each in an environment of its own below target/ansible/."""

import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# What scripts/fleet/README.md promises; and the newest for the newest Python here.
OLDEST, NEWEST = "ansible-core==2.14.*", "ansible-core"
# ansible-core 2.14 imports what Python 3.12 no longer has.
NEWEST_FOR_THE_OLDEST = 11


def playbook(version):
    """The path of this version's ansible-playbook, which pip installs on the first call."""
    python = python_for(version)
    home = REPOSITORY / "target/ansible" / ("newest" if version == NEWEST else "oldest")
    program = home / "bin/ansible-playbook"
    pip = [home / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    if not program.exists():
        subprocess.run([python, "-m", "venv", "--clear", home], check=True)
    subprocess.run([*pip, version], check=True)
    said = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    print(f"ansible-playbook {said.split(']')[0].split()[-1]} for {version}", file=sys.stderr, flush=True)
    return program


def python_for(version):
    newest = NEWEST_FOR_THE_OLDEST if version == OLDEST else 30
    for minor in range(newest, 8, -1):
        python = shutil.which(f"python3.{minor}")
        # A stub, as pyenv has them, is no interpreter.
        if python and subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0:
            return python
    return sys.executable
