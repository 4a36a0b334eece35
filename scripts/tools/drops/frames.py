"""Sends frames of UDP that are wrong in one way. Runs at the near end: KIND COUNT IPV4 MAC."""

import os
import socket
import struct
import sys
import time
from contextlib import suppress

INTERFACE, PORT = "eth0", 7502
SOURCE = "10.77.0.1"
PAYLOAD_BYTES = 100
# Between two frames, in seconds.
PAUSE_S = 0.0005
# Addresses in the frames of some kinds, and the destination of their frame.
SOURCES = {"far_source": "10.99.7.1", "loopback_source": "127.0.0.9", "no_source": "255.255.255.255"}
DESTINATIONS = {
    "loopback": "127.0.0.1",
    "neighbour": "10.77.0.99",
    "elsewhere": "10.88.0.1",
    "broadcast": "255.255.255.255",
    "group": "239.7.7.8",
}
MACS = {
    "other_mac": "02aabbccddee",
    "broadcast": "ffffffffffff",
    "unicast_in_broadcast": "ffffffffffff",
    "group": "01005e070708",
}
HEADS = {"vlan": b"\x81\x00\x00\x64\x08\x00", "lldp": b"\x88\xcc"}
FRAGMENT_BYTES = 1480


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Frames:
    def __init__(self, kind, target, mac):
        self.kind = kind
        self.source = socket.inet_aton(SOURCES.get(kind, SOURCE))
        self.target = socket.inet_aton(DESTINATIONS.get(kind, target))
        self.mac = bytes.fromhex(MACS.get(kind, mac.replace(":", "")))
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.out.bind((INTERFACE, 0))

    def udp(self, data, port):
        length = 8 + len(data)
        pseudo = struct.pack(">BBH", 0, socket.IPPROTO_UDP, length)
        said = length + 64 * (self.kind == "udp_length")
        head = struct.pack(">HHHH", port, PORT + 1 * (self.kind == "closed"), said, 0)
        right = checksum(self.source + self.target + pseudo + head + data)
        wrong = right ^ (0x1111 * (self.kind == "udp_checksum"))
        return head[:6] + struct.pack(">H", wrong) + data

    def ip(self, payload, ident, offset=0, more=0):
        first = 0x42 if self.kind == "ip_header" else 0x45
        length = 20 + len(payload) + 64 * (self.kind == "ip_length")
        protocol = 253 if self.kind == "protocol" else socket.IPPROTO_UDP
        place = more << 13 | offset // 8
        head = struct.pack(">BBHHHBBH4s4s", first, 0, length, ident, place, 64, protocol, 0, self.source, self.target)
        wrong = checksum(head) ^ (0x101 * (self.kind == "ip_checksum"))
        return head[:10] + struct.pack(">H", wrong) + head[12:] + payload

    def send(self, n):
        ident = (os.getpid() * 97 + n) & 0xFFFF
        longer = 2 * FRAGMENT_BYTES if self.kind.startswith("fragments") else 0
        if self.kind == "too_long":
            longer = 1300
        whole = self.udp(struct.pack(">I", n) + bytes(PAYLOAD_BYTES + longer), 20000 + n % 40000)
        packets = [self.ip(whole, ident)]
        if longer and self.kind != "too_long":
            starts = range(0, len(whole), FRAGMENT_BYTES)
            packets = [
                self.ip(whole[at : at + FRAGMENT_BYTES], ident, at, at + FRAGMENT_BYTES < len(whole)) for at in starts
            ]
            # All datagrams lack their end, or half of them do.
            if self.kind == "fragments" or (self.kind == "fragments_of_half" and n % 2):
                packets.pop()
        for packet in packets:
            # A veth reports what its other end refused.
            with suppress(OSError):
                self.out.send(self.mac + self.out.getsockname()[4] + HEADS.get(self.kind, b"\x08\x00") + packet)


def main(kind, count, target, mac):
    if ":" in target:
        return plain(int(count), target)
    frames = Frames(kind, target, mac)
    for n in range(int(count)):
        frames.send(n)
        if kind != "fast":
            time.sleep(PAUSE_S)


def plain(count, target):
    """By the kernel's own IPv6."""
    address, _, port = target.rpartition(":") if target.startswith("[") else (target, "", str(PORT))
    out = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    for n in range(count):
        out.sendto(struct.pack(">I", n) + bytes(PAYLOAD_BYTES), (address.strip("[]"), int(port)))
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
