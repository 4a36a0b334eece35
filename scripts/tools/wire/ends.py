"""The two hosts: a network namespace each, with its own /sys and addresses.

They have no names that could be left behind, and that two labs could both want: each lives as long as a process in
it, which ends with the script.
"""

import os
import shutil
import subprocess

from tools.command import Broken

# Mounts /sys as ip-netns(8) does: it shows the interfaces of the namespace that it was mounted in. Mounts below
# it, such as tracefs and control groups, stays.
OWN_SYS = """
mkdir "$0/sys" && mount -t sysfs sysfs "$0/sys" || exit
sed -n 's|^[^ ]* /sys/\\([^ ]*\\) .*|\\1|p' /proc/self/mounts | while read -r below; do
    mount --bind "/sys/$below" "$0/sys/$below" 2>/dev/null
done
mount --move "$0/sys" /sys || exit
"""
# sshd wants a directory in /run, which is not to be left there.
OWN_RUN = """
mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd || exit
"""
# The end of its standard input ends it, and that is when the script has ended.
STAY = """
echo up
exec cat
"""
INTERFACE = "eth0"


class Skipped(Exception):
    """This machine has no such thing; the reason, for people."""


class End:
    """A host: `near`, where commands run, or `far`, which has the sshd."""

    def __init__(self, name, number, room):
        self.name = name
        self.ipv4, self.ipv6 = f"10.77.0.{number}", f"fd77::{number}"
        directory = room.path / f"{name}.d"
        directory.mkdir()
        script = OWN_SYS + (OWN_RUN if name == "far" else "") + STAY
        command = ["unshare", "--net", "--mount", "--propagation", "slave", "sh", "-c", script, directory]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        if self.process.stdout.readline() != "up\n":
            raise Skipped(f"no network namespace can be had: {self.process.communicate()[1].strip()}")
        self.pid = self.process.pid
        self.netns = f"/proc/{self.pid}/ns/net"
        room.add(os.readlink(self.netns))
        self.enter = room.path / name
        self.enter.write_text(
            f"#!/bin/sh\n# Runs a command at the {name} end, in the same directory.\nexec nsenter --target {self.pid} "
            '--net --mount -- sh -c \'cd "$0" && exec "$@"\' "$PWD" "$@"\n'
        )
        self.enter.chmod(0o755)

    def run(self, *command):
        """Runs a command there that has to succeed."""
        done = subprocess.run([self.enter, *map(str, command)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"{self.name}: {' '.join(map(str, command))}: {done.stderr.strip()}")
        return done.stdout

    def set_up(self, mtu):
        """Brings its interfaces up, with addresses."""
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "link", "set", INTERFACE, "mtu", mtu, "up")
        self.run("ip", "address", "add", f"{self.ipv4}/24", "dev", INTERFACE)
        if os.path.exists("/proc/net/if_inet6"):
            self.run("ip", "address", "add", f"{self.ipv6}/64", "dev", INTERFACE, "nodad")
        else:
            self.ipv6 = None

    def describe(self):
        """For programs."""
        return {
            "enter": str(self.enter),
            "netns": self.netns,
            "interface": INTERFACE,
            "ipv4": self.ipv4,
            "ipv6": self.ipv6,
        }


def check_tools():
    """Raises Skipped if a program is missing."""
    places = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    packages = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "tc": "iproute2"}
    packages |= {"ssh": "openssh-client", "ssh-keygen": "openssh-client", "sshd": "openssh-server"}
    for program, package in packages.items():
        if not shutil.which(program, path=places):
            raise Skipped(f"there is no {program} here; on Debian: apt-get install {package}")
    os.environ["PATH"] = places
