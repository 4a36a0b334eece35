"""The directory of a lab, and the process that removes the lab when its script has ended, however it has.

That process knows the network namespaces of the lab. Nothing else runs in them, so it ends what does: the sshd,
its sessions, and what was started by hand. With their last process, namespaces and interfaces are gone, too.
"""

import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path


class Room:
    """Made by `with`. At its end nothing of the lab is left."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="udpbench-lab-"))
        self.namespaces = set()

    def __enter__(self):
        # Before anything else has a descriptor that the watchdog would inherit and hold open.
        ours, self.watched = os.pipe()
        self.watchdog = os.fork()
        if self.watchdog == 0:
            os.close(self.watched)
            self.watch(ours)
        os.close(ours)
        return self

    def __exit__(self, *_):
        os.close(self.watched)
        _, status = os.waitpid(self.watchdog, 0)
        if status != 0:
            # Somebody has killed it.
            self.remove()

    def add(self, namespace):
        """Has all that runs in this network namespace end with the lab."""
        self.namespaces.add(namespace)
        os.write(self.watched, f"{namespace}\n".encode())

    def watch(self, descriptor):
        """The watchdog: waits until the script has ended. A signal for the script is none for it."""
        os.setsid()
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, signal.SIG_IGN)
        try:
            with os.fdopen(descriptor) as told:
                self.namespaces = {line.strip() for line in told}
            self.remove()
        finally:
            # Not the end of the script, which this process is a copy of.
            os._exit(1 if self.path.exists() else 0)

    def remove(self):
        while pids := inhabitants(self.namespaces):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        shutil.rmtree(self.path, ignore_errors=True)


def inhabitants(namespaces):
    """The pids of those who run in one of these network namespaces, which are named as namespaces(7) has them."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        # The process has ended meanwhile, or is a kernel thread or a zombie.
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/ns/net") in namespaces:
                found.append(int(pid))
    return found
