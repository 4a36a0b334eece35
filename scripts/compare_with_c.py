#!/usr/bin/env python3
"""Compares udpbench's engines with the same techniques in C, scripts/reference/.

Both are built, then run in turn under the same conditions: IPv4 loopback sockets, one sender and one receiver
thread, the same pins, buffers, batch, warm-up and windows, the same calls of the kernel. What is compared is
the CPU time of both threads per datagram that arrived, as it is the least sensitive to what else runs on the
machine; beside it the sender's per datagram sent and the receiver's per datagram received.

The C side has its own clock, counters, threads and windows, and is no program for `udpbench --engine exec:PROGRAM`
(examples/languages/ has those): as such it would share with udpbench what is to be checked here.

Noise is drift, and drift that is slower than the alternation cancels. So a pair is made of several short
sub-runs, C and udpbench alternating and taking turns in going first; a side's value is the median of its
sub-runs, and the pair's ratio is udpbench's value over C's. Pairs of all techniques and payloads are
interleaved, too. What cannot run here (no io_uring) is named and left out.
"""

import argparse
import csv
import os
import signal
import statistics
import sys
from collections import Counter
from pathlib import Path

from tools.binary import built
from tools.command import run
from tools.intervals import interval_rank
from tools.sides import TECHNIQUES, CannotRun, build_c, run_c, run_udpbench

EXAMPLES = """\
examples:
  scripts/compare_with_c.py                                  every technique at 300 B, 9 pairs each: about 3 min
  scripts/compare_with_c.py --technique std,mmsg --payload 26,300,1460
  scripts/compare_with_c.py --technique std --pairs 31       a narrower interval
  scripts/compare_with_c.py --technique std-tcp,std-unix-stream --payload 4096,65536
  scripts/compare_with_c.py --pin 2:3 --output pairs.csv     sender on CPU 2, receiver on CPU 3, pairs kept
  scripts/compare_with_c.py --limit 3                        fail if an engine costs over 3 % more than C
  scripts/compare_with_c.py --udpbench ./udpbench            on a board without cargo

exit codes: 0 measured, 1 something broke or --limit is exceeded, 2 bad input, 130 Ctrl-C"""

PAYLOADS = "300"
MOST_BYTES = 1 << 20
NUMBERS = [
    ("--pairs", 9, "pairs per technique and payload"),
    ("--subruns", 6, "runs per side and pair"),
    ("--windows", 6, "windows per run, at least 5"),
    ("--window-ms", 12, "how long each is open"),
    ("--warmup-ms", 20, "traffic before each"),
    ("--rcvbuf", 4 << 20, "bytes to ask for as SO_RCVBUF; over TCP always 128 KiB"),
    ("--batch", 32, "datagrams per call of mmsg, uring and uring-zerocopy"),
]
# Named as udpbench's columns and as what flood.c prints: per datagram received, sent, received.
COSTS = ["cpu_ns_per_packet", "sender_cpu_ns_per_packet", "receiver_cpu_ns_per_packet"]
COUNTS = ["sent_packets", "received_packets"]
WIDE = 0.03  # of an interval: what is to be said of it
LOSSY_PCT = 0.1


def main():
    args = arguments()
    udpbench = args.udpbench or built()
    pairs, warnings = [], Counter()
    cases = [(technique, payload) for technique in args.technique for payload in args.payload]
    cases = [case for case in cases if is_possible(*case, udpbench, args)]
    if not cases:
        sys.exit("error: nothing can be compared here")
    with open_output(args.output) as output:
        for number in range(1, args.pairs + 1):
            for technique, payload in cases:
                pair = measure_pair(number, technique, payload, udpbench, args, warnings)
                pairs.append(pair)
                append(output, pair)
                about = f"pair {number} of {args.pairs}, {technique.name}, {payload} B"
                print(f"{about}: {pair['ratio']:.4f}", file=sys.stderr)
    rows = [summary(technique.name, payload, pairs) for technique, payload in cases]
    print_table(rows, args)
    print_remarks(rows)
    for warning, runs in warnings.most_common():
        print(f"udpbench warned in {runs} of {len(pairs) * args.subruns} runs: {warning}", file=sys.stderr)
    sys.exit(exceeds(rows, args.limit))


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    names = ",".join(technique.name for technique in TECHNIQUES)
    add("--technique", type=techniques, default=names, metavar="LIST", help=f"some of {names} [default: all]")
    add("--payload", type=payloads, default=PAYLOADS, metavar="LIST", help=f"bytes [default: {PAYLOADS}]")
    for name, default, meaning in NUMBERS:
        add(name, type=count, default=default, metavar="N", help=f"{meaning} [default: {default}]")
    add("--pin", type=pin, metavar="S:R", help="CPUs of sender and receiver [default: the last two]")
    add("--output", type=Path, metavar="FILE", help="also write each pair to this CSV file")
    add("--limit", type=float, metavar="PCT", help="exit 1 if a median ratio exceeds 1 + PCT/100")
    add("--udpbench", type=Path, metavar="FILE", help="compare this binary, build none")
    args = parser.parse_args()
    if args.windows < 5:
        parser.error("--windows must be at least 5, as udpbench measures no fewer")
    if args.output and args.output.exists():
        parser.error(f"--output {args.output}: it exists, and nothing is overwritten; choose another name")
    if not args.pin:
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            parser.error("only one CPU is at hand, and two threads are to run; give --pin S:R to share it")
        args.pin = (cpus[-1], cpus[-2])
    return args


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it takes a whole number from 1, not {text}")
    return int(text)


def techniques(text):
    known = {technique.name: technique for technique in TECHNIQUES}
    for name in text.split(","):
        if name not in known:
            raise argparse.ArgumentTypeError(f"it takes some of {','.join(known)}, not {text}")
    return [known[name] for name in dict.fromkeys(text.split(","))]


def payloads(text):
    sizes = text.split(",")
    if not all(size.isdecimal() and int(size) <= MOST_BYTES for size in sizes):
        raise argparse.ArgumentTypeError(f"it takes sizes from 0 to {MOST_BYTES} B like 26,300, not {text}")
    return list(dict.fromkeys(map(int, sizes)))


def pin(text):
    cpus = text.split(":")
    if len(cpus) != 2 or not all(cpu.isdecimal() for cpu in cpus):
        raise argparse.ArgumentTypeError(f"it takes two CPUs like 1:0, not {text}")
    return tuple(map(int, cpus))


def is_possible(technique, payload, udpbench, args):
    """Builds it, and tries it once on both sides."""
    try:
        build_c(technique)
        run_c(technique, payload, args)
        run_udpbench(technique, udpbench, payload, args, Counter())
    except CannotRun as reason:
        print(f"{technique.name} at {payload} B is left out: {reason}", file=sys.stderr)
        return False
    return True


def measure_pair(number, technique, payload, udpbench, args, warnings):
    run = {
        "c": lambda: run_c(technique, payload, args),
        "udpbench": lambda: run_udpbench(technique, udpbench, payload, args, warnings),
    }
    runs = {side: [] for side in run}
    for subrun in range(args.subruns):
        # Both take turns in going first, between pairs as within them.
        for side in sorted(run, reverse=(number + subrun) % 2 == 0):
            runs[side].append(run[side]())
    if len({one["rcvbuf_bytes"] for one in runs["c"] + runs["udpbench"]}) > 1:
        sys.exit("error: the two were granted receive buffers of different sizes, and cannot be compared")
    pair = {"technique": technique.name, "payload_bytes": payload, "pair": number}
    for side, results in runs.items():
        for name in COSTS:
            pair[f"{side}_{name}"] = round(statistics.median(float(one[name]) for one in results), 2)
        for name in COUNTS:
            pair[f"{side}_{name}"] = sum(int(one[name]) for one in results)
    for name in COSTS:
        ratio = pair[f"udpbench_{name}"] / pair[f"c_{name}"]
        pair[name.replace("cpu_ns_per_packet", "ratio")] = round(ratio, 4)
    return pair


def open_output(path):
    try:
        return open(path or os.devnull, "x" if path else "w", newline="")
    except OSError as error:
        fix = "name a new file in a directory you may write to"
        sys.exit(f"error: --output {path}: {error.strerror}; {fix}")


def append(output, pair):
    writer = csv.DictWriter(output, pair)
    if output.tell() == 0:
        writer.writeheader()
    writer.writerow(pair)
    output.flush()


def summary(technique, payload, pairs):
    mine = [pair for pair in pairs if (pair["technique"], pair["payload_bytes"]) == (technique, payload)]

    def values(name):
        return sorted(pair[name] for pair in mine)

    rank, _ = interval_rank(len(mine))
    ratios = values("ratio")
    row = {"technique": technique, "payload": payload, "low": ratios[rank - 1], "high": ratios[-rank]}
    for name in ["ratio", "sender_ratio", "receiver_ratio"]:
        row[name] = statistics.median(values(name))
    for side in ["c", "udpbench"]:
        row[f"{side}_ns"] = statistics.median(values(f"{side}_cpu_ns_per_packet"))
        sent = sum(values(f"{side}_sent_packets"))
        row[f"{side}_loss_pct"] = 100 * (sent - sum(values(f"{side}_received_packets"))) / max(sent, 1)
    return row


def print_table(rows, args):
    _, coverage = interval_rank(args.pairs)
    print("CPU time of both threads per datagram that arrived, and udpbench over C: medians of paired ratios")
    print(
        f"{args.pairs} pairs of {args.subruns} x {args.windows} windows of {args.window_ms} ms a side;"
        f" CPU {args.pin[0]} sends to CPU {args.pin[1]}; intervals of {100 * coverage:.1f} %"
    )
    heads = ["technique", "B", "C ns", "udpbench", "ratio", "interval", "sender", "receiver"]
    heads += ["C loss%", "loss%"]
    line = "{:15}  {:>5}  {:>7}  {:>8}  {:>6}  {:>15}  {:>6}  {:>8}  {:>7}  {:>5}".format
    print(line(*heads))
    for row in rows:
        interval = f"{row['low']:.4f} - {row['high']:.4f}"
        ratios = [f"{row[name]:.4f}" for name in ["ratio", "sender_ratio", "receiver_ratio"]]
        losses = [f"{row['c_loss_pct']:.2f}", f"{row['udpbench_loss_pct']:.2f}"]
        costs = [f"{row['c_ns']:.1f}", f"{row['udpbench_ns']:.1f}", ratios[0], interval, *ratios[1:]]
        print(line(row["technique"], row["payload"], *costs, *losses))


def print_remarks(rows):
    print("sender: the ratio of its own CPU time per datagram sent; receiver: its own per one received")
    if any(row[f"{side}_loss_pct"] > LOSSY_PCT for row in rows for side in ["c", "udpbench"]):
        print("where datagrams are lost, `ratio` has the work on those in it, too; the other two have not")
    wide = [f"{row['technique']} at {row['payload']} B" for row in rows if row["high"] - row["low"] > WIDE]
    print(f"intervals wider than {100 * WIDE:.0f} %: {', '.join(wide) or 'none'}")


def exceeds(rows, limit_pct):
    """1 if a median ratio is above the limit, else 0."""
    if limit_pct is None:
        return 0
    over = [row for row in rows if row["ratio"] > 1 + limit_pct / 100]
    for row in over:
        about = f"{row['technique']} at {row['payload']} B"
        print(f"{about} costs over {limit_pct} % more than C", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
    run(main)
