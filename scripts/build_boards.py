#!/usr/bin/env python3
"""Builds the binaries (profile `dist`) for the boards' targets, checks what came out, and runs each under qemu-user.

Prints a table: size, how it is linked, the newest GLIBC it needs, the ARM architecture it says it is for, and
how many cases of a --quick sweep ran. Fails if a binary for a board is 7.8 MB or larger, if one is not stripped,
is not static although its libc is musl, is for more than an ARMv6 although it is the one for an ARMv6, or if a
case fails.

A target whose standard library cannot be had for the current Rust is built with the oldest supported one.
Needs rustup, readelf, qemu-user-static, and Debian's cross compilers:
gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross. Not root.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import ROOT, rows
from tools.targets import RELEASED, TARGETS, build, cargo, features_for, loudly, oldest_rust, toolchain

EXAMPLES = """\
examples:
  scripts/build_boards.py                                       all targets, with Debian's cross compilers
  scripts/build_boards.py --target aarch64-unknown-linux-musl   only this one
  scripts/build_boards.py --zig                                 two more by cargo-zigbuild, for old systems
  scripts/build_boards.py --profile release --no-run            soon: larger and slower than what is released
  scripts/build_boards.py --lint                                builds nothing: clippy for every target

exit codes: 0 all is as it must be, 1 something is not, 2 bad input"""

# The boards' targets, and what only a release has besides.
EVERY = {**TARGETS, **RELEASED}
# On a board: seconds over ssh to the slowest one. 3 MB was wanted, before there were a second host and searches; what
# grows is to be seen. The largest is that of an ARMv6 with glibc: no ld of Debian folds functions of the same code.
SMALLER_THAN_BYTES = 7_800_000
# Zig links against any glibc (2.17 is the oldest that Rust supports), and brings start files for an ARMv6.
ZIG_BUILDS = [("aarch64-unknown-linux-gnu", "2.17"), ("arm-unknown-linux-gnueabihf", "2.17")]
# The CPU of a Pi 1, Zero and Zero W.
ARMV6_CPU = ["-cpu", "arm1176"]


def main():
    args = arguments()
    targets = args.target or list(TARGETS)
    if args.lint:
        return lint(targets)
    built = [(triple, build(triple, args.profile)) for triple in targets]
    if args.zig:
        wanted = [(triple, glibc) for triple, glibc in ZIG_BUILDS if args.zig in ["all", triple]]
        built += [(f"{triple}.{glibc} by zig", zigbuild(triple, glibc)) for triple, glibc in wanted]
    lines, problems = [], []
    for name, path in built:
        binary = Binary(path)
        target = EVERY[name.partition(".")[0]]
        quick, failures = run_quick(target, binary) if args.run else ("not run", [])
        lines.append([name, f"{binary.bytes:,}", binary.linkage, binary.glibc, binary.arch, quick])
        problems += [f"{name}: {problem}" for problem in binary.problems(target, args.profile) + failures]
    print()
    rows.print_table(["target", "bytes", "libraries", "GLIBC", "for", "--quick"], lines)
    print("\nwhere:", *[f"  {path.relative_to(ROOT)}" for _, path in built], sep="\n")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return 1 if problems else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    repeated = f"build this one, of {', '.join(EVERY)}; may be repeated [default: all that are for a board]"
    parser.add_argument("--target", action="append", choices=EVERY, metavar="TARGET", help=repeated)
    profile_help = "of cargo [default: dist]; the limit of the size is for this one"
    parser.add_argument("--profile", choices=["dist", "release"], default="dist", help=profile_help)
    parser.add_argument("--no-run", dest="run", action="store_false", help="do not run what was built")
    zig = {"nargs": "?", "const": "all", "choices": ["all", *(triple for triple, _ in ZIG_BUILDS)]}
    zig_help = "also build with cargo-zigbuild (from PyPI), all that it is for or only this target"
    parser.add_argument("--zig", metavar="TARGET", help=zig_help, **zig)
    parser.add_argument("--lint", action="store_true", help="run clippy for each target instead")
    return parser.parse_args()


def lint(targets):
    """The program only: its tests are linted for this machine, and built by ci/test_under_qemu_user.py."""
    for triple in targets:
        options = ["--locked", "--target", triple, *features_for(triple)]
        if toolchain(triple) == oldest_rust():
            # An old clippy's opinions are not this project's: it has to compile.
            cargo(toolchain(triple), "check", *options)
        else:
            cargo(toolchain(triple), "clippy", *options, "--", "-D", "warnings")
    return 0


def zigbuild(triple, glibc):
    """Builds with cargo-zigbuild and Zig, which are installed below target/ first."""
    tools = ROOT / "target" / "zig"
    if not (tools / "bin" / "cargo-zigbuild").exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([tools / "bin" / "pip", "install", "-q", "ziglang", "cargo-zigbuild"], check=True)
    options = ["--locked", "--profile", "dist", "--target", f"{triple}.{glibc}", *features_for(triple)]
    environment = {"PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    directory = cargo(toolchain(triple), "zigbuild", *options, beneath="zigbuild", environment=environment)
    return directory / triple / "dist" / "udpbench"


class Binary:
    """Facts about an ELF file."""

    def __init__(self, path):
        self.path = path
        self.bytes = path.stat().st_size
        command = ["readelf", "--wide", "--all", path]
        ran = subprocess.run(command, check=True, text=True, capture_output=True, env={"LC_ALL": "C"})
        self.text = ran.stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", self.text)
        self.is_static = not needed and "Requesting program interpreter" not in self.text
        self.linkage = "static" if self.is_static else " ".join(short(name) for name in needed)
        versions = set(re.findall(r"GLIBC_([0-9.]+)", self.text))
        self.glibc = max(versions, key=lambda text: [*map(int, text.split("."))], default="-")
        machine = re.search(r"Machine: +(.*)", self.text)[1]
        arm = re.search(r"Tag_CPU_arch: (.*)", self.text)
        self.arch = f"ARM{arm[1]}" if arm else machine

    def problems(self, target, profile):
        found = []
        if target.is_board and profile == "dist" and self.bytes >= SMALLER_THAN_BYTES:
            found.append(f"{self.bytes:,} bytes are not less than {SMALLER_THAN_BYTES:,}")
        if re.search(r"\] \.symtab ", self.text):
            found.append("it is not stripped")
        if self.is_static != target.is_static:
            found.append(f"it is {self.linkage}")
        if target.is_armv6 and self.arch != "ARMv6":
            self.explain_armv6(target, found)
        return found

    def explain_armv6(self, target, found):
        if target.is_static:
            found.append(f"it is {self.arch}, not ARMv6")
        else:
            loudly(
                f"{target.triple} is {self.arch} here: the start files of this linker are not for an ARMv6,\n"
                "    so it runs on no Pi Zero or Pi 1. Take arm-unknown-linux-musleabihf (docs/BUILDING.md)."
            )


def short(library):
    """libc.so.6 -> libc"""
    return library.partition(".")[0]


def run_quick(target, binary):
    """The outcome of a --quick sweep of it under qemu-user, and its faults."""
    # Debian's own ARM libraries are for an ARMv7: only a static binary can be tried on an ARMv6.
    options = ARMV6_CPU if target.is_armv6 and target.is_static else []
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "out.csv"
        command = [*target.runner(*options).split(), binary.path, "--quick", "--output", output]
        print("$", *command, file=sys.stderr, flush=True)
        ran = subprocess.run(command, text=True, capture_output=True)
        if ran.returncode:
            return "failed", [f"--quick: exit code {ran.returncode}: {ran.stderr[-500:]}"]
        results = rows.read(output)
    count = [sum(row["status"] == status for row in results) for status in ["ok", "skipped"]]
    cpu = f" on {options[1]}" if options else ""
    return f"{count[0]} ok, {count[1]} skipped{cpu}", rows.problems(results)


if __name__ == "__main__":
    sys.exit(main())
