#!/usr/bin/env python3
"""Compares udpbench with sockperf, netperf and neper: round trips over loopback, by UDP or TCP, their median and
99th percentile.

Each tool runs in a private network namespace where only `lo` is up: one client on one CPU, one server on another,
one request under way, the same payload both ways. Tools take turns in shuffled rounds. Prints the median over the
rounds and, of each engine of udpbench, its ratio to the quickest peer of the same round, with its 95 % interval.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
from pathlib import Path

from tools import ROOT
from tools.intervals import Median
from tools.peers import namespace
from tools.peers.latency import PEERS, Conditions, Engine, Found
from tools.peers.namespace import Broken

EXAMPLES = """\
examples:
  scripts/peers.py latency                                     26 B, 15 rounds of 2 s: two minutes
  scripts/peers.py latency --payload 1460 --rounds 31 --output latency.csv
  scripts/peers.py latency --transport tcp --engine std,tokio
  scripts/peers.py latency --engine std,std/spin,tokio --pin 2:3 --udpbench ./udpbench

sockperf comes from Debian: apt-get install sockperf. netperf (with netserver) and neper (udp_rr, tcp_rr) have to be built, and
found on the PATH. Those that are missing are skipped, loudly. Leave the machine alone meanwhile.

exit codes: 0 measured, 1 a tool failed in every round, 2 bad input, 130 Ctrl-C"""

ENGINES = "std,std/unconnected,std/spin"


def main():
    args = arguments()
    if not namespace.scratch():
        settled = ["--seed", args.seed]
        return namespace.run_inside([sys.executable, __file__, *sys.argv[1:], *map(str, settled)])
    namespace.set_up()
    # netperf resolves names only where there is an address that is not loopback's (AI_ADDRCONFIG, getaddrinfo(3)).
    subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)
    peers = [peer for peer in PEERS if peer.is_here]
    if missing := [peer.name for peer in PEERS if not peer.is_here]:
        print(f"\n!!! SKIPPED, as not installed: {', '.join(missing)}\n", file=sys.stderr)
    if not peers:
        sys.exit("error: there is no peer to hold udpbench against")
    all_cpus = frozenset(os.sched_getaffinity(0))
    # This process gets out of the way, where there is room.
    os.sched_setaffinity(0, all_cpus - set(args.pin) or all_cpus)
    at = Conditions(
        args.transport,
        args.payload,
        *args.pin,
        all_cpus,
        args.seconds,
        str(args.udpbench.resolve()),
        namespace.scratch(),
    )
    rows = list(rounds(peers + args.engine, at, args))
    if args.output:
        with open(args.output, "x", newline="") as file:
            writer = csv.DictWriter(file, ["round", "tool", "p50_us", "p99_us", "reason"])
            writer.writeheader()
            writer.writerows(rows)
    return show(rows, peers, args)


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    add("--transport", choices=["udp", "tcp"], default="udp", help="[default: udp]")
    add("--payload", type=int, default=26, metavar="N", help="bytes, both ways [default: 26]")
    help_text = "of udpbench, connected, or E/unconnected, E/spin"
    add("--engine", default=ENGINES, metavar="LIST", help=f"{help_text} [default: {ENGINES}]")
    add("--rounds", type=int, default=15, metavar="N", help="at least 6 [default: 15]")
    add("--seconds", type=int, default=2, metavar="N", help="of each run [default: 2]")
    add("--pin", default="1:0", metavar="C:S", help="CPUs of client and server [default: 1:0]")
    add("--output", type=Path, metavar="FILE", help="write each run to this CSV file, too")
    add("--seed", type=int, metavar="N", help="repeats the order of an earlier run [default: random]")
    program = ROOT / "target/dist/udpbench"
    add("--udpbench", type=Path, default=program, metavar="FILE", help="[default: target/dist/udpbench]")
    args = parser.parse_args()
    if args.rounds < 6:
        parser.error(f"--rounds {args.rounds}: fewer than 6 have no interval of 95 %")
    if args.seconds < 2:
        parser.error(f"--seconds {args.seconds}: take 2 or more, as neper does not say anything of 1")
    if not 14 <= args.payload <= 65507:
        parser.error(f"--payload {args.payload}: from 14, the least that sockperf sends, to 65507 B")
    if not os.access(args.udpbench, os.X_OK):
        fix = "cargo build --profile dist --locked makes it"
        parser.error(f"--udpbench {args.udpbench}: there is no such program; {fix}")
    if args.output and args.output.exists():
        parser.error(f"--output {args.output}: it exists, and nothing is overwritten; choose another name")
    cpus = args.pin.split(":")
    at_hand = sorted(os.sched_getaffinity(0))
    if len(cpus) != 2 or not all(cpu.isdecimal() and int(cpu) in at_hand for cpu in cpus):
        parser.error(f"--pin C:S takes two of the CPUs at hand, which are {at_hand}")
    args.pin = tuple(map(int, cpus))
    args.engine = [Engine(name) for name in dict.fromkeys(args.engine.split(","))]
    if args.seed is None:
        args.seed = random.randrange(2**32)
    return args


def rounds(tools, at, args):
    chance = random.Random(args.seed)
    for number in range(1, args.rounds + 1):
        for tool in chance.sample(tools, len(tools)):
            try:
                found, reason = tool.run(at), ""
            except Broken as problem:
                found, reason = Found("", ""), str(problem)
            said = reason or f"p50 {found.p50:.1f} us, p99 {found.p99:.1f} us"
            print(f"round {number} of {args.rounds}, {tool.name}: {said}", file=sys.stderr)
            yield {"round": number, "tool": tool.name, "p50_us": found.p50, "p99_us": found.p99, "reason": reason}


def show(rows, peers, args):
    """The tables; 1 if a tool has no figures."""
    by_round = {}
    for row in rows:
        if not row["reason"]:
            by_round.setdefault(row["round"], {})[row["tool"]] = row
    print(
        f"round trips of {args.payload} B over {args.transport}, {args.rounds} rounds of {args.seconds} s, client on CPU {args.pin[0]},"
    )
    print(f"server on CPU {args.pin[1]}; seed {args.seed}")
    print(f"{'tool':<18} {'p50 us':>8} {'p99 us':>8}   p50 over the quickest peer's   p99 over the quickest peer's")
    broken = 0
    names = [peer.name for peer in peers]
    for tool in [*peers, *args.engine]:
        runs = [found[tool.name] for found in by_round.values() if tool.name in found]
        if len(runs) < 6:
            broken += 1
            print(f"{tool.name:<18} failed in {args.rounds - len(runs)} of {args.rounds} rounds")
            continue
        middles = [Median.of([run[column] for run in runs]).value for column in ["p50_us", "p99_us"]]
        line = f"{tool.name:<18} {middles[0]:>8.2f} {middles[1]:>8.2f}"
        if not tool.is_peer:
            ratios = [ratio(by_round, tool.name, names, column) for column in ["p50_us", "p99_us"]]
            line += "   " + "             ".join(f"{one.value:.3f} ({one.low:.3f}..{one.high:.3f})" for one in ratios)
        print(line)
    return 1 if broken else 0


def ratio(by_round, name, peers, column):
    """To the peer that is the quickest over all rounds, in each of them."""

    def middle(peer):
        values = [found[peer][column] for found in by_round.values() if peer in found]
        return Median.of(values).value if len(values) >= 6 else float("inf")

    best = min(peers, key=middle)
    both = [found for found in by_round.values() if name in found and best in found]
    return Median.of([found[name][column] / found[best][column] for found in both])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
