#!/usr/bin/env python3
"""Which pairs of boards are measured when; scripts/fleet calls it.

Reads {"pairs": [["attic", "cellar"], ...], "boards": ["attic", ...], "at_once": false}, and prints rounds: lists of
pairs that are measured at the same time. Without "at_once", each round has one pair. With it, no board is in a round
twice."""

import json
import sys
from itertools import chain

EXAMPLE = "name pairs as in udpbench_pairs: [[attic, cellar], [attic, shed]]"


class Refusal(Exception):
    """Bad pairs: which, why, and what to do."""


def check(pairs, boards):
    if not isinstance(pairs, list) or not pairs:
        raise Refusal(f"udpbench_pairs: {json.dumps(pairs)}: it is no list of pairs; {EXAMPLE}")
    for number, pair in enumerate(pairs):
        name = f"udpbench_pairs: {json.dumps(pair)}"
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(board, str) for board in pair):
            raise Refusal(f"{name}: it is not two boards; {EXAMPLE}")
        for board in pair:
            if board not in boards:
                raise Refusal(f"{name}: there is no board {board}, but {', '.join(boards)}; --limit may leave it out")
        if pair[0] == pair[1]:
            raise Refusal(f"{name}: these are one board; to measure it alone, use fleet.yml")
        if pair in pairs[:number]:
            raise Refusal(f"{name}: it is there twice; leave one out")


def rounds(pairs, at_once):
    """Each pair is in the first round that none of its boards is in yet."""
    found = []
    for pair in pairs:
        is_free = (taken for taken in found if at_once and set(pair).isdisjoint(chain(*taken)))
        free = next(is_free, None)
        if free is None:
            found.append([pair])
        else:
            free.append(pair)
    return found


def main():
    given = json.load(sys.stdin)
    if not isinstance(given["at_once"], bool):
        shown = json.dumps(given["at_once"])
        raise Refusal(f"udpbench_pairs_at_once: {shown}: it is neither true nor false; after -e, write JSON")
    check(given["pairs"], given["boards"])
    print(json.dumps(rounds(given["pairs"], given["at_once"])))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        sys.exit(2)
