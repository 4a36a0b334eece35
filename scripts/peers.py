#!/usr/bin/env python3
"""Compares udpbench with other tools over loopback, side by side.

  throughput   floods of datagrams, by iperf3, iperf2, sockperf and nuttcp: datagrams delivered per second and CPU time,
               by the kernel's own counters (/proc/net/snmp, /proc/net/dev) over a steady stretch. Before that, whole
               runs of udpbench are checked against the kernel: the counts must agree to the last datagram
  latency      round trips, by sockperf, netperf and neper: their median and 99th percentile
  streams      bytes per second of a stream or of Unix sockets, by iperf3 and sockperf

Each tool runs in a private network namespace where only `lo` is up and nothing else sends: one sender or client on one
CPU, one receiver or server on another, the same payload. Tools take turns in shuffled rounds. Ratios are those of one
round, with intervals of 95 %.
"""

import argparse
import csv
import os
import random
import shutil
import sys
from pathlib import Path

from tools.binary import built
from tools.command import Broken, run
from tools.peers import latency, namespace, streams, throughput

EXAMPLES = """\
examples:
  scripts/peers.py throughput                                   26, 300 and 1460 B, 5 rounds: five minutes
  scripts/peers.py throughput --payload 26 --rounds 15 --peer nuttcp --engine std,std/unconnected
  scripts/peers.py latency --transport tcp --engine std,std/spin,tokio
  scripts/peers.py streams --transport unix-stream --output streams.csv
  scripts/peers.py throughput --pin 2:3 --udpbench ./udpbench   on a board without cargo

From Debian: apt-get install iperf3 iperf sockperf nuttcp iproute2. netperf (with netserver) and neper (udp_rr, tcp_rr)
have to be built, and found on the PATH; for Unix sockets a sockperf that is newer than Debian 12's 3.7. Tools that are
missing are skipped, loudly. Nothing is changed on the host. It needs no root where plain users may make user
namespaces. Leave the machine alone meanwhile.

exit codes: 0 measured, 1 a tool failed in too many rounds or the counts do not agree, 2 bad input, 130 Ctrl-C"""

KINDS = {"throughput": throughput, "latency": latency, "streams": streams}


def main():
    args = arguments()
    scratch = namespace.scratch()
    if not scratch:
        udpbench = (args.udpbench or built()).resolve()
        settled = ["--udpbench", str(udpbench), "--seed", str(args.seed)]
        # The limits of net.core are not to be seen inside.
        settled += ["--rcvbuf", str(args.rcvbuf)] if "rcvbuf" in args else []
        return namespace.run_inside([sys.executable, __file__, *sys.argv[1:], *settled])
    namespace.set_up()
    tools = present(args.peer, KINDS[args.of].PEERS) + args.engine
    all_cpus = frozenset(os.sched_getaffinity(0))
    # This process gets out of the way, where there is room.
    os.sched_setaffinity(0, all_cpus - set(args.pin) or all_cpus)
    kind = KINDS[args.of].Kind(args, tools, all_cpus, scratch)
    print(f"{args.rounds} rounds of {len(tools)} tools; seed {args.seed}", file=sys.stderr)
    if (load := os.getloadavg()[0]) > 0.5:
        print(f"warning: the load average is {load:.2f}: other programs disturb what follows", file=sys.stderr)
    rows, is_complete = [], False
    with open(args.output or os.devnull, "x" if args.output else "w", newline="") as file:
        writer = csv.DictWriter(file, kind.COLUMNS, restval="")
        writer.writeheader()
        try:
            kind.prepare()
            for row in rounds(kind, tools, args):
                rows.append(row)
                writer.writerow(row)
                file.flush()
            is_complete = True
        except KeyboardInterrupt:
            print("interrupted; what was measured:", file=sys.stderr)
    if not rows:
        return 130
    code = kind.show(rows)
    return code if is_complete else 130


def present(wanted, peers):
    """The peers that are installed here, with a loud word on those that are not."""
    if missing := [peer.name for peer in wanted if not shutil.which(peer.program)]:
        print(f"\n!!! SKIPPED, as not installed: {', '.join(missing)}\n", file=sys.stderr)
    found = [peer for peer in wanted if peer.name not in missing]
    if not found:
        sys.exit("error: there is no peer to compare udpbench with")
    return found


def rounds(kind, tools, args):
    chance = random.Random(args.seed)
    for number in range(1, args.rounds + 1):
        for payload in chance.sample(args.payload, len(args.payload)):
            for tool in chance.sample(tools, len(tools)):
                row = {"round": number, "tool": tool.name, "payload_bytes": payload, "reason": ""}
                try:
                    row |= kind.run(tool, payload)
                except (Broken, LookupError, ValueError) as problem:
                    row["reason"] = " ".join(str(problem).split())
                said = row["reason"] or kind.said(row)
                print(f"round {number} of {args.rounds}, {payload} B, {tool.name}: {said}", file=sys.stderr)
                yield row


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    kinds = parser.add_subparsers(dest="of", required=True, metavar="throughput|latency|streams")
    for name, kind in KINDS.items():
        add = kinds.add_parser(name, help=kind.__doc__.splitlines()[0]).add_argument
        every_peer = ",".join(peer.name for peer in kind.PEERS)
        add("--payload", default=kind.PAYLOADS, metavar="LIST", help=f"bytes [default: {kind.PAYLOADS}]")
        add("--peer", default=every_peer, metavar="LIST", help=f"[default: {every_peer}]")
        add("--engine", default=kind.ENGINES, metavar="LIST", help=f"{kind.ENGINE_HELP} [default: {kind.ENGINES}]")
        add("--rounds", type=int, default=kind.ROUNDS, metavar="N", help=f"at least 6 [default: {kind.ROUNDS}]")
        add("--pin", metavar="S:R", help="CPUs of sender and receiver [default: the last two]")
        add("--output", type=Path, metavar="FILE", help="write each run to this CSV file, too")
        add("--seed", type=int, metavar="N", help="repeats the order of an earlier run [default: random]")
        add("--udpbench", type=Path, metavar="FILE", help="take this binary, build none")
        kind.add_options(add)
    args = parser.parse_args()
    check(args, KINDS[args.of], parser)
    return args


def check(args, kind, parser):
    """Fills in what depends on this host, and refuses what cannot be."""
    for tool, package in [("unshare", "util-linux"), ("ip", "iproute2"), ("ss", "iproute2")]:
        if not shutil.which(tool):
            parser.error(f"there is no {tool} here: apt-get install {package}")
    sizes = args.payload.split(",")
    if not all(size.isdecimal() and kind.LEAST_BYTES <= int(size) <= 65507 for size in sizes):
        parser.error(f"--payload {args.payload}: it takes sizes from {kind.LEAST_BYTES} to 65507 B like 26,300")
    args.payload = list(dict.fromkeys(map(int, sizes)))
    known = {peer.name: peer for peer in kind.PEERS}
    if unknown := set(args.peer.split(",")) - set(known):
        parser.error(f"--peer {','.join(sorted(unknown))}: it takes some of {','.join(known)}")
    args.peer = [known[name] for name in dict.fromkeys(args.peer.split(","))]
    args.engine = [kind.Engine(name) for name in dict.fromkeys(args.engine.split(","))]
    if args.rounds < 6:
        parser.error(f"--rounds {args.rounds}: fewer than 6 have no interval of 95 %")
    cpus = sorted(os.sched_getaffinity(0))
    pin = args.pin.split(":") if args.pin else list(map(str, reversed(cpus[-2:])))
    if len(set(pin)) != 2 or not all(cpu.isdecimal() and int(cpu) in cpus for cpu in pin):
        parser.error(f"--pin S:R takes two of the CPUs at hand, which are {cpus}")
    args.pin = tuple(map(int, pin))
    if args.output and (args.output.exists() or not args.output.parent.is_dir()):
        parser.error(f"--output {args.output}: name a new file in a directory that is there")
    if args.udpbench and not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program")
    if args.seed is None:
        args.seed = random.randrange(2**32)
    kind.check(args, parser)


if __name__ == "__main__":
    run(main)
