"""Round trips over UDP or TCP: median and 99th percentile, by sockperf, netperf and neper.

All have one client and one server with a CPU each, IPv4 on lo, one request under way, the same payload both ways,
over UDP or TCP.
Each says itself how long its round trips took: nobody else can see them.
"""

import csv
import io
import re
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from tools.command import Broken
from tools.intervals import Median
from tools.peers.namespace import Program, await_that, is_bound
from tools.peers.senders import number


class Conditions(NamedTuple):
    """Conditions for all tools."""

    # udp or tcp.
    transport: str
    payload: int
    client_cpu: int
    server_cpu: int
    all_cpus: frozenset
    # Duration of a run.
    seconds: int
    udpbench: str
    scratch: Path


class Found(NamedTuple):
    """Whole round trips, in microseconds."""

    p50: float
    p99: float


class Peer:
    """A server and a client, each on its CPU."""

    is_peer = True
    # The signal that ends the server, unless it ends after one client.
    ends_server_by = signal.SIGTERM

    def run(self, at):
        """Runs it in the scratch directory: neper leaves a log there."""
        with Program(self.server(at), {at.server_cpu}, at.scratch) as server:
            await_that(lambda: is_bound(self.port), [server])
            with Program(self.client(at), {at.client_cpu}, at.scratch) as client:
                said = client.output()
        try:
            return self.found(said)
        except (LookupError, ValueError) as error:
            raise Broken(f"its report cannot be read ({error!r}): {said}") from error


class Sockperf(Peer):
    name, program, port = "sockperf", "sockperf", 11111

    def server(self, at):
        return ["sockperf", "server", "-i", "127.0.0.1", *self.transport(at)]

    def transport(self, at):
        return ["--tcp"] if at.transport == "tcp" else []

    def client(self, at):
        command = ["sockperf", "ping-pong", "-i", "127.0.0.1", "--full-rtt", *self.transport(at)]
        return [*command, "--msg-size", max(14, at.payload), "--time", at.seconds]

    def found(self, said):
        return Found(*(number(rf"percentile {share}\d* *= *([\d.]+)", said) for share in ["50.0", "99.0"]))


class Netperf(Peer):
    name, program, port = "netperf", "netperf", 12865

    def server(self, _):
        return ["netserver", "-D", "-4", "-L", "127.0.0.1"]

    def client(self, at):
        command = [
            "netperf",
            "-4",
            "-H",
            "127.0.0.1",
            "-t",
            f"{at.transport.upper()}_RR",
            "-l",
            at.seconds,
            "-P",
            "0",
            "--",
        ]
        return [*command, "-r", f"{at.payload},{at.payload}", "-o", "P50_LATENCY,P99_LATENCY"]

    def found(self, said):
        return Found(*map(float, said.strip().splitlines()[-1].split(",")[:2]))


class Neper(Peer):
    name, program, port = "neper", "udp_rr", 12867

    def server(self, at):
        return [f"{at.transport}_rr", "-4", "-l", at.seconds, "-Q", at.payload, "-R", at.payload]

    def client(self, at):
        command = [f"{at.transport}_rr", "-4", "-c", "-H", "127.0.0.1", "-l", at.seconds, "-p", "50,99"]
        return [*command, "-Q", at.payload, "-R", at.payload]

    def found(self, said):
        # It reports seconds.
        return Found(*(1e6 * number(rf"^latency_p{share}=([\d.e-]+)$", said, re.M) for share in [50, 99]))


class Engine:
    """An engine of udpbench: one process that pins its two threads itself."""

    is_peer = False

    def __init__(self, name):
        self.name = name
        self.engine, *parts = name.split("/")
        self.connection = "unconnected" if "unconnected" in parts else "connected"
        self.waits = ["--wait", "spin"] if "spin" in parts else []

    def run(self, at):
        command = [at.udpbench, "--workload", "rr", "--threads", 2, "--engine", self.engine, *self.waits]
        command += ["--connection", self.connection, "--ip", "v4", "--payload", at.payload]
        command += ["--transport", at.transport]
        command += ["--pin", f"{at.client_cpu}:{at.server_cpu}", "--heat", "0s", "--no-reference"]
        # Fewer rounds it does not measure; they are this long together.
        command += ["--rounds", 5, "--duration", f"{at.seconds}s", "--board", "generic", "--output", "-"]
        with Program(command, at.all_cpus) as udpbench:
            said = udpbench.output()
        [row] = csv.DictReader(io.StringIO(said))
        if row["status"] != "ok":
            raise Broken(f"{row['status']}: {row['reason']}")
        return Found(float(row["rtt_p50_us"]), float(row["rtt_p99_us"]))


PEERS = [Sockperf(), Netperf(), Neper()]

PAYLOADS, LEAST_BYTES = "26", 14
ENGINES, ENGINE_HELP = "std,std/unconnected,std/spin", "of udpbench, connected, or E/unconnected, E/spin"
ROUNDS = 15
LEAST_ROUNDS = 6


def add_options(add):
    add("--transport", choices=["udp", "tcp"], default="udp", help="[default: udp]")
    add("--seconds", type=int, default=2, metavar="N", help="of each run [default: 2]")


def check(args, parser):
    if args.seconds < 2:
        parser.error(f"--seconds {args.seconds}: take 2 or more, as neper does not say anything of 1")


class Kind:
    COLUMNS = ("round", "tool", "payload_bytes", "p50_us", "p99_us", "reason")

    def __init__(self, args, tools, all_cpus, scratch):
        self.args, self.tools = args, tools
        self.rest = [*args.pin, all_cpus, args.seconds, str(args.udpbench), scratch]

    def prepare(self):
        """Netperf resolves names only where an address is not loopback's (AI_ADDRCONFIG, getaddrinfo(3))."""
        subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"], check=True)

    def run(self, tool, payload):
        found = tool.run(Conditions(self.args.transport, payload, *self.rest))
        return {"p50_us": found.p50, "p99_us": found.p99}

    def said(self, row):
        return f"p50 {row['p50_us']:.1f} us, p99 {row['p99_us']:.1f} us"

    def show(self, rows):
        """Prints a table for each payload; 1 if a tool has too few figures."""
        args = self.args
        print(
            f"{args.transport}, {args.rounds} rounds of {args.seconds} s, client and server on CPUs {args.pin};",
            end=" ",
        )
        print(f"seed {args.seed}")
        print(f"{'tool':<18} {'p50 us':>8} {'p99 us':>8}   p50 over the quickest peer's   p99 over the quickest peer's")
        return max(self.show_payload(rows, payload) for payload in args.payload)

    def show_payload(self, rows, payload):
        print(f"-- {payload} B")
        by_round = {}
        for row in rows:
            if row["payload_bytes"] == payload and not row["reason"]:
                by_round.setdefault(row["round"], {})[row["tool"]] = row
        peers = [tool.name for tool in self.tools if tool.is_peer]
        broken = 0
        for tool in self.tools:
            runs = [found[tool.name] for found in by_round.values() if tool.name in found]
            if len(runs) < LEAST_ROUNDS:
                broken = 1
                print(f"{tool.name:<18} failed in {self.args.rounds - len(runs)} of {self.args.rounds} rounds")
                continue
            middles = [Median.of([run[column] for run in runs]).value for column in ["p50_us", "p99_us"]]
            line = f"{tool.name:<18} {middles[0]:>8.2f} {middles[1]:>8.2f}"
            if not tool.is_peer:
                ratios = [ratio(by_round, tool.name, peers, column) for column in ["p50_us", "p99_us"]]
                line += "   " + "             ".join(
                    f"{it.value:.3f} ({it.low:.3f}..{it.high:.3f})" for it in ratios if it
                )
            print(line)
        return broken


def ratio(by_round, name, peers, column):
    """To the peer that is the quickest over all rounds, in each of them; None if there is none."""

    def middle(peer):
        values = [found[peer][column] for found in by_round.values() if peer in found]
        return Median.of(values).value if len(values) >= LEAST_ROUNDS else float("inf")

    best = min(peers, key=middle)
    both = [found for found in by_round.values() if name in found and best in found]
    return Median.of([found[name][column] / found[best][column] for found in both]) if both else None
