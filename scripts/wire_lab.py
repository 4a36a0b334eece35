#!/usr/bin/env python3
"""Two hosts on this one: a laptop and a board, joined by a cable that loses what it is told to lose.

They are network namespaces, `near` and `far`, with an interface eth0 and addresses each. The far one has an sshd of
its own, with keys of its own, which `ssh -F FILE board` reaches. The command runs at the near end; without one, a
shell does. Whatever ends it, no process, namespace, interface or file is left, but for what --deploy copies: both
hosts have the files of this one. Root.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tools import ROOT
from tools.command import Broken
from tools.wire import cable, ends
from tools.wire.board import Board
from tools.wire.cable import Refused, TestWire, Veth
from tools.wire.ends import End, Skipped
from tools.wire.room import Room

EXAMPLES = """\
examples:
  scripts/wire_lab.py                                       a shell; then: ssh -F $WIRE_LAB_SSH_CONFIG board uname -n
  scripts/wire_lab.py --mtu 1400 -- ip -s link
  scripts/wire_lab.py --tbf "20mbit burst 10kb limit 30kb" --at far -- ./measure
  scripts/wire_lab.py --test-wire "count size 300-; a>b drop 3,5-7; b>a delay all by 2ms" -- ./measure
  scripts/wire_lab.py --napi -- ./measure --busy-poll 50us
  scripts/wire_lab.py --serve                               for programs: names as JSON; ends with standard input

In the environment of the command: WIRE_LAB_SSH_CONFIG (for ssh -F, with the hosts board and, over IPv6, board6),
WIRE_LAB_FAR (a program that runs its arguments at the far end), WIRE_LAB_NEAR. For the test wire, a is the near
end; what its rules mean: cargo run --example test_wire -- --help. What it did goes to --report or, as a line of
JSON, to standard error.

--serve: one line of JSON says where all is. Each line `report` on standard input is answered by a line: what the test
wire has done so far, or null. At the end of the input follows the last one.

exit codes: that of the command, 1 something broke, 2 bad input, 77 this machine cannot have namespaces, TAP devices
or an sshd, 130 Ctrl-C"""

# Seconds that a command may take to end after Ctrl-C, or SIGTERM.
LAST_WORDS_S = 10


def main():
    args = arguments()
    # A shell ignores it for what it starts with `&`.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        ends.check_tools()
        if args.test_wire is not None and not args.test_wire_program:
            args.test_wire_program = cable.build(ROOT)
        with Room() as room:
            return run_in(room, args)
    except Skipped as reason:
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return cable.SKIPPED
    except Refused as problem:
        print(f"error: --test-wire: {problem}", file=sys.stderr)
        return cable.BAD_INPUT
    except Broken as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    add("--mtu", type=int, default=1500, metavar="BYTES", help="of both interfaces [default: 1500]")
    queue = parser.add_mutually_exclusive_group()
    queue.add_argument(
        "--tbf", metavar="RATE", help="a token bucket at one end, as tc-tbf(8) has it: 20mbit, or more words"
    )
    queue.add_argument("--htb", metavar="RATE", help="a class of HTB at one end, as tc-htb(8) has it")
    add("--at", choices=["near", "far"], default="near", help="which end --tbf and --htb are at [default: near]")
    add("--napi", action="store_true", help="interfaces deliver by NAPI, as network cards do: one can busy-poll them")
    add("--test-wire", metavar="RULES", help="join the ends by the test wire, with these rules, which may be empty")
    add("--test-wire-program", type=Path, metavar="FILE", help="[default: cargo builds it]")
    add("--report", type=Path, metavar="FILE", help="what the test wire did [default: standard error]")
    add("--serve", action="store_true", help="run no command: stay until standard input ends, for programs")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:end])
    args.command = words[end + 1 :]
    if not 1280 <= args.mtu <= 65521:
        parser.error(f"--mtu {args.mtu}: from 1280, the least for IPv6, to 65521, the most of a TAP device")
    if args.serve and args.command:
        parser.error("--serve runs no command: leave one of them out")
    if args.napi and args.test_wire is not None:
        parser.error("--napi: the test wire's interfaces have none: leave out --test-wire, or --napi")
    if args.report and args.test_wire is None:
        parser.error("--report: only the test wire writes one: add --test-wire RULES, or leave it out")
    if args.test_wire_program and not os.access(args.test_wire_program, os.X_OK):
        parser.error(
            f"--test-wire-program {args.test_wire_program}: there is no such program; leave it out, and it is built"
        )
    return args


def run_in(room, args):
    near, far = End("near", 1, room), End("far", 2, room)
    wire = Veth(near, far) if args.test_wire is None else TestWire(args.test_wire_program, args.test_wire, near, far)
    for end in [near, far]:
        end.set_up(args.mtu)
        if args.napi:
            cable.deliver_by_napi(end)
    queue_end = near if args.at == "near" else far
    if args.tbf:
        cable.token_bucket(queue_end, args.tbf.split())
    if args.htb:
        cable.hierarchy(queue_end, args.htb.split())
    with Board(near, far, room) as board:
        if args.serve:
            return serve(near, far, wire, board)
        try:
            return run_command(args.command, near, far, board)
        finally:
            write_report(wire.end(), args.report)


def run_command(command, near, far, board):
    """Its exit code, as a shell has it."""
    environment = {
        **os.environ,
        "WIRE_LAB_SSH_CONFIG": str(board.config),
        "WIRE_LAB_NEAR": str(near.enter),
        "WIRE_LAB_FAR": str(far.enter),
    }
    if not command:
        command = [os.environ.get("SHELL", "/bin/sh")]
        print(f"a shell at the near end, {near.ipv4}; `exit` ends the lab", file=sys.stderr)
        print(f"the board, {far.ipv4}:  ssh -F {board.config} board", file=sys.stderr)
        print(f"from elsewhere: {near.enter} COMMAND, and {far.enter} COMMAND", file=sys.stderr)
    process = subprocess.Popen([near.enter, *command], env=environment)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        # The terminal has sent it to the command, too. If it was no terminal that sent it, the command knows
        # nothing of it, and is ended with all else.
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(timeout=LAST_WORDS_S)
        return 130
    except SystemExit:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=LAST_WORDS_S)
        raise
    return code if code >= 0 else 128 - code


def write_report(report, path):
    if report is None:
        return
    if path:
        path.write_text(json.dumps(report) + "\n")
    else:
        print(json.dumps(report), file=sys.stderr)


def serve(near, far, wire, board):
    """Stays until standard input ends, and answers."""
    names = {"near": near.describe(), "far": far.describe(), "ssh_config": str(board.config), "host": "board"}
    print(json.dumps(names), flush=True)
    for line in sys.stdin:
        if line.strip() != "report":
            raise Broken(f"{line.strip()!r} on standard input: the only thing to ask for is: report")
        print(json.dumps(wire.report()), flush=True)
    report = wire.end()
    try:
        print(json.dumps(report), flush=True)
    except BrokenPipeError:
        # Whoever has gone reads no last word; Python would try again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
