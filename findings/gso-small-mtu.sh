#!/usr/bin/env bash
# Expected: a train by UDP_SEGMENT whose segments exceed the path's MTU is fragmented, as one send(2) of that size is,
#   or fails with EINVAL, as on older kernels.
# Happens: EMSGSIZE, "Message too long", although a single datagram of the same size arrives.
# Version: Linux 6.18, seen on 2026-11-29; the check is in udp_send_skb (net/ipv4/udp.c).
# Matters: a sender that falls back from trains for EIO and EINVAL only stops here for good.
#
# Needs python3, ip (iproute2), and unshare with user namespaces or root.
set -euo pipefail
for tool in python3 ip unshare; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }; done
unshare --user --map-root-user --net true 2>/dev/null || { echo "skipped: no network namespace may be made"; exit 0; }
echo "Linux $(uname -r)"
unshare --user --map-root-user --net bash -c '
ip link set lo up
ip route replace local 127.0.0.1 dev lo table local mtu 1000
exec python3 -c "$1"' bash '
import errno, socket, sys
UDP_SEGMENT = 103
receiver = socket.socket(type=socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
receiver.settimeout(5)
sender = socket.socket(type=socket.SOCK_DGRAM)
sender.connect(receiver.getsockname())
sender.send(b"x" * 1200)
print("one datagram of 1200 B over an MTU of 1000: received", len(receiver.recv(2000)), "B")
try:
    sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1200)
except OSError as error:
    print("skipped: no UDP_SEGMENT:", error)
    sys.exit()
try:
    print("a train of 4: sent", sender.send(b"x" * 4800), "B")
    sys.exit(1)
except OSError as error:
    print("a train of 4:", errno.errorcode[error.errno])
    sys.exit(0 if error.errno == errno.EMSGSIZE else 1)
'
