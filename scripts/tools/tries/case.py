"""A try: a link between two ends, faults, and one case of udpbench, all drawn from a seed."""

import random
from dataclasses import dataclass, field

from tools.tries import faults

ENGINES = {
    "std": 4, "mmsg": 4, "uring": 2, "gso-gro": 3, "gso": 1, "tokio": 3, "mio-exhaustive": 2, "mio-level": 1,
    "epoll-drain": 1, "message-io": 1, "quinn-udp": 1, "nix": 1, "spin": 1,
}  # fmt: skip
OFFLOAD = {"gso-gro", "gso", "quinn-udp"}
MANY_FLOWS = {"tokio", "mio-exhaustive", "mio-level", "epoll-drain"}
PAYLOADS = [26, 61, 300, 300, 1021, 1400, 1400, 1460, 4001, 8999]
HEADERS = {4: 28, 6: 48}
SHORT, LONG = "20mbit burst 10kb limit 30kb", "20mbit burst 10kb limit 3mb"
QUEUES = [
    ("tbf", SHORT), ("tbf", LONG), ("tbf", "5mbit burst 12kb limit 20kb"), ("tbf", "100mbit burst 32kb limit 100kb"),
    ("htb", "80mbit"),
]  # fmt: skip
MTUS = [(1500, 1500)] * 6 + [(9000, 9000), (1500, 1280), (9000, 1500), (1280, 1500)]
RULES = ["drop {}", "drop {}", "duplicate {}", "duplicate {}", "misdirect {}", "delay {} by 20ms"]
NUMBERS = ["every 2", "every 5", "every 25", "every 100", "3,5-7,100-109"]
# Cases that were once told wrongly: about a third of the tries.
KNOWN = [
    {"workload": "rr", "rate": None, "outstanding": 64, "payload": 1400, "queue": ("tbf", SHORT)},
    {"workload": "rr", "rate": 20000, "payload": 1400, "queue": ("tbf", SHORT)},
    {"workload": "flood", "rate": 4000, "payload": 1460, "queue": ("tbf", SHORT), "mtus": (1500, 1500)},
    {"workload": "flood", "rate": None, "direction": "both", "engine": "mmsg", "wait": "spin", "queue": ("tbf", LONG)},
    {"workload": "flood", "rules": ["duplicate every 5", "drop every 25"]},
    {"workload": "flood", "rate": 4000, "rules": ["duplicate every 2", "delay all by 20ms"]},
    {"payload": 1400, "rules": None, "mtus": (1500, 1280)},
    {"workload": "flood", "rules": None, "fault": faults.link_down},
    {"payload": 300, "fault": faults.firewall},
    {"payload": 1400, "rules": None, "mtus": (1500, 1500), "fault": faults.narrow_path},
    {"fault": faults.black_hole},
]


@dataclass
class Link:
    """The cable between the ends."""

    # Rules of the test wire; None: a pair of virtual interfaces.
    rules: str | None
    mtus: tuple
    # Kind, end and words of a queueing discipline.
    queue: tuple | None

    def __str__(self):
        parts = ["veth" if self.rules is None else f"wire [{self.rules}]"]
        if self.queue:
            parts.append("{} at {} {}".format(*self.queue))
        if self.mtus != (1500, 1500):
            parts.append("mtu {}>{}".format(*self.mtus))
        return ", ".join(parts)


@dataclass
class Case:
    """A case for udpbench."""

    ip: int
    engine: str
    payload: int
    workload: str
    direction: str
    rate: int | None
    outstanding: int
    threads: int
    wait: str
    # The MTU of each end.
    mtus: dict
    # From which end to which one, requests first.
    ways: list = field(init=False)

    def __post_init__(self):
        up, down = ("near", "far"), ("far", "near")
        first = {"up": [up], "down": [down], "both": [up, down]}[self.direction]
        self.ways = first if self.workload == "flood" else [first[0], first[0][::-1]]

    @property
    def sources(self):
        return [source for source, _ in self.ways]

    @property
    def sinks(self):
        return [sink for _, sink in self.ways]

    @property
    def is_offloaded(self):
        return self.engine in OFFLOAD

    def is_cut(self, source):
        """Tells whether it leaves that end in fragments."""
        return self.exceeds(self.mtus[source])

    def is_too_long(self, source, sink):
        """Tells whether it leaves an end of a larger MTU than the other's, and is too long for that."""
        return self.mtus[source] > self.mtus[sink] and self.exceeds(self.mtus[sink])

    def exceeds(self, mtu):
        return self.payload + HEADERS[self.ip] > mtu

    def datagrams(self, udp_length):
        """The number of the case's datagrams in a packet of this UDP length: one, those of a train, or none."""
        payload = udp_length - 8
        if not self.is_offloaded:
            return int(payload == self.payload)
        return payload // self.payload if payload > 0 and payload % self.payload == 0 else 0

    def words(self):
        words = [
            "--ip",
            f"v{self.ip}",
            "--engine",
            self.engine,
            "--payload",
            self.payload,
            "--direction",
            self.direction,
        ]
        words += ["--workload", self.workload, "--threads", self.threads]
        words += ["--pin", "0:1" if self.threads == 2 else "0,0:1,1"]
        if self.workload == "bidir":
            words += ["--duplex", "full"]
        if self.rate:
            words += ["--rate", self.rate]
        elif self.workload == "rr":
            words += ["--outstanding", self.outstanding]
        return words + (["--wait", "spin"] if self.wait == "spin" else [])


@dataclass
class Try:
    link: Link
    case: Case
    faults: list
    words: list

    def __str__(self):
        return "; ".join([str(self.link), *[fault.label for fault in self.faults]])


def draw(seed, number):
    """The try of that number, from 1."""
    dice = random.Random(f"{seed}/{number}")
    known = dice.choice(KNOWN) if dice.random() < 0.35 else {}
    has_wire = known["rules"] is not None if "rules" in known else "queue" not in known and dice.random() < 0.4
    mtus = known.get("mtus") or dice.choice(MTUS)
    mtus = (max(mtus), max(mtus)) if has_wire else mtus
    case = draw_case(dice, mtus, known)
    link = draw_wire(dice, case, mtus, known) if has_wire else draw_veth(dice, mtus, known)
    found = faults.draw(dice, case, known.get("fault"))
    words = [*case.words(), "--connection", dice.choice(["connected", "unconnected"])]
    if case.engine in MANY_FLOWS and dice.random() < 0.2:
        words += ["--flows", 5]
    if case.workload == "flood" and dice.random() < 0.1:
        words.append("--verify")
    durations = [fault.duration for fault in found if fault.duration] or [dice.choice(["300ms", "600ms", "1200ms"])]
    words += ["--warmup", dice.choice(["5ms", "20ms"]), "--duration", durations[0]]
    return Try(link, case, found, words + [word for fault in found for word in fault.words.split()])


def draw_case(dice, mtus, known):
    workload = known.get("workload") or dice.choices(["flood", "rr", "bidir"], [7, 5, 1])[0]
    cannot = {"flood": set(), "rr": OFFLOAD | {"spin"}, "bidir": OFFLOAD}[workload]
    weights = {engine: weight for engine, weight in ENGINES.items() if engine not in cannot}
    drawn = {
        "ip": dice.choice([4, 4, 6]),
        "engine": dice.choices(list(weights), weights.values())[0],
        "payload": dice.choice(PAYLOADS),
        "workload": workload,
        "direction": dice.choice(["up", "down", "both"] if workload == "flood" else ["up", "down"]),
        "rate": None if workload == "bidir" else dice.choice([None, None, 300, 4000, 20000]),
        "outstanding": dice.choice([1, 8, 64]),
        "threads": dice.choice([2, 2, 4]),
        "wait": "",
        "mtus": {"near": mtus[0], "far": mtus[1]},
    }
    drawn |= {name: value for name, value in known.items() if name in drawn and name != "mtus"}
    can_spin = drawn["engine"] in ["std", "mmsg"] and not (workload == "rr" and drawn["rate"])
    if can_spin and dice.random() < 0.3:
        drawn["wait"] = "spin"
    if drawn["engine"] in OFFLOAD and dice.random() < 0.8:
        # Longer ones are skipped.
        drawn["payload"] = min(drawn["payload"], 1021)
    return Case(**drawn)


def draw_veth(dice, mtus, known):
    queue = known.get("queue") or (dice.choice(QUEUES) if dice.random() < 0.5 else None)
    return Link(None, mtus, queue and (queue[0], dice.choice(["near", "far"]), queue[1]))


def draw_wire(dice, case, mtus, known):
    # A held datagram would wait until the next run if no others came.
    kinds = [*RULES, "reorder {} by 3"] if case.workload == "flood" and case.rate != 300 else RULES
    drawn = [dice.choice(kinds).format(dice.choice(NUMBERS)) for _ in range(dice.choice([0, 1, 2, 3]))]
    way = {"near": "a>b", "far": "b>a"}
    rules = [f"{way[dice.choice(case.sources)]} {rule}" for rule in known.get("rules") or drawn]
    return Link("; ".join([f"count size {case.payload}", *rules]), mtus, None)
