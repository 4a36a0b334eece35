"""The sshd of the far end, and how ssh finds it: nothing of the user's own keys, files or configuration."""

import subprocess
import time

from tools.testing.sshd import Sshd

# A name for each address.
ALIASES = {"board": "ipv4", "board6": "ipv6"}


class Board(Sshd):
    """An sshd at the far end, on its usual port."""

    def __init__(self, near, far, room):
        super().__init__(room.path)
        self.near, self.far = near, far
        self.config = room.path / "ssh_config"
        # Ctrl-C is for the command, which may need the connection until it has ended.
        self.inside = ["setsid", far.enter]
        self.addresses = [address for address in [far.ipv4, far.ipv6] if address]

    def make_privilege_separation(self):
        """The far end has it, in a /run of its own."""

    def choose_port(self):
        return 22

    def known_as(self):
        return "board"

    def make_keys(self):
        super().make_keys()
        options = {
            "User": self.host.partition("@")[0],
            "IdentityFile": self.room / "user_key",
            "HostKeyAlias": self.known_as(),
            "GlobalKnownHostsFile": "/dev/null",
            **self.options(),
        }
        hosts = {alias: getattr(self.far, address) for alias, address in ALIASES.items()}
        lines = [f"Host {alias}\n    HostName {address}" for alias, address in hosts.items() if address]
        lines += ["Host *", *[f"    {name} {value}" for name, value in options.items()]]
        self.config.write_text("\n".join(lines) + "\n")

    def answers(self):
        while self.process.poll() is None:
            command = [self.near.enter, "ssh", "-F", self.config, "board", "true"]
            if subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return True
            time.sleep(0.02)
        return False
