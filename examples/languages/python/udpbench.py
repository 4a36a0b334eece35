"""The page that a program shares with udpbench: include/udpbench.h in Python."""

import ctypes
import mmap
import struct
import sys
import time

SEND, RECEIVE, CLIENT, SERVER = 1, 2, 3, 4
VERSION, SOCKET, PAGE = 1, 3, 4
u32, u64 = ctypes.c_uint32, ctypes.c_uint64


def fields(kind, names):
    return [(name, kind) for name in names.split()]


class Page(ctypes.Structure):
    """struct udpbench_page. A store to a field is one store of the processor, unlike one of struct.pack_into."""

    _fields_ = (
        *fields(u32, "version role payload buffer batch connected spin timeout_ms"),
        *fields(u64, "seed"),
        *fields(u32, "peer_bytes ip"),
        *fields(ctypes.c_char * 128, "peer"),
        *fields(ctypes.c_char * 64, "peer_text"),
        *fields(u32, "verify slots slot_bytes slots_at go stop"),
        *fields(ctypes.c_char * 56, "rest1"),
        *fields(u64, "slots_ready"),
        *fields(ctypes.c_char * 184, "rest2"),
        *fields(u64, "packets bytes reserved errors refused answered late"),
        *fields(u32, "ready"),
        *fields(ctypes.c_char * 452, "rest3"),
        *fields(u32 * 65536, "rtt_ns"),
    )

    def peer_address(self):
        """Returns the address to send to, as the module socket wants it, or None."""
        host, _, port = self.peer_text.decode().rpartition(":")
        return (host.strip("[]"), int(port)) if host else None

    def wait(self):
        """Says that the program is set up, and waits for the start."""
        self.ready = 1
        while not self.go:
            time.sleep(0.0001)

    def count(self, packets, size):
        """Counts a call that moved datagrams."""
        self.bytes += size
        self.packets += packets

    def fail(self, refused):
        """Counts a call that failed: a send by the datagrams that it should have sent, a receive (0) as an error."""
        self.refused += refused
        self.errors += not refused

    def answer(self, rtt_ns):
        """Counts a response that came in time."""
        self.rtt_ns[self.answered % 65536] = min(rtt_ns, 2**32 - 1)
        self.answered += 1

    def content(self, number):
        """Returns a datagram to send, its number from byte 2 on: of udpbench during verification; None at the end."""
        if not self.verify:
            return (number << 16).to_bytes(8, "little").ljust(self.payload, b"\0")[: self.payload]
        while self.slots_ready <= number:
            if self.stop:
                return None
        at = self.slot(number)
        return memory[at + 4 : at + 4 + self.payload]

    def check(self, number, datagram):
        """Hands a received datagram to udpbench during verification, before it is counted."""
        while self.verify and number - self.slots_ready >= self.slots:
            time.sleep(0.00001)
        self.put(number, datagram)

    def put(self, number, datagram):
        """Hands the n-th response (from 0: answered) to udpbench during verification, before it is counted."""
        if self.verify:
            at = self.slot(number)
            memory[at : at + 4 + len(datagram)] = struct.pack("=I", len(datagram)) + datagram

    def slot(self, number):
        return self.slots_at + number % self.slots * self.slot_bytes


try:
    memory = mmap.mmap(PAGE, 0)
    page = Page.from_buffer(memory)
except (OSError, ValueError):
    sys.exit("error: udpbench starts this program: udpbench --engine exec:PROGRAM")
if page.version != VERSION:
    sys.exit(f"error: this program knows version {VERSION} of udpbench's page, not {page.version}")
