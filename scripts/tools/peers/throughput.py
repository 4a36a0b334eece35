"""Floods of datagrams by iperf3, iperf2, sockperf and nuttcp: delivered per second, and CPU time."""

import sys
import textwrap
from pathlib import Path

from tools.command import Broken
from tools.peers.measuring import COLUMNS, Audit, measured, seconds_to_run
from tools.peers.report import WIDTH, Report
from tools.peers.senders import PEERS as PEERS
from tools.peers.senders import Conditions
from tools.peers.senders import Engine as Engine

PAYLOADS, LEAST_BYTES = "26,300,1460", 1
ENGINES = "std,std/unconnected,mio-once,mmsg,gso,gso-gro"
ENGINE_HELP = "of udpbench, connected, or E/unconnected"
ROUNDS = 6
LIMITS = [Path("/proc/sys/net/core/rmem_max"), Path("/proc/sys/net/core/wmem_max")]
BUFFER_BYTES = 4 << 20


def add_options(add):
    add("--steady-ms", type=int, default=1000, metavar="N", help="length of the stretch [default: 1000]")
    help_text = "receive buffer to ask for, in bytes [default: 4194304, or what net.core allows]"
    add("--rcvbuf", type=int, metavar="N", help=help_text)


def check(args, parser):
    most = min([int(limit.read_text()) for limit in LIMITS if limit.exists()], default=BUFFER_BYTES)
    args.rcvbuf = args.rcvbuf or min(BUFFER_BYTES, most) // 1024 * 1024
    if args.rcvbuf % 1024:
        parser.error(f"--rcvbuf {args.rcvbuf}: nuttcp counts in KiB; take a multiple of 1024")
    if args.rcvbuf > most:
        fix = f"sysctl -w net.core.rmem_max={args.rcvbuf} net.core.wmem_max={args.rcvbuf}"
        parser.error(f"--rcvbuf {args.rcvbuf}: a plain program gets at most {most} B here: {fix}")


class Kind:
    COLUMNS = COLUMNS

    def __init__(self, args, tools, all_cpus, scratch):
        self.args, self.tools = args, tools
        seconds = seconds_to_run(args.steady_ms)
        self.conditions = {
            payload: Conditions(payload, args.rcvbuf, *args.pin, all_cpus, seconds, args.udpbench, scratch)
            for payload in args.payload
        }

    def prepare(self):
        """Holds the accounting of whole runs of the engines against the kernel's; None where it could not."""
        if self.args.rcvbuf < BUFFER_BYTES:
            print(f"receive buffers: {self.args.rcvbuf} B, as net.core allows no more", file=sys.stderr)
        self.audits = []
        for engine in self.args.engine:
            for payload, at in self.conditions.items():
                try:
                    audit = Audit(engine, at)
                except Broken as reason:
                    audit = None
                    print(f"the accounting of {engine.name} at {payload} B: {reason}", file=sys.stderr)
                if audit and not audit.agrees:
                    print(f"the accounting of {engine.name} at {payload} B: {audit}", file=sys.stderr)
                self.audits.append(audit)
        print(self.verdict(), file=sys.stderr)

    def verdict(self):
        agreeing = [audit for audit in self.audits if audit and audit.agrees]
        windows, received = (sum(getattr(audit, name) for audit in agreeing) for name in ["windows", "received"])
        return (
            "udpbench's accounting and the kernel's counters agree to the last datagram in"
            f" {len(agreeing)} of {len(self.audits)} runs ({windows} windows, {received} datagrams received)."
        )

    def run(self, tool, payload):
        return measured(tool, self.conditions[payload], self.args.steady_ms / 1000)

    def said(self, row):
        return f"{row['received_pps'] / 1000:.0f} kpps, {row['loss_pct']:.1f} % lost"

    def show(self, rows):
        report = Report(rows, self.tools, self.args.payload, max(row["round"] for row in rows))
        print(report.table())
        closing = [*report.verdict(), self.verdict()]
        if report.unlike_buffers():
            closing.append(f"NOT COMPARABLE: receive buffers were granted in sizes of {report.unlike_buffers()} B.")
        for sentence in closing:
            print("\n".join(textwrap.wrap(sentence, WIDTH)))
        is_sound = not report.unmeasured() and all(audit and audit.agrees for audit in self.audits)
        return 0 if is_sound else 1
