#!/usr/bin/env python3
"""Injects faults between two network namespaces while `udpbench wire HOST soak` watches, and compares what it found.

Faults: the link goes down, a filter drops everything or every tenth datagram, a queue delays them, the program at the
far end is stopped or killed. Each has to be one event, at its time, and no other event may be there. Memory has to
stay as it is. On a machine with other work, `chrt -f 50` before it keeps that from becoming events. Root.
"""

import argparse
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import ROOT
from tools.command import Broken, run
from tools.wire import cable, ends
from tools.wire.cable import Veth
from tools.wire.ends import INTERFACE, End, Skipped
from tools.wire.room import Room

# Seconds before the first fault, and after the last one.
EDGE_S = 6
# Seconds without a fault between two, at least.
PAUSE_S = 5
# Interval of udpbench, and time that a restarted program may take to answer again.
INTERVAL_S = 0.1
RESTART_S = 4
LENGTHS_S = {
    "down": [30, 0.05, 10, 0.1, 5, 0.2, 2, 0.5, 1],
    "drop": [0.05, 0.1, 0.3, 1, 3],
    "tenth": [0.5, 1, 2],
    "delay": [0.3, 0.5, 0.8],
    "stop": [0.2, 0.5, 1, 3],
    "kill": [0],
}
# Kinds that a fault may be found as.
FOUND_AS = {
    "down": {"silence"},
    "drop": {"silence"},
    "tenth": {"loss"},
    # Changing the queue may lose one.
    "delay": {"delay", "loss"},
    # What the buffer of a stopped program holds is answered late, and the rest is lost.
    "stop": {"silence", "delay", "loss"},
    "kill": {"silence"},
}
QUEUE = f"dev {INTERFACE} root tbf burst 20kb limit 20mb rate"
FILTER = (
    "add table inet soak; add chain inet soak i {{ type filter hook input priority 0; }}; "
    "add rule inet soak i udp dport >= 1024 {} drop"
)

# Runs each line of its input, and answers with the exit code.
HELPER = """
import subprocess, sys
for line in sys.stdin:
    print(subprocess.call(line.split()), flush=True)
"""


def main():
    args = arguments()
    try:
        ends.check_tools()
        with Room() as room:
            return test(room, args)
    except Skipped as reason:
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return cable.SKIPPED


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--udpbench", type=Path, default=ROOT / "target/release/udpbench", help="[default: target/release/udpbench]")
    add("--seconds", type=int, default=120, help="of the soak [default: 120]")
    add("--faults", type=int, default=8, help="how many [default: 8]")
    add("--rate", default="10k", help="probes per second [default: 10k]")
    add("--seed", type=int, default=1, help="of the order of the faults [default: 1]")
    add("--log", type=Path, help="keep the log here")
    args = parser.parse_args()
    if not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program: cargo build --release makes it")
    if planned(args)[1] < PAUSE_S:
        parser.error(f"--seconds {args.seconds}: too short for {args.faults} faults, {PAUSE_S} s apart")
    return args


def planned(args):
    """The faults: kinds in turn, each with its lengths in turn, in random order; and the seconds between two."""
    faults = []
    for n in range(args.faults):
        kind = list(LENGTHS_S)[n % len(LENGTHS_S)]
        faults.append((kind, LENGTHS_S[kind][n // len(LENGTHS_S) % len(LENGTHS_S[kind])]))
    random.Random(args.seed).shuffle(faults)
    left = args.seconds - 2 * EDGE_S - sum(length for _, length in faults)
    return faults, left / args.faults


class Injector:
    """Makes faults at the far end, and notes when they were there."""

    def __init__(self, far, pids):
        self.far, self.pids = far, pids
        command = [far.enter, sys.executable, "-c", HELPER]
        pipe = subprocess.PIPE
        self.helper = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def run(self, command):
        """At the far end, sooner than by starting what enters it."""
        print(command, file=self.helper.stdin, flush=True)
        if (answer := self.helper.stdout.readline()) != "0\n":
            raise Broken(f"{command}: {answer}")

    def inject(self, kind, length):
        """Returns the earliest and the latest start and end, as times of day."""
        start, end = getattr(self, kind)()
        before = time.time()
        start()
        began = time.time()
        time.sleep(max(0, length))
        ending = time.time()
        if end is None:
            return (before, began), (began, began + RESTART_S)
        end()
        return (before, began), (ending, time.time())

    def down(self):
        link = f"ip link set {INTERFACE}"
        return lambda: self.run(f"{link} down"), lambda: self.run(f"{link} up")

    def drop(self, every=""):
        return lambda: self.run(f"nft {FILTER.format(every)}"), lambda: self.run("nft delete table inet soak")

    def tenth(self):
        return self.drop("numgen random mod 10 == 0")

    def delay(self):
        """A rate far below the probes' lets the queue grow; a high one empties it."""
        change = f"tc qdisc change {QUEUE}"
        return lambda: self.run(f"{change} 2mbit"), lambda: self.run(f"{change} 2gbit")

    def stop(self):
        return lambda: self.signal(signal.SIGSTOP), lambda: self.signal(signal.SIGCONT)

    def kill(self):
        return lambda: self.signal(signal.SIGKILL), None

    def signal(self, number):
        """To the agent, whose pid its starter has noted."""
        sent = 0
        for pid in map(int, self.pids.read_text().split()):
            # Another process may have the pid of one that has ended.
            if b"agent" in command_line(pid):
                os.kill(pid, number)
                sent += 1
        if sent != 1:
            raise Broken(f"{sent} agents run at the far end, not 1")


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test(room, args):
    near, far = End("near", 1, room), End("far", 2, room)
    Veth(near, far)
    for end in [near, far]:
        end.set_up(1500)
    # From the start, as adding and removing a queue drops datagrams.
    far.run(*f"tc qdisc add {QUEUE} 2gbit".split())
    # A lost ARP request is repeated after a second, which would be a longer outage than that of the link.
    address = json.loads(far.run("ip", "-j", "link", "show", "dev", INTERFACE))[0]["address"]
    near.run("ip", "neighbour", "replace", far.ipv4, "lladdr", address, "dev", INTERFACE, "nud", "permanent")
    far.run("sysctl", "-qw", f"net.ipv4.neigh.{INTERFACE}.retrans_time_ms=20")
    pids, rsh, log = room.path / "pids", room.path / "rsh", args.log or room.path / "soak.jsonl"
    rsh.write_text(f'#!/bin/sh\necho $$ >>{pids}\nshift\nexec {far.enter} "$@"\n')
    rsh.chmod(0o755)
    words = ["wire", "far", "--rsh", rsh, "--agent", args.udpbench.resolve(), "soak", "--address", far.ipv4]
    words += ["--rate", args.rate, "--for", f"{args.seconds}s", "-o", log]
    process = subprocess.Popen([near.enter, args.udpbench.resolve(), *words], stderr=subprocess.STDOUT)
    started = wait_for(log, process)
    injector, injected, memory = Injector(far, pids), [], []
    faults, pause = planned(args)
    due = started + EDGE_S
    for kind, length in faults:
        time.sleep(max(0, due - time.time()))
        due += length + pause
        memory.append(resident_kib(process.pid))
        injected.append((kind, length, *injector.inject(kind, length)))
    if process.wait(args.seconds) != 0:
        raise Broken(f"udpbench ended with exit code {process.returncode}")
    return judge(injected, log, memory)


def wait_for(log, process):
    """Waits for the log's first line. Returns the time."""
    while not log.exists():
        if process.poll() is not None:
            raise Broken(f"udpbench ended with exit code {process.returncode}")
        time.sleep(0.05)
    return time.time()


def resident_kib(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def judge(injected, log, memory):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    events = [line["event"] for line in lines if "event" in line]
    unsent = [event for event in events if event["kind"] == "unsent"]
    rest = [event for event in events if event["kind"] != "unsent"]
    missing, errors = 0, []
    print(f"\n{'fault':6} {'length':>7}  {'found as':8} {'place':8} {'start':>8} {'end':>8}")
    for kind, length, start, end in injected:
        # Those that touch it, with an interval around it.
        of_it = [it for it in rest if times(it)[0] < end[1] + INTERVAL_S and times(it)[1] > start[0] - INTERVAL_S]
        is_found = len(of_it) == 1 and of_it[0]["kind"] in FOUND_AS[kind]
        if not is_found:
            missing += 1
            found = [(it["kind"], it["at"], it["length_ns"] / 1e9) for it in of_it]
            print(f"{kind:6} {length:7.2f}  NOT FOUND: began {clock(start[0])}; there: {found}")
        for it in of_it:
            rest.remove(it)
        if is_found:
            event = of_it[0]
            began, over = times(event)
            off = [beyond(began, start), 0 if kind == "kill" else beyond(over, end)]
            errors.append(max(map(abs, off)))
            print(
                f"{kind:6} {length:7.2f}  {event['kind']:8} {event['place']:8} "
                f"{1000 * off[0]:+5.0f} ms {1000 * off[1]:+5.0f} ms"
            )
    for event in rest:
        print(f"NOT INJECTED: {json.dumps(event)}")
    late = sum(error > INTERVAL_S for error in errors)
    worst = 1000 * max(errors, default=0)
    print(
        f"{len(injected) - missing} of {len(injected)} found, {len(rest)} more, {late} off by more than an interval "
        f"(worst {worst:.0f} ms); this host was late {len(unsent)} times; memory {memory[0]} to {memory[-1]} KiB, "
        f"at most {max(memory)}; log {log.stat().st_size} B"
    )
    return 1 if missing or rest or late else 0


def times(event):
    start = datetime.datetime.fromisoformat(event["at"]).timestamp()
    return start, start + event["length_ns"] / 1e9


def clock(at):
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%H:%M:%S.%f")[:-3]


def beyond(at, bounds):
    """How far a time is outside of what is known of it."""
    low, high = bounds
    return min(0, at - low) + max(0, at - high)


if __name__ == "__main__":
    run(main)
