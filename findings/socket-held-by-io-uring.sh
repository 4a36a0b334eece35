#!/usr/bin/env bash
# Expected: as root, `ss -lunp` names the process that holds a UDP socket, and /proc/PID/fd has the socket.
# Happens: a socket that a process registered in an io_uring (IORING_REGISTER_FILES) and then closed is open and receives.
#   `ss -lunp` lists it without a process, and /proc/PID/fd lacks it; the fdinfo of the ring lists it (UserFiles).
# Version: Linux 6.18, iproute2 6.1 and later, seen on 2026-11-29.
# Matters: who looks for the program behind a socket that drops datagrams finds none, and takes it for the kernel's.
#
# Needs python3, ss (iproute2), and io_uring.
set -euo pipefail
for tool in python3 ss; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }; done
echo "Linux $(uname -r), $(ss -V)"
exec python3 -c '
import ctypes, errno, os, socket, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
SETUP, REGISTER, REGISTER_FILES = 425, 427, 2

def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        print("skipped: no io_uring:", errno.errorcode[ctypes.get_errno()])
        sys.exit()
    return result

def listed(port):
    lines = subprocess.run(["ss", "-Hlunp"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if f":{port} " in line]

def in_fd(inode):
    directory = f"/proc/{os.getpid()}/fd"
    links = []
    for fd in os.listdir(directory):
        try:
            links.append(os.readlink(f"{directory}/{fd}"))
        except FileNotFoundError:
            pass
    return f"socket:[{inode}]" in links

taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taken.bind(("127.0.0.1", 0))
port, inode = taken.getsockname()[1], os.fstat(taken.fileno()).st_ino
by_descriptor = (listed(port), in_fd(inode))
parameters = ctypes.create_string_buffer(120)
ring = call(SETUP, 4, parameters)
files = (ctypes.c_int * 1)(taken.fileno())
call(REGISTER, ring, REGISTER_FILES, files, 1)
taken.close()
by_ring = (listed(port), in_fd(inode))
in_fdinfo = [line.strip() for line in open(f"/proc/self/fdinfo/{ring}") if str(inode) in line]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.sendto(b"data", ("127.0.0.1", port))
queued = [line.split()[1] for line in listed(port)]
print("held by a descriptor:", *by_descriptor[0], "; in /proc/PID/fd:", by_descriptor[1])
print("held by the ring:    ", *by_ring[0], "; in /proc/PID/fd:", by_ring[1])
print("fdinfo of the ring:  ", *in_fdinfo)
print("bytes in its queue after a datagram:", *queued)
named = ["users:" in line for lines, _ in (by_descriptor, by_ring) for line in lines]
if len(named) != 2 or not named[0]:
    print("skipped: ss does not name the holders of sockets here")
    sys.exit()
sys.exit(not (named == [True, False] and by_descriptor[1] and not by_ring[1] and in_fdinfo and queued != ["0"]))
'
