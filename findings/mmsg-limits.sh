#!/usr/bin/env bash
# Expected: both calls take UIO_MAXIOV messages at most, 1024, as sendmmsg(2) says of itself.
# Happens: sendmmsg(2) stops after 1024; recvmmsg(2) fills 3000 in one call.
# Version: Linux 6.18, seen on 2026-11-29; __sys_sendmmsg (net/socket.c) has the limit, do_recvmmsg none.
# Matters: a benchmark of large batches compares 1024 datagrams sent with 3000 received per call.
#
# Needs python3.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
echo "Linux $(uname -r)"
exec python3 - <<'PYTHON'
import ctypes
import socket
import sys

if sys.maxsize < 2**32 or not sys.platform.startswith("linux"):
    print("skipped: not a 64-bit Linux")
    sys.exit()
libc = ctypes.CDLL(None, use_errno=True)
COUNT = 3000


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p), ("name_bytes", ctypes.c_uint), ("vectors", ctypes.POINTER(Vector)),
        ("vector_count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_bytes", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    ]


class Header(ctypes.Structure):
    _fields_ = [("message", Message), ("moved", ctypes.c_uint)]


def messages():
    byte = ctypes.create_string_buffer(1)
    vector = Vector(ctypes.addressof(byte), 1)
    headers = (Header * COUNT)()
    for header in headers:
        header.message.vectors, header.message.vector_count = ctypes.pointer(vector), 1
    return headers, vector, byte


sender, receiver = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
receiver.bind(("127.0.0.1", 0))
sender.connect(receiver.getsockname())
batch, *_keep = messages()
sent = libc.sendmmsg(sender.fileno(), batch, COUNT, 0)
for _ in range(COUNT - max(sent, 0)):
    sender.send(b"x")
room, *_kept = messages()
received = libc.recvmmsg(receiver.fileno(), room, COUNT, socket.MSG_DONTWAIT, None)
print(f"of {COUNT}: sendmmsg {sent}, recvmmsg {received}")
if received < 1100 and sent == 1024:
    granted = receiver.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    print(f"skipped: a receive buffer of {granted} B holds too few datagrams to judge (net.core.rmem_max)")
    sys.exit()
sys.exit(0 if sent == 1024 and received > 1024 else 1)
PYTHON
