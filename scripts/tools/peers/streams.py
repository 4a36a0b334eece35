"""Bytes per second of streams and Unix sockets, by iperf3 (tcp) and sockperf (Unix sockets)."""

import csv
import io
import json
import re
from pathlib import Path
from typing import NamedTuple

from tools.command import Broken
from tools.intervals import Middle
from tools.peers.namespace import PATIENCE_S, Program, await_that, is_bound

IPERF3_PORT = 5201
# iperf3 takes whole seconds, and its report has to come within PATIENCE_S.
LEAST_S, MOST_S = 1, PATIENCE_S - 3
# sockperf's shortest message.
LEAST_BYTES = 14
# Fewer have no interval of 95 %.
LEAST_ROUNDS = 6
TRANSPORTS = ["tcp", "unix-stream", "unix-dgram"]


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
    is_peer, name, program, transports = True, "iperf3", "iperf3", ("tcp",)

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
    """Its client says how many messages it sent; over these none is lost."""

    is_peer, name, program = True, "sockperf", "sockperf"
    transports = ("unix-stream", "unix-dgram")

    def run(self, at):
        path = at.scratch / "sockperf"
        over = ["-i", path]
        over += [] if at.transport == "unix-dgram" else ["--tcp"]
        client = ["sockperf", "throughput", *over, "--msg-size", at.payload, "--time", at.seconds]
        path.unlink(missing_ok=True)
        with Program(["sockperf", "server", *over], {at.receiver_cpu}) as receiving:
            await_that(path.exists, [receiving])
            with Program(client, {at.sender_cpu}) as sending:
                said = sending.output()
        rate = re.search(r"Message Rate is (\d+) \[msg/sec\]", said)
        if not rate:
            raise Broken(f"its report cannot be read: {said}")
        return Found(int(rate[1]) * at.payload * 8 / 1e6, None)


PEERS = [Iperf3(), Sockperf()]


class Engine:
    """One process that pins its two threads itself."""

    is_peer = False

    def __init__(self, name):
        self.name = name

    def run(self, at):
        command = [at.udpbench, "--transport", at.transport, "--threads", 2, "--engine", self.name, "--ip", "v4"]
        command += ["--payload", at.payload, "--pin", f"{at.sender_cpu}:{at.receiver_cpu}", "--heat", "0s"]
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


PAYLOADS = "4096,65507"
ENGINES, ENGINE_HELP = "std", "of udpbench"
ROUNDS = 15


def add_options(add):
    add("--transport", choices=TRANSPORTS, default="tcp", help="what they go over [default: tcp]")
    add("--seconds", type=int, default=2, metavar="N", help="of each run [default: 2]")


def check(args, parser):
    if not LEAST_S <= args.seconds <= MOST_S:
        parser.error(f"--seconds {args.seconds}: take {LEAST_S} to {MOST_S}")
    if not (able := [peer for peer in args.peer if args.transport in peer.transports]):
        parser.error(f"--peer: none of them goes over {args.transport} as udpbench does")
    args.peer = able


class Kind:
    COLUMNS = ("round", "tool", "payload_bytes", "mbps", "cpu_ns_per_kib", "reason")

    def __init__(self, args, tools, all_cpus, scratch):
        self.args, self.tools = args, tools
        self.rest = [*args.pin, all_cpus, args.seconds, str(args.udpbench), scratch]

    def prepare(self):
        pass

    def run(self, tool, payload):
        return tool.run(Conditions(self.args.transport, payload, *self.rest))._asdict()

    def said(self, row):
        return str(Found(row["mbps"], row["cpu_ns_per_kib"]))

    def show(self, rows):
        """Prints the table; 1 if a tool has too few figures."""
        args = self.args
        cpus = f"sender on CPU {args.pin[0]}, receiver on CPU {args.pin[1]}"
        print(f"{args.transport}, {args.rounds} rounds of {args.seconds} s, {cpus}; seed {args.seed}")
        broken = 0
        for size in args.payload:
            found = {
                tool.name: {row["round"]: row for row in rows if row["tool"] == tool.name and is_of(row, size)}
                for tool in self.tools
            }
            for tool in self.tools:
                runs = found[tool.name]
                if len(runs) < LEAST_ROUNDS:
                    broken = 1
                    print(f"{size:>7} B  {tool.name:<14} failed in {args.rounds - len(runs)} of {args.rounds} rounds")
                    continue
                middle = Middle.of([row["mbps"] for row in runs.values()])
                print(f"{size:>7} B  {tool.name:<14} {middle.value:.0f} Mb/s")
                for peer in [] if tool.is_peer else args.peer:
                    print_ratios(runs, found.get(peer.name, {}), peer.name)
        return broken


def is_of(row, size):
    return row["payload_bytes"] == size and not row["reason"]


def print_ratios(rows, peers, peer):
    both = [(rows[number], peers[number]) for number in sorted(rows.keys() & peers.keys())]
    if len(both) < LEAST_ROUNDS:
        return
    for column, meaning in [("mbps", "Mb/s"), ("cpu_ns_per_kib", "CPU time per byte")]:
        if both[0][1][column] is not None:
            ratio = Middle.of([row[column] / of_peer[column] for row, of_peer in both])
            print(f"{'':>25} {meaning} over {peer}'s: {ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})")
