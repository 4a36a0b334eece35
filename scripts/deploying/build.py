"""Which binary a board gets: its target, the tool that builds it, and whether the board can run it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from arm import targets
from arm.targets import ROOT, features_for
from deploying.link import Failure

# By `uname -m`: the target that is built without --target, and the architectures that run there. aarch64 gets
# the static binary: it needs no libc, and so runs on every release. Most 64-bit kernels run 32-bit programs.
MACHINES = {
    "aarch64": ("aarch64-unknown-linux-musl", {"aarch64", "arm", "armv7"}),
    "armv8l": ("armv7-unknown-linux-gnueabihf", {"arm", "armv7"}),
    "armv7l": ("armv7-unknown-linux-gnueabihf", {"arm", "armv7"}),
    "armv6l": ("arm-unknown-linux-musleabihf", {"arm"}),
    "x86_64": ("x86_64-unknown-linux-gnu", {"x86_64", "i686"}),
}
# e_machine in the ELF header (elf.h). It is the same for ARMv6 and ARMv7.
ELF_MACHINES = {3: "i686", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
OLDEST_GLIBC = "2.17"


def default_target(machine):
    if machine not in MACHINES:
        known = ", ".join(MACHINES)
        raise Failure(f"the board is a {machine}, and no target is known for that (only for {known}); name --target")
    return MACHINES[machine][0]


def require_target_for(target, machine):
    """Before anything is built."""
    require_architecture(target.split("-")[0], machine, f"--target {target}")


def require_binary_for(path, machine):
    """Before anything is copied."""
    require_architecture(elf_architecture(path), machine, str(path))


def require_architecture(architecture, machine, what):
    default, runnable = MACHINES.get(machine, (None, {architecture}))
    if architecture not in runnable:
        raise Failure(
            f"{what} is for {architecture}, and the board is {machine}: it could not run it\n"
            f"       leave --target and --binary away, or use --target {default}"
        )


def elf_architecture(path):
    header = Path(path).read_bytes()[:20]
    if header[:4] != b"\x7fELF" or len(header) < 20:
        raise Failure(f"{path} is no program for Linux (it has no ELF header)")
    order = "big" if header[5] == 2 else "little"
    number = int.from_bytes(header[18:20], order)
    return ELF_MACHINES.get(number, f"ELF machine {number}")


def build(tool, target):
    """Builds the program and returns the path of the binary."""
    tool = tool or default_tool(target)
    print(f"building for {target} with {tool}", flush=True)
    if tool == "cargo" and target == host_target():
        return called_build("cargo", ["cargo", "build"], None)
    if tool == "cargo" and shutil.which("rustup"):
        try:
            return targets.build(target)
        except SystemExit as end:
            raise Failure(f"--build cargo: {end.code}\n       {CURES[tool]}") from end
    if tool == "zigbuild":
        # zig can link against any glibc.
        version = f".{OLDEST_GLIBC}" if "-gnu" in target else ""
        return called_build(tool, ["cargo", "zigbuild"], target, version)
    return called_build(tool, [tool, "build"], target)


def called_build(tool, command, target, version=""):
    directory = target_directory(tool)
    elsewhere = ["--target", target + version, *features_for(target)] if target else []
    command = [*command, "--locked", "--profile", "dist", *elsewhere]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(directory)}
    try:
        built = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    except FileNotFoundError as error:
        raise Failure(f"--build {tool}: there is no {error.filename} here: {CURES[tool]}") from error
    if built.returncode != 0:
        raise Failure(f"--build {tool}: it could not be built; see above\n       {CURES[tool]}")
    return directory / (target or "") / "dist/udpbench"


CURES = {
    "cargo": "cargo needs rustup, and a linker for the target: on Debian gcc-aarch64-linux-gnu or"
    " gcc-arm-linux-gnueabihf",
    "cross": "cargo install cross, and Docker or Podman running",
    "zigbuild": "pip install ziglang cargo-zigbuild",
}


def default_tool(target):
    """cross where its container engine answers, as it needs nothing else; else cargo with a linker."""
    if target == host_target() or not shutil.which("cross"):
        return "cargo"
    chosen = os.environ.get("CROSS_CONTAINER_ENGINE")
    engines = [chosen] if chosen else ["docker", "podman"]
    return "cross" if any(answers([engine, "info"]) for engine in engines) else "cargo"


def answers(command):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run(command, check=False, timeout=20, **quiet).returncode == 0
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False


def host_target():
    about = subprocess.run(["rustc", "-vV"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(line.split(": ")[1] for line in about.splitlines() if line.startswith("host: "))


def target_directory(tool):
    question = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    answer = subprocess.run(question, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    directory = Path(json.loads(answer)["target_directory"])
    # The container's older libc cannot run build scripts that were built outside (cross issue 988).
    return directory / "cross" if tool == "cross" else directory

