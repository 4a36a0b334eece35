"""The ways: what is set up at the far end, what is sent, and the place that has to be named."""

from dataclasses import dataclass, field

FIREWALL, CONNTRACK = "firewall (NETFILTER_DROP)", "full connection table (conntrack)"
RP_FILTER, BAD_SOURCE = "reverse path filter", "refused source address"
BAD_TARGET, NOT_HERE, NO_ROUTE = "impossible destination address", "address that is not of this host", "no route"
OTHER_HOST, NOBODY = "frames for other hosts (OTHERHOST)", "frames that nobody here takes, or longer than the MTU"
HEADER, HEADER_SUM = "wrong IP header", "wrong IP header checksum"
SHORT, PROTOCOL = "IP packets shorter than they say", "IP protocol that nobody here takes"
NEVER_WHOLE, NOT_IN_TIME = "fragments of which none became whole", "fragments not whole in time"
NO_MEMORY = "no memory for fragments"
CLOSED, IGNORED = "closed UDP ports", "broadcasts and multicasts that no socket takes"
CHECKSUM, FILTER = "wrong UDP checksums", "filter of the socket, or wrong UDP length"
FULL, MEMORY = "full receive buffers", "UDP memory used up"
GENERIC, XDP, TC, BRIDGE = "XDP program (generic)", "XDP program", "tc filter of the interface", "bridge or TAP device"
BACKLOG, POLICY, UNICAST = "full backlog of a CPU", "IPsec policy", "unicast in broadcast frames"
UNNAMED = "between IP and UDP, without a counter"

# Frames that are sent.
SENT = 200
UDP = "meta l4proto udp"
TC_DROP = "tc filter add dev eth0 ingress bpf da bytecode"
# A classic program that always returns TC_ACT_SHOT.
SHOT = "1,6 0 0 2"


@dataclass
class Way:
    """A way to drop datagrams."""

    label: str
    place: str
    # Kind of frames.py.
    kind: str = "right"
    # Run at the far end before; of the whole machine: sysctl and its value, put back after.
    commands: list = field(default_factory=list)
    machine: tuple = ()
    # Packets that have to be counted; 1: some.
    packets: int = SENT
    sent: int = SENT
    # A program instead of `listen`: code that runs after `s` is bound.
    program: str = ""
    # Address that `listen` binds, and the target of IPv6.
    bind: str = "10.77.0.2"
    target: str = "10.77.0.2"
    # Seconds after the last frame.
    after_s: float = 0


def nft(hook, priority, rule, family="inet", device=""):
    return [
        ["nft", f"add table {family} f"],
        ["nft", f"add chain {family} f c {{ type filter hook {hook} {device} priority {priority}; }}"],
        ["nft", f"add rule {family} f c {rule}"],
    ]


def sysctl(**values):
    return [["sysctl", "-qw", f"net.ipv4.{name.replace('__', '.')}={value}"] for name, value in values.items()]


def words(*lines):
    return [line.split() for line in lines]


ASSURED = "conntrack -I -p udp -s 10.77.0.5 -d 10.77.0.2 --sport 1 --dport 2 --timeout 60 -u ASSURED,SEEN_REPLY"
SIX = {"bind": "[fd77::2]", "target": "fd77::2"}
# More than each CPU has in reserve (net.core.mem_pcpu_rsv).
FORCE = "s.setsockopt(1, 33, 16000000)"
STEERED = [["sh", "-c", "echo 3 >/sys/class/net/eth0/queues/rx-0/rps_cpus"]]
FILTER_ALL = "import struct, ctypes; code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0)); "
FILTER_ALL += "s.setsockopt(1, 26, struct.pack('HL', 1, ctypes.addressof(code)))"

WAYS = [
    Way("nft input", FIREWALL, commands=nft("input", 0, f"{UDP} drop")),
    Way("nft prerouting", FIREWALL, commands=nft("prerouting", -300, f"{UDP} drop")),
    Way("nft ingress", FIREWALL, commands=nft("ingress", 0, f"{UDP} drop", "netdev", "device eth0")),
    Way("nft reject", FIREWALL, commands=nft("input", 0, f"{UDP} reject")),
    Way("nft every tenth", FIREWALL, commands=nft("input", 0, f"{UDP} numgen inc mod 10 0 drop"), packets=SENT // 10),
    Way("nft limit", FIREWALL, commands=nft("input", 0, f"{UDP} limit rate over 1/minute burst 1 packets drop"),
        packets=SENT - 1),
    Way("nft input, IPv6", FIREWALL, commands=nft("input", 0, f"{UDP} drop"), **SIX),
    Way("connection table full", CONNTRACK, commands=[*nft("input", 0, "ct state new accept"), ASSURED.split()],
        machine=("net.netfilter.nf_conntrack_max", 1)),
    Way("reverse path filter", RP_FILTER, "far_source", sysctl(conf__all__rp_filter=1)),
    Way("own address", BAD_SOURCE, "far_source", words("ip address add 10.99.7.1/32 dev lo")),
    Way("source of loopback", BAD_SOURCE, "loopback_source"),
    Way("source is broadcast", BAD_SOURCE, "no_source"),
    Way("destination of loopback", BAD_TARGET, "loopback"),
    Way("address of nobody", NOT_HERE, "neighbour"),
    Way("blackhole", NOT_HERE, "elsewhere", words("ip route add blackhole 10.88.0.0/16")),
    Way("no route", NO_ROUTE, "elsewhere", sysctl(ip_forward=1)),
    Way("wrong UDP checksum", CHECKSUM, "udp_checksum"),
    Way("wrong UDP length", FILTER, "udp_length"),
    Way("wrong IP checksum", HEADER_SUM, "ip_checksum"),
    Way("wrong IP header", HEADER, "ip_header"),
    Way("wrong IP length", SHORT, "ip_length"),
    Way("other IP protocol", PROTOCOL, "protocol"),
    Way("fragments never whole", NEVER_WHOLE, "fragments", packets=2 * SENT),
    Way("half of the fragments", NOT_IN_TIME, "fragments_of_half", sysctl(ipfrag_time=1), packets=SENT // 2,
        after_s=2.5),
    Way("firewall of later fragments", FIREWALL, "fragments_whole",
        nft("prerouting", -450, "ip frag-off & 0x1fff != 0 drop"), packets=2 * SENT),
    Way("memory full of fragments", NO_MEMORY, "fragments_of_half",
        sysctl(ipfrag_low_thresh=10000, ipfrag_high_thresh=20000), packets=1),
    Way("wrong MAC", OTHER_HOST, "other_mac"),
    Way("wrong VLAN", OTHER_HOST, "vlan"),
    Way("unknown protocol", NOBODY, "lldp"),
    Way("too long for the MTU", NOBODY, "too_long", words("ip link set eth0 mtu 1280")),
    Way("unicast in broadcast frames", UNICAST, "unicast_in_broadcast",
        sysctl(conf__all__drop_unicast_in_l2_multicast=1)),
    Way("closed port", CLOSED, "closed"),
    Way("closed port, IPv6", CLOSED, bind="[fd77::2]", target="[fd77::2]:9"),
    Way("broadcast to a bound socket", IGNORED, "broadcast"),
    Way("group that nobody joined", UNNAMED, "group"),
    Way("group that another socket joined", IGNORED, "group", words("ip address add 239.7.7.8 dev eth0 autojoin")),
    Way("filter of the socket", FILTER, program=FILTER_ALL),
    Way("full queue", FULL, program="s.setsockopt(1, 8, 4096)", packets=SENT - 12),
    Way("UDP memory", MEMORY, "fast", program=FORCE, machine=("net.ipv4.udp_mem", "0 0 0"), sent=4000, packets=1),
    Way("backlog", BACKLOG, "fast", STEERED, ("net.core.netdev_max_backlog", 0), sent=4000, packets=1),
    Way("XDP, generic", GENERIC, commands=[["xdp", "xdpgeneric"]]),
    Way("XDP of the driver", XDP, commands=[["xdp", "xdpdrv"]]),
    Way("tc ingress", TC, commands=[*words("tc qdisc add dev eth0 ingress"), [*TC_DROP.split(), SHOT]]),
    Way("tc clsact", TC, commands=[*words("tc qdisc add dev eth0 clsact"), [*TC_DROP.split(), SHOT]]),
    Way("IPsec policy", POLICY, commands=words(
        "ip xfrm policy add dir in src 10.77.0.1 dst 10.77.0.2 proto udp action block")),
    Way("bridge port that blocks", BRIDGE, commands=words(
        "ip link add br0 type bridge", "ip link set br0 up", "ip address del 10.77.0.2/24 dev eth0",
        "ip address add 10.77.0.2/24 dev br0", "ip link set eth0 master br0", "bridge link set dev eth0 state 1")),
]  # fmt: skip
