"""A build that can be slowed down by a known delay."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def built_udpbench():
    # Not in target/dist: it must not be taken for a program to measure with.
    directory = REPOSITORY / "target/calibration"
    command = ["cargo", "build", "--profile", "dist", "--locked", "--features", "calibration", "--target-dir", directory]
    try:
        built = subprocess.run(command, cwd=REPOSITORY)
    except OSError as error:
        sys.exit(f"error: cannot run cargo: {error.strerror}; name a binary with --udpbench")
    if built.returncode != 0:
        sys.exit("error: udpbench cannot be built; see above")
    return directory / "dist/udpbench"
