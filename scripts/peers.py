#!/usr/bin/env python3
"""Compares udpbench with iperf3, iperf2, sockperf and nuttcp: datagrams per second over loopback, and CPU time.

Each tool runs in a private network namespace where only `lo` is up and nothing else sends: one sender on one
CPU, one receiver on another, the same payload and receive buffer. All are measured by the kernel's
own counters of that namespace (/proc/net/snmp, /proc/net/dev), read at the two ends of a steady stretch while
the tool runs. What the tool itself reports is shown beside it. Tools take turns in shuffled rounds.

Before that, whole runs of udpbench are checked against the kernel: the counts must agree to the last datagram.
"""

import argparse
import contextlib
import csv
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from tools import ROOT
from tools.peers import namespace
from tools.peers.measuring import COLUMNS, Audit, run, seconds_to_run
from tools.peers.namespace import Broken
from tools.peers.report import WIDTH, Report
from tools.peers.throughput import PEERS, Conditions, Engine

EXAMPLES = """\
examples:
  scripts/peers.py throughput                                           26, 300 and 1460 B, 5 rounds: about five minutes
  scripts/peers.py throughput --output peers.csv --markdown peers.md
  scripts/peers.py throughput --payload 26 --rounds 15 --peer nuttcp --engine std,std/unconnected
  scripts/peers.py throughput --pin 2:3 --udpbench ./udpbench           on a board without cargo

The peers come from Debian: apt-get install iperf3 iperf sockperf nuttcp iproute2. Those that are missing are
skipped. Nothing is changed on the host: where net.core.rmem_max or wmem_max is lower than 4 MiB, all tools get
that little, and it says so. Namespaces and processes are gone with this program, however it ends. It needs no
root where plain users may make user namespaces, as on Debian.

exit codes: 0 measured, 1 a tool failed in every round or the counts do not agree, 2 bad input, 130 Ctrl-C"""

PAYLOADS = "26,300,1460"
ENGINES = "std,std/unconnected,mio-once,mmsg,gso,gso-gro"
LIMITS = [Path("/proc/sys/net/core/rmem_max"), Path("/proc/sys/net/core/wmem_max")]
BUFFER_BYTES = 4 << 20


def main():
    args = arguments()
    scratch = namespace.scratch()
    if scratch:
        return measure(args, scratch)
    udpbench = (args.udpbench or built_udpbench()).resolve()
    settled = ["--udpbench", udpbench, "--rcvbuf", args.rcvbuf, "--seed", args.seed]
    return namespace.run_inside([sys.executable, __file__, *sys.argv[1:], *map(str, settled)])


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    every_peer = ",".join(peer.name for peer in PEERS)
    add("--payload", type=payloads, default=PAYLOADS, metavar="LIST", help=f"bytes [default: {PAYLOADS}]")
    add("--peer", type=peers, default=every_peer, metavar="LIST", help=f"[default: {every_peer}]")
    help_text = f"of udpbench, connected, or E/unconnected [default: {ENGINES}]"
    add("--engine", type=engines, default=ENGINES, metavar="LIST", help=help_text)
    add("--rounds", type=count, default=5, metavar="N", help="at least 5 [default: 5]")
    add("--steady-ms", type=count, default=1000, metavar="N", help="length of the stretch [default: 1000]")
    add("--pin", type=pin, metavar="S:R", help="CPUs of sender and receiver [default: the last two]")
    help_text = "receive buffer to ask for, in bytes [default: 4194304, or what net.core allows]"
    add("--rcvbuf", type=count, metavar="N", help=help_text)
    add("--output", type=Path, metavar="FILE", help="write each run to this CSV file, too")
    add("--markdown", type=Path, metavar="FILE", help="write a table for a README to this file, too")
    add("--seed", type=int, metavar="N", help="repeats the order of an earlier run [default: random]")
    add("--udpbench", type=Path, metavar="FILE", help="take this binary, build none")
    args = parser.parse_args()
    check(args, parser)
    return args


def check(args, parser):
    """Fills in what depends on this host, and refuses what cannot be."""
    if args.rounds < 5:
        parser.error(f"--rounds {args.rounds}: fewer than 5 say nothing about their noise")
    for flag, path in [("--output", args.output), ("--markdown", args.markdown)]:
        if path and path.exists():
            parser.error(f"{flag} {path}: it exists, and nothing is overwritten; choose another name")
        if path and not path.parent.is_dir():
            parser.error(f"{flag} {path}: there is no directory {path.parent}; make it first")
    if args.udpbench and not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program")
    for tool, package in [("unshare", "util-linux"), ("ip", "iproute2"), ("ss", "iproute2")]:
        if not shutil.which(tool):
            parser.error(f"there is no {tool} here: apt-get install {package}")
    cpus = sorted(os.sched_getaffinity(0))
    args.pin = args.pin or tuple(reversed(cpus[-2:]))
    if len(set(args.pin)) < 2 or not set(args.pin) <= set(cpus):
        parser.error(f"--pin S:R takes two of the CPUs at hand, which are {cpus}")
    most = min([int(limit.read_text()) for limit in LIMITS if limit.exists()], default=BUFFER_BYTES)
    args.rcvbuf = args.rcvbuf or min(BUFFER_BYTES, most) // 1024 * 1024
    if args.rcvbuf % 1024:
        parser.error(f"--rcvbuf {args.rcvbuf}: nuttcp counts in KiB; take a multiple of 1024")
    if args.rcvbuf > most:
        fix = f"sysctl -w net.core.rmem_max={args.rcvbuf} net.core.wmem_max={args.rcvbuf}"
        parser.error(f"--rcvbuf {args.rcvbuf}: a plain program gets at most {most} B here: {fix}")
    if args.seed is None:
        args.seed = random.randrange(2**32)


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it takes a whole number from 1, not {text}")
    return int(text)


def payloads(text):
    sizes = text.split(",")
    if not all(size.isdecimal() and 1 <= int(size) <= 65507 for size in sizes):
        raise argparse.ArgumentTypeError(f"it takes sizes from 1 to 65507 B like 26,300, not {text}")
    return list(dict.fromkeys(map(int, sizes)))


def peers(text):
    known = {peer.name: peer for peer in PEERS}
    names = list(dict.fromkeys(text.split(",")))
    if not set(names) <= set(known):
        raise argparse.ArgumentTypeError(f"it takes some of {','.join(known)}, not {text}")
    return [known[name] for name in names]


def engines(text):
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        engine, slash, connection = name.partition("/")
        if not engine or (slash and connection not in ["connected", "unconnected"]):
            raise argparse.ArgumentTypeError(f"it takes engines like std or std/unconnected, not {name}")
    return [Engine(name) for name in names]


def pin(text):
    cpus = text.split(":")
    if len(cpus) != 2 or not all(cpu.isdecimal() for cpu in cpus):
        raise argparse.ArgumentTypeError(f"it takes two CPUs like 1:0, not {text}")
    return tuple(map(int, cpus))


def built_udpbench():
    # Cargo's own word on where the binary is: CARGO_TARGET_DIR or a configuration may move it.
    command = ["cargo", "build", "--profile", "dist", "--message-format=json-render-diagnostics"]
    try:
        built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        sys.exit(f"error: cannot run cargo: {error.strerror}; name a binary with --udpbench")
    if built.returncode != 0:
        sys.exit("error: udpbench cannot be built; see above")
    executables = [json.loads(line).get("executable") for line in built.stdout.splitlines()]
    return Path(next(path for path in executables if path))


def measure(args, scratch):
    """Inside the namespaces."""
    namespace.set_up()
    tools = present(args.peer) + args.engine
    all_cpus = frozenset(os.sched_getaffinity(0))
    # This process gets out of the way, where there is room.
    os.sched_setaffinity(0, all_cpus - set(args.pin) or all_cpus)
    conditions = [
        Conditions(payload, args.rcvbuf, *args.pin, all_cpus, seconds_to_run(args.steady_ms), args.udpbench, scratch)
        for payload in args.payload
    ]
    announce(args, tools)
    rows, is_complete = [], False
    with contextlib.ExitStack() as files:
        output = files.enter_context(open(args.output, "x", newline="")) if args.output else None
        try:
            accounting = audits(args.engine, conditions)
            for row in rounds(args, tools, conditions):
                rows.append(row)
                append(output, row)
            is_complete = True
        except KeyboardInterrupt:
            print("interrupted; what was measured:", file=sys.stderr)
    if not rows:
        return 130
    report = Report(rows, tools, args.payload, max(row["round"] for row in rows))
    show(report, args, accounting)
    is_sound = not report.unmeasured() and all(book and book.agrees for book in accounting)
    return (0 if is_sound else 1) if is_complete else 130


def present(wanted):
    """The peers that are installed here, with a loud word on those that are not."""
    missing = [peer for peer in wanted if not peer.is_here]
    if missing:
        names = ", ".join(peer.name for peer in missing)
        packages = " ".join(peer.package for peer in missing)
        print(f"\n!!! SKIPPED, as not installed: {names}\n!!! apt-get install {packages}\n", file=sys.stderr)
    if len(missing) == len(wanted):
        sys.exit("error: there is no peer to hold udpbench against")
    return [peer for peer in wanted if peer.is_here]


def announce(args, tools):
    runs = args.rounds * len(args.payload) * len(tools)
    minutes = (runs * (seconds_to_run(args.steady_ms) + 0.4) + 1.3 * len(args.engine) * len(args.payload)) / 60
    print(f"{runs} runs, about {minutes:.0f} min; seed {args.seed}", file=sys.stderr)
    if args.rcvbuf < BUFFER_BYTES:
        fix = f"sysctl -w net.core.rmem_max={BUFFER_BYTES} net.core.wmem_max={BUFFER_BYTES}"
        print(f"receive buffers: {args.rcvbuf} B asked of all; {fix} would allow 4 MiB", file=sys.stderr)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"warning: the load average is {load:.2f}: other programs disturb what follows", file=sys.stderr)


def audits(engines, conditions):
    """The engines' accounting and the kernel's; None where it could not be found out."""
    accounting = []
    for engine in engines:
        for at in conditions:
            try:
                accounting.append(Audit(engine, at))
            except Broken as reason:
                accounting.append(None)
                print(f"the accounting of {engine.name} at {at.payload} B: {reason}", file=sys.stderr)
                continue
            if not accounting[-1].agrees:
                print(f"the accounting of {engine.name} at {at.payload} B: {accounting[-1]}", file=sys.stderr)
    print(verdict_of(accounting), file=sys.stderr)
    return accounting


def verdict_of(accounting):
    agreeing = [book for book in accounting if book and book.agrees]
    windows, received = (sum(getattr(book, name) for book in agreeing) for name in ["windows", "received"])
    return (
        f"udpbench's accounting and the kernel's counters agree to the last datagram in {len(agreeing)} of {len(accounting)}"
        f" runs ({windows} windows, {received} datagrams received)."
    )


def rounds(args, tools, conditions):
    chance = random.Random(args.seed)
    for number in range(1, args.rounds + 1):
        for at in chance.sample(conditions, len(conditions)):
            for tool in chance.sample(tools, len(tools)):
                row = {"round": number} | run(tool, at, args.steady_ms / 1000)
                kpps = row["reason"] or f"{row['received_pps'] / 1000:.0f} kpps, {row['loss_pct']:.1f} % lost"
                print(f"round {number} of {args.rounds}, {at.payload} B, {tool.name}: {kpps}", file=sys.stderr)
                yield row


def append(output, row):
    if not output:
        return
    writer = csv.DictWriter(output, COLUMNS, restval="")
    if output.tell() == 0:
        writer.writeheader()
    writer.writerow(row)
    output.flush()


def show(report, args, accounting):
    print(report.table())
    closing = [*report.verdict(), verdict_of(accounting)]
    if report.unlike_buffers():
        closing.append(f"NOT COMPARABLE: receive buffers were granted in sizes of {report.unlike_buffers()} B.")
    for sentence in closing:
        print("\n".join(textwrap.wrap(sentence, WIDTH)))
    if args.markdown:
        text = "\n\n".join([report.markdown(), circumstances(report.tools, args), *closing])
        args.markdown.write_text(text + "\n")


def circumstances(tools, args):
    """A sentence for those who read the figures elsewhere."""
    system = os.uname()
    versions = [f"{tool.name} {tool.version()}" for tool in tools if tool.is_peer]
    day = datetime.datetime.now(datetime.UTC).date()
    return (
        f"{day}, {system.machine}, Linux {system.release}, {os.cpu_count()} CPUs, sender on CPU {args.pin[0]},"
        f" receiver on CPU {args.pin[1]}, {args.rcvbuf} B asked for as receive buffer, {args.rounds} rounds of"
        f" {args.steady_ms} ms; {', '.join(versions)}; `scripts/peers.py throughput`."
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
