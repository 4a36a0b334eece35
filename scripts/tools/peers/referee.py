"""The kernel's own counters of the namespace, and what they say about a stretch of time.

What counts what (Linux 3.18 to 6.18; net/ipv4/udp.c, drivers/net/loopback.c):

- `Udp: InDatagrams` grows when a program takes a datagram from its socket, not when one arrives: it is what
  was delivered. With UDP_GRO one piece counts once, however many datagrams are in it.
- `Udp: InErrors` grows by one for each datagram, or piece, that was dropped at a socket, `RcvbufErrors` among
  them, whose buffer was full.
- `Udp: OutDatagrams` grows once per datagram sent. With UDP_SEGMENT it grows once per piece.
- `lo` counts each piece as one packet and with one set of headers, but with all the payload in it. So bytes
  over packets say how many datagrams of the payload asked for are in a piece; 1 without offload. It also
  proves that a tool sends what it was told to.
"""

import ctypes
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tools.command import Broken
from tools.peers.namespace import LIBC

# An IPv4 header without options, and a UDP header.
HEADER_BYTES = 28
# A few packets of a tool's TCP connection may be among those that `lo` counted.
STRANGERS = 0.01


@dataclass(frozen=True)
class Reading:
    """The counters at one instant."""

    at_ns: int
    udp: dict
    lo_packets: int
    lo_bytes: int
    # CPU time by process.
    cpu_ns: dict

    @classmethod
    def take(cls):
        names, values = [
            line.split()[1:] for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Udp:")
        ]
        at_ns = time.monotonic_ns()
        (lo,) = re.findall(r"lo:(.*)", Path("/proc/net/dev").read_text())
        lo_bytes, lo_packets = map(int, lo.split()[:2])
        udp = dict(zip(names, map(int, values)))
        return cls(at_ns, udp, lo_packets, lo_bytes, cpu_times())

    @property
    def sent(self):
        return self.udp["OutDatagrams"]


def cpu_times():
    """CPU time so far, in nanoseconds, of each process of the namespace except this one: all its threads,
    user and system, to the moment (clock_getcpuclockid(3); /proc/PID/stat has ticks of 10 ms)."""
    times = {}
    for entry in os.listdir("/proc"):
        if not entry.isdecimal() or int(entry) == os.getpid():
            continue
        clock = ctypes.c_int()
        try:
            if LIBC.clock_getcpuclockid(int(entry), ctypes.byref(clock)) == 0:
                times[int(entry)] = time.clock_gettime_ns(clock.value)
        except OSError:
            pass  # It has just ended.
    return times


@dataclass(frozen=True)
class Stretch:
    """The difference between two readings, in datagrams of `payload` bytes."""

    payload: int
    elapsed_ns: int
    in_datagrams: int
    out_datagrams: int
    in_errors: int
    rcvbuf_errors: int
    lo_packets: int
    lo_bytes: int
    cpu_ns: int

    @classmethod
    def between(cls, payload, before, after):
        def grown(name):
            return after.udp[name] - before.udp[name]

        if set(before.cpu_ns) - set(after.cpu_ns):
            raise Broken("one of its processes ended within the stretch")
        return cls(
            payload=payload,
            elapsed_ns=after.at_ns - before.at_ns,
            in_datagrams=grown("InDatagrams"),
            out_datagrams=grown("OutDatagrams"),
            in_errors=grown("InErrors"),
            rcvbuf_errors=grown("RcvbufErrors"),
            lo_packets=after.lo_packets - before.lo_packets,
            lo_bytes=after.lo_bytes - before.lo_bytes,
            cpu_ns=sum(ns - before.cpu_ns.get(pid, 0) for pid, ns in after.cpu_ns.items()),
        )

    @property
    def datagrams_per_sent_piece(self):
        """1 without UDP_SEGMENT. Fails if the payload is not the one that was asked for."""
        carried = self.lo_bytes / max(self.lo_packets, 1) - HEADER_BYTES
        each = max(round(carried / self.payload), 1)
        if abs(carried / self.payload / each - 1) > STRANGERS:
            raise Broken(f"it was to send {self.payload} B, and lo carried {carried:.1f} B a packet")
        return each

    @property
    def datagrams_per_taken_piece(self):
        """1 unless the pieces come out as they went in, with UDP_GRO."""
        each = self.datagrams_per_sent_piece
        return each if came_as_sent(self.in_datagrams + self.in_errors, self.out_datagrams, each) else 1

    @property
    def sent_packets(self):
        return self.out_datagrams * self.datagrams_per_sent_piece

    @property
    def received_packets(self):
        return self.in_datagrams * self.datagrams_per_taken_piece

    @property
    def received_pps(self):
        return self.received_packets * 1e9 / self.elapsed_ns

    @property
    def loss_pct(self):
        return 100 * self.in_errors * self.datagrams_per_taken_piece / max(self.sent_packets, 1)

    @property
    def cpu_ns_per_packet(self):
        """CPU time of the tool's threads per datagram delivered; None if there was none."""
        return self.cpu_ns / self.received_packets if self.received_packets else None


def came_as_sent(arrived, pieces, each):
    """Tells whether the arrivals are nearer in number to the pieces sent than to the datagrams in them."""
    return arrived**2 < pieces**2 * each


def largest_buffers():
    """The largest SO_RCVBUF and SO_SNDBUF, as granted, among the UDP sockets of the namespace. (Those that are
    smaller do the other half of the work, or wait for the next client.)"""
    listing = subprocess.run(["ss", "-uanm"], stdout=subprocess.PIPE, text=True, check=True).stdout
    largest = []
    for key in ["rb", "tb"]:
        sizes = [int(size) for size in re.findall(rf"[(,]{key}(\d+)", listing)]
        largest.append(max(sizes, default=0))
    return tuple(largest)
