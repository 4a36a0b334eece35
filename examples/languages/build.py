#!/usr/bin/env python3
"""Builds the programs beside it into target/languages/: those whose compiler or interpreter is there.

udpbench measures them as engines: udpbench --engine std,exec:target/languages/c-plain
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = ROOT / "target" / "languages"
WARNINGS = ["-O2", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", help=f"some of {', '.join(PROGRAMS)} [default: all]")
    chosen = parser.parse_args().program or list(PROGRAMS)
    for name in chosen:
        if name not in PROGRAMS:
            parser.error(f"{name}: there is no such program, but {', '.join(PROGRAMS)}")
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        lacks = PROGRAMS[name](TARGET / name)
        print(f"SKIPPED: {name}: {lacks}" if lacks else TARGET.relative_to(ROOT) / name)


def c(program):
    source = HERE / "c" / f"{program.name.removeprefix('c-')}.c"
    return compiled(os.environ.get("CC", "cc"), [*WARNINGS, source, "-o", program], "gcc")


def cpp(program):
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) and not succeeds([compiler, "-E", "-x", "c++", "-include", "asio.hpp", os.devnull]):
        return f"{compiler} finds no asio.hpp; Debian has it in libasio-dev"
    return compiled(compiler, ["-std=c++20", *WARNINGS, HERE / "cpp" / "asio.cpp", "-o", program], "g++")


def go(program):
    package = f"./{program.name.removeprefix('go-')}"
    return compiled("go", ["build", "-o", program, package], "golang", cwd=HERE / "go")


def java(program):
    sources = (HERE / "java").glob("*.java")
    options = ["-Xlint:all", "-Werror", "-d", TARGET / "java", *sources]
    return compiled("javac", options, "default-jdk-headless") or linked(program, HERE / "java" / "java-nio")


def python(program):
    return linked(program, HERE / "python" / f"{program.name.replace('-', '_')}.py")


def node(program):
    if not shutil.which("node"):
        return "there is no node; Debian has it in nodejs"
    return linked(program, HERE / "node" / "node_dgram.mjs")


def compiled(compiler, options, package, **place):
    """Compiles a program. Returns why it cannot be compiled here, or None."""
    if not shutil.which(compiler):
        return f"there is no {compiler}; Debian has it in {package}"
    if subprocess.run([compiler, *options], **place).returncode != 0:
        sys.exit(f"error: {compiler} failed: see above")


def linked(program, script):
    """A link, as a script finds what it needs beside itself."""
    program.unlink(missing_ok=True)
    program.symlink_to(os.path.relpath(script, program.parent))


def succeeds(command):
    return subprocess.run(command, capture_output=True).returncode == 0


PROGRAMS = {
    "c-plain": c,
    "c-mmsg": c,
    "cpp-asio": cpp,
    "go-net": go,
    "go-batch": go,
    "java-nio": java,
    "node-dgram": node,
    "py-socket": python,
    "py-asyncio": python,
}

if __name__ == "__main__":
    main()
