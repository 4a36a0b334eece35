"""One way in a lab of its own: `listen` and `watch --port` look on at the far end, as root or as somebody else."""

import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tools.command import Broken
from tools.drops.frames import PORT
from tools.drops.ways import UNNAMED
from tools.wire.cable import Veth
from tools.wire.ends import End
from tools.wire.room import Room

FRAMES = Path(__file__).with_name("frames.py")
XDP = Path(__file__).parents[1] / "tries" / "xdp.py"
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# A program with the socket, which never reads.
PROGRAM = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("{address}", {port}))
{code}
print("up", flush=True)
time.sleep(60)
"""


class Trial:
    """A lab with the way in it."""

    def __init__(self, udpbench, way, is_root):
        self.way, self.udpbench, self.is_root = way, udpbench, is_root

    def __enter__(self):
        with ExitStack() as stack:
            room = stack.enter_context(Room())
            self.directory = room.path
            room.path.chmod(0o755)
            self.near, self.far = End("near", 1, room), End("far", 2, room)
            Veth(self.near, self.far)
            for end in [self.near, self.far]:
                end.set_up(1500)
            if not Path("/sys/kernel/tracing/events").exists():
                self.far.run("mount", "-t", "tracefs", "nodev", "/sys/kernel/tracing")
            self.mac = self.far.run("cat", "/sys/class/net/eth0/address").strip()
            # So that nothing has to be asked first.
            for address in filter(None, [self.far.ipv4, self.far.ipv6]):
                self.near.run("ip", "neighbour", "replace", address, "lladdr", self.mac, "dev", "eth0")
            for command in self.way.commands:
                self.command(command)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def command(self, command):
        if command[0] == "xdp":
            (directory := self.directory / "bpf").mkdir()
            command = [sys.executable, XDP, directory, command[1], "4", "all"]
        self.far.run(*command)

    def start(self, *words):
        user = [] if self.is_root else NOBODY
        pipe = subprocess.PIPE
        process = subprocess.Popen([self.far.enter, *user, self.udpbench, *words], stdout=pipe, stderr=pipe, text=True)
        if "Ctrl-C ends" not in (said := process.stderr.readline()):
            raise Broken(f"{' '.join(words)}: {said}{process.communicate()[1]}")
        return process

    def run(self):
        """Sends, and returns what `listen` and `watch` say: a dict or None, and a text."""
        way = self.way
        if way.program:
            code = PROGRAM.format(address=way.bind, port=PORT, code=way.program)
            program = subprocess.Popen([self.far.enter, sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            program.stdout.readline()
            listen = None
        else:
            listen = self.start(
                "listen", f"{way.bind}:{PORT}", "--sequence", "0:4", "--rcvbuf", "4M", "--format", "json"
            )
        watch = self.start("watch", "--port", str(PORT))
        with machine_wide(*way.machine):
            self.near.run(sys.executable, FRAMES, way.kind, way.sent, way.target, self.mac)
        time.sleep(way.after_s)
        said = [end(process) for process in [watch, listen] if process]
        return json.loads(said[1]) if listen else None, said[0]


@contextmanager
def machine_wide(name="", value=""):
    """A setting of the whole machine, for a moment."""
    if not name:
        yield
        return
    path = Path("/proc/sys") / name.replace(".", "/")
    before = path.read_text()
    path.write_text(str(value))
    try:
        yield
    finally:
        path.write_text(before)


def end(process):
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=20)[0]


def judge_root(way, listen, watch):
    """Returns the packets at the place, by `listen` and by `watch`, and what is wrong."""
    wrong = []
    counts = [None, counted(watch, way.place)]
    if listen:
        counts[0] = listen["drops"]["places"].get(way.place, 0)
        if listen["drops"]["not_looked_at"]:
            wrong.append(f"listen did not look at {listen['drops']['not_looked_at']}")
    if way.place == "full receive buffers" and "overflowed" in watch:
        counts[1] = int(watch.split("overflowed: ")[1].split()[0])
    elif "SO_RCVBUF" in watch:
        wrong.append("watch advises a larger buffer")
    for what, count in zip(["listen", "watch"], counts):
        if count is not None and not way.packets <= count <= way.packets + 12 and way.packets > 1:
            wrong.append(f"{what} has {count} of {way.packets}")
        if count == 0:
            wrong.append(f"{what} does not name it")
    if "dropped nothing" in watch:
        wrong.append("watch says that nothing was dropped")
    return counts, wrong


def judge_user(way, listen, watch):
    """Returns how the place was treated by each, and what is wrong."""
    unseen = watch.replace("\n", " ").partition("ot looked at: ")[2]
    found = "named" if counted(watch, way.place) or "overflowed" in watch else "-"
    found = "not looked at" if found == "-" and way.place in unseen else found
    found = "unnamed" if found == "-" and counted(watch, UNNAMED) else found
    # Linux 6.18 does not count what it drops without memory.
    found = "dropped, no counter" if "no counter of the kernel says why" in watch else found
    wrong = [] if found != "-" else ["watch neither names it nor says that it did not look"]
    if "dropped nothing" in watch:
        wrong.append("watch says that nothing was dropped")
    if listen:
        drops = listen["drops"]
        if way.place not in [*drops["places"], *drops["not_looked_at"]] and UNNAMED not in drops["places"]:
            wrong.append("listen neither names it nor says that it did not look")
    return found, wrong


def counted(watch, place):
    """The packets that `watch` has at a place."""
    for line in watch.splitlines():
        _, found, rest = line.partition(f"{place}: ")
        if found and "dropped" in rest:
            return int(rest.removeprefix("up to ").split()[0])
    return 0


def for_all(udpbench, directory):
    """A copy of the program that everybody may run."""
    copy = Path(directory) / "udpbench"
    shutil.copy(udpbench, copy)
    copy.chmod(0o755)
    return copy
