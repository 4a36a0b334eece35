"""Has an interface drop one UDP packet in eight by XDP, at random. Runs at the end that has the interface."""

import ctypes
import os
import struct
import subprocess
import sys

# Offsets of the protocol in a frame, by the version of IP.
PROTOCOL_AT = {"4": 23, "6": 20}
BPF, MAP_PROG_LOAD, OBJ_PIN, PROG_TYPE_XDP = 321 if os.uname().machine == "x86_64" else 280, 5, 6, 6
LIBC = ctypes.CDLL(None, use_errno=True)


def program(protocol_at):
    """Instructions of eBPF: code, registers, offset, immediate value (kernel documentation, bpf/standardization)."""
    load_word, load_byte, move, add, random, away = 0x61, 0x71, 0xBF, 0x07, 7, 17
    return [
        (load_word, 0x12, 4, 0),  # r2 = the end of the frame
        (load_word, 0x11, 0, 0),  # r1 = its beginning
        (move, 0x13, 0, 0),
        (add, 0x03, 0, 34),
        (0x2D, 0x23, 6, 0),  # shorter than that: pass
        (load_byte, 0x14, protocol_at, 0),
        (0x55, 0x04, 4, away),  # no UDP: pass
        (0x85, 0x00, 0, random),
        (0x57, 0x00, 0, 7),
        (0x55, 0x00, 1, 0),  # not one in eight: pass
        (0x05, 0x00, 2, 0),
        (0xB7, 0x00, 0, 2),  # XDP_PASS
        (0x95, 0x00, 0, 0),
        (0xB7, 0x00, 0, 1),  # XDP_DROP
        (0x95, 0x00, 0, 0),
    ]


def bpf(command, *fields):
    """bpf(2)."""
    attributes = ctypes.create_string_buffer(struct.pack(*fields), 128)
    result = LIBC.syscall(BPF, command, attributes, 128)
    if result < 0:
        sys.exit(f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return result


def main(directory, mode, ip):
    code = program(PROTOCOL_AT[ip])
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("<BBhi", *it) for it in code))
    licence = ctypes.create_string_buffer(b"GPL")
    loaded = bpf(
        MAP_PROG_LOAD, "IIQQ", PROG_TYPE_XDP, len(code), ctypes.addressof(instructions), ctypes.addressof(licence)
    )
    # ip(8) takes programs by a name in a file system of their own, which goes away with the mount namespace.
    subprocess.run(["mount", "-t", "bpf", "bpf", directory], check=True)
    path = ctypes.create_string_buffer(f"{directory}/drop".encode())
    bpf(OBJ_PIN, "QI", ctypes.addressof(path), loaded)
    subprocess.run(["ip", "link", "set", "dev", "eth0", mode, "pinned", f"{directory}/drop"], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
