#!/usr/bin/env python3
"""Drops datagrams in more than 40 ways between two network namespaces, and tests that `udpbench listen` and
`udpbench watch --port` name the place of each, with its number; as a user without rights, that they name it or say
that they did not look there. Root.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools import ROOT
from tools.command import Broken, run
from tools.drops.trial import Trial, for_all, judge_root, judge_user
from tools.drops.ways import FULL, WAYS
from tools.drops.wire import WIRE_WAYS, try_wire
from tools.wire import cable, ends
from tools.wire.ends import Skipped


def main():
    args = arguments()
    try:
        ends.check_tools()
        return test(args)
    except Skipped as reason:
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return cable.SKIPPED


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--udpbench", type=Path, default=ROOT / "target/debug/udpbench", metavar="FILE")
    add("--only", metavar="WORDS", help="ways whose label has these words")
    add("--machine", action="store_true", help="also those that change a setting of the whole machine for a moment")
    add("--wire", action="store_true", help="what `udpbench wire` names, instead of listen and watch")
    add("--show", action="store_true", help="print what watch says")
    return parser.parse_args()


def test(args):
    if args.wire:
        return test_wire(args)
    ways = [way for way in WAYS if (args.only or "") in way.label and (args.machine or not way.machine)]
    bad, skipped = 0, 0
    print(f"{'way':<34}{'place':<48}{'listen':>7}{'watch':>7}  as a user")
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        udpbench = for_all(args.udpbench.resolve(), directory)
        for way in ways:
            try:
                cells, wrong = try_way(udpbench, way, args.show)
            except Broken as problem:
                skipped += 1
                print(f"{way.label:<34}SKIPPED: {problem}", flush=True)
                continue
            bad += bool(wrong)
            print(f"{way.label:<34}{way.place:<48}{cells}", *[f"\n    WRONG: {it}" for it in wrong], flush=True)
    print(f"{len(ways) - bad - skipped} of {len(ways)} ways are named, {skipped} cannot be had here")
    return 1 if bad else 0


def try_way(udpbench, way, shows):
    with Trial(udpbench, way, is_root=True) as trial:
        listen, watch = trial.run()
    if shows:
        print(watch)
    counts, wrong = judge_root(way, listen, watch)
    with Trial(udpbench, way, is_root=False) as trial:
        listen, watch = trial.run()
    if shows:
        print(watch)
    as_user, more = judge_user(way, listen, watch)
    cells = "".join(f"{'-' if count is None else count:>7}" for count in counts)
    return f"{cells}  {as_user}", wrong + [f"as a user: {it}" for it in more]


def test_wire(args):
    ways = [way for way in WIRE_WAYS if (args.only or "") in way.label and (args.machine or not way.machine)]
    bad = 0
    for way in ways:
        try:
            said, columns = try_wire(args.udpbench.resolve(), way)
        except Broken as problem:
            bad += 1
            print(f"{way.label:<28}BROKEN: {problem}", flush=True)
            continue
        if args.show:
            print(said)
        # Full buffers have a column of their own.
        is_named = way.place in said or (way.place == FULL and "dropped_socket_packets" in columns)
        bad += not is_named
        print(f"{way.label:<28}{way.place:<48}{'named' if is_named else 'WRONG: not named'}  {columns}", flush=True)
    print(f"{len(ways) - bad} of {len(ways)} ways are named over the wire")
    return 1 if bad else 0


if __name__ == "__main__":
    run(main)
