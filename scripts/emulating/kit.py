"""What an emulated board is made of: Debian's arm64 kernel and busybox, and device trees."""

import shutil
import subprocess
from pathlib import Path


class Unavailable(Exception):
    """Something that an emulated board needs cannot be had here; the message says what."""


# Modules that a board needs beyond the kernel itself: to switch itself off, to show heat and clocks.
MODULES = {
    "bcm2835_wdt": "kernel/drivers/watchdog/bcm2835_wdt.ko",
    "bcm2835_thermal": "kernel/drivers/thermal/broadcom/bcm2835_thermal.ko",
    "cpufreq-dt": "kernel/drivers/cpufreq/cpufreq-dt.ko",
    "raspberrypi-cpufreq": "kernel/drivers/cpufreq/raspberrypi-cpufreq.ko",
}
DEVICE_TREES = ["bcm2837-rpi-3-b.dtb", "bcm2711-rpi-4-b.dtb"]


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
    """Kernel, modules, device trees and busybox in one directory, which is filled once."""

    def __init__(self, directory):
        self.directory = Path(directory)
        if not (self.directory / "complete").exists():
            self._fill()

    def path(self, name):
        return self.directory / name

    def _fill(self):
        for command, package in [("apt-get", "apt"), ("dpkg-deb", "dpkg")]:
            require(command, package)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        kernel, busybox = self._packages()
        files = self.path("kernel")
        run("dpkg-deb", "-x", kernel, files)
        run("dpkg-deb", "-x", busybox, self.path("busybox.d"))
        shutil.copy(self.path("busybox.d") / "bin/busybox", self.path("busybox"))
        shutil.copy(next((files / "boot").glob("vmlinuz-*")), self.path("Image"))
        shutil.copy(next((files / "boot").glob("config-*")), self.path("config"))
        for name in DEVICE_TREES:
            shutil.copy(next(files.glob(f"usr/lib/linux-image-*/broadcom/{name}")), self.path(name))
        release = next((files / "lib/modules").iterdir())
        self.path("release").write_text(release.name)
        self.path("modules").mkdir()
        for name, place in MODULES.items():
            shutil.copy(release / place, self.path("modules") / f"{name}.ko")
        for rest in [files, self.path("busybox.d"), self.path("apt")]:
            shutil.rmtree(rest)
        self.path("complete").touch()

    def _packages(self):
        """Downloads the two packages for arm64 without making arm64 an architecture of this system."""
        state = self.path("apt")
        (state / "lists/partial").mkdir(parents=True)
        (state / "cache/archives/partial").mkdir(parents=True)
        (state / "status").touch()
        settings = {
            "APT::Architecture": "arm64",
            "APT::Architectures": "arm64",
            "APT::Sandbox::User": "root",
            "Dir::State": state,
            "Dir::State::status": state / "status",
            "Dir::Cache": state / "cache",
        }
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        run("apt-get", *options, "update")
        depends = run("apt-cache", *options, "depends", "linux-image-arm64")
        kernel = next(line.split()[1] for line in depends.splitlines() if "Depends: linux-image-" in line)
        run("apt-get", *options, "download", kernel, "busybox-static", cwd=state)
        return next(state.glob("linux-image-*.deb")), next(state.glob("busybox-static_*.deb"))
