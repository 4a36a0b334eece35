"""The libraries whose code is in the program. Used by scripts/package.py and scripts/release.py."""

import json
import tomllib
from dataclasses import dataclass

from tools import ROOT
from tools.targets import features_for, output_of, toolchain


@dataclass(frozen=True)
class Brought:
    """A library that comes with Rust, and has no version that one could see."""

    name: str
    title: str
    licence: str
    url: str


# Parts of the standard library's package for a target with musl.
BROUGHT = [
    Brought("rust-std", "Rust's standard library", "MIT OR Apache-2.0", "https://github.com/rust-lang/rust"),
    Brought("musl", "musl libc", "MIT", "https://musl.libc.org"),
    Brought(
        "libunwind",
        "LLVM's libunwind",
        "Apache-2.0 WITH LLVM-exception",
        "https://libunwind.llvm.org",
    ),
]


def crates(target):
    """Linked crates, as `cargo metadata` describes them: those of the target's features, without this project's own,
    macros, and dependencies of build scripts."""
    options = ["--locked", *features_for(target)]
    tree = ["cargo", "tree", "--target", target, "--edges", "normal,no-proc-macro", "--prefix", "none"]
    lines = output_of([*tree, "--format", "{p}", *options]).splitlines()
    names = {tuple(line.split()[:2]) for line in lines if line}
    described = ["cargo", "metadata", "--format-version", "1", "--filter-platform", target, *options]
    packages = json.loads(output_of(described))["packages"]
    by_name = {(package["name"], f"v{package['version']}"): package for package in packages}
    return [package for package in map(by_name.get, sorted(names)) if package["source"]]


def licence(package):
    """The licence as an SPDX expression: some crates still have a slash for OR."""
    return package["license"].replace("/", " OR ")


def checksums():
    """The SHA-256 of each crate as cargo downloads it, by name and version."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {(crate["name"], crate["version"]): crate.get("checksum") for crate in locked}


def rust(target):
    """The version of the compiler, and of the libraries that it brings."""
    return output_of(["rustc", f"+{toolchain(target)}", "--version"]).split()[1]
