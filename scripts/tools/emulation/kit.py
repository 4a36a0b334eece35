"""Parts of an emulated board: Debian's kernel for its architecture, busybox, and device trees."""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


class Unavailable(Exception):
    """Something that an emulated board needs cannot be had here; the message says what."""


@dataclass(frozen=True)
class Architecture:
    """Names of the boards' CPUs in Debian and QEMU, and the kernel options that such boards need."""

    debian: str
    qemu: str
    kernel: str
    # Beyond the kernel itself, loaded in the order of their names.
    modules: tuple
    device_trees: tuple = ()


# An interface of QEMU's virt.
NETWORK = ("failover", "net_failover", "virtio_mmio", "virtio_net")
ARM64 = Architecture(
    debian="arm64",
    qemu="qemu-system-aarch64",
    kernel="linux-image-arm64",
    # To switch itself off, to show heat and clocks.
    modules=("bcm2835_wdt", "bcm2835_thermal", "cpufreq-dt", "raspberrypi-cpufreq", *NETWORK),
    device_trees=("bcm2837-rpi-3-b.dtb", "bcm2711-rpi-4-b.dtb"),
)
ARMHF = Architecture(debian="armhf", qemu="qemu-system-arm", kernel="linux-image-armmp", modules=NETWORK)


def require(command, package):
    if not shutil.which(command):
        raise Unavailable(f"there is no {command} (apt-get install {package})")


def run(*words, **options):
    """Runs a command, quietly. Its last words are the reason if it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise Unavailable(f"{' '.join(map(str, words[:3]))} ...: {last[0]}")
    return done.stdout


class Kit:
    """Kernel, modules, device trees and busybox of one architecture in a directory, which is filled once."""

    def __init__(self, directory, architecture=ARM64):
        self.architecture = architecture
        self.directory = Path(directory) / architecture.debian
        if not (self.directory / "complete").exists():
            self._fill()

    def path(self, name):
        return self.directory / name

    def _fill(self):
        for command, package in [("apt-get", "apt"), ("dpkg-deb", "dpkg"), ("xz", "xz-utils")]:
            require(command, package)
        self.directory.parent.mkdir(parents=True, exist_ok=True)
        # Aside, and then renamed: two may do this at the same time.
        with tempfile.TemporaryDirectory(dir=self.directory.parent, prefix="kit.") as scratch:
            made = Path(scratch) / "kit"
            made.mkdir()
            try:
                collect(made, self.architecture, *download(Path(scratch), self.architecture))
            except (OSError, StopIteration) as reason:
                name = self.architecture.debian
                raise Unavailable(f"Debian's {name} packages are not what they were: {reason!r}") from reason
            if self.directory.exists() and not (self.directory / "complete").exists():
                shutil.rmtree(self.directory)
            if not self.directory.exists():
                made.rename(self.directory)


def collect(made, architecture, kernel, busybox):
    """Takes out of the two packages what a board needs."""
    files = made.parent / "files"
    run("dpkg-deb", "-x", kernel, files)
    run("dpkg-deb", "-x", busybox, files)
    boot = files / "boot"
    shutil.copy(next(files.glob("**/bin/busybox")), made / "busybox")
    shutil.copy(next(boot.glob("vmlinuz-*")), made / "Image")
    shutil.copy(next(boot.glob("config-*")), made / "config")
    for name in architecture.device_trees:
        shutil.copy(next(files.glob(f"usr/lib/linux-image-*/broadcom/{name}")), made / name)
    (made / "release").write_text(next(boot.glob("vmlinuz-*")).name.removeprefix("vmlinuz-"))
    (made / "modules").mkdir()
    for name in architecture.modules:
        module = next(files.glob(f"**/{name}.ko*"))
        shutil.copy(module, made / "modules")
        if module.suffix == ".xz":
            run("xz", "-d", made / "modules" / module.name)
    (made / "complete").touch()


def download(scratch, architecture):
    """Downloads the two packages without making their architecture one of this system."""
    state = scratch / "apt"
    (state / "lists/partial").mkdir(parents=True)
    (state / "cache/archives/partial").mkdir(parents=True)
    (state / "status").touch()
    settings = {
        "APT::Architecture": architecture.debian,
        "APT::Architectures": architecture.debian,
        "APT::Sandbox::User": "root",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": state / "cache",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    update(options)
    depends = run("apt-cache", *options, "depends", architecture.kernel)
    kernel = next(line.split()[1] for line in depends.splitlines() if "Depends: linux-image-" in line)
    run("apt-get", *options, "download", kernel, "busybox-static", cwd=state)
    return next(state.glob("linux-image-*.deb")), next(state.glob("busybox-static_*.deb"))


def update(options):
    """Fetches the lists of packages. One that cannot be had, as of a mirror that is being changed, is no reason to
    go without the others: if the packages are in none of them, that is seen soon enough."""
    try:
        run("apt-get", *options, "update")
    except Unavailable as reason:
        print(f"warning: {reason}", file=sys.stderr)
