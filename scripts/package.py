#!/usr/bin/env python3
"""Makes Debian packages, target/debian/udpbench_VERSION-1_ARCH.deb: the program, its manual pages, completions
for bash, zsh and fish, and the documents.

The program in them is linked statically, with musl, so one package serves every release of Debian, Ubuntu and
Raspberry Pi OS. The one for armhf is built for an ARMv6: that is what Raspberry Pi OS means by armhf, though
Debian means an ARMv7, and udpbench's own loops come out the same for both.

Needs Python 3.11, cargo-deb (cargo install cargo-deb --locked) and rustup. No root.
"""

import argparse
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from email.utils import format_datetime

from tools import ROOT
from tools.release import source
from tools.release.parts import PARTS, make_parts
from tools.release.third_party import third_party
from tools.targets import build

EXAMPLES = """\
examples:
  scripts/package.py                  all three
  scripts/package.py arm64            for a Raspberry Pi with a 64-bit system
  DEBFULLNAME=Me DEBEMAIL=me@example.org scripts/package.py

exit codes: 0 done, 1 something is missing or broke, 2 bad input"""

TARGETS = {
    "amd64": "x86_64-unknown-linux-musl",
    "arm64": "aarch64-unknown-linux-musl",
    "armhf": "arm-unknown-linux-musleabihf",
}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("arch", nargs="*", metavar="ARCH", help=f"{', '.join(TARGETS)} [default: all]")
    args = parser.parse_args()
    for arch in set(args.arch) - set(TARGETS):
        parser.error(f"{arch}: there are {', '.join(TARGETS)}")
    if not shutil.which("cargo-deb"):
        sys.exit("error: there is no cargo-deb here; cargo install cargo-deb --locked")
    make_parts()
    (PARTS / "changelog").write_text(changelog())
    for arch in args.arch or TARGETS:
        package(TARGETS[arch])


def changelog():
    """In Debian's format, which has one entry per package and not per change."""
    committed = datetime.fromtimestamp(source.committed(), UTC)
    return (
        f"udpbench ({source.version()}-1) unstable; urgency=medium\n\n  * See changelog.gz in this directory.\n\n"
        f" -- {maintainer()}  {format_datetime(committed)}\n"
    )


def maintainer():
    """The maintainer, as Debian's own tools find it; else the one in Cargo.toml."""
    email = os.environ.get("DEBEMAIL")
    if email:
        return f"{os.environ.get('DEBFULLNAME', email)} <{email}>"
    lines = (ROOT / "Cargo.toml").read_text().splitlines()
    return next(line.split('"')[1] for line in lines if line.startswith("maintainer = "))


def package(target):
    binary = build(target)
    (PARTS / "THIRD-PARTY.txt").write_text(third_party(target))
    command = [
        "cargo",
        "deb",
        "--locked",
        "--no-build",
        "--no-strip",
        "--quiet",
        "--profile",
        "dist",
        "--target",
        target,
    ]
    command += ["--maintainer", maintainer(), "--output", "target/debian/"]
    # Gives the same package of the same commit, whenever it is made.
    times = {"SOURCE_DATE_EPOCH": str(source.committed())}
    print(run(command, CARGO_TARGET_DIR=str(binary.parents[2]), **times).decode().strip())


def run(command, **environment):
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"error: exit code {done.returncode} from {' '.join(map(str, command))}; see above")
    return done.stdout


if __name__ == "__main__":
    main()
