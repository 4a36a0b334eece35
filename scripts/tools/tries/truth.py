"""The fate of a case's datagrams, by the kernel's counters and the test wire's report."""

import json
from collections import Counter
from pathlib import Path

# Payloads of somebody else (faults.Foreign), and of what asks whether the receiver is there (docs/WIRE.md).
FOREIGN_BYTES, QUESTION_BYTES = 100, 16


class Reading:
    """The counters of an end, by now."""

    def __init__(self, lab, at):
        end = lab.ends[at]
        self.udp = {ip: lab.udp(at, ip) for ip in [4, 6]}
        softnet = Path("/proc/net/softnet_stat").read_text().splitlines()
        self.backlog = sum(int(line.split()[1], 16) for line in softnet)
        qdiscs = json.loads(end.run("tc", "-s", "-j", "qdisc", "show", "dev", "eth0"))
        self.qdisc = sum(it["drops"] for it in qdiscs if it["kind"] != "clsact")
        link = json.loads(end.run("ip", "-s", "-s", "-j", "link", "show", "dev", "eth0"))
        self.nic_out = link[0]["stats64"]["tx"]["dropped"]
        self.by_length = {}
        for entry in json.loads(end.run("nft", "-j", "list", "table", "inet", "truth"))["nftables"]:
            if "set" in entry:
                found = [it["elem"] for it in entry["set"].get("elem", [])]
                self.by_length[entry["set"]["name"]] = Counter({it["val"]: it["counter"]["packets"] for it in found})


class Truth:
    """The datagrams of a case in one direction, from the end `source` to the end `sink`."""

    def __init__(self, case, way, before, after, wire):
        """`before`, `after`: a reading of each end. `wire`: what the test wire says of this direction, or None."""
        self.source, self.sink = way
        self.wire = wire and {**wire["datagrams"], "reordered": wire["reordered"]}

        def ours(at, name):
            return sum(n * case.datagrams(length) for length, n in after[at].by_length[name].items())

        self.out, self.left = ours(self.source, "out"), ours(self.source, "left")
        self.came, self.into = ours(self.sink, "came"), ours(self.sink, "in")
        then, now = (reading[self.sink] for reading in [before, after])
        udp = {name: value - then.udp[case.ip][name] for name, value in now.udp[case.ip].items()}
        self.foreign = now.by_length["in"][FOREIGN_BYTES + 8]
        self.dropped_socket = udp["RcvbufErrors"] + udp["MemErrors"]
        self.closed = udp["NoPorts"] - self.foreign
        self.errors = udp["InErrors"] - self.dropped_socket
        self.received = self.into - self.closed - self.errors - self.dropped_socket
        self.slack, self.is_cut = 0, case.is_cut(self.source)
        self.is_too_long = case.is_too_long(*way)
        if self.is_cut and case.ip == 6:
            # IPv6 joins fragments behind INPUT (net/ipv6/reassembly.c). A question that came too late was not read.
            self.received = udp["InDatagrams"] - now.by_length["in"][QUESTION_BYTES + 8]
            self.slack = 6
        self.backlog = now.backlog - then.backlog
        then, now = (reading[self.source] for reading in [before, after])
        self.qdisc, self.nic_out = now.qdisc - then.qdisc, now.nic_out - then.nic_out

    @property
    def counted_before(self):
        """Drops at the sender's interface, whoever sent them."""
        return self.qdisc + (self.nic_out if self.wire else 0)

    @property
    def crossed(self):
        """Datagrams that came out of the sender's interface."""
        return self.wire["seen"] if self.wire else self.came

    @property
    def way(self):
        """Its name in rows."""
        return "up" if self.source == "near" else "down"

    @property
    def lost_before_the_socket(self):
        return max(0, self.out - self.received - self.dropped_socket)

    @property
    def copied(self):
        """Copies that the test wire made."""
        return self.wire["copied"] if self.wire else 0

    def __str__(self):
        counts = {name: value for name, value in vars(self).items() if type(value) is int}
        shown = ", ".join(f"{name} {value}" for name, value in counts.items() if value or name == "received")
        return f"{self.source}>{self.sink}: {shown}" + (f", wire {self.wire}" if self.wire else "")
