#!/usr/bin/env python3
"""Do round trips come out as queueing theory says, and rates as they were asked?

A server that works for a fixed time on each request, asked at random (Poisson), is an M/D/1 queue: requests wait
rho * S / (2 * (1 - rho)) in the mean, at a load of rho and a service time of S (Kleinrock, Queueing Systems, volume 1,
section 5.6). What a request costs beyond its service time is in S, which is measured at full load. What it costs on
its way is the round trip of requests that come as often, but evenly: they do not wait for each other.

Two clients at different rates ask at the same time, too, each of its own server: are both reported right?
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import ROOT
from tools.command import Broken, run

EXAMPLES = """\
examples:
  scripts/truths.py                                six minutes, with target/dist/udpbench
  scripts/truths.py --service 500us --seconds 60   shorter services: waking the server counts more

It takes two CPUs that do nothing else.

exit codes: 0 within the intervals, 1 something broke, 2 bad input, 3 not within"""

LOADS = [0.5, 0.7, 0.9]
RATES = [300, 3000]
# Requests by which each window may differ from its rate: one at either edge.
AT_EDGES = 2
RESAMPLES = 2000
ROUNDS = 20
# Student's t of ROUNDS windows, for intervals that hold at all LOADS together in 95 of 100 runs (Bonferroni).
T = 2.62


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        runs = Runs(args, Path(scratch))
        wrong = waits(runs) + rates(runs)
    return 3 if wrong else 0


def waits(runs):
    """Counts the loads whose mean wait is not the one of theory."""
    working = f"--service {runs.args.service}"
    service_us = 1e6 / per_second(runs.run("busy", f"{working} --outstanding 16"))
    print(f"{runs.args.udpbench}: {working}, {service_us:.1f} us each at full load")
    print(f"{'load':>6}  {'waited, us':>10}  {'interval':>18}  {'M/D/1':>7}")
    wrong = 0
    for load in LOADS:
        rate = f"{working} --rate {round(load * 1e6 / service_us)} --arrivals"
        even = runs.run(f"even{load}", f"{rate} even")
        poisson = runs.run(f"poisson{load}", f"{rate} poisson")
        real, waited, expected = found(poisson, even, service_us)
        error = standard_error(poisson, even, service_us)
        wrong += abs(waited - expected) > T * error
        interval = f"{waited - T * error:.1f} to {waited + T * error:.1f}"
        print(f"{real:6.3f}  {waited:10.1f}  {interval:>18}  {expected:7.1f}", flush=True)
    return wrong


def rates(runs):
    """Counts the clients that are not reported at the rate at which they ask."""
    with ThreadPoolExecutor() as pool:
        both = [pool.submit(runs.run, f"rate{rate}", f"--rate {rate}") for rate in RATES]
        answers = [per_second(run.result()) for run in both]
    for asked, answered in zip(RATES, answers):
        print(f"asked {asked} a second beside the other: {answered:.1f} answered")
    within = AT_EDGES * ROUNDS / runs.args.seconds
    return sum(abs(answered - asked) > within for asked, answered in zip(RATES, answers))


def per_second(windows):
    return sum(count for count, _, _ in windows) / sum(seconds for _, _, seconds in windows)


def mean_us(windows):
    """The mean of all round trips."""
    return sum(total for _, total, _ in windows) / sum(count for count, _, _ in windows) / 1000


def found(poisson, even, service_us):
    """The load that was really asked, as arrivals at random are not as many in each run; how long requests waited, in
    the mean; and how long they should have."""
    load = per_second(poisson) * service_us / 1e6
    return load, mean_us(poisson) - mean_us(even), load * service_us / (2 * (1 - load))


def standard_error(poisson, even, service_us):
    """The standard error of waits beyond theory, by drawing windows of both runs again; drawn ones scatter a little
    less than new ones would."""
    dice = random.Random(1)

    def again(of):
        return [dice.choice(of) for _ in of]

    drawn = [found(again(poisson), again(even), service_us) for _ in range(RESAMPLES)]
    differences = [waited - expected for _, waited, expected in drawn]
    return statistics.stdev(differences) * math.sqrt(ROUNDS / (ROUNDS - 1))


class Runs:
    """Runs of one case: what each window had."""

    def __init__(self, args, directory):
        self.args = args
        self.directory = directory

    def run(self, name, options):
        """The round trips of each window, the sum of their nanoseconds, and its length in seconds."""
        output = self.directory / f"{name}.csv"
        sweep = "--workload rr --engine std --threads 2 --payload 100 --connection connected --ip v4 --no-reference"
        # A queue that starts empty takes some hundreds of services until it is as long as theory says.
        length = f"--rounds {ROUNDS} --warmup 1s --duration {self.args.seconds}s"
        command = [self.args.udpbench, "-q", *f"{sweep} {length} {options}".split(), "-o", output]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in [0, 1]:
            raise Broken(f"{name}: exit code {done.returncode}: {done.stderr.strip()}")
        found = []
        for line in output.with_suffix(".jsonl").read_text().splitlines():
            sample = json.loads(line).get("window", {}).get("sample")
            if sample and sample["round_trips"]:
                trips = sample["round_trips"]
                count = sum(count for _, count in trips["times"])
                found.append((count, trips["sum_ns"], sample["window_ns"] / 1e9))
        if len(found) < 5:
            raise Broken(f"{name}: {len(found)} windows in {output.with_suffix('.jsonl')}")
        return found


def arguments():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, formatter_class=raw)
    add = parser.add_argument
    add("--udpbench", type=Path, default=ROOT / "target/dist/udpbench", metavar="FILE", help="the program")
    add("--service", default="2ms", metavar="TIME", help="that a server works on each request [default: 2ms]")
    add("--seconds", type=int, default=30, metavar="N", help="of each load [default: 30]")
    args = parser.parse_args()
    if not os.access(args.udpbench, os.X_OK):
        parser.error(f"--udpbench {args.udpbench}: there is no such program; cargo build --profile dist makes it")
    if args.seconds < 2:
        parser.error(f"--seconds {args.seconds}: use 2 or more")
    args.udpbench = args.udpbench.resolve()
    return args


if __name__ == "__main__":
    run(main, "interrupted")
