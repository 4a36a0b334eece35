"""A build that can be slowed down by a known delay."""

import subprocess
import sys

from tools import ROOT


def built_udpbench():
    # Not in target/dist: it must not be taken for a program to measure with.
    directory = ROOT / "target/calibration"
    command = [
        "cargo",
        "build",
        "--profile",
        "dist",
        "--locked",
        "--features",
        "calibration",
        "--target-dir",
        directory,
    ]
    try:
        built = subprocess.run(command, cwd=ROOT)
    except OSError as error:
        sys.exit(f"error: cannot run cargo: {error.strerror}; name a binary with --udpbench")
    if built.returncode != 0:
        sys.exit("error: udpbench cannot be built; see above")
    return directory / "dist/udpbench"
