"""Has an interface drop every eighth UDP packet by XDP, or all. Runs at the end that has the interface."""

import ctypes
import os
import struct
import subprocess
import sys

# Offsets of the protocol in a frame, by the version of IP.
PROTOCOL_AT = {"4": 23, "6": 20}
BPF = 321 if os.uname().machine == "x86_64" else 280
MAP_CREATE, PROG_LOAD, OBJ_PIN, MAP_TYPE_ARRAY, PROG_TYPE_XDP = 0, 5, 6, 2, 6
LIBC = ctypes.CDLL(None, use_errno=True)


def program(protocol_at, counter, mask):
    """Instructions of eBPF: code, registers, offset, immediate value (kernel documentation, bpf/standardization).

    counter: descriptor of an array with one number, that of UDP packets so far.
    """
    load_word, load_byte, move, add, look_up, away = 0x61, 0x71, 0xBF, 0x07, 1, 17
    return [
        (load_word, 0x12, 4, 0),  # r2 = the end of the frame
        (load_word, 0x11, 0, 0),  # r1 = its beginning
        (move, 0x13, 0, 0),
        (add, 0x03, 0, 34),
        (0x2D, 0x23, 16, 0),  # shorter than that: pass
        (load_byte, 0x14, protocol_at, 0),
        (0x55, 0x04, 14, away),  # no UDP: pass
        (0x62, 0x0A, -4, 0),  # index 0, on the stack
        (move, 0xA2, 0, 0),
        (add, 0x02, 0, -4),
        (0x18, 0x11, 0, counter),
        (0x00, 0x00, 0, 0),
        (0x85, 0x00, 0, look_up),
        (0x15, 0x00, 7, 0),  # no such number: pass
        (0x79, 0x01, 0, 0),
        (add, 0x01, 0, 1),
        (0x7B, 0x10, 0, 0),
        (0x57, 0x01, 0, mask),
        (0x55, 0x01, 2, 0),  # not the eighth: pass
        (0xB7, 0x00, 0, 1),  # XDP_DROP
        (0x95, 0x00, 0, 0),
        (0xB7, 0x00, 0, 2),  # XDP_PASS
        (0x95, 0x00, 0, 0),
    ]


def bpf(command, *fields):
    """bpf(2)."""
    attributes = ctypes.create_string_buffer(struct.pack(*fields), 128)
    result = LIBC.syscall(BPF, command, attributes, 128)
    if result < 0:
        sys.exit(f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return result


def main(directory, mode, ip, which="eighth"):
    counter = bpf(MAP_CREATE, "IIII", MAP_TYPE_ARRAY, 4, 8, 1)
    code = program(PROTOCOL_AT[ip], counter, 0 if which == "all" else 7)
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("<BBhi", *it) for it in code))
    licence = ctypes.create_string_buffer(b"GPL")
    loaded = bpf(PROG_LOAD, "IIQQ", PROG_TYPE_XDP, len(code), ctypes.addressof(instructions), ctypes.addressof(licence))
    # ip(8) takes programs by a name in a file system of their own, which goes away with the mount namespace.
    subprocess.run(["mount", "-t", "bpf", "bpf", directory], check=True)
    path = ctypes.create_string_buffer(f"{directory}/drop".encode())
    bpf(OBJ_PIN, "QI", ctypes.addressof(path), loaded)
    subprocess.run(["ip", "link", "set", "dev", "eth0", mode, "pinned", f"{directory}/drop"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
