#!/usr/bin/env python3
"""Boots an emulated board with Debian's own arm64 kernel, runs one command in it, and passes on its output and
its exit code. It shows whether something works on such a board, never how fast: QEMU translates each
instruction. With --icount it is as fast as it is told to be, and nothing disturbs it: what repeats there repeats."""

import argparse
import dataclasses
import shlex
import sys
from pathlib import Path

from tools import ROOT
from tools.emulation import machines, session
from tools.emulation.kit import Kit, Unavailable

BINARY = "target/aarch64-unknown-linux-musl/dist/udpbench"
EXAMPLES = f"""\
machines:
{chr(10).join(f"  {machine.name:<9} {machine.about}" for machine in machines.MACHINES)}

examples:
  scripts/build_boards.py --no-run --target aarch64-unknown-linux-musl
  scripts/emulate_board.py rpi-4b -- ./udpbench check
  scripts/emulate_board.py rock-5b -- ./udpbench plan --threads 2,4
  scripts/emulate_board.py raspi3b --fetch out.csv -- ./udpbench --quick -o out.csv
  scripts/emulate_board.py unknown --cpus 2 --icount 3 -- ./udpbench find lossless --engine std --threads 2
  scripts/emulate_board.py unknown -- 'uname -a; ls /proc/device-tree'

The program is /udpbench in the guest, whose file system is in memory. There is no network but lo. The kernel
and busybox come from Debian by apt, once, into target/emulated-boards.

exit codes: the command's own; 77 something is missing here, and it says what; 97 the board did not finish
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("machine", choices=[machine.name for machine in machines.MACHINES], metavar="MACHINE")
    parser.add_argument("--binary", type=Path, default=ROOT / BINARY, help=f"a static one [default: {BINARY}]")
    parser.add_argument("--cpus", type=int, choices=range(1, 9), metavar="N", help="of `unknown` [default: 4]")
    parser.add_argument(
        "--icount", type=int, choices=range(11), metavar="SHIFT",
        help="an instruction takes 2^SHIFT ns of its clock [default: this host's clock]",
    )  # fmt: skip
    parser.add_argument("--fetch", action="append", default=[], metavar="FILE", help="bring it here afterwards")
    parser.add_argument("--timeout", type=int, default=600, metavar="SECONDS", help="[default: 600]")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="for the guest's shell")
    args = parser.parse_args()
    if not args.binary.is_file():
        parser.error(f"--binary {args.binary}: there is no such file; build it, or name another")
    command = args.command[0] if len(args.command) == 1 else shlex.join(args.command)
    machine = dataclasses.replace(machines.find(args.machine), icount=args.icount)
    if args.cpus is not None:
        if args.machine != "unknown":
            parser.error(f"--cpus {args.cpus}: {args.machine} has as many CPUs as its board; leave it out")
        machine.cpus = args.cpus
    try:
        kit = Kit(ROOT / "target/emulated-boards")
        done = session.run(
            machine, kit, {"/udpbench": args.binary}, command, args.fetch,
            args.timeout, lambda line: print(line, flush=True),
        )  # fmt: skip
    except Unavailable as reason:
        print(f"emulate-board: {reason}", file=sys.stderr)
        return 77
    for place, content in done.files.items():
        Path(Path(place).name).write_bytes(content)
    for missing in set(args.fetch) - set(done.files):
        print(f"emulate-board: there was no {missing} to fetch", file=sys.stderr)
    if done.code == session.UNFINISHED:
        print("emulate-board: the board did not finish", file=sys.stderr)
    return done.code


if __name__ == "__main__":
    sys.exit(main())
