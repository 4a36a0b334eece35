"""How many operations per datagram make an engine slower by so many percent."""

import json
import math
import statistics
import sys

# Some ten percent of what a datagram costs, so that few sweeps show it; and a gross one, for tiny sweeps.
ROUGH = 200
GROSS = 5000
ROUGH_SWEEPS = 2
FINE_SWEEPS = 10


class Unmeasurable(Exception):
    """The delay did not show."""


def iterations_for(percents, engine, sweeps, quick):
    """By percent; kept in the directory of the sweeps, as the same delay has to serve all of them."""
    path = sweeps.directory / "delays.json"
    if path.exists():
        return {int(percent): iterations for percent, iterations in json.loads(path.read_text()).items()}
    if quick:
        cost = cost_of_one(GROSS, 1, engine, sweeps)
    else:
        rough = cost_of_one(ROUGH, ROUGH_SWEEPS, engine, sweeps)
        # Once more near the slow-downs that are asked for: what a delay costs need not be linear far beyond.
        cost = cost_of_one(iterations(max(percents), rough), FINE_SWEEPS, engine, sweeps)
    found = {percent: iterations(percent, cost) for percent in percents}
    path.write_text(json.dumps(found) + "\n")
    for percent, count in found.items():
        print(f"{percent} % slower: {count} operations per datagram", file=sys.stderr)
    return found


def iterations(percent, cost):
    """Speed is the inverse of time: 5 % less of it are 5.26 % more time, and time is what operations add to."""
    return max(1, round((1 / (1 - percent / 100) - 1) / cost))


def cost_of_one(trial, sweep_count, engine, sweeps):
    """What one operation adds to the time of a datagram, as a fraction of it: plain and delayed in turn."""
    changes = []
    for number in range(1, sweep_count + 1):
        plain, delayed = f"pilot-plain{trial}-{number}", f"pilot-delay{trial}-{number}"
        progress = f"pilot, {number} of {sweep_count}"
        both = [(plain, None), (delayed, f"{engine}:{trial}")]
        # Each goes first in turn: drift must not look like a delay.
        for name, delay in both if number % 2 else reversed(both):
            sweeps.run(name, delay, progress)
        changes.append(change(engine, sweeps.rows(plain), sweeps.rows(delayed)))
    added = math.exp(-statistics.mean(changes)) - 1
    if added <= 0:
        raise Unmeasurable(
            f"{trial} operations per datagram did not make {engine} slower: the machine is too busy, or the"
            " windows are too short; take the pilot's files away and try again"
        )
    return added / trial


def change(engine, base, new):
    """The mean logarithm of the ratios of ratios."""
    base, new = ratios(engine, base), ratios(engine, new)
    both = [math.log(new[case] / base[case]) for case in base if case in new]
    if not both:
        raise Unmeasurable(f"no case of {engine} has a ratio_to_std in two sweeps: is the engine in the sweep?")
    return statistics.mean(both)


def ratios(engine, rows):
    of_engine = [row for row in rows if row["sender"] == row["receiver"] == engine and row["status"] == "ok"]
    found = {row["case"]: float(row["ratio_to_std"] or 0) for row in of_engine}
    return {case: ratio for case, ratio in found.items() if ratio > 0}
