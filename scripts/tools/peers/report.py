"""A table and a verdict of the rows of all rounds."""

import statistics
import textwrap
from dataclasses import dataclass

from tools.intervals import Median, interval_rank

# One datagram a call, like the peers; and the fastest that udpbench has.
SAME_TECHNIQUE, BEST_ENGINE = "std", "gso-gro"
# Columns of the terminal.
WIDTH = 100
NOTES = """\
kpps: datagrams delivered, by the kernel's counters over a steady stretch, median of the rounds; loss %:
dropped at the socket, of those sent; cpu ns: CPU time of all threads of the tool, user and system, per
delivered datagram, median; claims: kpps by the tool's own report, over its own time; off %: by how much
that is above (+) what the kernel saw; KiB: the receive buffer as granted; vs std: in the same round."""


@dataclass(frozen=True)
class Line:
    """One tool at one payload, over all rounds in which it ran."""

    tool: object
    payload: int
    kpps: Median
    loss_pct: float
    cpu_ns: float
    claimed_kpps: float
    off_pct: float
    rcvbuf_bytes: int
    vs_std: Median
    failures: list


class Report:
    def __init__(self, rows, tools, payloads, rounds):
        self.rows, self.tools, self.payloads, self.rounds = rows, tools, payloads, rounds

    def line(self, tool, payload):
        runs = list(self.runs(tool.name, payload).values())
        reasons = [row["reason"] for row in self.rows if is_of(row, tool.name, payload) and row["reason"]]
        if not runs:
            return Line(tool, payload, None, None, None, None, None, None, None, reasons)

        def median(name):
            values = [row[name] for row in runs if row[name] is not None]
            return statistics.median(values) if values else None

        return Line(
            tool=tool,
            payload=payload,
            kpps=Median.of([row["received_pps"] / 1000 for row in runs]),
            loss_pct=median("loss_pct"),
            cpu_ns=median("cpu_ns_per_packet"),
            claimed_kpps=median("claimed_pps") / 1000,
            off_pct=median("claim_deviation_pct"),
            rcvbuf_bytes=max(row["rcvbuf_bytes"] for row in runs),
            vs_std=self.ratio(tool.name, SAME_TECHNIQUE, payload),
            failures=reasons,
        )

    def runs(self, name, payload):
        """Measured rows by round."""
        return {row["round"]: row for row in self.rows if is_of(row, name, payload) and not row["reason"]}

    def ratio(self, name, base, payload):
        """Delivered datagrams a second over those of another tool in the same round; None if there are none."""
        ours, theirs = self.runs(name, payload), self.runs(base, payload)
        both = [number for number in ours if theirs.get(number, {}).get("received_pps")]
        ratios = [ours[number]["received_pps"] / theirs[number]["received_pps"] for number in both]
        return Median.of(ratios) if ratios else None

    def table(self):
        head = "tool", "kpps", "interval", "loss %", "cpu ns", "claims", "off %", "KiB", "vs std", "interval"
        form = " {:15} {:>7} {:>15} {:>6} {:>7} {:>9}{:5} {:>6} {:>6} {:>6} {:>11}".format
        lines = [form(*head[:6], "", *head[6:])]
        for payload in self.payloads:
            lines.append(f"-- {payload} B")
            for line in (self.line(tool, payload) for tool in self.tools):
                if line.kpps:
                    lines.append(form(*cells(line)))
                for reason in sorted(set(line.failures)):
                    said = reason if len(reason) <= 400 else f"{reason[:400]} ..."
                    said = f" {line.tool.name:15} failed {line.failures.count(reason)} x: {said}"
                    lines += textwrap.wrap(said, WIDTH, subsequent_indent=" " * 17)
        _, coverage = interval_rank(self.rounds)
        lines += ["", NOTES, f"Intervals of {self.rounds} rounds: {100 * coverage:.1f} %."]
        return "\n".join(lines)

    def verdict(self):
        """Two sentences, as far as there is something to compare."""
        sentences = []
        for name, what in [(SAME_TECHNIQUE, "Same technique, one datagram a call"), (BEST_ENGINE, "Best engine")]:
            parts = []
            for payload in self.payloads:
                peer = self.best_peer(payload)
                ratio = peer and self.ratio(name, peer, payload)
                if ratio:
                    figures = f"{ratio.value:.3g} ({ratio.low:.3g} to {ratio.high:.3g})"
                    parts.append(f"{figures} times as many datagrams as {peer} at {payload} B")
            if parts:
                peer = "the best peer" if name == SAME_TECHNIQUE else "the best peer, none of which has offload,"
                sentences.append(f"{what}: udpbench's {name} delivers {', '.join(parts)}; {peer} each time.")
        return sentences

    def best_peer(self, payload):
        """The name of the peer that delivers most, by the median of its rounds."""
        peers = [self.line(tool, payload) for tool in self.tools if tool.is_peer]
        measured = [line for line in peers if line.kpps]
        return max(measured, key=lambda line: line.kpps.value).tool.name if measured else None

    def unmeasured(self):
        """The tools and payloads that failed in every round."""
        pairs = [(tool, payload) for tool in self.tools for payload in self.payloads]
        return [(tool.name, payload) for tool, payload in pairs if not self.runs(tool.name, payload)]

    def unlike_buffers(self):
        """The sizes of the receive buffers, if they differ: then nothing here can be compared."""
        sizes = {row["rcvbuf_bytes"] for row in self.rows if not row["reason"]}
        return sorted(sizes) if len(sizes) > 1 else []


def is_of(row, name, payload):
    return (row["tool"], row["payload_bytes"]) == (name, payload)


def cells(line):
    ratio = line.vs_std if line.tool.name != SAME_TECHNIQUE else None
    return [
        line.tool.name,
        digits(line.kpps.value),
        f"{digits(line.kpps.low)} - {digits(line.kpps.high)}",
        f"{line.loss_pct:.2f}",
        digits(line.cpu_ns),
        digits(line.claimed_kpps),
        f" {line.tool.claims}",
        "" if line.off_pct is None else f"{line.off_pct:+.1f}",
        line.rcvbuf_bytes // 1024,
        digits(ratio.value, 3) if ratio else "",
        f"{digits(ratio.low, 3)}-{digits(ratio.high, 3)}" if ratio else "",
    ]


def digits(value, most=4):
    """A number with as many digits as say something, and no exponent."""
    if not value:
        return "" if value is None else "0"
    after = max(most - len(str(int(value))), 0)
    return f"{value:.{after}f}"
