#!/usr/bin/env python3
"""Compares udpbench with iperf3 (tcp) and sockperf (framed-tcp, Unix sockets): bytes per second on loopback.

All run in a private network namespace where only `lo` is up: one sender on one CPU, one receiver on another, calls of
the same size. They take turns in shuffled rounds. Prints the middle of the rounds and, of each engine of udpbench, its
ratio to each peer in the same round, with its 95 % interval; to iperf3 also that of the CPU time per byte.
"""

import argparse
import csv
import io
import json
import os
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.intervals import Middle
from tools.peers import namespace
from tools.peers.namespace import Broken, Program, await_that, is_bound

EXAMPLES = """\
examples:
  scripts/peers.py streams                                     4 KiB and 65,507 B, 15 rounds of 2 s: three minutes
  scripts/peers.py streams --payload 1460 --rounds 31 --output streams.csv
  scripts/peers.py streams --engine std,tokio --pin 2:3 --udpbench ./udpbench
  scripts/peers.py streams --transport framed-tcp

Both come from Debian: apt-get install iperf3 sockperf. For Unix sockets, put a later sockperf than Debian 12's 3.7
first in PATH; 3.10 can. Leave the machine alone meanwhile.

exit codes: 0 measured, 1 a tool has fewer than six rounds, 2 bad input, 130 Ctrl-C"""

IPERF3_PORT, SOCKPERF_PORT = 5201, 11111
# iperf3 takes whole seconds, and its report has to come within namespace.PATIENCE_S.
LEAST_S, MOST_S = 1, namespace.PATIENCE_S - 3
# sockperf's longest message, and its shortest.
MOST_BYTES, LEAST_BYTES = 65507, 14
# Fewer have no interval of 95 %.
LEAST_ROUNDS = 6
TRANSPORTS = ["tcp", "framed-tcp", "unix-stream", "unix-dgram"]
COLUMNS = ["round", "tool", "transport", "payload_bytes", "mbps", "cpu_ns_per_kib", "reason"]


class Conditions(NamedTuple):
    transport: str
    payload: int
    sender_cpu: int
    receiver_cpu: int
    all_cpus: frozenset
    seconds: int
    udpbench: str
    scratch: Path


class Found(NamedTuple):
    """Payload per second, and what sender and receiver took together, if the tool says it."""

    mbps: float
    cpu_ns_per_kib: float | None

    def __str__(self):
        cpu = "" if self.cpu_ns_per_kib is None else f", {self.cpu_ns_per_kib:.1f} ns of CPU time per KiB"
        return f"{self.mbps:.0f} Mb/s{cpu}"


class Iperf3:
    name, transports = "iperf3", ["tcp"]

    def run(self, at):
        server = ["iperf3", "-4", "--server", "--one-off", "--json", "--interval", 0]
        client = ["iperf3", "-4", "--client", "127.0.0.1", "--json", "--interval", 0]
        client += ["--length", at.payload, "--time", at.seconds]
        with Program(server, {at.receiver_cpu}) as receiving:
            await_that(lambda: is_bound(IPERF3_PORT), [receiving])
            with Program(client, {at.sender_cpu}) as sending:
                said = json.loads(sending.output())["end"]
                received = json.loads(receiving.output())["end"]
        total, cpu = received["sum_received"], said["cpu_utilization_percent"]
        busy_s = (cpu["host_total"] + cpu["remote_total"]) / 100 * total["seconds"]
        return Found(total["bits_per_second"] / 1e6, busy_s * 1e9 / (total["bytes"] / 1024))


class Sockperf:
    """Its client says how many messages it sent; over these none is lost. Its server takes what is there, up
    to 64 KiB at a time, as udpbench does with framed-tcp."""

    name, transports = "sockperf", ["framed-tcp", "unix-stream", "unix-dgram"]

    def run(self, at):
        path = at.scratch / "sockperf"
        over = ["-i", "127.0.0.1" if at.transport == "framed-tcp" else path]
        over += [] if at.transport == "unix-dgram" else ["--tcp"]
        client = ["sockperf", "throughput", *over, "--msg-size", at.payload, "--time", at.seconds]
        path.unlink(missing_ok=True)
        with Program(["sockperf", "server", *over], {at.receiver_cpu}) as receiving:
            await_that(lambda: path.exists() or is_bound(SOCKPERF_PORT), [receiving])
            with Program(client, {at.sender_cpu}) as sending:
                said = sending.output()
        rate = re.search(r"Message Rate is (\d+) \[msg/sec\]", said)
        if not rate:
            raise Broken(f"its report cannot be read: {said}")
        return Found(int(rate[1]) * at.payload * 8 / 1e6, None)


PEERS = [Iperf3(), Sockperf()]


class Engine:
    """One process that pins its two threads itself."""

    def __init__(self, name):
        self.name = name

    def run(self, at):
        command = [at.udpbench, "--transport", at.transport, "--threads", 2, "--engine", self.name, "--ip", "v4"]
        command += ["--payload", at.payload, "--pin", f"{at.sender_cpu}:{at.receiver_cpu}", "--soak", "0s"]
        command += [
            "--no-reference",
            "--rounds",
            5,
            "--duration",
            f"{at.seconds}s",
            "--board",
            "generic",
            "--output",
            "-",
        ]
        with Program(command, at.all_cpus) as udpbench:
            said = udpbench.output()
        [row] = csv.DictReader(io.StringIO(said))
        if row["status"] != "ok":
            raise Broken(f"{row['status']}: {row['reason']}")
        return Found(float(row["received_mbps"]), float(row["cpu_ns_per_packet"]) * 1024 / at.payload)


def main():
    args = arguments()
    if not namespace.scratch():
        return namespace.run_inside([sys.executable, __file__, *sys.argv[1:], "--seed", str(args.seed)])
    namespace.set_up()
    all_cpus = frozenset(os.sched_getaffinity(0))
    # This process gets out of the way, where there is room.
    os.sched_setaffinity(0, all_cpus - set(args.pin) or all_cpus)
    tools = [*args.peer, *map(Engine, args.engine)]
    rest = [*args.pin, all_cpus, args.seconds, str(args.udpbench.resolve()), namespace.scratch()]
    ats = [Conditions(args.transport, size, *rest) for size in args.payload]
    rows = []
    with open(args.output, "x", newline="") if args.output else io.StringIO() as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rounds(tools, ats, args):
            rows.append(row)
            writer.writerow(row)
            file.flush()
    return show(rows, tools, args)


def rounds(tools, ats, args):
    chance = random.Random(args.seed)
    for number in range(1, args.rounds + 1):
        for at in chance.sample(ats, len(ats)):
            for tool in chance.sample(tools, len(tools)):
                try:
                    found, reason = tool.run(at), ""
                except (Broken, LookupError, ValueError) as problem:
                    found, reason = Found(None, None), " ".join(str(problem).split())
                about = f"round {number} of {args.rounds}, {at.payload} B, {tool.name}"
                print(f"{about}: {reason or found}", file=sys.stderr)
                case = {"round": number, "tool": tool.name, "transport": at.transport, "payload_bytes": at.payload}
                yield case | found._asdict() | {"reason": reason}


def show(rows, tools, args):
    """The table; 1 if a tool has too few figures."""
    cpus = f"sender on CPU {args.pin[0]}, receiver on CPU {args.pin[1]}"
    print(f"{args.transport}, {args.rounds} rounds of {args.seconds} s, {cpus}; seed {args.seed}")
    broken = 0
    for size in args.payload:
        found = {
            tool.name: {row["round"]: row for row in rows if row["tool"] == tool.name and is_of(row, size)}
            for tool in tools
        }
        for tool in tools:
            of_tool = found[tool.name]
            if len(of_tool) < LEAST_ROUNDS:
                broken += 1
                print(f"{size:>7} B  {tool.name:<14} failed in {args.rounds - len(of_tool)} of {args.rounds} rounds")
                continue
            print(f"{size:>7} B  {tool.name:<14} {middle_of(of_tool.values(), 'mbps').value:.0f} Mb/s")
            if tool not in args.peer:
                for peer in args.peer:
                    print_ratios(of_tool, found[peer.name], peer.name)
    return 1 if broken else 0


def is_of(row, size):
    return row["payload_bytes"] == size and not row["reason"]


def middle_of(rows, column):
    return Middle.of([row[column] for row in rows])


def print_ratios(rows, peers, peer):
    both = [(rows[number], peers[number]) for number in sorted(rows.keys() & peers.keys())]
    if len(both) < LEAST_ROUNDS:
        return
    for column, meaning in [("mbps", "Mb/s"), ("cpu_ns_per_kib", "CPU time per byte")]:
        if both[0][1][column] is not None:
            ratio = Middle.of([row[column] / of_peer[column] for row, of_peer in both])
            print(f"{'':>25} {meaning} over {peer}'s: {ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})")


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    peers = ",".join(peer.name for peer in PEERS)
    add("--transport", choices=TRANSPORTS, default="tcp", help="what they go over [default: tcp]")
    add("--peer", default=peers, metavar="LIST", help=f"some of {peers} [default: those that can]")
    add("--payload", default="4096,65507", metavar="LIST", help="bytes of each call [default: 4096,65507]")
    add("--engine", default="std", metavar="LIST", help="of udpbench [default: std]")
    add("--rounds", type=int, default=15, metavar="N", help=f"at least {LEAST_ROUNDS} [default: 15]")
    add("--seconds", type=int, default=2, metavar="N", help="of each run [default: 2]")
    add("--pin", default="1:0", metavar="S:R", help="CPUs of sender and receiver [default: 1:0]")
    add("--output", type=Path, metavar="FILE", help="write each run to this CSV file, too")
    add("--seed", type=int, metavar="N", help="repeats the order of an earlier run [default: random]")
    program = ROOT / "target/dist/udpbench"
    add("--udpbench", type=Path, default=program, metavar="FILE", help="[default: target/dist/udpbench]")
    args = parser.parse_args()
    sizes = args.payload.split(",")
    if not all(size.isdecimal() and LEAST_BYTES <= int(size) <= MOST_BYTES for size in sizes):
        parser.error(f"--payload {args.payload}: it takes sizes from {LEAST_BYTES} to {MOST_BYTES} B like 4096,65507")
    args.payload = list(dict.fromkeys(map(int, sizes)))
    args.engine = list(dict.fromkeys(args.engine.split(",")))
    names = args.peer.split(",")
    unknown = set(names) - {peer.name for peer in PEERS}
    if unknown:
        parser.error(f"--peer {args.peer}: it takes some of {peers}")
    args.peer = [peer for peer in PEERS if peer.name in names and args.transport in peer.transports]
    if not args.peer:
        parser.error(f"--peer {','.join(names)}: none of them goes over {args.transport} as udpbench does")
    if args.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds {args.rounds}: fewer than {LEAST_ROUNDS} have no interval of 95 %")
    if not LEAST_S <= args.seconds <= MOST_S:
        parser.error(f"--seconds {args.seconds}: take {LEAST_S} to {MOST_S}")
    if not os.access(args.udpbench, os.X_OK):
        fix = "cargo build --profile dist --locked makes it"
        parser.error(f"--udpbench {args.udpbench}: there is no such program; {fix}")
    if args.output and args.output.exists():
        parser.error(f"--output {args.output}: it exists, and nothing is overwritten; choose another name")
    cpus = args.pin.split(":")
    at_hand = sorted(os.sched_getaffinity(0))
    if len(cpus) != 2 or not all(cpu.isdecimal() and int(cpu) in at_hand for cpu in cpus):
        parser.error(f"--pin S:R takes two of the CPUs at hand, which are {at_hand}")
    args.pin = tuple(map(int, cpus))
    if args.seed is None:
        args.seed = random.randrange(2**32)
    return args


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
