#!/usr/bin/env python3
"""Runs `udpbench wire` between two emulated boards, one of 64 bits and one of 32, which a cable joins: every datagram
must be accounted for, each end must know the other, and this machine must make the same rows of what they logged.
First the one measures with an agent on the other, then the other way round. It shows that it works, never how fast.
"""

import argparse
import csv
import io
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tools import ROOT
from tools.emulation import session
from tools.emulation.kit import Kit, Unavailable
from tools.emulation.machines import PAIR, Machine, Plug

# Static ones; of 32 bits, the one that runs on an ARMv6, too.
TRIPLES = {"aarch64": "aarch64-unknown-linux-musl", "armv7l": "arm-unknown-linux-musleabihf"}
UDPBENCH = "target/release/udpbench"

ROWS, LOG = "wire.csv", "wire.jsonl"
PORT = 7007
# An address is usable at once, without a wait for whoever else may have it.
NETWORK = """
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
ip link set eth0 up
ip addr add 192.0.2.{number}/24 dev eth0
ip -6 addr add 2001:db8::{number}/64 dev eth0
"""
# Busybox has no ssh, but this. Its words are a program and a port: those of udpbench are a comment.
AGENT = f"echo listening; nc -l -p {PORT} -e ./udpbench agent"
RSH = f"nc {{{{}}}} {PORT} #"
# Buffers that small lose datagrams, which have to be found again.
SWEEP = (
    f"./udpbench wire 192.0.2.{{other}} --rsh '{RSH}' --address 192.0.2.{{other}},2001:db8::{{other}} --quick"
    " --direction up,down --engine std,mmsg --threads 2 --payload 300 --connection connected --rcvbuf 2048"
    " --rounds 5 --duration 300ms"
    f" --warmup 20ms --heat 0s --no-reference -q --columns all -o {ROWS} --samples {LOG}"
)
# 2 engines, directions and IP versions.
CASES = 2 * 2 * 2
# Columns of places where a datagram may be that was sent and not received.
PLACES = [
    f"{place}_packets"
    for place in [
        "unread", "dropped_socket", "dropped_protocol", "dropped_kernel_in", "dropped_backlog", "dropped_nic_in",
        "lost_on_path", "dropped_nic_out", "dropped_qdisc", "dropped_kernel_out",
    ]
]  # fmt: skip
# Seconds for each board. It takes half a minute on a quiet machine, several minutes on one that is not.
AT_MOST = 300


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="exit codes: 0 all is as it must be, 1 something is not, 77 such boards cannot be had here",
    )
    for machine in PAIR:
        default = f"target/{TRIPLES[machine.name]}/dist/udpbench"
        help_text = f"the program for {machine.about} [default: {default}]"
        parser.add_argument(f"--{machine.name}", type=Path, metavar="FILE", default=ROOT / default, help=help_text)
    help_text = f"the one for this machine, which reads the log [default: {UDPBENCH}]"
    parser.add_argument("--udpbench", type=Path, metavar="FILE", default=ROOT / UDPBENCH, help=help_text)
    args = parser.parse_args()
    programs = {machine.name: getattr(args, machine.name) for machine in PAIR}
    for flag, path in {**programs, "udpbench": args.udpbench}.items():
        if not path.is_file():
            parser.error(f"--{flag} {path}: there is no such file; build it, or name another")

    print("here     there    result   (QEMU: this says that it works, never how fast)", flush=True)
    faults = []
    for here, there in [PAIR, PAIR[::-1]]:
        try:
            faults += attempt(Pair(here, there), programs, args.udpbench.resolve())
        except Unavailable as reason:
            print(f"SKIPPED: {reason}", flush=True)
            return 77
    return 1 if faults else 0


@dataclass
class Pair:
    """A board that measures, and the one whose agent it measures with."""

    here: Machine
    there: Machine

    def __str__(self):
        return f"{self.here.name:<8} {self.there.name:<8}"


def attempt(pair, programs, udpbench):
    """Measures, and says what is wrong with what came of it."""
    started = time.monotonic()
    swept, served = boot(pair, programs)
    rows = list(csv.DictReader(io.StringIO(swept.files.get(ROWS, b"").decode())))
    faults = [*check_ends(swept, served), *check_rows(pair, rows), *check_log(swept, udpbench)]
    sent, received = (sum(int(row[f"{name}_packets"] or 0) for row in rows) for name in ["sent", "received"])
    verdict, seconds = "FAILED" if faults else "passed", time.monotonic() - started
    print(f"{pair} {verdict}: {len(rows)} rows, received {received} of {sent} datagrams, {seconds:.0f} s", flush=True)
    if faults:
        print(*[f"{pair.here.name}: {line}" for line in swept.output], sep="\n")
        print(*[f"{pair.there.name}: {line}" for line in served.output], sep="\n")
        print(*[f"FAILED: {fault}" for fault in faults], sep="\n", flush=True)
    return faults


def boot(pair, programs):
    """Boots both, the one that measures once the agent of the other listens, and waits until both are off."""
    listens = threading.Event()
    ends = socket.socketpair()
    with ThreadPoolExecutor() as pool:

        def run(number, machine, command, fetch, show):
            plug = Plug(ends[number - 1], f"52:54:00:00:00:0{number}")
            numbers = {"number": number, "other": 3 - number}
            kit = Kit(ROOT / "target/emulated-boards", machine.architecture)
            files = {"/udpbench": programs[machine.name]}
            command = (NETWORK + command).format(**numbers)
            return session.run(machine, kit, files, command, fetch, AT_MOST, show, plug)

        def serve():
            try:
                return run(2, pair.there, AGENT, [], lambda line: listens.set() if "listening" in line else None)
            finally:
                # Or never will.
                listens.set()

        served = pool.submit(serve)
        listens.wait()
        try:
            swept = run(1, pair.here, SWEEP, [ROWS, LOG], None)
        finally:
            for end in ends:
                end.close()
        return swept, served.result()


def check_ends(swept, served):
    for what, done in [("the sweep", swept), ("the agent", served)]:
        if done.code == session.UNFINISHED:
            yield f"{what}: the board did not finish"
        elif done.code != 0:
            yield f"{what} ended with exit code {done.code}"


def check_rows(pair, rows):
    if len(rows) != CASES:
        yield f"{len(rows)} rows instead of {CASES}"
    for row in rows:
        case = row["case"]
        if row["status"] != "ok":
            yield f"{case}: {row['status']}: {row['reason']}"
            continue
        sent, unexpected, received, unaccounted = (
            int(row[f"{name}_packets"]) for name in ["sent", "unexpected", "received", "unaccounted"]
        )
        places = {name: int(row[name] or 0) for name in PLACES}
        if unaccounted != 0 or sent + unexpected != received + sum(places.values()) or received == 0:
            counts = f"sent {sent}, unexpected {unexpected}, received {received}, unaccounted {unaccounted}"
            yield f"{case}: {counts}, {places}"
        if (row["machine"], row["remote_machine"]) != (pair.here.name, pair.there.name):
            yield f"{case}: between {row['machine']} and {row['remote_machine']}"
        if "virtio_net" not in row["nic"] or "virtio_net" not in row["remote_nic"]:
            yield f"{case}: through {row['nic'] or 'nothing'} and {row['remote_nic'] or 'nothing'}"


def check_log(swept, udpbench):
    """Reads here the log that was written on a board."""
    with tempfile.TemporaryDirectory(prefix="emulated-wire.") as room:
        Path(room, LOG).write_bytes(swept.files.get(LOG, b""))
        command = [udpbench, "summarize", LOG, "--columns", "all", "-o", "again.csv"]
        done = subprocess.run(command, cwd=room, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            yield f"summarize here ended with exit code {done.returncode}: {done.stdout}"
        elif Path(room, "again.csv").read_bytes() != swept.files.get(ROWS):
            yield "summarize makes other rows here of what was logged there"


if __name__ == "__main__":
    sys.exit(main())
