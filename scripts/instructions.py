#!/usr/bin/env python3
"""Counts the user-space instructions that each engine spends on a datagram, one send and one
receive, and holds them against the budgets in scripts/instructions.csv. A count of instructions has
no noise: what a change of the program costs shows at once, on a busy machine too.

valgrind's callgrind runs examples/lockstep.rs: one thread sends a burst and receives it, in the loop
and with the engines of the product, over UDP, connected and not, with control messages if the engine
carries them, and over each other transport that it goes over. What the kernel does is not counted.
Needs valgrind and cargo.
"""

import argparse
import csv
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import ROOT
from tools.command import run

EPILOG = """\
A figure that is more than 5 % above its budget fails. So does one that is more than 5 % below it:
lower the budget, so that a later change cannot use it up unnoticed. An engine without a
budget has the reason in the table.

Budgets hold for the tools in the table's first line. If only those have changed, and not the program,
take them again with --update, in a separate commit.

exit codes: 0 every budget holds, 1 one does not, or something broke, 2 bad input, 77 skipped: no
valgrind, or the budgets are another architecture's or C library's, 130 Ctrl-C"""

TABLE_NAME = "scripts/instructions.csv"
TABLE = ROOT / TABLE_NAME
COLUMNS = ["engine", "connection", "instructions_per_datagram", "no_budget_because"]
TOLERANCE = 0.05
# An engine that rests now and then, as tokio does each 128 operations, does so often enough for its share to come
# out alike each time.
DATAGRAMS = 25_000
CALLGRIND = ["valgrind", "--quiet", "--tool=callgrind"]
# Gives the thread that looks on its turn, which it had not for millions of datagrams.
CALLGRIND += ["--fair-sched=try"]
# The function that runs a thread: count in it, and write the count to a file each time that it is done.
CALLGRIND += ["--toggle-collect=lockstep::run_thread", "--dump-after=lockstep::run_thread"]
# Left alone, glibc's malloc comes to reuse ever larger blocks, which it then has to clear. With a fixed
# threshold, making the buffers of a thread costs the same each time.
ENVIRONMENT = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"}


def main():
    args = arguments()
    try:
        valgrind = output_of(["valgrind", "--version"]).strip()
    except FileNotFoundError:
        skip("valgrind is not installed; apt-get install valgrind")
    tools = tools_here(valgrind)
    table = read_table()
    if not args.update and table["tools"].split(", ")[0] != tools.split(", ")[0]:
        skip(f"the budgets are those of {table['tools']}; this is {tools}")
    example = build()
    figures = count(example, args.engine, table["reasons"])
    if args.update:
        write_table(tools, figures, table)
    print_table(figures, table)
    if not args.update:
        sys.exit(judge(figures, table, tools, args.engine))


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("engine", nargs="*", help="only these [default: every engine of the build]")
    parser.add_argument("--update", action="store_true", help="make today's figures the budgets")
    args = parser.parse_args()
    if args.update and args.engine:
        parser.error("--update takes no engines: all budgets are of the same tools")
    return args


def skip(why):
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(77)


def refuse(why):
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


def output_of(command, **options):
    """Returns the command's standard output. Its failure ends the script."""
    command = [str(word) for word in command]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, cwd=ROOT, **options)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: exit code {done.returncode}")
    return done.stdout


def tools_here(valgrind):
    """Tools that a count may depend on besides the program; on the first one it depends altogether."""
    rustc = output_of(["rustc", "-vV"]).splitlines()
    host = next(line.removeprefix("host: ") for line in rustc if line.startswith("host: "))
    # This much of its version decides how many datagrams a call moves.
    kernel = ".".join(platform.release().split(".")[:2])
    return ", ".join([host, rustc[0], " ".join(platform.libc_ver()), valgrind, f"Linux {kernel}"])


def read_table():
    """The tools that the budgets hold for, the budgets, and why some engines have none."""
    table = {"tools": "", "budgets": {}, "reasons": {}}
    if not TABLE.exists():
        return table
    first, *rest = TABLE.read_text().splitlines()
    table["tools"] = first.removeprefix("# ")
    for number, row in enumerate(csv.DictReader(rest), start=3):
        try:
            if row["no_budget_because"]:
                table["reasons"][row["engine"]] = row["no_budget_because"]
            else:
                budget = float(row["instructions_per_datagram"])
                table["budgets"][row["engine"], row["connection"]] = budget
        except (KeyError, TypeError, ValueError):
            refuse(f"{TABLE_NAME}, line {number}: it takes {','.join(COLUMNS)}, with a number or a reason")
    return table


def write_table(tools, figures, table):
    """Figures become budgets. An engine that cannot run here keeps those that it has."""
    with TABLE.open("w", newline="") as file:
        print(f"# {tools}", file=file)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for engine, counted in figures.items():
            if engine in table["reasons"]:
                writer.writerow([engine, "", "", table["reasons"][engine]])
                continue
            kept = {key[1]: budget for key, budget in table["budgets"].items() if key[0] == engine}
            for connection, figure in counted.get("figures", kept).items():
                table["budgets"][engine, connection] = figure
                writer.writerow([engine, connection, f"{figure:.2f}", ""])


def build():
    # All engines, and nothing of what is done with results afterwards: as a board has them, and a third sooner.
    command = "cargo rustc --locked --profile dist --package udpbench-datapath --example lockstep"
    command += " --features tokio,quinn-udp,uring"
    command += " --message-format=json-render-diagnostics"
    # The profile strips symbols, and callgrind needs one of them.
    messages = output_of([*command.split(), "--", "-C", "strip=none"])
    return next(path for path in map(executable, messages.splitlines()) if path)


def executable(message):
    # Cargo's own word on where it is: CARGO_TARGET_DIR or a configuration may move it.
    return json.loads(message).get("executable")


def count(example, only, reasons):
    """Figures of each engine by connection, or the reason why there are none."""
    listed = dict(line.split("\t")[::2] for line in output_of([example, "--list"]).splitlines())
    for engine in only:
        if engine not in listed:
            refuse(f"{engine}: no engine of this build; they are {' '.join(listed)}")
    why_none = {engine: reasons.get(engine) or listed[engine] for engine in only or listed}
    # Counts do not depend on time, so engines may be counted at once.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = {engine: pool.submit(measure, example, engine) for engine, why in why_none.items() if not why}
    return {
        engine: {"figures": measured[engine].result()} if engine in measured else {"why": why}
        for engine, why in why_none.items()
    }


def measure(example, engine):
    """Instructions per datagram, by connection."""
    with tempfile.TemporaryDirectory() as directory:
        dump = Path(directory) / "dump"
        command = [*CALLGRIND, f"--callgrind-out-file={dump}", example, engine, "flood", DATAGRAMS]
        threads = [line.split() for line in output_of(command, env=ENVIRONMENT).splitlines()]
        totals = [total(dump.with_suffix(f".{number}")) for number in range(1, len(threads) + 1)]
    figures = {}
    # The first of three threads per connection is a warm-up; the last one is the longest.
    for few, many in zip(range(1, len(threads), 3), range(2, len(threads), 3)):
        datagrams = int(threads[many][1]) - int(threads[few][1])
        figures[threads[many][0]] = (totals[many] - totals[few]) / datagrams
    return figures


def total(dump):
    found = re.search(r"^totals: (\d+)$", dump.read_text() if dump.exists() else "", re.MULTILINE)
    if not found or found[1] == "0":
        sys.exit("error: callgrind found no lockstep::run_thread; is it still in examples/lockstep.rs?")
    return int(found[1])


def print_table(figures, table):
    line = "{:18}  {:16}  {:>12}  {:>8}  {:>9}".format
    print(line("engine", "connection", "instructions", "budget", "deviation"))
    for engine, counted in figures.items():
        for connection, figure in counted.get("figures", {}).items():
            budget = table["budgets"].get((engine, connection))
            # Adding 0 takes the sign from a zero.
            against = [f"{budget:.2f}", f"{round(figure / budget - 1, 3) + 0:+.1%}"] if budget else ["", ""]
            print(line(engine, connection, f"{figure:.2f}", *against))
        if "why" in counted:
            print(f"{engine:18}  not counted: {counted['why']}")


def judge(figures, table, tools, only):
    """1, with what to do, if a budget does not hold or is missing; else 0."""
    complaints = [
        complaint
        for engine, counted in figures.items()
        for connection, figure in counted.get("figures", {}).items()
        for complaint in against_budget(engine, connection, figure, table)
    ]
    in_table = {engine for engine, _ in table["budgets"]} | set(table["reasons"])
    for engine in [] if only else sorted(in_table - set(figures)):
        complaints.append(f"{engine}: no engine of this build. Delete its lines from {TABLE_NAME}")
    if complaints and table["tools"] != tools:
        complaints.append(
            f"The budgets are those of {table['tools']}; this is {tools}. If nothing else has changed, take"
            " them again: scripts/instructions.py --update"
        )
    for complaint in complaints:
        print(textwrap.fill(complaint, 100, break_on_hyphens=False), file=sys.stderr)
    return 1 if complaints else 0


def against_budget(engine, connection, figure, table):
    """Complaints about the figure."""
    name, budget = f"{engine}, {connection}", table["budgets"].get((engine, connection))
    if not budget:
        yield (
            f"{name}: no budget. Add {engine},{connection},{figure:.2f}, to {TABLE_NAME}, or, if it can have"
            f" none, {engine},,,WHY"
        )
    elif figure > budget * (1 + TOLERANCE):
        yield (
            f"{name}: {figure:.2f} instructions per datagram, over the budget of {budget:.2f}."
            " CONTRIBUTING.md says how to see where they go"
        )
    elif figure < budget * (1 - TOLERANCE):
        yield f"{name}: lower the budget in {TABLE_NAME} from {budget:.2f} to {figure:.2f}"


if __name__ == "__main__":
    run(main)
