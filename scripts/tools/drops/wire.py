"""Ways to drop what `udpbench wire` sends over IPv4. ssh goes over IPv6. The run or its refusal names the place."""

import csv
import shlex
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tools.command import Broken
from tools.drops import ways as w
from tools.drops.trial import XDP, machine_wide
from tools.wire.board import Board
from tools.wire.cable import Veth
from tools.wire.ends import End
from tools.wire.room import Room

# Seconds that a run may take.
PATIENCE_S = 120
OPTIONS = """--address 10.77.0.2 --ip v4 --drop-reasons --engine std --no-reference --heat 0s --warmup 10ms
    --duration 100ms --rounds 5 --payload 300 --threads 2 -q --columns all"""
# Classic BPF: one UDP packet of IPv4 in eight, at random, or none else.
EIGHTH = "7,48 0 0 23,21 0 4 17,32 0 0 4294963256,84 0 0 7,21 0 1 0,6 0 0 2,6 0 0 4294967295"


@dataclass
class WireWay:
    """A way to drop some of the datagrams at the far end."""

    label: str
    place: str
    # A statement of nft about each tenth datagram as it comes in.
    mangle: str = ""
    commands: list = field(default_factory=list)
    near: list = field(default_factory=list)
    machine: tuple = ()
    words: str = "--rate 5k"


def mangled(statement):
    rule = f"ip protocol udp numgen inc mod 10 0 {statement}"
    return w.nft("ingress", 0, rule, "netdev", "device eth0")


def tenth(hook, priority):
    return w.nft(hook, priority, f"{w.UDP} numgen inc mod 10 0 drop")


WRONG_MAC = "ip neighbour replace 10.77.0.2 lladdr 02:aa:bb:cc:dd:ee dev eth0 nud permanent"
ASSURED = ["nft add table ip f", "nft add chain ip f c { type filter hook input priority 0; }"]
WIRE_WAYS = [
    WireWay("nft input", w.FIREWALL, commands=tenth("input", 0)),
    WireWay("nft prerouting", w.FIREWALL, commands=tenth("prerouting", -300)),
    WireWay("nft ingress", w.FIREWALL, "drop"),
    WireWay("nft input, all", w.FIREWALL, commands=w.nft("input", 0, f"{w.UDP} drop")),
    WireWay("wrong UDP checksum", w.CHECKSUM, "udp checksum set 0x1111", near=w.words("ethtool -K eth0 tx off")),
    WireWay("wrong UDP length", w.FILTER, "udp length set 9000"),
    WireWay("wrong IP checksum", w.HEADER_SUM, "ip checksum set 0x1111"),
    WireWay("wrong IP header", w.HEADER, "ip hdrlength set 2"),
    WireWay("wrong IP length", w.SHORT, "ip length set 9000"),
    WireWay("other IP protocol", w.PROTOCOL, "ip protocol set 253"),
    WireWay("source of loopback", w.BAD_SOURCE, "ip saddr set 127.0.0.9"),
    WireWay("source is broadcast", w.BAD_SOURCE, "ip saddr set 255.255.255.255"),
    WireWay("destination of loopback", w.BAD_TARGET, "ip daddr set 127.0.0.1"),
    WireWay("address of nobody", w.NOT_HERE, "ip daddr set 10.77.0.99"),
    WireWay("no route", w.NO_ROUTE, "ip daddr set 10.88.0.1", commands=w.sysctl(ip_forward=1)),
    WireWay("group that nobody joined", w.UNNAMED, "ip daddr set 239.7.7.8"),
    WireWay("closed port", w.CLOSED, "udp dport set 9"),
    WireWay("first fragments only", w.NEVER_WHOLE, "ip frag-off set 0x2000"),
    WireWay("own address", w.BAD_SOURCE, commands=w.words("ip address add 10.77.0.1/32 dev lo")),
    WireWay("reverse path filter", w.RP_FILTER, commands=[
        *w.sysctl(conf__all__rp_filter=1), *w.words("ip route replace 10.77.0.1/32 dev lo")]),
    WireWay("wrong MAC", w.OTHER_HOST, near=w.words(WRONG_MAC)),
    WireWay("IPsec policy", w.POLICY, commands=w.words(
        "ip xfrm policy add dir in src 10.77.0.1 dst 10.77.0.2 proto udp action block")),
    WireWay("XDP, generic", w.GENERIC, commands=[["xdp", "xdpgeneric"]]),
    WireWay("XDP of the driver", w.XDP, commands=[["xdp", "xdpdrv"]]),
    WireWay("tc ingress", w.TC, commands=[
        *w.words("tc qdisc add dev eth0 clsact"), [*w.TC_DROP.split(), EIGHTH]]),
    WireWay("connection table full", w.CONNTRACK, commands=[
        *w.nft("input", 0, "ct state new accept", "ip"), w.ASSURED.split()],
        machine=("net.netfilter.nf_conntrack_max", 1)),
    # To a CPU where the sender is not: its own empties its backlog after each packet, and a flow's hash would choose.
    WireWay("backlog", w.BACKLOG, commands=[["sh", "-c", "echo 2 >/sys/class/net/eth0/queues/rx-0/rps_cpus"]],
            machine=("net.core.netdev_max_backlog", 1), words="--threads 1 --pin 0:1"),
    WireWay("small buffer", w.FULL, words="--rate 5k --rcvbuf 4608"),
]  # fmt: skip


def try_wire(udpbench, way):
    """Returns what the run says, with the warnings of its row, and the columns of lost datagrams."""
    with ExitStack() as stack:
        room = stack.enter_context(Room())
        near, far = End("near", 1, room), End("far", 2, room)
        Veth(near, far)
        for end in [near, far]:
            end.set_up(1500)
        if not Path("/sys/kernel/tracing/events").exists():
            for end in [near, far]:
                end.run("mount", "-t", "tracefs", "nodev", "/sys/kernel/tracing")
        board = stack.enter_context(Board(near, far, room))
        mangle = mangled(way.mangle) if way.mangle else []
        for end, commands in [(near, way.near), (far, [*way.commands, *mangle])]:
            for command in commands:
                if command[0] == "xdp":
                    (directory := room.path / "bpf").mkdir()
                    command = [sys.executable, XDP, directory, command[1], "4"]
                end.run(*command)
        stack.enter_context(machine_wide(*way.machine))
        rows = room.path / "rows.csv"
        command = [near.enter, udpbench, "wire", "board6", "--rsh", f"ssh -F {shlex.quote(str(board.config))}"]
        command += ["--agent", udpbench, "-o", rows, *OPTIONS.split(), *way.words.split()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Broken(f"udpbench has not ended after {PATIENCE_S} s") from None
        found = list(csv.DictReader(rows.open())) if rows.exists() else []
        said = " ".join([done.stdout, done.stderr, *[row["warnings"] for row in found]])
        lost = {}
        for row in found:
            lost |= {
                name: count
                for name, count in row.items()
                if name.startswith(("dropped_", "lost_on")) and count not in ["", "0"]
            }
        return " ".join(said.split()), lost
