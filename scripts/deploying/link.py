"""The link to a board: one ssh connection that every step shares, so that a password is asked for once."""

import shlex
import shutil
import subprocess
import tempfile

# The name of a file is bytes, not always UTF-8.
TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}


class Failure(Exception):
    """Something that the user has to fix; the message says how. Exit code 3."""


class Link:
    """Opened by `with`, closed at its end."""

    def __init__(self, host, options):
        self.host = host
        # Before the user's own, which therefore only add to it; after them, what yields to theirs: ssh takes
        # the first value that it sees.
        self.room = tempfile.mkdtemp(prefix="udpbench-")
        shared = ["-o", f"ControlPath={self.room}/link"]
        gentle = ["-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]
        self.given = options
        self.options = [*shared, *options, *gentle]

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.is_open():
            self.control("exit")
        shutil.rmtree(self.room, ignore_errors=True)

    def open(self):
        # In the background once it is authenticated; what ssh has to say before goes to the person.
        master = ["ssh", *self.options, "-o", "ControlMaster=yes", "-o", "ControlPersist=no", "-f", "-N", self.host]
        if called(master).returncode != 0:
            raise Failure(
                f"cannot reach {self.host}: see ssh's message above; try: ssh {self.host} true\n"
                "       (-p PORT, -i KEY and -o OPTION are handed to ssh)"
            )

    def is_open(self):
        return self.control("check") == 0

    def control(self, command):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.run(["ssh", *self.options, "-O", command, self.host], **quiet).returncode

    def command(self, script, *arguments, flags=()):
        """An ssh command that runs a POSIX shell script on the board, whatever the login shell there is."""
        words = " ".join(shlex.quote(str(word)) for word in ["sh", "-c", script, "sh", *arguments])
        return ["ssh", *self.options, *flags, self.host, words]

    def ask(self, script, *arguments, stdin=None, mixed=False):
        """Runs a script on the board and returns what came of it."""
        stdin = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        stderr = subprocess.STDOUT if mixed else subprocess.PIPE
        return called(self.command(script, *arguments), stdout=subprocess.PIPE, stderr=stderr, **TEXT, **stdin)

    def send(self, source, destination):
        copy = called(["scp", "-q", *self.options, str(source), self.remote(destination)])
        if copy.returncode != 0:
            raise Failure(
                f"could not copy {source} to {self.host}:{destination}: see scp's message above\n"
                "       (is there space, and an sftp server? if not, -o and --directory may help)"
            )

    def fetch(self, source, destination):
        copy = called(["scp", "-q", "-r", *self.options, self.remote(source), str(destination)])
        if copy.returncode != 0:
            raise Failure(f"could not copy {self.host}:{source} to {destination}: see scp's message above")

    def remote(self, path):
        user, at, host = self.host.rpartition("@")
        # scp would take the first colon of an IPv6 address for the end of the host's name.
        return f"{user}{at}[{host}]:{path}" if ":" in host else f"{self.host}:{path}"


def called(command, **options):
    try:
        return subprocess.run(command, check=False, **options)
    except FileNotFoundError as error:
        raise Failure(f"there is no {error.filename} here: install OpenSSH's client") from error


