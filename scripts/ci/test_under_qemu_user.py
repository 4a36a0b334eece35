#!/usr/bin/env python3
"""Runs the tests for a board's target under qemu-user, and prints how many ran.

qemu-user translates system calls for this machine's kernel and knows no SO_MEMINFO, SO_RXQ_OVFL, timestamps or
io_uring: what is missing has to be found out and done without, as on an old kernel. Only tests whose verdict another
architecture can change are run, and for 32-bit targets those that the size of a word can change: the lists in this
script say which, and why. --all runs all that can be run at all.

Needs rustup, qemu-user-static, and Debian's cross compilers (see scripts/build_boards.py). Not root.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT, rows
from tools.targets import TARGETS, features_for, toolchain

EXAMPLES = """\
examples:
  scripts/ci/test_under_qemu_user.py                                   aarch64 and armv7
  scripts/ci/test_under_qemu_user.py aarch64-unknown-linux-musl        another target
  scripts/ci/test_under_qemu_user.py --all                             every test
  scripts/ci/test_under_qemu_user.py aarch64-unknown-linux-gnu -- --test it matrix::    cargo test's own arguments

exit codes: 0 all tests passed, 1 one failed, 2 bad input"""

# To compile our own code somewhat better takes less time than to emulate what is not; that of others takes more.
# .cargo/config.toml asks for more threads, as tests mostly wait; emulated ones compute.
FASTER = {
    "RUST_TEST_THREADS": str(os.cpu_count()),
    "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
    "CARGO_PROFILE_DEV_DEBUG": "line-tables-only",
}
OTHERS = ["--config", 'profile.dev.package."*".opt-level=0']
# Modules of tests/it/ that cannot run here, not even with --all.
IMPOSSIBLE = {
    "ab": "the program starts itself, which one that is emulated cannot; its verdicts are tested in the library",
    "agent": "the same, to begin anew",
    "find": "as wire, and searches by the dozen; their trials are windows as others",
    "wire": "an sshd starts programs without the emulator, and TAP devices are beyond it",
}
# Modules of tests/it/ whose verdict another architecture can change. Emulation takes 10 to 20 times as long.
DIFFERENT = {
    "bench_threads": "structures of the system, and what it refuses, for every engine",
    "verify": "the bytes of datagrams",
}
# Modules of tests/it/ that only the size of a word can change: x86-64 has that of aarch64, and real kernels of
# aarch64 run every engine on emulated boards (test_on_emulated_boards.py, test_wire_on_emulated_boards.py).
DIFFERENT_ON_32_BITS = {
    "latency": "round trips and their distribution",
    "matrix": "every engine, socket and thread count",
    "null": "rows and tables to the letter",
    "pacing": "moments and rates",
    "raw": "raw samples, written, read and continued",
}
# Modules of the libraries that talk to the kernel and the hardware, or compute with the functions of the C library.
# The size of a word can change any, but for simulations.
DIFFERENT_MODULES = ["engine::", "engines::", "stats::", "sys::", "trial::", "workload::"]
DIFFERENT_MODULES += ["board::", "capture::", "check::", "clock::", "facts::", "placement::", "program::", "tuning::"]
# Tests of the libraries that throw dice, thousands of times: no size of a word changes verdicts and searches.
SIMULATIONS = [
    "experiment::ab::tests::",
    "experiment::find::tests::",
    "verdict::compare::tests::",
    "verdict::rank::tests::",
]
# Modules of tests/it/ that start the program beside threads that come and go. Of such a process qemu-user now and
# then forks a child that waits for ever for a lock that another thread had (seen with 7.2: futex_wait, before execve).
ONE_AT_A_TIME = ["verify"]
SOURCES = [ROOT / "src", ROOT / "field/src", ROOT / "host/src", ROOT / "datapath/src"]
DEFAULT = ["aarch64-unknown-linux-gnu", "armv7-unknown-linux-gnueabihf"]
RESULT = re.compile(r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored; .* (\d+) filtered", re.M)


def main():
    args = arguments()
    lines = []
    for triple in args.targets or DEFAULT:
        runs = [args.cargo] if args.cargo else selected(TARGETS[triple], args.all)
        lines.append([triple, *test(TARGETS[triple], runs)])
    print()
    rows.print_table(["target", "passed", "failed", "ignored", "filtered out", "result"], lines)
    return 0 if all(line[-1] == "ok" for line in lines) else 1


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--all", action="store_true", help="run the tests that no architecture can change, too")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:end])
    args.cargo = words[end + 1 :]
    for triple in set(args.targets) - set(TARGETS):
        parser.error(f"unknown target {triple}; it is one of {', '.join(TARGETS)}")
    return args


def selected(target, all_of_them):
    """cargo test's arguments, by run, for what may differ by architecture in the libraries and in tests/it/."""
    for gone in sorted(
        name for name in {*IMPOSSIBLE, *DIFFERENT, *DIFFERENT_ON_32_BITS, *ONE_AT_A_TIME} if not is_test(name)
    ):
        sys.exit(f"error: a list names {gone}, and there is no tests/it/{gone}.rs: remove it from the list")
    for name in [*DIFFERENT_MODULES, *SIMULATIONS]:
        path = name.removesuffix("::").replace("::", "/")
        if not any((source / path).with_suffix(end).exists() for source in SOURCES for end in ["", ".rs"]):
            sys.exit(f"error: a list names {name}, and there is no such module: remove it from the list")
    one_by_one = ["--test", "it", "--", *modules(ONE_AT_A_TIME), "--test-threads=1"]
    if all_of_them:
        left_out = [word for name in modules([*IMPOSSIBLE, *ONE_AT_A_TIME]) for word in ["--skip", name]]
        return [["--lib", "--test", "allocations"], ["--test", "it", "--", *left_out], one_by_one]
    different = {*DIFFERENT, *(() if target.is_64_bit else DIFFERENT_ON_32_BITS)} - set(ONE_AT_A_TIME)
    side_by_side = ["--test", "it", "--", *modules(different)]
    left_out = [word for name in SIMULATIONS for word in ["--skip", name]]
    libraries = ["--lib", "--", *(DIFFERENT_MODULES if target.is_64_bit else left_out)]
    return [libraries, side_by_side, one_by_one]


def is_test(name):
    return any((ROOT / "tests/it" / name).with_suffix(end).exists() for end in ["", ".rs"])


def modules(names):
    """The start of the names of these modules' tests."""
    return [f"{name}::" for name in sorted(names)]


def test(target, runs):
    """Passed, failed, ignored and filtered out, and in a word what became of it."""
    outcomes = [run(target, cargo) for cargo in runs]
    sums = [str(sum(numbers)) for numbers in zip(*(counts for counts, _ in outcomes))]
    return [*sums, "ok" if all(ok for _, ok in outcomes) else "FAILED"]


def run(target, cargo):
    """One `cargo test`: the four counts, and whether every test passed."""
    command = ["cargo", f"+{toolchain(target.triple)}", "test", "--locked", "--no-fail-fast"]
    command += [*OTHERS, "--target", target.triple, *features_for(target.triple), *cargo]
    print(f"$ {target.runner_variable()}={target.runner()!r}", *command, file=sys.stderr, flush=True)
    # The tests start the program with this runner, too (tests/it/common/mod.rs).
    environment = {**FASTER, **os.environ, target.runner_variable(): target.runner()}
    pipe = {"stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=environment, **pipe) as process:
        output = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            output += line
    counts = RESULT.findall(output)
    sums = [sum(map(int, column)) for column in zip(*counts)] or [0] * 4
    return sums, process.returncode == 0 and bool(counts)


if __name__ == "__main__":
    sys.exit(main())
