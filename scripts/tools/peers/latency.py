"""The tools that time round trips: how each is started, and what it found.

All have one client and one server with a CPU each, IPv4 on lo, one request under way, the same payload both ways,
over UDP or TCP.
Each says itself how long its round trips took: nobody else can see them.
"""

import csv
import io
import re
import shutil
import signal
from pathlib import Path
from typing import NamedTuple

from tools.peers.namespace import Broken, Program, await_that, is_bound
from tools.peers.throughput import number


class Conditions(NamedTuple):
    """What all tools run under."""

    # udp or tcp.
    transport: str
    payload: int
    client_cpu: int
    server_cpu: int
    all_cpus: frozenset
    # How long it asks.
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
    # What ends the server, unless it ends after one client.
    ends_server_by = signal.SIGTERM

    @property
    def is_here(self):
        return shutil.which(self.program) is not None

    def run(self, at):
        """Where it runs, neper leaves a log of each run."""
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
    calls = "sendto, recvfrom; unconnected; clock: rdtsc"

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
    calls = "send, recv; the server sendto, recvfrom"

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
    calls = "epoll; send, recv"

    def server(self, at):
        return [f"{at.transport}_rr", "-4", "-l", at.seconds, "-Q", at.payload, "-R", at.payload]

    def client(self, at):
        command = [f"{at.transport}_rr", "-4", "-c", "-H", "127.0.0.1", "-l", at.seconds, "-p", "50,99"]
        return [*command, "-Q", at.payload, "-R", at.payload]

    def found(self, said):
        # In seconds.
        return Found(*(1e6 * number(rf"^latency_p{share}=([\d.e-]+)$", said, re.M) for share in [50, 99]))


class Engine:
    """An engine of udpbench: one process that pins its two threads itself."""

    is_peer = False

    def __init__(self, name):
        self.name = name
        self.engine, *parts = name.split("/")
        self.connection = "unconnected" if "unconnected" in parts else "connected"
        self.waits = ["--wait", "spin"] if "spin" in parts else []
        self.calls = "udpbench"

    def run(self, at):
        command = [at.udpbench, "--workload", "rr", "--threads", 2, "--engine", self.engine, *self.waits]
        command += ["--connection", self.connection, "--ip", "v4", "--payload", at.payload]
        command += ["--transport", at.transport]
        command += ["--pin", f"{at.client_cpu}:{at.server_cpu}", "--soak", "0s", "--no-reference"]
        # Fewer rounds it does not measure; they are this long together.
        command += ["--rounds", 5, "--duration", f"{at.seconds}s", "--board", "generic", "--output", "-"]
        with Program(command, at.all_cpus) as udpbench:
            said = udpbench.output()
        [row] = csv.DictReader(io.StringIO(said))
        if row["status"] != "ok":
            raise Broken(f"{row['status']}: {row['reason']}")
        return Found(float(row["rtt_p50_us"]), float(row["rtt_p99_us"]))


PEERS = [Sockperf(), Netperf(), Neper()]
