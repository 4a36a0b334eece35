#!/usr/bin/env python3
"""Feeds the readers of udpbench with invalid and odd input: each target in fuzz/ gets many inputs, mutated
from fuzz/seeds/ and from what earlier runs kept in fuzz/corpus/. Any panic, overflow, hang or excessive use of
memory is a finding. Needs cargo-fuzz and a nightly compiler."""

import argparse
import os
import re
import subprocess
import sys

from tools import ROOT
from tools.command import run

EXAMPLES = """\
examples:
  scripts/fuzz.py                          a minute for each target
  scripts/fuzz.py --runs 1000000 raw       as many inputs for one of them, however long it takes

exit codes: 0 nothing was found, 1 something was, or did not build, 2 bad input, or a tool is missing,
130 Ctrl-C"""

HOME = ROOT / "fuzz"
TOOLCHAIN = "+nightly"
# Readers have no unsafe code: the address sanitizer would find nothing and cost half of the speed.
BUILD = ["--sanitizer", "none"]
# Limits of one input: longer ones find nothing more. A hang is 10 s for what takes 1 ms.
LIMITS = ["-timeout=10", "-rss_limit_mb=1024"]
# In bytes: about the largest seed and half as much again.
LONGEST = {"board": 2048, "raw": 8192}


def main():
    args = arguments()
    refuse_without_tools()
    for target in args.targets:
        # Builds all before the first one runs: a target that does not build must not show after an hour.
        if fuzz("build", target).returncode != 0:
            return 1
    found = [target for target in args.targets if not runs_clean(target, args)]
    for target in found:
        print(f"FOUND: {target}: the inputs are in fuzz/artifacts/{target}; run one again with")
        print(f"  cd fuzz && cargo {TOOLCHAIN} fuzz run --sanitizer none {target} artifacts/{target}/FILE")
    return 1 if found else 0


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="inputs for each target")
    limit.add_argument("--seconds", type=positive, metavar="N", help="time for each target [default: 60]")
    every = sorted(path.stem for path in (HOME / "fuzz_targets").glob("*.rs"))
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{', '.join(every)} [default: all]")
    args = parser.parse_args()
    args.targets = args.targets or every
    for target in args.targets:
        if target not in every:
            parser.error(f"there is no target {target}: use {', '.join(every)}")
    return args


def positive(text):
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def refuse_without_tools():
    needed = {
        "cargo install cargo-fuzz --locked": ["cargo", "fuzz", "--version"],
        "rustup toolchain install nightly --profile minimal": ["cargo", TOOLCHAIN, "--version"],
    }
    for fix, command in needed.items():
        try:
            works = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            works = False
        if not works:
            print(f"error: {' '.join(command)} does not work: {fix}", file=sys.stderr)
            sys.exit(2)


def fuzz(action, target, *more, **options):
    command = ["cargo", TOOLCHAIN, "fuzz", action, *BUILD, target, *more]
    return subprocess.run(command, cwd=HOME, check=False, **options)


def runs_clean(target, args):
    """Runs one target, and says in one line how it went."""
    corpus = HOME / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    limit = f"-runs={args.runs}" if args.runs else f"-max_total_time={args.seconds or 60}"
    flags = [limit, *LIMITS, f"-max_len={LONGEST.get(target, 4096)}", "-print_final_stats=1"]
    words = HOME / "dictionaries" / f"{target}.dict"
    if words.exists():
        flags.append(f"-dict={words}")
    seeds = os.path.relpath(HOME / "seeds" / target, HOME)
    print(f"{target}: {limit.lstrip('-')} ...", flush=True)
    log = {"stderr": subprocess.PIPE, "text": True, "errors": "replace"}
    ran = fuzz("run", target, str(corpus), seeds, "--", *flags, **log)
    inputs, seconds = executed(ran.stderr)
    is_clean = ran.returncode == 0 and inputs > 0
    if not is_clean:
        print(ran.stderr[-4000:], file=sys.stderr)
    verdict = "nothing found" if is_clean else "FAILED"
    print(f"{target}: {inputs} inputs in {seconds} s, {verdict}", flush=True)
    return is_clean


def executed(log):
    """The number of inputs, and the seconds they took; 0 and ? where the log does not say."""
    inputs = re.findall(r"^stat::number_of_executed_units: +(\d+)", log, re.MULTILINE)
    seconds = re.findall(r"^Done \d+ runs in (\d+) second", log, re.MULTILINE)
    return (int(inputs[-1]) if inputs else 0), (seconds[-1] if seconds else "?")


if __name__ == "__main__":
    run(main)
