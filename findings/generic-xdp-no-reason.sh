#!/usr/bin/env bash
# Expected: what a generic XDP program drops is seen: as rx_dropped of its interface, or by the drop reason XDP, which
#   the kernel's own list explains as "dropped by (generic) XDP in input path".
# Happens: rx_packets counts the frames, rx_dropped does not, and the tracepoint skb:kfree_skb says NOT_SPECIFIED.
# Version: Linux 6.18, seen on 2026-11-29; do_xdp_generic (net/core/dev.c).
# Matters: no counter and no reason tells a firewall in XDP from a loss in the program that receives.
#
# Needs root, python3, ip (iproute2), tracefs, and a kernel with XDP.
set -euo pipefail
for tool in python3 ip unshare; do command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }; done
[ "$(id -u)" = 0 ] || { echo "skipped: reading the kernel's drop reasons takes root"; exit 0; }
echo "Linux $(uname -r)"
unshare --net --mount bash -c '
mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || [ -d /sys/kernel/tracing/events ] || { echo "skipped: no tracefs"; exit 0; }
[ -d /sys/kernel/tracing/events/skb/kfree_skb ] || { echo "skipped: no tracepoint skb:kfree_skb"; exit 0; }
ip link add far type veth peer name near 2>/dev/null || { echo "skipped: no veth"; exit 0; }
ip link set lo up; ip link set far up; ip link set near up
exec python3 -c "$1"' bash '
import collections, ctypes, os, platform, re, socket, struct, sys, time

SYS_BPF = {"x86_64": 321, "aarch64": 280, "riscv64": 280}.get(platform.machine())
BPF_PROG_LOAD, BPF_PROG_TYPE_XDP, XDP_DROP = 5, 6, 1
TRACING = "/sys/kernel/tracing/instances/generic-xdp-no-reason"
FRAMES = 100

def drops_all():
    # r0 = XDP_DROP; exit
    code = ctypes.create_string_buffer(struct.pack("<BBhi", 0xB7, 0, 0, XDP_DROP) + struct.pack("<BBhi", 0x95, 0, 0, 0))
    license = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("<IIQQ", BPF_PROG_TYPE_XDP, 2, ctypes.addressof(code), ctypes.addressof(license)).ljust(120, b"\0")
    buffer = ctypes.create_string_buffer(attributes)
    program = ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, BPF_PROG_LOAD, buffer, 120)
    if program < 0:
        print("skipped: no XDP program may be loaded:", os.strerror(ctypes.get_errno()))
        sys.exit()
    return program

def attach(program):
    # RTM_SETLINK with IFLA_XDP { IFLA_XDP_FD, IFLA_XDP_FLAGS = XDP_FLAGS_SKB_MODE }
    inner = struct.pack("<HHi", 8, 1, program) + struct.pack("<HHI", 8, 3, 1 << 1)
    body = struct.pack("<BxHiII", 0, 0, socket.if_nametoindex("near"), 0, 0) + struct.pack("<HH", 4 + len(inner), 43 | 1 << 15) + inner
    route = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    route.send(struct.pack("<IHHII", 16 + len(body), 19, 5, 1, 0) + body)
    error = struct.unpack_from("<i", route.recv(4096), 16)[0]
    if error:
        print("skipped: no XDP program can be attached:", os.strerror(-error))
        sys.exit()

def statistic(name):
    return int(open(f"/sys/class/net/near/statistics/{name}").read())

# So that /sys shows the interfaces of this network namespace.
os.system("mount -t sysfs nodev /sys 2>/dev/null; mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null")
attach(drops_all())
os.mkdir(TRACING)
try:
    names = ("rx_packets", "rx_dropped")
    before = [statistic(name) for name in names]
    open(f"{TRACING}/events/skb/kfree_skb/enable", "w").write("1")
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind(("far", 0))
    for _ in range(FRAMES):
        wire.send(b"\xff" * 6 + b"\2\0\0\0\0\1" + b"\x08\0" + bytes(60))
    time.sleep(0.3)
    open(f"{TRACING}/events/skb/kfree_skb/enable", "w").write("0")
    mine = [line for line in open(f"{TRACING}/trace") if re.search("xdp_generic|generic_xdp", line)]
    reasons = collections.Counter(re.search(r"reason: (\w+)", line)[1] for line in mine)
    moved = [statistic(name) - was for name, was in zip(names, before)]
finally:
    os.rmdir(TRACING)
print(FRAMES, "frames sent:", dict(zip(names, moved)), "reasons:", dict(reasons))
if moved[0] < FRAMES or not reasons:
    print("skipped: the frames did not arrive, or the drops are in another function of this kernel")
    sys.exit()
sys.exit(moved[1] >= FRAMES or "XDP" in reasons)
'
