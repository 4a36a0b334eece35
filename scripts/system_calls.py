#!/usr/bin/env python3
"""Counts the system calls that each engine makes per datagram, from outside the program, and holds them against the
table in docs/ENGINES.md. A C library may make other calls than the function is named after (musl's sendmmsg(3) is a
loop over sendmsg(2)), so every target is held against the same table.

strace runs datapath/examples/lockstep.rs, which has the loops and engines of the product; qemu-user traces by itself
what it emulates. Loops are counted over connected and unconnected sockets, with one figure for both. Needs strace, and
for other targets what scripts/build_boards.py needs.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import ROOT
from tools.command import Broken, run
from tools.targets import RELEASED, TARGETS, toolchain

EPILOG = """\
A figure of the table may be a range (1-2), or a lower bound (1+): how often an engine waits, or tries in
vain, depends on time.

exit codes: 0 as in the table, 1 another call, or something broke, 2 bad input, 77 skipped: no strace,
130 Ctrl-C"""

PAGE = ROOT / "docs/ENGINES.md"
HEADER = "| engine | flood | flood with `--cmsg` | rr | paced |"
ALL = {**TARGETS, **RELEASED}
HERE = "x86_64-unknown-linux-gnu"
# Datagrams of the last run of lockstep. A train of GSO, paced, takes 128 ms; of six, a call or two more by chance
# change little.
DATAGRAMS = {"flood": 600, "rr": 200, "paced": 800}
FEATURES = "tokio,quinn-udp,uring"
# By another name the same call: 64-bit ARM has only the second ones, and 32 bits have variants for 64 bits of time.
SAME = {
    "send": "sendto",
    "recv": "recvfrom",
    "recvmmsg_time64": "recvmmsg",
    "ppoll": "poll",
    "ppoll_time64": "poll",
    "epoll_pwait": "epoll_wait",
    "epoll_pwait2": "epoll_wait",
}
# Calls of the thread that looks on, of its pace, and of the line that ends a run. The vDSO reads clocks without a call,
# except under qemu.
NOT_OF_A_DATAGRAM = re.compile(
    r"clock_\w+|nanosleep|tgkill|write|(rt_)?sigreturn|futex\w*|gettimeofday|getpid|brk|mmap2?|munmap|madvise"
)
CALL = re.compile(r"(?:^|\D)\d+ +([a-z]\w+)\(")
END_OF_RUN = re.compile(r"\d+ +write\(1,")
FIGURE = re.compile(r"(\w+) ([\d./]+)(?:-([\d./]+)|(\+))?")
# Relative, and in calls per datagram. Where time plays a part, so do the interrupts that end a run.
TOLERANCE = 0.04, 0.004
TOLERANCE_OF_RANGE = 0.2


def main():
    args = arguments()
    table = read_table()
    complaints = []
    for triple in args.target:
        example = build(triple)
        counted = count(triple, example, args.engine)
        if args.update:
            return write_table(counted, table)
        # Beside other programs a thread may be held up and wait more often. What makes another call does so again.
        doubts = {engine: [*judge(triple, engine, row, table)] for engine, row in counted.items()}
        doubtful = [engine for engine, its_doubts in doubts.items() if its_doubts]
        if doubtful:
            print("counted again:", *(doubt for engine in doubtful for doubt in doubts[engine]), sep="\n  ", flush=True)
            counted.update(count(triple, example, doubtful))
        complaints += [complaint for engine, row in counted.items() for complaint in judge(triple, engine, row, table)]
        # Builds for 32 bits lack some engines.
        if triple == HERE and not args.engine and set(table) - set(counted):
            complaints.append(f"docs/ENGINES.md has more engines: {' '.join(sorted(set(table) - set(counted)))}")
        figures = sum(len(row["figures"]) for row in counted.values())
        print(f"{triple}: {figures} figures of {len(counted)} engines", flush=True)
        for engine, row in counted.items():
            if row["why"]:
                print(f"  {engine}: not counted: {row['why']}")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("target", nargs="*", default=[HERE], help=f"such as {HERE}, or all [default: this]")
    parser.add_argument("--engine", nargs="+", default=[], help="only these")
    parser.add_argument("--update", action="store_true", help="make the figures of the target the table's")
    args = parser.parse_args()
    if args.target == ["all"]:
        args.target = [HERE, *ALL]
    for triple in args.target:
        if triple not in [HERE, *ALL]:
            parser.error(f"{triple}: no target; they are {' '.join([HERE, *ALL])}")
    if args.update and (args.engine or len(args.target) > 1):
        parser.error("--update takes one target, and all engines")
    try:
        subprocess.run(["strace", "--version"], stdout=subprocess.DEVNULL, check=True)
    except FileNotFoundError:
        print("SKIPPED: strace is not installed; apt-get install strace", file=sys.stderr)
        sys.exit(77)
    return args


def build(triple):
    """Debug builds: a compiler that optimises adds and removes no system call."""
    command = ["cargo", f"+{toolchain(triple)}" if triple != HERE else "", "build", "--locked"]
    command += ["--package", "udpbench-datapath", "--features", FEATURES, "--example", "lockstep"]
    command += [] if triple == HERE else ["--target", triple]
    subprocess.run(list(filter(None, command)), cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / ("" if triple == HERE else triple) / "debug/examples/lockstep"


def count(triple, example, only):
    """Calls per datagram of each engine: by column of the table and kind of socket."""
    runner = [] if triple.startswith("x86_64-") else ALL[triple].runner().split()
    listing = subprocess.run([*runner, example, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    listed = [line.split("\t") for line in listing.splitlines()]
    for engine in only:
        if engine not in [name for name, _, _ in listed]:
            raise Broken(f"{engine}: no engine of this build")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = {
            name: {
                "summary": summary,
                "why": why,
                "runs": [pool.submit(trace, runner, example, name, workload) for workload in DATAGRAMS if not why],
            }
            for name, summary, why in listed
            if not only or name in only
        }
    for row in rows.values():
        row["figures"], row["broken"] = {}, []
        for runs in row.pop("runs"):
            try:
                row["figures"].update(runs.result())
            except Broken as problem:
                row["broken"].append(problem)
    return rows


def trace(runner, example, engine, workload):
    """Calls per datagram, by column and kind of socket."""
    with tempfile.NamedTemporaryFile("w+", errors="replace") as log:
        words = [*runner, "-strace"] if runner else ["strace", "-f", "-qq", "-s", "0", "-o", log.name]
        words += [example, engine, workload, str(DATAGRAMS[workload])]
        # qemu-user traces to the standard error.
        errors = log if runner else subprocess.PIPE
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        log.seek(0)
        calls = calls_of_runs(log)
    # qemu-user lacks some control messages. Floods without any are over by then.
    if done.returncode and not (runner and workload == "flood"):
        raise Broken(f"{workload}: lockstep ended with exit code {done.returncode}: {(done.stderr or '').strip()}")
    runs = [line.split() for line in done.stdout.splitlines()]
    figures = {}
    for first in range(0, len(runs) - 2, 3):
        few, many = first + 1, first + 2
        over = runs[first][0]
        # A response is a datagram, too.
        received, sent = ((int(runs[many][n]) - int(runs[few][n])) * (2 if workload == "rr" else 1) for n in (1, 2))
        connection, _, cmsg = over.partition("+")
        if not connection.endswith("connected"):
            continue
        # A receiver that was held up leaves some in its queue. Both ends wait, for as many datagrams as each moved.
        moved = {"send": sent, "recv": received, "": (sent + received) / 2}
        per_datagram = {
            name: (calls[many][name] - calls[few][name]) / next(n for kind, n in moved.items() if kind in name)
            for name in calls[many]
        }
        column = "flood with `--cmsg`" if cmsg else workload
        figures[column, connection] = {name: n for name, n in per_datagram.items() if n > 2 * TOLERANCE[1] / 3}
    return figures


def calls_of_runs(log):
    """How often each call was made, for each run of lockstep."""
    runs = [Counter()]
    for line in log:
        for name in CALL.findall(line):
            if not NOT_OF_A_DATAGRAM.fullmatch(name):
                runs[-1][SAME.get(name, name)] += 1
        if END_OF_RUN.search(line):
            runs.append(Counter())
    return runs


def judge(triple, engine, row, table):
    """Complaints about an engine."""
    yield from (f"{triple}: {engine}, {problem}" for problem in row["broken"])
    for (column, connection), calls in row["figures"].items():
        expected = table.get(engine, {}).get(column, "")
        where = f"{triple}: {engine}, {column}, {connection}"
        if not fits(calls, parse(expected)):
            yield f"{where}: {text(calls) or 'no calls'}; docs/ENGINES.md has {expected or 'none'}"
    missing = {column for column, cell in table.get(engine, {}).items() if cell} - {key[0] for key in row["figures"]}
    if triple.startswith("x86_64-") and missing and not row["why"] and not row["broken"]:
        yield f"{triple}: {engine}: not counted: {', '.join(sorted(missing))}"
    made = {name for calls in row["figures"].values() for name in calls}
    for name in re.findall(r"(\w+)\(2\)", row["summary"]) if made else []:
        if name not in made:
            yield f"{triple}: {engine}: its summary names {name}(2), which it does not call"


def fits(calls, expected):
    # What repeats a call until something comes may do so more often in the shorter run.
    expected = {name: (0 if most == math.inf else least, most) for name, (least, most) in expected.items()}
    for name, (least, most) in {**dict.fromkeys(calls, (0, 0)), **expected}.items():
        relative, absolute = TOLERANCE if least == most else (TOLERANCE_OF_RANGE, TOLERANCE[1])
        if not least * (1 - relative) - absolute <= calls.get(name, 0) <= most * (1 + relative) + absolute:
            return False
    return True


def parse(cell):
    """The least and the most of each call in a cell."""
    figures = {}
    for name, least, most, no_limit in FIGURE.findall(cell):
        figures[name] = value(least), math.inf if no_limit else value(most or least)
    return figures


def value(text):
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def text(calls):
    """The cell of calls: sends first, then receives, then waits."""
    order = sorted(calls, key=lambda name: ("send" not in name, "recv" not in name, name))
    return ", ".join(f"{name} {number(calls[name])}" for name in order)


def number(value):
    """1/32 and such where that fits."""
    for below in (2**n for n in range(1, 8)):
        if abs(value * below - 1) < TOLERANCE[0]:
            return f"1/{below}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def read_table():
    lines = PAGE.read_text().splitlines()
    if HEADER not in lines:
        raise Broken(f"{PAGE.name} has no table that begins with {HEADER}")
    rows = {}
    columns = [cell.strip() for cell in HEADER.strip("|").split("|")]
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        cells = dict(zip(columns, (cell.strip() for cell in line.strip("|").split("|"))))
        rows[cells.pop("engine").strip("`")] = cells
    return rows


def write_table(counted, table):
    """Writes the figures into the page, but keeps cells with ranges that hold."""
    lines = PAGE.read_text().splitlines()
    first = lines.index(HEADER) + 2
    end = next(n for n in range(first, len(lines)) if not lines[n].startswith("|"))
    columns = [cell.strip() for cell in HEADER.strip("|").split("|")][1:]
    rows = []
    for engine, row in counted.items():
        cells = []
        for column in columns:
            before = table.get(engine, {}).get(column, "")
            calls = row["figures"].get((column, "connected"))
            keep = row["why"] or (re.search(r"\d[-+]", before) and calls and fits(calls, parse(before)))
            cells.append(before if keep else text(calls or {}))
        rows.append(f"| `{engine}` | {' | '.join(cells)} |")
    PAGE.write_text("\n".join([*lines[:first], *rows, *lines[end:]]) + "\n")


if __name__ == "__main__":
    run(main)
