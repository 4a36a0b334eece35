"""One run of one tool, and the check of udpbench's accounting by the referee."""

import time

from tools.command import Broken
from tools.peers.namespace import await_that
from tools.peers.referee import HEADER_BYTES, Reading, Stretch, came_as_sent, largest_buffers

# From the first datagrams to the stretch: page faults, caches and wake-up patterns settle within some 20 ms.
SETTLE_S = 0.2
# Traffic must go on within this time after the stretch. A busy machine may not run a sender for a while.
GLANCE_S = 0.1
# The rest of a run after that, for looking at sockets.
MARGIN_S = 0.2
# No tool's start-up sends as many; probes, greetings.
TRAFFIC_DATAGRAMS = 200
# Columns of the CSV.
COLUMNS = [
    "round",
    "tool",
    "payload_bytes",
    "reason",
    "received_pps",
    "loss_pct",
    "cpu_ns_per_packet",
    "claimed_pps",
    "claim_deviation_pct",
    "stretch_ns",
    "cpu_ns",
    "received_packets",
    "sent_packets",
    "in_datagrams",
    "out_datagrams",
    "in_errors",
    "rcvbuf_errors",
    "lo_packets",
    "lo_bytes",
    "rcvbuf_bytes",
    "sndbuf_bytes",
]


def seconds_to_run(steady_ms):
    """Seconds that a tool must send."""
    return SETTLE_S + steady_ms / 1000 + MARGIN_S


def measured(tool, conditions, steady_s):
    """The referee's figures, and the tool's claim."""
    start = Reading.take()
    with tool.running(conditions) as running:
        await_that(lambda: Reading.take().sent > start.sent + TRAFFIC_DATAGRAMS, running.programs)
        time.sleep(SETTLE_S)
        before = Reading.take()
        time.sleep(steady_s)
        after = Reading.take()
        if running.is_over() or not goes_on(after):
            raise Broken("it had stopped sending when the stretch was over")
        rcvbuf_bytes, sndbuf_bytes = largest_buffers()
        claimed_pps = running.claimed_pps()
    stretch = Stretch.between(conditions.payload, before, after)
    return figures(stretch, claimed_pps) | {"rcvbuf_bytes": rcvbuf_bytes, "sndbuf_bytes": sndbuf_bytes}


def goes_on(reading):
    """Tells whether more is sent soon after."""
    deadline = time.monotonic() + GLANCE_S
    while time.monotonic() < deadline:
        if Reading.take().sent > reading.sent:
            return True
        time.sleep(GLANCE_S / 10)
    return False


def figures(stretch, claimed_pps):
    """The referee's counts, and what is derived from them."""
    cost, deviation = stretch.cpu_ns_per_packet, None
    if stretch.received_packets:
        deviation = round(100 * (claimed_pps / stretch.received_pps - 1), 2)
    return {
        "received_pps": round(stretch.received_pps),
        "loss_pct": round(stretch.loss_pct, 3),
        "cpu_ns_per_packet": None if cost is None else round(cost, 1),
        "claimed_pps": round(claimed_pps),
        "claim_deviation_pct": deviation,
        "stretch_ns": stretch.elapsed_ns,
        "cpu_ns": stretch.cpu_ns,
        "received_packets": stretch.received_packets,
        "sent_packets": stretch.sent_packets,
        "in_datagrams": stretch.in_datagrams,
        "out_datagrams": stretch.out_datagrams,
        "in_errors": stretch.in_errors,
        "rcvbuf_errors": stretch.rcvbuf_errors,
        "lo_packets": stretch.lo_packets,
        "lo_bytes": stretch.lo_bytes,
    }


class Audit:
    """A whole run of udpbench, not interrupted: does its accounting say what the kernel counted, to the last datagram?

    What is no part of its accounting is subtracted. Before each window it sends a one-byte probe to learn where the
    flow ends, and another one after the receiver has been connected. And when it starts it tries out what the
    kernel can do: `udpbench plan` does the same, and nothing else.
    """

    def __init__(self, engine, conditions):
        before = Reading.take()
        engine.plan(conditions)
        planned = Reading.take()
        windows = engine.short_windows(conditions)
        after = Reading.take()

        def counted(of):
            return of(after) - 2 * of(planned) + of(before)

        packets = counted(lambda reading: reading.lo_packets)
        payload = counted(lambda reading: reading.lo_bytes) - HEADER_BYTES * packets
        probes = len(windows) * (2 if engine.connection == "connected" else 1)
        # A sender that lets the kernel cut tries once how much it takes in one piece, and nobody receives that.
        tries = len(windows) if payload > 1.5 * packets * conditions.payload else 0
        each = max(round(payload / (packets - probes - tries) / conditions.payload), 1)
        pieces = counted(lambda reading: reading.sent) - probes - tries
        taken = counted(lambda reading: reading.udp["InDatagrams"]) - probes
        dropped = counted(lambda reading: reading.udp["InErrors"])
        self.kernel_sent = pieces * each
        self.kernel_received = taken * (each if came_as_sent(taken + dropped, pieces, each) else 1)
        accounting = [window["accounting"] for window in windows]
        self.windows = len(windows)
        self.sent = sum(book["at_end"]["sent"] for book in accounting)
        self.received = sum(book["at_end"]["received"] + book["unread"] for book in accounting)

    @property
    def agrees(self):
        return (self.sent, self.received) == (self.kernel_sent, self.kernel_received)

    def __str__(self):
        return (
            f"it sent {self.sent} and received {self.received}, by the kernel {self.kernel_sent} and"
            f" {self.kernel_received}"
        )
