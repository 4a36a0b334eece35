#!/usr/bin/env python3
"""Runs udpbench on every emulated board: it must recognise the board, say what the host lacks, and sweep with
closed accounting: over all engines on the first board of each machine of QEMU's. Ends with a table of machine x
engine."""

import argparse
import csv
import io
import sys
import textwrap
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT
from tools.emulation import session
from tools.emulation.kit import Kit, Unavailable
from tools.emulation.machines import MACHINES

BINARY = "target/aarch64-unknown-linux-musl/dist/udpbench"
# Emulated CPUs are slow: windows are as short as they may be, and there are as few as there may be. Three engines
# meet every combination, all engines the two ends of the thread counts.
SHORT = "--rounds 5 --duration 50ms --warmup 5ms --heat 100ms"
FIRST, ALL = "first.csv", "all.csv"
ALL_ENGINES = f"--engine all --threads 1,4 --payload 1460 --connection connected --ip v6 --verify {SHORT}"
# The options of the first sweep, and how many rows each of its engines has. Boards that are QEMU's virt have one
# kernel, and differ in what they call themselves and where threads are placed: only the first meets every
# combination and all engines, the others the engines of a bare sweep.
EVERY_COMBINATION = (
    "--engine std,mio-level,mio-exhaustive --threads 1,2,4 --payload 26 --connection connected,unconnected --ip v4,v6",
    dict.fromkeys(["std", "mio-level", "mio-exhaustive"], 3 * 2 * 2),
)
# With one thread, mio-exhaustive starves: a bare sweep leaves that out.
EVERY_PLACEMENT = (
    "--threads 1,2,4 --payload 1460 --ip v4,v6",
    dict.fromkeys(["std", "mmsg", "gso", "gro", "mio-level", "tokio"], 3 * 2) | {"mio-exhaustive": 2 * 2},
)
CPUFREQ = "/sys/devices/system/cpu/cpufreq/policy0"
SYS = " ".join(f"{CPUFREQ}/scaling_{name}" for name in ["governor", "min_freq", "max_freq"])
SYS += " /sys/class/thermal/thermal_zone0/temp"
COMMAND = f"""
./udpbench boards --detect; ./udpbench engines
./udpbench check; echo "check: $?"
for file in {SYS} ; do echo "fact: $file $(cat $file 2>/dev/null)"; done
./udpbench SWEEP {SHORT} --columns all -o {FIRST}
"""
EVERY_ENGINE = f"./udpbench {ALL_ENGINES} --columns all -o {ALL}"
# 2 thread counts.
CASES_EACH = 2

INDENT = " " * 30


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="exit codes: 0 every machine passed or could not be had here, 1 one failed, 77 none could be had",
    )
    parser.add_argument("--binary", type=Path, default=ROOT / BINARY, help=f"a static one [default: {BINARY}]")
    names = [machine.name for machine in MACHINES]
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"[default: all: {' '.join(names)}]")
    args = parser.parse_args()
    for unknown in set(args.machines) - set(names):
        parser.error(f"{unknown}: no such machine; there are {' '.join(names)}")
    if not args.binary.is_file():
        parser.error(f"--binary {args.binary}: there is no such file; build it, or name another")

    results = {}
    for machine in MACHINES:
        if not args.machines or machine.name in args.machines:
            results[machine.name] = attempt(machine, args.binary)
    print_table(results)
    if any(result.faults for result in results.values()):
        return 1
    return 77 if all(result.unavailable for result in results.values()) else 0


class Result:
    """The outcome of one machine."""

    def __init__(self):
        self.unavailable = None
        self.faults = []
        # The rows by engine.
        self.engines = defaultdict(list)
        self.seconds = 0.0

    def expect(self, holds, fault):
        if not holds:
            self.faults.append(fault)


def attempt(machine, binary):
    result, start = Result(), time.monotonic()
    print(f"== {machine.name}: {machine.about}", flush=True)
    try:
        kit = Kit(ROOT / "target/emulated-boards")
        command = COMMAND.replace("SWEEP", sweep(machine)[0])
        if is_first(machine):
            command = f"{command.rstrip()} && {EVERY_ENGINE}\n"
        done = session.run(machine, kit, {"/udpbench": binary}, command, [FIRST, ALL])
    except Unavailable as reason:
        print(f"SKIPPED: {reason}", flush=True)
        result.unavailable = str(reason)
        return result
    result.seconds = time.monotonic() - start
    check_output(result, machine, done)
    check_rows(result, machine, done)
    if result.faults:
        print("\n".join(done.output))
    for fault in result.faults:
        print(f"FAILED: {fault}", flush=True)
    return result


def sweep(machine):
    """The options of the first sweep on this machine, and the rows that each of its engines must have."""
    return EVERY_COMBINATION if is_first(machine) else EVERY_PLACEMENT


def is_first(machine):
    """Whether it is the first that QEMU emulates in this way."""
    return machine is next(other for other in MACHINES if other.qemu == machine.qemu)


def check_output(result, machine, done):
    result.expect(done.code != session.UNFINISHED, "the board did not finish")
    result.expect(done.code == 0, f"the sweep ended with exit code {done.code}")
    result.expect(f"board       {machine.board}: " in "\n".join(done.output), f"not recognised as {machine.board}")
    findings = [line.split(maxsplit=1)[1] for line in done.output if line.startswith(("INVALID", "note "))]
    wanted = lacking(machine, done.output)
    for finding in findings:
        result.expect(finding.startswith(tuple(wanted)), f"check finds what is not so: {finding}")
    for lack in wanted:
        found = any(finding.startswith(lack) for finding in findings)
        result.expect(found, f"check does not find: {lack}")
    result.expect("check: 1" in done.output, "check does not end with exit code 1")


def lacking(machine, output):
    """The findings that `check` has to have, by facts that the guest's shell printed."""
    facts = [line.split() for line in output if line.startswith("fact: ")]
    governor, lowest, highest, heat = (fact[2] if len(fact) > 2 else None for fact in facts)
    wanted = ["this board is emulated or virtualised"]
    if governor not in (None, "performance") and lowest != highest:
        wanted.append(f"the cpufreq governor is {governor}")
    if governor is None and heat is None:
        wanted.append("the kernel reports neither clock (cpufreq) nor temperature")
    elif governor is None:
        wanted.append("the kernel reports no clock (cpufreq)")
    elif heat is None:
        wanted.append("the kernel reports no temperature")
    if machine.board == "generic":
        wanted.append("no profile for ")
    return wanted


def check_rows(result, machine, done):
    counts, wanted = check_sweep(result, machine, done.files.get(FIRST, b"")), sweep(machine)[1]
    result.expect(counts == wanted, f"the first sweep has rows {dict(counts)} instead of {wanted}")
    if not is_first(machine):
        return
    counts = check_sweep(result, machine, done.files.get(ALL, b""))
    for engine in runnable(done.output):
        result.expect(counts[engine] >= CASES_EACH, f"{engine}: {counts[engine]} rows instead of {CASES_EACH}")
        ran = any(row["status"] == "ok" for row in result.engines[engine])
        result.expect(ran, f"{engine} never ran")


def check_sweep(result, machine, text):
    """Counts the rows of each engine, sending or receiving."""
    counts = defaultdict(int)
    for row in csv.DictReader(io.StringIO(text.decode())):
        for engine in {row["sender"], row["receiver"]}:
            counts[engine] += 1
            result.engines[engine].append(row)
        case, status = row["case"], row["status"]
        measured = status == "ok" and row["unaccounted_packets"] == "0" and int(row["received_packets"]) > 0
        fine = measured or (status == "skipped" and row["reason"])
        result.expect(fine, f"{case}: {status} {row['reason']} unaccounted {row['unaccounted_packets']}")
        result.expect(row["board"] == machine.board, f"{case}: board {row['board']}")
        result.expect(row["machine"] == row["arch"] == "aarch64", f"{case}: {row['arch']} on {row['machine']}")
    return counts


def runnable(output):
    """The engines that `udpbench engines` says can run here, without those that --engine all leaves out."""
    words = [[word for word in line.split() if word != "*"] for line in output]
    names = [line[0] for line in words if line[2:3] == ["yes"]]
    return [name for name in names if name not in ("null", "mio-once")]


def print_table(results):
    print("\nmachine    engine           result   (QEMU: this says that it works, never how fast)")
    for name, result in results.items():
        if result.unavailable:
            print(f"{name:<10} {'all':<16} skipped: {result.unavailable}")
            continue
        for engine, rows in sorted(result.engines.items()):
            ok = sum(row["status"] == "ok" for row in rows)
            skips = sorted({row["reason"] for row in rows if row["status"] == "skipped"})
            verdict = "pass" if ok and ok + sum(row["status"] == "skipped" for row in rows) == len(rows) else "FAIL"
            print(f"{name:<10} {engine:<16} {verdict}: {ok} of {len(rows)} cases ran, accounting closed")
            for reason in skips:
                print(textwrap.fill(f"not run: {reason}", 100, initial_indent=INDENT, subsequent_indent=INDENT))
        print(f"{name:<10} {'':<16} {'FAILED' if result.faults else 'passed'} in {result.seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
