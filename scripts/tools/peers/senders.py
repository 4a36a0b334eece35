"""The tools that are held side by side: how each is started, and what it claims in the end.

All get one sender, one receiver, IPv4 on lo, the same payload, and as much buffer as the others. Each peer is
told to send as fast as it can and spared what would cost it: intermediate reports, sockets that take IPv6, too.
"""

import json
import re
import signal
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.command import Broken
from tools.peers.namespace import Program, await_that, is_bound


@dataclass(frozen=True)
class Conditions:
    """Conditions for all tools."""

    payload: int
    rcvbuf_bytes: int
    sender_cpu: int
    receiver_cpu: int
    all_cpus: frozenset
    # The least time that it must send.
    seconds: float
    udpbench: Path
    scratch: Path


@dataclass(frozen=True)
class Running:
    """A tool while it runs."""

    programs: list
    # Tells whether the measured traffic is over.
    is_over: Callable
    # Waits for the end and returns the datagrams a second that the tool says it delivered.
    claimed_pps: Callable


class Peer:
    """A pair of processes, a server that receives and a client that sends, each on its CPU."""

    is_peer = True
    # A word for what it claims, where it is not what it received.
    claims = ""
    # The signal that ends the server, unless it ends after one client.
    ends_server_by = None

    @contextmanager
    def running(self, conditions):
        with Program(self.server(conditions), {conditions.receiver_cpu}) as server:
            await_that(lambda: is_bound(self.port), [server])
            with Program(self.client(conditions), {conditions.sender_cpu}) as client:
                yield Running(
                    programs=[server, client],
                    is_over=lambda: client.process.poll() is not None,
                    claimed_pps=lambda: self.claimed(client, server, conditions.payload),
                )

    def claimed(self, client, server, payload):
        outputs = client.output(), server.output(self.ends_server_by)
        try:
            return self.claim(*outputs, payload)
        except (LookupError, ValueError) as error:
            raise Broken(f"its report cannot be read ({error!r}): {' '.join(outputs)}") from error


class Iperf3(Peer):
    name, program, port = "iperf3", "iperf3", 5201

    def server(self, _):
        return ["iperf3", "-4", "--server", "--one-off", "--json", "--interval", 0]

    def client(self, at):
        command = ["iperf3", "-4", "--client", "127.0.0.1", "--udp", "--bitrate", 0, "--interval", 0]
        command += ["--length", at.payload, "--window", at.rcvbuf_bytes]
        return [*command, "--time", whole(at.seconds)]

    def claim(self, _, server, payload):
        end = json.loads(server)["end"]["sum"]
        return (end["packets"] - end["lost_packets"]) / end["seconds"]


class Iperf2(Peer):
    name, program, port = "iperf2", "iperf", 5001
    ends_server_by = signal.SIGINT

    def server(self, at):
        return ["iperf", "--server", "--udp", "--window", at.rcvbuf_bytes, "--len", at.payload, "-y", "C"]

    def client(self, at):
        # A rate of 0 is an error in 2.1.8, and one that leaves no gap between datagrams is no limit.
        command = ["iperf", "--client", "127.0.0.1", "--udp", "--bandwidth", "10000g", "--len", at.payload]
        return [*command, "--window", at.rcvbuf_bytes, "--time", f"{at.seconds:.1f}"]

    def claim(self, _, server, payload):
        rows = [line.split(",") for line in server.splitlines() if line.count(",") >= 13]
        return int(rows[-1][8]) / 8 / payload


class Sockperf(Peer):
    name, program, port = "sockperf", "sockperf", 11111
    claims = "sent"
    ends_server_by = signal.SIGINT

    def server(self, at):
        return ["sockperf", "server", "-i", "127.0.0.1", "--buffer-size", at.rcvbuf_bytes]

    def client(self, at):
        command = ["sockperf", "throughput", "-i", "127.0.0.1", "--buffer-size", at.rcvbuf_bytes]
        return [*command, "--msg-size", at.payload, "--time", whole(at.seconds)]

    def claim(self, client, _, payload):
        return number(r"Message Rate is (\d+)", client)


class Nuttcp(Peer):
    name, program, port = "nuttcp", "nuttcp", 5000

    def server(self, _):
        return ["nuttcp", "-4", "-1", "--nofork"]

    def client(self, at):
        command = ["nuttcp", "-4", "-t", "-u", "-Ru", f"-l{at.payload}", f"-w{at.rcvbuf_bytes // 1024}"]
        return [*command, f"-T{whole(at.seconds)}", "-fparse", "127.0.0.1"]

    def claim(self, client, _, payload):
        received = number(r"pkt=(\d+)", client) - number(r"drop=(\d+)", client)
        # `real_seconds` has two digits after the point; the rate has more.
        return number(r"rate_Mbps=([\d.]+)", client) * 1e6 / 8 / payload if received else 0.0


class Engine:
    """An engine of udpbench: one process that pins its two threads itself."""

    is_peer, claims = False, ""
    # Fewer it does not measure.
    windows = 5

    def __init__(self, name):
        self.name = name
        self.engine, _, connection = name.partition("/")
        self.connection = connection or "connected"

    @contextmanager
    def running(self, conditions):
        """Ctrl-C ends it after its first window, which it keeps."""
        raw = conditions.scratch / "run.jsonl"
        try:
            with Program(self.command(conditions, conditions.seconds), conditions.all_cpus) as udpbench:
                yield Running(
                    programs=[udpbench],
                    is_over=lambda: len(samples(raw)) > 0,
                    claimed_pps=lambda: self.first_window(udpbench, raw),
                )
        finally:
            tidy_up(conditions)

    def command(self, at, window_s, subcommand="run"):
        """The command line without soak: the first traffic is that of the first window."""
        command = [at.udpbench, subcommand, "--threads", 2, "--engine", self.engine]
        command += ["--connection", self.connection, "--ip", "v4", "--payload", at.payload]
        command += ["--pin", f"{at.sender_cpu}:{at.receiver_cpu}", "--rcvbuf", at.rcvbuf_bytes]
        # Its duration is that of all windows together.
        command += ["--rounds", self.windows, "--duration", f"{self.windows * window_s * 1000:.0f}ms"]
        return [*command, "--heat", "0s", "--no-reference", "--output", at.scratch / "run.csv"]

    def first_window(self, udpbench, raw):
        await_that(lambda: len(samples(raw)) > 0, [udpbench])
        udpbench.output(signal.SIGINT, codes=[128 + signal.SIGINT])
        sample = samples(raw)[0]
        received = sum(thread["received_packets"] for thread in sample["threads"])
        return received * 1e9 / sample["window_ns"]

    def plan(self, conditions):
        self.to_its_end(conditions, "plan")

    def short_windows(self, conditions):
        """The samples of a whole run."""
        try:
            self.to_its_end(conditions, "run")
            return samples(conditions.scratch / "run.jsonl")
        finally:
            tidy_up(conditions)

    def to_its_end(self, conditions, subcommand):
        with Program(self.command(conditions, 0.1, subcommand), conditions.all_cpus) as udpbench:
            # A case may fail: `mio-once` starves.
            udpbench.output(codes=[0, 1])


def tidy_up(conditions):
    for file in conditions.scratch.glob("run.*"):
        file.unlink()


def samples(raw):
    """The windows in a file of raw samples, whose other lines are about the run."""
    lines = raw.read_text().splitlines(keepends=True) if raw.exists() else []
    happened = [json.loads(line) for line in lines if line.endswith("\n")]
    return [line["window"]["sample"] for line in happened if "window" in line]


def number(pattern, text, flags=0):
    found = re.search(pattern, text, flags)
    if not found:
        raise ValueError(f"no {pattern}")
    return float(found[1])


def whole(seconds):
    """For a tool that takes whole seconds only."""
    return int(-(-seconds // 1))


PEERS = [Iperf3(), Iperf2(), Sockperf(), Nuttcp()]
