"""Rows of a sweep, as `udpbench` writes them to CSV, from the speeds of its windows."""

import csv
import math
import statistics

from tools.intervals import Middle

# Datagrams per second in a window of a usual case.
USUAL_PPS = 200_000
SHARED = {
    "status": "ok",
    "reason": "",
    "pin": "0",
    "window_ms": 67,
    "warmup_ms": 30,
    "rcvbuf_requested_bytes": 4194304,
    "rcvbuf_bytes": 8388608,
    "sndbuf_bytes": 212992,
    "loss_pct": 0,
    "failed_calls": 0,
    "board": "generic",
    "model": "",
    "soc": "",
    "cpu_model": "dice",
    "arch": "x86_64",
    "target": "",
    "machine": "x86_64",
    "virtualization": "",
    "kernel": "",
    "preemption": "",
    "irq_time_accounting": "",
    "governor": "",
    "cpufreq_driver": "",
    "cpuidle_driver": "",
    "isolated_cpus": "",
    "rps_cpus": "",
    "nic_irq_cpus": "",
    "throttled": "",
    "warnings": "",
    "seed": 0,
    "started_at": "",
    "version": "",
}


def write(path, blocks):
    """A file of the speeds of each block's cases."""
    rows = [row(case, speeds) for speeds in blocks for case in speeds]
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def row(case, speeds):
    windows = speeds[case]
    speed = Middle.of([USUAL_PPS * window for window in windows])
    return {
        "case": case.key,
        "sender": case.engine,
        "receiver": case.engine,
        "threads": case.threads,
        "senders": max(1, case.threads // 2),
        "receivers": max(1, case.threads // 2),
        "payload_bytes": case.payload,
        "connection": case.connection,
        "ip": case.ip,
        "rounds": len(windows),
        "received_pps": f"{speed.value:.0f}",
        "received_pps_low": f"{speed.low:.0f}",
        "received_pps_high": f"{speed.high:.0f}",
        "residual_sd_pct": f"{100 * residual(case, speeds):.3f}",
        **SHARED,
    }


def residual(case, speeds):
    """The scatter of a case, less what the other engines of its block have in common, if that is smaller."""
    own = [math.log(window) for window in speeds[case]]
    others = [windows for other, windows in speeds.items() if other.engine != case.engine]
    common = [statistics.fmean(map(math.log, windows)) for windows in zip(*others)]
    return min(deviation(own), deviation([*map(float.__sub__, own, common)]))


def deviation(values):
    """The standard deviation; that of `statistics` is exact, and slow."""
    mean = statistics.fmean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
