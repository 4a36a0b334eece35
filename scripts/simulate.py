#!/usr/bin/env python3
"""Which changes does `udpbench compare` find and name, when only a part of an engine's cases changed?

Makes sweeps by dice, window by window, and has the real program compare them, two by two: as many of each pattern,
in which one engine is slower in all of its cases, in some, or in none. Independent of the program's own code.
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
from tools.simulation import rows
from tools.simulation.judging import SLOWED, Verdict, verdict
from tools.simulation.machine import Machine, Noise
from tools.simulation.patterns import PATTERNS

EXAMPLES = """\
examples:
  scripts/simulate.py                                  200 comparisons of each pattern, 15 rounds: four minutes
  scripts/simulate.py --rounds 6 --pattern "threads 4"  few rounds, and one pattern
  scripts/simulate.py --noise window=0.004,0.02        on a quieter machine
  scripts/simulate.py --keep DIR --comparisons 1       and keeps the files

exit codes: 0 done, 1 something broke, 2 bad input, 130 Ctrl-C"""


def main():
    args = arguments()
    print(f"{SLOWED} slower; {args.comparisons} comparisons each, {args.rounds} rounds, seed {args.seed}; {args.noise}")
    print(f"{'':22}  " + "  ".join(f"{name:>21}" for name in Verdict._fields))
    with tempfile.TemporaryDirectory() as scratch:
        directory = args.keep or Path(scratch)
        for pattern in args.patterns:
            counted = count(pattern, directory, args)
            print(f"{pattern!s:22}  " + "  ".join(f"{shown(rate):>21}" for rate in counted), flush=True)
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
    add(
        "--noise",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the machine, instead of what it has in simulating/machine.py",
    )
    add("--keep", type=Path, metavar="DIR", help="where files go, and stay")
    args = parser.parse_args()
    if not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program; cargo build --release makes it")
    args.udpbench = args.udpbench.resolve()
    args.patterns = [one for one in PATTERNS if any(text in str(one) for text in args.pattern or [""])]
    try:
        args.noise = Noise(**dict(map(setting, args.noise)))
    except (TypeError, ValueError) as problem:
        parser.error(f"--noise: {problem}")
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    return args


def setting(text):
    """`window=0.02,0.04`, as a name and what it is set to."""
    name, _, value = text.partition("=")
    numbers = tuple(map(float, value.split(",")))
    return name, numbers[0] if len(numbers) == 1 else numbers


def count(pattern, directory, args):
    """How often each of the verdict's fields was so."""
    with concurrent.futures.ProcessPoolExecutor() as pool:
        tries = [pool.submit(compared, pattern, number, directory, args) for number in range(args.comparisons)]
        verdicts = [one.result() for one in tries]
    return [Rate.of(sum(so), len(verdicts)) for so in zip(*verdicts)]


def compared(pattern, number, directory, args):
    """One comparison: a sweep as it is, and one in which the engine is slower."""
    # A seed of its own: the comparison is the same whatever else is run.
    dice = random.Random(f"{args.seed} {pattern} {number}")
    machine = Machine(dice, args.noise)
    name = str(pattern).replace(" ", "-")
    base, new = (directory / f"{name}-{number:03}-{side}.csv" for side in ["base", "new"])
    rows.write(base, machine.sweep(args.rounds, lambda case: 1.0))
    rows.write(new, machine.sweep(args.rounds, pattern.speed))
    found = verdict(args.udpbench, base, new, pattern)
    if not args.keep:
        base.unlink()
        new.unlink()
    return found


def shown(rate):
    percents = [f"{100 * value:.1f}" for value in [rate.value, rate.low, rate.high]]
    return f"{percents[0]} ({percents[1]}..{percents[2]})"


if __name__ == "__main__":
    run(main, "interrupted")
