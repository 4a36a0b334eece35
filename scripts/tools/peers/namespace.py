"""A network namespace with only `lo` up, a process namespace around it, and pinned programs inside.

Nothing else sends there, so the kernel's counters of the namespace are those of what runs in it. Both
namespaces are nameless: they are gone with their processes, which die with the one that started them.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tools.command import Broken

# The variable that names a directory for the process inside, which is removed behind it.
SCRATCH = "UDPBENCH_PEERS_SCRATCH"
# Seconds that a program may take to start, or to end once it was asked to.
PATIENCE_S = 15
# Seconds that a report may take once it is interrupted.
LAST_WORDS_S = 3
LIBC = ctypes.CDLL(None, use_errno=True)


def scratch():
    """The scratch directory if this process runs inside, else None."""
    place = os.environ.get(SCRATCH)
    return Path(place) if place else None


def run_inside(command):
    """Runs a command in namespaces of its own and returns its exit code."""
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    # The user namespace makes a plain user root in it, if the system allows that at all.
    unshare = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    unshare += [] if os.geteuid() == 0 else ["--map-root-user"]
    with tempfile.TemporaryDirectory(prefix="udpbench-peers-") as place:
        environment = {**os.environ, SCRATCH: place}
        inside = subprocess.Popen([*unshare, "--", *command], env=environment, preexec_fn=die_with_parent)
        try:
            return inside.wait()
        except KeyboardInterrupt:
            # The terminal has sent it to those inside, too, who say what they have so far. If it was no
            # terminal that sent it, they know nothing of it.
            with suppress(subprocess.TimeoutExpired):
                inside.wait(timeout=LAST_WORDS_S)
            return 130
        finally:
            # Takes the process namespace with it (--kill-child).
            inside.kill()
            inside.wait()


def die_with_parent():
    """Makes the kernel end the calling process when its parent dies, however it dies."""
    pr_set_pdeathsig = 1
    LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL)


def set_up():
    """Brings `lo` up in a new namespace, where it is down."""
    done = subprocess.run(["ip", "link", "set", "lo", "up"], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: cannot bring lo up in a network namespace: {done.stderr.strip()}")


class Program:
    """A process on given CPUs. Leaving its `with` block kills it if it still runs."""

    def __init__(self, command, cpus, directory=None):
        self.command = [str(word) for word in command]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, cwd=directory,
            preexec_fn=lambda: apart(cpus),
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def check_alive(self):
        if self.process.poll() is not None:
            output = " ".join(part.strip() for part in self.process.communicate())
            raise Broken(f"{self.command[0]} ended before its time: {output.strip() or 'without a word'}")

    def output(self, ask=None, codes=(0,)):
        """Its standard output until it ended, as a signal may ask it to."""
        if ask:
            self.process.send_signal(ask)
        try:
            stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.command[0]} did not end within {PATIENCE_S} s") from None
        if self.process.returncode not in codes:
            said = stderr.strip() or stdout.strip() or "nothing"
            raise Broken(f"exit code {self.process.returncode} from {' '.join(self.command)}: {said}")
        return stdout


def apart(cpus):
    """Ctrl-C is for this script, which ends its programs in good order. A group of its own, not a session: the
    scheduler divides CPU time between sessions (sched(7), autogroup), and two processes would get more than
    the two threads of one."""
    os.setpgrp()
    os.sched_setaffinity(0, cpus)


def await_that(happens, programs, every_s=0.01):
    """Waits until `happens()`; the programs must stay alive meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        for program in programs:
            program.check_alive()
        if time.monotonic() > deadline:
            raise Broken(f"{programs[-1].command[0]} did not get going within {PATIENCE_S} s")
        time.sleep(every_s)


def is_bound(port):
    """Tells whether a UDP socket of the namespace is bound to that port, or a TCP socket listens there."""
    for protocol in ["udp", "udp6", "tcp", "tcp6"]:
        try:
            lines = Path(f"/proc/net/{protocol}").read_text().splitlines()[1:]
        except FileNotFoundError:
            continue  # a kernel without IPv6
        for line in lines:
            _, local, _, state = line.split()[:4]
            # 0A: LISTEN, 07: what an unconnected UDP socket is said to be in (include/net/tcp_states.h).
            if int(local.rsplit(":")[-1], 16) == port and state in ["0A", "07"]:
                return True
    return False
