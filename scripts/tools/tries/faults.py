"""Faults at an end, the places where a row may count their losses, and the warnings that it needs."""

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from tools.tries.truth import FOREIGN_BYTES

REFUSED, KERNEL_OUT, QDISC = "refused_packets", "dropped_kernel_out_packets", "dropped_qdisc_packets"
NIC_OUT, PATH, NIC_IN = "dropped_nic_out_packets", "lost_on_path_packets", "dropped_nic_in_packets"
BACKLOG, PROTOCOL, SOCKET = "dropped_backlog_packets", "dropped_protocol_packets", "dropped_socket_packets"
# Places of the receiver's host before its sockets, and all on the way.
BEHIND, ANYWHERE = "behind the interface", "anywhere"

# The longest packet that a narrow path takes.
NARROW_BYTES = 1300
FLOOD = f"""
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
flood = socket.socket(family, socket.SOCK_DGRAM)
flood.setblocking(False)
while True:
    for _ in range(20):
        try: flood.sendto(bytes({FOREIGN_BYTES}), (sys.argv[1], 9))
        except OSError: pass
    time.sleep(0.005)
"""


@dataclass
class Fault:
    """A fault."""

    label: str
    at: str = "near"
    # Run there before.
    commands: list = field(default_factory=list)
    # For udpbench.
    words: str = ""
    duration: str = ""
    # Places for what gets lost between the firewalls of both ends.
    places: set = field(default_factory=set)
    # Regular expressions: a warning that has to be there, and one that may be.
    needs: str = ""
    allows: str = ""
    # The message that is needed before the start.
    says: str = ""
    fails_calls: bool = False
    # True if nothing can be measured.
    stops_all: bool = False
    # From when to when it was there, in ms since 1970; None: all the time.
    moments: list | None = None

    @contextmanager
    def on(self, lab):
        """Makes it so."""
        for command in self.commands:
            lab.ends[self.at].run(*command)
        yield


def chain(hook, priority, rule, device=""):
    family = "netdev" if device else "inet"
    return [
        ["nft", f"add table {family} fault"],
        ["nft", f"add chain {family} fault {hook} {{ type filter hook {hook} {device} priority {priority}; }}"],
        ["nft", f"add rule {family} fault {hook} {rule}"],
    ]


def some(dice, case):
    """Matches some datagrams, by number or at random."""
    which = dice.choice([f"udp length {case.payload + 8}", "meta l4proto udp"])
    return f"{which} numgen {dice.choice(['inc mod 2 0', 'inc mod 7 0', 'random mod 100 < 3', 'random mod 100 < 30'])}"


def firewall(dice, case):
    at, rule = dice.choice(case.sinks), some(dice, case)
    hook, priority = dice.choice([("input", 0), ("prerouting", -300)])
    return Fault(f"{hook} of {at}: {rule} drop", at, chain(hook, priority, f"{rule} drop"))


def rejecting_firewall(dice, case):
    at, rule = dice.choice(case.sinks), f"udp length {case.payload + 8} numgen inc mod {dice.choice([7, 50])} 0 reject"
    return Fault(f"input of {at}: {rule}", at, chain("input", 0, rule), fails_calls=True)


def firewall_of_the_sender(dice, case):
    """Calls that send fail with EPERM."""
    length = f">= {case.payload + 8}" if case.is_offloaded else case.payload + 8
    at, rule = dice.choice(case.sources), f"udp length {length} numgen inc mod {dice.choice([3, 20])} 0 drop"
    return Fault(f"output of {at}: {rule}", at, chain("output", 0, rule), fails_calls=True)


def firewall_of_the_interface(dice, case):
    """Nothing counts there."""
    at, rule = dice.choice(case.sinks), some(dice, case)
    return Fault(
        f"ingress of {at}: {rule} drop", at, chain("ingress", 0, f"{rule} drop", "device eth0"), places={BEHIND}
    )


def narrow_path(dice, case):
    """Takes less than its interfaces say."""
    at, rule = dice.choice(case.sinks), f"meta l4proto udp meta length > {NARROW_BYTES} drop"
    commands = chain("ingress", 0, rule, "device eth0")
    says = "do not get to" if min(case.mtus.values()) > NARROW_BYTES else ""
    whole = "came through whole"
    return Fault(f"ingress of {at}: {rule}", at, commands, places={BEHIND}, says=says, allows=whole)


def black_hole(dice, case):
    at = case.sinks[0]
    return Fault(
        f"input of {at}: all dropped",
        at,
        chain("input", 0, "meta l4proto udp drop"),
        says="no datagram gets to",
        stops_all=True,
    )


def steering(dice, case):
    """Has another CPU receive (RPS)."""
    at, cpus = dice.choice(case.sinks), dice.choice([1, 2])
    command = ["sh", "-c", f"echo {cpus} >/sys/class/net/eth0/queues/rx-0/rps_cpus"]
    return Fault(f"rps_cpus of {at}: {cpus}", at, [command], places={BACKLOG})


def traffic_control(dice, case):
    """One UDP packet in eight, at random, by classic BPF."""
    at, protocol_at = dice.choice(case.sinks), 23 if case.ip == 4 else 20
    code = f"7,48 0 0 {protocol_at},21 0 4 17,32 0 0 4294963256,84 0 0 7,21 0 1 0,6 0 0 2,6 0 0 4294967295"
    add = "tc filter add dev eth0 ingress bpf da bytecode"
    return Fault(
        f"tc ingress of {at}: 1 in 8",
        at,
        [["tc", "qdisc", "add", "dev", "eth0", "clsact"], [*add.split(), code]],
        places={BEHIND},
    )


@dataclass
class Xdp(Fault):
    """The program of xdp.py."""

    arguments: tuple = ()

    @contextmanager
    def on(self, lab):
        directory = lab.room.path / "bpf"
        directory.mkdir()
        lab.ends[self.at].run("python3", Path(__file__).with_name("xdp.py"), directory, *self.arguments)
        yield


def express_data_path(dice, case):
    at = dice.choice(case.sinks)
    # A veth takes a program only if a page has room for its packets.
    mode = dice.choice(["xdpgeneric", "xdpdrv"]) if max(case.mtus.values()) <= 1500 else "xdpgeneric"
    return Xdp(f"{mode} of {at}: 1 in 8", at, places={BEHIND}, allows="driver lost", arguments=(mode, case.ip))


def small_buffer(dice, _):
    return Fault(f"rcvbuf {(size := dice.choice([2048, 8192, 40000]))}", words=f"--rcvbuf {size}")


def small_send_buffer(dice, _):
    return Fault(f"sndbuf {(size := dice.choice([4608, 20000]))}", words=f"--sndbuf {size}")


@dataclass
class Foreign(Fault):
    """Somebody else sends to a closed port of the other end."""

    ip: int = 4

    @contextmanager
    def on(self, lab):
        to = lab.ends["far" if self.at == "near" else "near"]
        flood = lab.start(self.at, "python3", "-c", FLOOD, to.ipv4 if self.ip == 4 else to.ipv6)
        # The program looks for other traffic before it starts.
        time.sleep(0.2)
        try:
            yield
        finally:
            flood.kill()
            flood.wait()


def foreign(dice, case):
    at = dice.choice(["near", "far"])
    return Foreign(f"foreign flood from {at}", at, needs="other traffic", ip=case.ip)


@dataclass
class LinkDown(Fault):
    """Once, when datagrams flow, for half a second."""

    case: object = None
    wait_s: float = 0

    @contextmanager
    def on(self, lab):
        # Keeps the IPv6 address, which would be gone for good.
        lab.ends[self.at].run("sysctl", "-qw", "net.ipv6.conf.eth0.keep_addr_on_down=1")
        over = Event()
        thread = Thread(target=self.cut, args=(lab, over))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def cut(self, lab, over):
        def sent():
            return lab.udp(self.case.sources[0], self.case.ip)["OutDatagrams"]

        enough = sent() + 100
        while sent() < enough:
            if over.wait(0.01):
                return
        if over.wait(self.wait_s):
            return
        end, begun = lab.ends[self.at], time.time() * 1e3
        end.run("ip", "link", "set", "eth0", "down")
        time.sleep(0.5)
        self.moments.append((begun, time.time() * 1e3))
        end.run("ip", "link", "set", "eth0", "up")


def link_down(dice, case):
    at = dice.choice(["near", "far"])
    return LinkDown(
        f"link of {at} down", at, duration="3s", places={ANYWHERE}, needs="link|carrier|is down", fails_calls=True,
        allows="measured again|nothing was (sent|received) in a window", moments=[], case=case,
        wait_s=dice.choice([0.3, 0.7]),
    )  # fmt: skip


CATALOGUE = {
    firewall: 4, rejecting_firewall: 1, firewall_of_the_sender: 2, firewall_of_the_interface: 1, traffic_control: 2,
    express_data_path: 2, small_buffer: 2, small_send_buffer: 1, foreign: 2, link_down: 2, narrow_path: 1,
    black_hole: 1, steering: 1,
}  # fmt: skip


def draw(dice, case, known):
    """None to two of them, none twice, `known` first."""
    kinds = [known] if known else []
    for _ in range(dice.choices([0, 1, 2], [3, 5, 2])[0]):
        kinds += dice.choices(list(CATALOGUE), CATALOGUE.values())
    return [kind(dice, case) for kind in dict.fromkeys(kinds[:2])]
