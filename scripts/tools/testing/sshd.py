"""A real sshd on loopback for tests: its own keys, configuration, port and pid, in a directory that goes away.
It touches nothing of the machine's own sshd, and runs as root or as anybody."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PROGRAM = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", ""))
# A directory that Debian's sshd wants if it runs as root; its service makes it.
PRIVILEGE_SEPARATION = Path("/run/sshd")


class Sshd:
    """Started by `with`, ended at its end."""

    # The start of a command that runs where the sshd does.
    inside = ()
    addresses = ("127.0.0.1",)

    def __init__(self, parent=None):
        if not PROGRAM:
            raise SystemExit("error: there is no sshd here; on Debian: apt-get install openssh-server")
        self.room = Path(tempfile.mkdtemp(prefix="udpbench-sshd-", dir=parent))
        self.made_privilege_separation = False
        self.host = f"{getpass.getuser()}@127.0.0.1"

    def __enter__(self):
        try:
            self.make_keys()
            self.make_privilege_separation()
            self.start()
        except BaseException:
            self.clean_up()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.clean_up()

    def lose(self):
        """Ends it with all its connections at once, as when its machine goes down."""
        # Stopped, it takes no further connection, and keeps its children.
        self.process.send_signal(signal.SIGSTOP)
        for pid in [*self.sessions(), self.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def clean_up(self):
        shutil.rmtree(self.room, ignore_errors=True)
        if self.made_privilege_separation:
            PRIVILEGE_SEPARATION.rmdir()

    def make_privilege_separation(self):
        if os.geteuid() == 0 and not PRIVILEGE_SEPARATION.exists():
            PRIVILEGE_SEPARATION.mkdir(mode=0o755)
            self.made_privilege_separation = True

    def make_keys(self):
        for name in ["host_key", "user_key"]:
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", self.room / name]
            subprocess.run(command, check=True)
        shutil.copy(self.room / "user_key.pub", self.room / "authorized_keys")

    def start(self):
        """On a port that was free a moment ago; on another one if somebody was faster."""
        for _ in range(5):
            self.port = self.choose_port()
            (self.room / "known_hosts").write_text(f"{self.known_as()} {(self.room / 'host_key.pub').read_text()}")
            (self.room / "config").write_text(self.configuration())
            command = [*self.inside, PROGRAM, "-D", "-f", self.room / "config", "-E", self.room / "log"]
            self.process = subprocess.Popen(command)
            if self.answers():
                return
        raise SystemExit(f"error: sshd does not start: {(self.room / 'log').read_text()}")

    def choose_port(self):
        return free_port()

    def known_as(self):
        """The name of its key in known_hosts."""
        return f"[{self.addresses[0]}]:{self.port}"

    def answers(self):
        while self.process.poll() is None:
            try:
                socket.create_connection((self.addresses[0], self.port), timeout=1).close()
                return True
            except OSError:
                time.sleep(0.02)
        return False

    def configuration(self):
        lines = [
            *[f"ListenAddress {address}" for address in self.addresses],
            f"Port {self.port}",
            f"HostKey {self.room}/host_key",
            f"AuthorizedKeysFile {self.room}/authorized_keys",
            f"PidFile {self.room}/pid",
            # The directory is below /tmp.
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            "PrintMotd no",
            "PrintLastLog no",
            "Subsystem sftp internal-sftp",
        ]
        return "\n".join(lines) + "\n"

    def options(self):
        """For ssh: this server, its key, and nothing that the user's own configuration could change."""
        return {
            "UserKnownHostsFile": self.room / "known_hosts",
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
        }

    def sessions(self):
        """The pids of those who serve a connection, and not of what runs there for somebody."""
        return [pid for pid in descendants(self.process.pid) if is_sshd(pid)]


def descendants(pid):
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        # The process has ended meanwhile.
        return []
    return [pid for child in children for pid in [int(child), *descendants(int(child))]]


def is_sshd(pid):
    try:
        # OpenSSH 9.8 renamed those of a session to sshd-session.
        return Path(f"/proc/{pid}/comm").read_text().startswith("sshd")
    except (FileNotFoundError, ProcessLookupError):
        return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
