"""The two sides of a comparison: a technique in C and udpbench's engine for it, how each is built and run."""

import csv
import os
import re
import subprocess
import sys
from dataclasses import dataclass

from tools import ROOT

CANNOT_RUN_HERE = 3  # an exit code of flood.c


@dataclass(frozen=True)
class Technique:
    """Options for udpbench, and the two files in scripts/reference that are its counterpart in C."""

    name: str
    engine: str
    sender: str
    receiver: str
    connection: str = "connected"
    batches: bool = False
    uses_io_uring: bool = False
    transport: str = "udp"
    # Buffers of both ends. The kernel's choice for TCP grows for half a second, each time to another size, and
    # what a message costs with it.
    buffer_bytes: int = 0


TECHNIQUES = [
    Technique("std", "std", "send.h", "recv.h"),
    Technique("std-unconnected", "std", "sendto.h", "recvfrom.h", connection="unconnected"),
    Technique("mmsg", "mmsg", "sendmmsg.h", "recvmmsg.h", batches=True),
    Technique("gso", "gso", "gso.h", "recvmmsg.h", batches=True),
    Technique("gso-gro", "gso-gro", "gso.h", "gro.h"),
    Technique("zerocopy", "zerocopy", "zerocopy.h", "recvmmsg.h", batches=True),
    Technique("uring", "uring", "uring_send.h", "uring_recv.h", batches=True, uses_io_uring=True),
    Technique("uring-zerocopy", "uring-zerocopy", "uring_zerocopy.h", "uring_recv.h", batches=True, uses_io_uring=True),
    Technique("std-unix-dgram", "std", "write.h", "recv.h", transport="unix-dgram"),
    Technique("std-unix-stream", "std", "send_stream.h", "recv_stream.h", transport="unix-stream"),
    Technique("std-tcp", "std", "send_stream.h", "recv_stream.h", transport="tcp", buffer_bytes=128 << 10),
]


class CannotRun(Exception):
    """A technique that this machine lacks, and why."""


def c_program(technique):
    return ROOT / "target" / "reference" / technique.name


def build_c(technique):
    compiler = os.environ.get("CC", "gcc")
    if technique.uses_io_uring and not defines(compiler, "linux/io_uring.h", "IORING_SEND_ZC_REPORT_USAGE"):
        raise CannotRun("the compiler finds no linux/io_uring.h of Linux 6.2; Debian has it in linux-libc-dev")
    program = c_program(technique)
    program.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "scripts" / "reference" / "flood.c"
    command = [compiler, "-O3", "-pthread", "-Wall", "-Wextra", f'-DSENDER="{technique.sender}"']
    command += [f'-DRECEIVER="{technique.receiver}"', source, "-o", program]
    if technique.transport != "udp":
        command.append(f"-DCONNECTION={technique.transport.upper().replace('-', '_')}")
    output_of(command)


def defines(compiler, header, macro):
    command = [compiler, "-E", "-dM", "-include", header, "-x", "c", os.devnull]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return True  # building will say that there is no compiler
    return f"#define {macro} " in done.stdout


def output_of(command, stderr=subprocess.PIPE, reason=lambda stdout: "", skip=None, **options):
    """Returns the command's standard output. Its failure ends the script with its reason;
    if its exit code is `skip`, it cannot run here."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, **options)
    except OSError as error:
        fix = "install it, or name another with CC or --udpbench"
        sys.exit(f"error: cannot run {command[0]}: {error.strerror}; {fix}")
    if done.returncode == skip:
        raise CannotRun(done.stderr.strip())
    if done.returncode != 0:
        because = reason(done.stdout) or done.stderr or "see above"
        sys.exit(f"error: exit code {done.returncode} from {' '.join(command)}: {because.strip()}")
    return done.stdout


def run_c(technique, payload, args):
    sender, receiver = args.pin
    rcvbuf = technique.buffer_bytes or args.rcvbuf
    command = [c_program(technique), "--payload", payload, "--batch", args.batch, "--rcvbuf", rcvbuf]
    command += ["--sender-cpu", sender, "--receiver-cpu", receiver, "--warmup-ms", args.warmup_ms]
    command += ["--window-ms", args.window_ms, "--windows", args.windows]
    return dict(field.split("=") for field in output_of(command, skip=CANNOT_RUN_HERE).split())


def run_udpbench(technique, program, payload, args, warnings):
    sender, receiver = args.pin
    command = [program.resolve(), "--engine", technique.engine, "--connection", technique.connection]
    command += ["--ip", "v4", "--threads", 2, "--payload", payload]
    command += ["--rcvbuf", technique.buffer_bytes or args.rcvbuf]
    command += ["--sndbuf", technique.buffer_bytes] if technique.buffer_bytes else []
    command += ["--batch", args.batch] if technique.batches else []
    command += ["--transport", technique.transport]
    command += ["--pin", f"{sender}:{receiver}", "--warmup", f"{args.warmup_ms}ms", "--heat", "0s"]
    command += ["--no-reference", "--columns", "all", "--output", "-"]
    # Its duration is that of all windows together.
    command += ["--rounds", args.windows, "--duration", f"{args.windows * args.window_ms}ms"]
    (row,) = rows_of(output_of(command, reason=lambda text: "".join(row["reason"] for row in rows_of(text))))
    if row["status"] == "skipped":
        raise CannotRun(row["reason"])
    # The load average's value is another one each time: left out.
    said = filter(None, row["warnings"].split("; "))
    warnings.update(re.sub(r" is [0-9.]+$", "", warning) for warning in said)
    return row


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))
