#!/usr/bin/env bash
# Expected: a multicast datagram for a group that nobody here has joined is counted where it ends, as a datagram for a
#   closed port is (UdpNoPorts): by IpInAddrErrors, IpExtInNoRoutes, IpInDiscards or UdpIgnoredMulti.
# Happens: IpInReceives moves, and no counter of a loss does. The kernel gives no drop reason but NOT_SPECIFIED.
# Version: Linux 6.18, seen on 2026-11-29; ip_route_input_rcu (net/ipv4/route.c).
# Matters: "nothing was dropped" by all counters of nstat(8) and ip(8) is no proof that a sensor's packets got through.
#
# Needs python3, ip (iproute2), and unshare with user namespaces or root.
set -euo pipefail
for tool in python3 ip unshare; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }; done
unshare --user --map-root-user --net true 2>/dev/null || { echo "skipped: no network namespace may be made"; exit 0; }
echo "Linux $(uname -r)"
unshare --user --map-root-user --net bash -c '
ip link add far type veth peer name near 2>/dev/null || { echo "skipped: no veth"; exit 0; }
ip link set lo up; ip link set far up; ip link set near up
ip address add 192.0.2.1/24 dev near
for each in all near; do echo 0 >/proc/sys/net/ipv4/conf/$each/rp_filter; done
exec python3 -c "$1"' bash '
import socket, struct, sys, time

MOVES_ANYWAY = {"IpInReceives", "IpDefaultTTL", "IpExtInOctets", "IpExtInMcastPkts", "IpExtInMcastOctets", "IpExtInNoECTPkts"}

def counters():
    found = {}
    for name in ("snmp", "netstat"):
        lines = open(f"/proc/net/{name}").read().splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            part = names.split(":")[0]
            pairs = zip(names.split()[1:], values.split()[1:])
            found |= {part + key: int(value) for key, value in pairs if part in ("Ip", "IpExt", "Udp")}
    return found

def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF

def frame(mac, to):
    udp = struct.pack("!HHHH", 7000, 7001, 8 + 4, 0) + b"data"
    parts = [0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, socket.inet_aton("192.0.2.9"), socket.inet_aton(to)]
    header = struct.pack("!BBHHHBBH4s4s", *parts)
    parts[7] = checksum(header)
    return mac + b"\2\0\0\0\0\1" + b"\x08\0" + struct.pack("!BBHHHBBH4s4s", *parts) + udp

def moved(mac, to, count=100):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind(("far", 0))
    before = counters()
    for _ in range(count):
        wire.send(frame(mac, to))
    time.sleep(0.3)
    after = counters()
    return {key: after[key] - before[key] for key in after if after[key] - before[key] >= count}

with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as it:
    it.bind(("near", 0))
    address = it.getsockname()[4]
closed = moved(address, "192.0.2.1")
group = moved(bytes.fromhex("01005e010203"), "239.1.2.3")
print("100 to a closed port:       ", closed)
print("100 to a group nobody joined:", group)
if closed.get("UdpNoPorts", 0) < 100 or group.get("IpInReceives", 0) < 100:
    print("skipped: the frames did not arrive")
    sys.exit()
sys.exit(bool(set(group) - MOVES_ANYWAY))
'
