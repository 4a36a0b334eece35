"""The emulated boards: what QEMU is told, and the device tree that makes it call itself a board."""

import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tools.emulation.kit import ARM64, ARMHF, Architecture, Unavailable, require, run

RASPI_TREES = {"raspi3b": "bcm2837-rpi-3-b.dtb", "raspi4b": "bcm2711-rpi-4-b.dtb"}


@dataclass
class Machine:
    """One emulated board."""

    name: str
    about: str
    # The profile that udpbench must find.
    board: str
    qemu: str = "virt"
    cpu: str = "cortex-a72"
    cpus: int = 4
    # Properties of the root of the device tree: a text each, or a list of them.
    root: dict = field(default_factory=dict)
    # capacity-dmips-mhz by CPU.
    capacities: list = field(default_factory=list)
    architecture: Architecture = ARM64
    # Runs the CPUs in one thread of this host: the parked cores of QEMU's Raspberry Pis spin.
    threads: str = "single"
    # An instruction takes two to the power of this, in nanoseconds of the guest, whose clock then is not this host's.
    icount: int | None = None

    def words(self, kit, scratch):
        """QEMU's command line, without kernel and initial file system."""
        if self.qemu == "virt":
            return self._virt(scratch)
        if f"{self.qemu} " not in run(self.architecture.qemu, "-M", "help"):
            raise Unavailable(f"this QEMU has no machine {self.qemu} (raspi4b came with QEMU 9)")
        return ["-M", self.qemu, "-dtb", str(self._raspi_tree(kit, scratch))]

    def _virt(self, scratch):
        words = ["-cpu", self.cpu, "-smp", str(self.cpus), "-m", "1G"]
        if not self.root:
            return ["-M", "virt", *words]
        tree = scratch / "board.dtb"
        run(self.architecture.qemu, "-M", f"virt,dumpdtb={tree}", *words, "-nic", "none", "-display", "none")
        self._edit(tree)
        for cpu, capacity in enumerate(self.capacities):
            run("fdtput", "-t", "i", tree, f"/cpus/cpu@{cpu}", "capacity-dmips-mhz", str(capacity))
        return ["-M", "virt", *words, "-dtb", str(tree)]

    def _raspi_tree(self, kit, scratch):
        tree = scratch / "board.dtb"
        shutil.copy(kit.path(RASPI_TREES[self.qemu]), tree)
        # QEMU's raspi4b has no HDMI: the kernel would panic over it.
        for node in run("fdtget", "-l", tree, "/soc").split():
            if "@7ef" in node:
                run("fdtput", "-t", "s", tree, f"/soc/{node}", "status", "disabled")
        # QEMU leaves no trace of itself in these; its results must not pass for a board's.
        run("fdtput", "-c", tree, "/hypervisor")
        run("fdtput", "-t", "s", tree, "/hypervisor", "compatible", "qemu")
        self._edit(tree)
        return tree

    def _edit(self, tree):
        for name, texts in self.root.items():
            texts = [texts] if isinstance(texts, str) else texts
            run("fdtput", "-t", "s", tree, "/", name, *texts)


MACHINES = [
    Machine(
        name="rpi-4b",
        about="QEMU's virt with the names of a Raspberry Pi 4B",
        board="rpi-4b",
        root={
            "model": "Raspberry Pi 4 Model B Rev 1.4",
            "compatible": ["raspberrypi,4-model-b", "brcm,bcm2711", "linux,dummy-virt"],
            "serial-number": "100000001234abcd",
        },
    ),
    Machine(
        name="rpi-5",
        about="QEMU's virt with the names of a Raspberry Pi 5",
        board="rpi-5",
        cpu="cortex-a76",
        root={
            "model": "Raspberry Pi 5 Model B Rev 1.0",
            "compatible": ["raspberrypi,5-model-b", "brcm,bcm2712", "linux,dummy-virt"],
        },
    ),
    Machine(
        name="rock-5b",
        about="QEMU's virt with the names and the CPU capacities of a ROCK 5B",
        board="rock-5b",
        cpu="cortex-a76",
        cpus=8,
        root={
            "model": "Radxa ROCK 5 Model B",
            "compatible": ["radxa,rock-5b", "rockchip,rk3588", "linux,dummy-virt"],
        },
        capacities=[530] * 4 + [1024] * 4,
    ),
    Machine(
        name="unknown",
        about="QEMU's virt as it is: a board without a profile",
        board="generic",
    ),
    Machine(
        name="raspi3b",
        about="QEMU's Raspberry Pi 3B: no profile, and not to be taken for a 3B+",
        board="generic",
        qemu="raspi3b",
    ),
    Machine(
        name="raspi4b",
        about="QEMU's Raspberry Pi 4B",
        board="rpi-4b",
        qemu="raspi4b",
        root={"model": "Raspberry Pi 4 Model B Rev 1.4"},
    ),
]


# Two to join by a cable, one of 64 bits, one of 32. Debian's armv7 kernel hangs while it boots if its CPUs share one
# thread.
PAIR = [
    Machine("aarch64", "QEMU's virt with a Cortex-A53", "generic", cpu="cortex-a53", cpus=2, threads="multi"),
    Machine(
        "armv7l", "QEMU's virt with a Cortex-A15", "generic", cpu="cortex-a15", cpus=2, threads="multi",
        architecture=ARMHF,
    ),
]  # fmt: skip


def find(name):
    """The machine of that name, or None."""
    return next((machine for machine in MACHINES if machine.name == name), None)


INIT = """\
#!/bin/busybox sh
export PATH=/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod "$module" 2>/dev/null; done
ip link set lo up
stty -onlcr
echo "@@BEGIN"
sh /command </dev/null 2>&1
code=$?
echo; echo "@@CODE $code"
for file in $(cat /fetch); do
    [ -f "$file" ] || continue
    echo "@@FILE $file"; gzip -c "$file" | base64; echo "@@END"
done
poweroff -f
"""

APPLETS = [
    "sh",
    "mount",
    "insmod",
    "ip",
    "stty",
    "echo",
    "cat",
    "gzip",
    "base64",
    "poweroff",
    "ls",
    "uname",
    "sleep",
    "grep",
    "nc",
]


@dataclass(frozen=True)
class Plug:
    """An end of a cable between two boards: one of a pair of connected sockets, and the address of the interface."""

    socket: socket.socket
    mac: str

    def words(self):
        cable = f"socket,id=cable,fd={self.socket.fileno()}"
        return ["-netdev", cable, "-device", f"virtio-net-device,netdev=cable,mac={self.mac}"]


class Boot:
    """One boot of a machine, which runs one command and goes off."""

    def __init__(self, machine, kit, files, command, fetch=(), plug=None):
        """`files` maps places in the guest to files here; `command` is a line for its shell. Without a plug, there is
        no network but lo."""
        qemu, self._plug = machine.architecture.qemu, plug
        for tool, package in [(qemu, "qemu-system-arm"), ("fdtput", "device-tree-compiler"), ("cpio", "cpio")]:
            require(tool, package)
        self._scratch = tempfile.TemporaryDirectory(prefix="emulated-board.")
        scratch = Path(self._scratch.name)
        initrd = self._initrd(scratch, kit, files, command, fetch)
        clock = [] if machine.icount is None else ["-icount", f"shift={machine.icount},sleep=off"]
        console = "console=ttyAMA0,115200 quiet loglevel=0 panic=-1"
        network = plug.words() if plug else ["-nic", "none"]
        self.words = [
            qemu, *machine.words(kit, scratch), *network,
            "-accel", f"tcg,thread={machine.threads}", *clock,
            "-kernel", str(kit.path("Image")), "-initrd", str(initrd), "-append", console,
            "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot",
        ]  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._scratch.cleanup()

    def lines(self, seconds):
        """Runs it. What the guest says, line by line, its own marks included."""
        null = subprocess.DEVNULL
        words = ["timeout", str(seconds), *self.words]
        passed = [self._plug.socket.fileno()] if self._plug else []
        process = subprocess.Popen(words, stdin=null, stdout=subprocess.PIPE, stderr=null, pass_fds=passed)
        try:
            for line in process.stdout:
                yield line.decode(errors="replace").rstrip("\r\n")
        finally:
            process.terminate()
            process.wait()

    def _initrd(self, scratch, kit, files, command, fetch):
        root = scratch / "root"
        for directory in ["bin", "proc", "sys", "dev", "tmp", "modules"]:
            (root / directory).mkdir(parents=True)
        shutil.copy(kit.path("busybox"), root / "bin/busybox")
        for applet in APPLETS:
            (root / "bin" / applet).symlink_to("busybox")
        shutil.copytree(kit.path("modules"), root / "modules", dirs_exist_ok=True)
        release = kit.path("release").read_text()
        for place, file in {f"/boot/config-{release}": kit.path("config"), **files}.items():
            (root / place.lstrip("/")).parent.mkdir(exist_ok=True)
            shutil.copy(file, root / place.lstrip("/"))
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        (root / "command").write_text(command + "\n")
        (root / "fetch").write_text("\n".join(fetch))
        initrd = scratch / "initrd.gz"
        pack = f"find . | cpio -o -H newc --quiet -R 0:0 | gzip -1 > {initrd}"
        run("sh", "-c", pack, cwd=root)
        return initrd
