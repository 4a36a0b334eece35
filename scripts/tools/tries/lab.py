"""Two hosts on this one, as scripts/wire_lab.py makes them, with nftables rules at both that count every datagram."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

from tools.wire import cable
from tools.wire.board import Board
from tools.wire.cable import TestWire, Veth
from tools.wire.ends import End
from tools.wire.room import Room

# Before and behind the firewalls of an end: `out` and `left` count what it sends, `came` and `in` what it receives.
HOOKS = [("out", "output", -500, "oif"), ("left", "postrouting", 500, "oif")]
HOOKS += [("came", "prerouting", -500, "iif"), ("in", "input", 500, "iif")]
# Each by its length, so that what is not of the case can be told apart.
COUNTING = "".join(
    f"set {name} {{ typeof udp length; flags dynamic; size 65535; counter; }}\n"
    f"chain {name} {{ type filter hook {hook} priority {priority}; {way} eth0 add @{name} {{ udp length }}; }}\n"
    for name, hook, priority, way in HOOKS
)


class Lab:
    """Made by `with`. At its end nothing of it is left."""

    def __init__(self, link, test_wire):
        self.link, self.test_wire = link, test_wire

    def __enter__(self):
        with ExitStack() as stack:
            self.room = stack.enter_context(Room())
            near, far = End("near", 1, self.room), End("far", 2, self.room)
            self.ends = {"near": near, "far": far}
            rules = self.link.rules
            self.wire = Veth(near, far) if rules is None else TestWire(self.test_wire, rules, near, far)
            for end, mtu in zip([near, far], self.link.mtus):
                end.set_up(mtu)
                end.run("nft", f"table inet truth {{ {COUNTING} }}")
            if self.link.queue:
                kind, at, words = self.link.queue
                make = {"tbf": cable.token_bucket, "htb": cable.hierarchy}[kind]
                make(self.ends[at], words.split())
            self.board = stack.enter_context(Board(near, far, self.room))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.wire.end()
        self.stack.close()

    def start(self, at, *command, **options):
        """Starts a program at an end. It ends with the lab, if not before."""
        return subprocess.Popen([self.ends[at].enter, *map(str, command)], **options)

    def udp(self, at, ip):
        """The counters of UDP at an end."""
        proc = Path(f"/proc/{self.ends[at].pid}/net")
        if ip == 4:
            rows = [line.split()[1:] for line in (proc / "snmp").read_text().splitlines() if line.startswith("Udp: ")]
            return dict(zip(rows[0], map(int, rows[1])))
        lines = [line.split() for line in (proc / "snmp6").read_text().splitlines() if line.startswith("Udp6")]
        return {name.removeprefix("Udp6"): int(value) for name, value in lines}
