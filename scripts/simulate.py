#!/usr/bin/env python3
"""Which changes does `udpbench compare` find, and how often is it wrong?

Makes sweeps by dice, window by window, and has the real program compare them: a baseline of one run with a run after
it, or with two where the rule of `--against` asks for a second pass. As many of each pattern, in which one engine is
slower in all of its cases, in some, or in none. Independent of the program's own code.
"""

import argparse
import concurrent.futures
import os
import random
import tempfile
from pathlib import Path

from tools import ROOT
from tools.command import run
from tools.intervals import Rate
from tools.simulation import logs
from tools.simulation.judging import Verdict, verdict
from tools.simulation.machine import FEW, KINDS, Machine
from tools.simulation.patterns import PATTERNS, PLACES, few

EXAMPLES = """\
examples:
  scripts/simulate.py                                  200 comparisons of each pattern, 15 rounds: some minutes
  scripts/simulate.py --pattern "std 10 %"             some patterns, by their names
  scripts/simulate.py --engines 2 3 6                  one of few engines is 10 % slower: nowhere, everywhere, in a part
  scripts/simulate.py --keep DIR --comparisons 1       and keeps the files

exit codes: 0 done, 1 something broke, 2 bad input, 130 Ctrl-C"""


def main():
    args = arguments()
    print(f"{args.comparisons} comparisons each, {args.rounds} rounds, seed {args.seed}")
    print(f"{'':62}  " + "  ".join(f"{name:>19}" for name in Verdict._fields))
    with tempfile.TemporaryDirectory() as scratch:
        directory = args.keep or Path(scratch)
        for pattern in args.patterns:
            counted = count(pattern, directory, args)
            print(f"{pattern!s:62}  " + "  ".join(f"{shown(rate):>19}" for rate in counted), flush=True)
    return 0


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    program = ROOT / "target/release/udpbench"
    add("--udpbench", type=Path, default=program, metavar="FILE", help="that compares [default: target/release]")
    add("--comparisons", type=int, default=200, metavar="N", help="of each pattern [default: 200]")
    add("--rounds", type=int, default=15, metavar="N", help="windows of each case [default: 15]")
    add("--seed", type=int, default=1, metavar="N", help="of the dice [default: 1]")
    add("--pattern", action="append", metavar="TEXT", help="only patterns whose names hold this [default: all]")
    add("--engines", type=int, nargs="+", choices=FEW, metavar="N", help="other patterns: sweeps of so few engines")
    add(
        "--where",
        nargs="+",
        choices=PLACES,
        default=[*PLACES],
        help="with --engines: where one is slower [default: all]",
    )
    add("--slower", choices=FEW[2], default="mio-level", help="with --engines: which [default: mio-level]")
    add("--keep", type=Path, metavar="DIR", help="where files go, and stay")
    args = parser.parse_args()
    if not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program; cargo build --release makes it")
    args.udpbench = args.udpbench.resolve()
    patterns = few(args.engines, args.where, args.slower) if args.engines else PATTERNS
    args.patterns = [one for one in patterns if any(text in str(one) for text in args.pattern or [""])]
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    return args


def count(pattern, directory, args):
    """How often each of the verdict's fields was so."""
    blocks = Machine(random.Random(), KINDS[pattern.noise], pattern.shape, pattern.engines).blocks
    header = logs.header(args.udpbench, blocks, args.rounds, directory)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        tries = [pool.submit(compared, pattern, number, header, directory, args) for number in range(args.comparisons)]
        verdicts = [one.result() for one in tries]
    return [Rate.of(sum(so), len(verdicts)) for so in zip(*verdicts)]


def compared(pattern, number, header, directory, args):
    """One comparison: sweeps as they are, and sweeps in which the engine is slower."""
    # A seed of its own: the comparison is the same whatever else is run.
    dice = random.Random(f"{args.seed} {pattern} {number}")
    machine = Machine(dice, KINDS[pattern.noise], pattern.shape, pattern.engines)
    name = "".join(letter if letter.isalnum() else "-" for letter in str(pattern))
    files = [directory / f"{name}-{number:03}-{side}.jsonl" for side in ["base", "base.2", "first", "second"]]

    def made(path, speed):
        logs.write(path, header, machine.sweep(args.rounds, speed))
        return path

    base = [made(path, lambda case: 1.0) for path in files[:2]]
    passes = [lambda path=path: made(path, pattern.speed) for path in files[2:]]
    found = verdict(args.udpbench, base, passes, pattern)
    if not args.keep:
        for path in files:
            path.unlink(missing_ok=True)
    return found


def shown(rate):
    percents = [f"{100 * value:.1f}" for value in [rate.value, rate.low, rate.high]]
    return f"{percents[0]} ({percents[1]}..{percents[2]})"


if __name__ == "__main__":
    run(main, "interrupted")
