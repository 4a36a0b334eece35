"""The boards' targets, and those of a release: how each is built and run on this machine. Used by the scripts
above."""

import functools
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT


@dataclass(frozen=True)
class Target:
    """A Rust target triple, and the command that runs its binaries on another architecture."""

    triple: str
    qemu: str
    # The directory of the C library and its loader for qemu; none for a static binary.
    libraries: str = ""

    @property
    def is_static(self):
        return "musl" in self.triple

    @property
    def is_64_bit(self):
        return self.triple.startswith("aarch64-")

    @property
    def is_board(self):
        return not self.triple.startswith("x86_64-")

    @property
    def is_armv6(self):
        return self.triple.startswith("arm-")

    def runner(self, *options):
        """The command that cargo and the tests put before a binary; split at blanks."""
        prefix = ["-L", self.libraries] if self.libraries else []
        return " ".join([self.qemu, *options, *prefix])

    def runner_variable(self):
        return f"CARGO_TARGET_{self.triple.replace('-', '_').upper()}_RUNNER"


ARM64 = "qemu-aarch64-static"
ARM32 = "qemu-arm-static"
TARGETS = {
    target.triple: target
    for target in [
        Target("aarch64-unknown-linux-gnu", ARM64, "/usr/aarch64-linux-gnu"),
        Target("aarch64-unknown-linux-musl", ARM64),
        Target("armv7-unknown-linux-gnueabihf", ARM32, "/usr/arm-linux-gnueabihf"),
        Target("arm-unknown-linux-gnueabihf", ARM32, "/usr/arm-linux-gnueabihf"),
        Target("arm-unknown-linux-musleabihf", ARM32),
    ]
}
# Targets of a release: a static binary for each kind of CPU among the boards' targets, and for x86-64.
RELEASED = {
    target.triple: target
    for target in [
        Target("x86_64-unknown-linux-musl", "qemu-x86_64-static"),
        TARGETS["aarch64-unknown-linux-musl"],
        Target("armv7-unknown-linux-musleabihf", ARM32),
        TARGETS["arm-unknown-linux-musleabihf"],
    ]
}


def features_for(triple):
    """Options of cargo. A board measures; what is done with results afterwards (the page, manual pages) is
    left out of its binary, and is in the one for the machine at which people sit."""
    return [] if triple.startswith("x86_64-") else ["--no-default-features", "--features", "board"]


def loudly(message):
    print(f"\n!!! {message}\n", file=sys.stderr, flush=True)


def oldest_rust():
    """`rust-version` of Cargo.toml, as the name of a toolchain: 1.85 is 1.85.0, not the newest 1.85."""
    version = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]
    return version if version.count(".") == 2 else f"{version}.0"


@functools.cache
def toolchain(triple):
    """The toolchain to build `triple` with: the current one, or the oldest supported, whose standard
    library may still be had where that of the current one is not. Installs what is missing."""
    current = output_of(["rustup", "show", "active-toolchain"]).split()[0]
    if has_standard_library(current, triple):
        return current
    oldest = oldest_rust()
    command = ["rustup", "toolchain", "install", oldest, "--profile", "minimal", "--no-self-update"]
    subprocess.run(command, check=True)
    if not has_standard_library(oldest, triple):
        sys.exit(f"error: no standard library of {triple} for {current} or {oldest}; is there a network?")
    loudly(f"no standard library of {triple} for {current}: it is built with Rust {oldest} instead")
    return oldest


def has_standard_library(name, triple):
    command = ["rustup", "target", "add", "--toolchain", name, triple]
    added = subprocess.run(command, text=True, capture_output=True)
    return added.returncode == 0


def build(triple, profile="dist"):
    """Builds the program, and returns the path of the binary."""
    options = ["--locked", "--profile", profile, "--target", triple, *features_for(triple)]
    return cargo(toolchain(triple), "build", *options) / triple / profile / "udpbench"


def cargo(name, command, *arguments, beneath="", environment=None):
    """Runs cargo of one toolchain in the project, ends the script if it fails, and returns the directory
    that it built in."""
    # Builds by another toolchain or linker must not be taken for this one's.
    directory = ROOT / "target" / ("msrv" if name == oldest_rust() else "") / beneath
    words = ["cargo", f"+{name}", command, "--target-dir", str(directory), *without_paths(name), *arguments]
    print("$", *words, file=sys.stderr, flush=True)
    if subprocess.run(words, cwd=ROOT, env={**os.environ, **(environment or {})}).returncode:
        sys.exit(f"error: {' '.join(words)} failed")
    return directory


def without_paths(name):
    """Options of cargo that leave this machine's directories out of what it builds: panics name the source file,
    and a release is the same wherever it is built."""
    flags = [f"--remap-path-prefix={path}={instead}" for path, instead in sources(name).items()]
    return ["--config", f"target.'cfg(all())'.rustflags = {json.dumps(flags)}"]


@functools.cache
def sources(name):
    """Directories of a build's sources on this machine, and their names in the program."""
    sysroot = output_of(["rustc", f"+{name}", "--print", "sysroot"])
    commit = re.search(r"^commit-hash: (.*)", output_of(["rustc", f"+{name}", "-vV"]), re.M)[1]
    return {
        str(ROOT): "/udpbench",
        str(cargo_home()): "/cargo",
        # The standard library has this name already, unless its sources are installed.
        f"{sysroot}/lib/rustlib/src/rust": f"/rustc/{commit}",
    }


def cargo_home():
    return Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo").absolute()


def output_of(command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT).stdout.strip()
