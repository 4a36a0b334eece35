"""What `compare` makes of the sweeps, counted."""

import csv
import statistics
from typing import NamedTuple

from measuring.intervals import Rate

# What `compare --by` calls better, and worse.
VERDICTS = {"speed": ("faster", "slower"), "cpu": ("cheaper", "dearer")}


class Row(NamedTuple):
    """How often something happened, in comparisons of one kind."""

    percent: int
    what: str
    rate: Rate
    # The median of what the slowed engine's speed or CPU time changed by, in percent, or None.
    change_pct: float


def judge(order, engine, sweeps):
    """The table, from the sweeps in the order in which they were made."""
    plain = [name for name, percent in order if not percent]
    rows = rows_of(0, list(zip(plain, plain[1:])), engine, sweeps)
    for percent in sorted({percent for _, percent in order if percent}):
        rows += rows_of(percent, neighbours(order, percent), engine, sweeps)
    return rows


def rows_of(percent, pairs, engine, sweeps):
    compared = [sweeps.compare(base, new) for base, new in pairs]
    changes = [
        float(row["change_pct"]) for rows in compared for row in of(engine, rows, "engine") if row["change_pct"]
    ]
    change_pct = statistics.median(changes) if changes else None

    def row(what, happened):
        return Row(percent, what, Rate.of(sum(map(happened, compared)), len(compared)), change_pct)

    better, worse = VERDICTS[sweeps.by]

    def is_worse(rows):
        return any(row["verdict"] == worse for row in rows)

    def has_changed(rows):
        return any(row["verdict"] in [better, worse] for row in rows)

    if percent:
        counted = [
            row(f"{engine} {worse}", lambda rows: is_worse(of(engine, rows, "engine"))),
            row(f"any case of {engine} {worse}", lambda rows: is_worse(of(engine, rows, "case"))),
            row("either", lambda rows: is_worse(of(engine, rows))),
            row(f"another engine {better} or {worse} (false alarm)", lambda rows: has_changed(beside(engine, rows))),
        ]
    else:
        counted = [row(f"anything {better} or {worse} (false alarm)", has_changed)]
    return counted + [row("broken, or nothing to compare", is_broken)]


def is_broken(rows):
    return not rows or any(row["verdict"] == "broken" for row in rows)


def of(engine, rows, kind=None):
    return [row for row in rows if row["label"] == engine and kind in [None, row["kind"]]]


def beside(engine, rows):
    return [row for row in rows if row["label"] != engine]


def neighbours(order, percent):
    """A plain sweep for each delayed one, the nearest in time first, none of them twice."""
    places = list(enumerate(order))
    plain = {place: name for place, (name, slower) in places if not slower}
    delayed = {place: name for place, (name, slower) in places if slower == percent}
    nearest = sorted((abs(here - there), here, there) for here in delayed for there in plain)
    pairs = {}
    for _, here, there in nearest:
        if here not in pairs and there not in pairs.values():
            pairs[here] = there
    return [(plain[there], delayed[here]) for here, there in sorted(pairs.items())]


def show(rows, engine, circumstances):
    about = "udpbench {version}, {cpu_model}, {kernel}".format(**circumstances)
    print(f"{about}; {engine} slowed down")
    line = "{:>8}  {:>8}  {:48}  {:>8}  {:>6}  {:>13}".format
    print(line("slower %", "came to %", "called", "how often", "rate %", "95 % interval"))
    for row in rows:
        rate = row.rate
        interval = f"{100 * rate.low:.1f}..{100 * rate.high:.1f}"
        came_to = "" if row.change_pct is None else f"{row.change_pct:+.1f}"
        times = f"{rate.count} of {rate.of_all}"
        print(line(row.percent or "none", came_to, row.what, times, f"{100 * rate.value:.1f}", interval))


def write(path, rows, iterations, settled, circumstances):
    names = ["version", "board", "cpu_model", "machine", "kernel", "governor", "virtualization", "started_at"]
    shared = settled | {name: circumstances[name] for name in names}
    columns = ["slower_pct", "iterations", "change_pct", "called", "count", "comparisons", "rate_pct"]
    with open(path, "x", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, "rate_pct_low", "rate_pct_high", *shared])
        for row in rows:
            rate = row.rate
            percents = [f"{100 * value:.1f}" for value in [rate.value, rate.low, rate.high]]
            change_pct = "" if row.change_pct is None else f"{row.change_pct:.2f}"
            counts = [row.percent, iterations.get(row.percent, 0), change_pct, row.what, rate.count, rate.of_all]
            writer.writerow([*counts, *percents, *shared.values()])
