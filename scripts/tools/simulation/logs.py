"""Logs of sweeps, as `udpbench` writes them, from the speeds of their windows."""

import signal
import subprocess
import time
import zlib

from tools import log

# Datagrams per second in a window of a usual case.
USUAL_PPS = 200_000
WINDOW_NS = 66_666_666
NOTHING = {"sent": 0, "refused": 0, "received": 0, "dropped_socket": 0}
DISCARDS = ["unread", "kernel_discards", "kernel_discards_at_opening", "kernel_discards_at_closing"]
READINGS = ["first_millic", "last_millic", "hottest_millic", "throttle_bits", "under_voltage", "cooling", "lowest_khz"]


def header(udpbench, blocks, rounds, directory):
    """The first line of the log of a sweep of these cases: one is begun, and interrupted."""
    cases = [case for cases in blocks for case in cases]
    words = ["--rounds", str(rounds), "--duration", "10h", "--heat", "0s", "--pin", "none", "--board", "generic"]
    for flag in ["engine", "threads", "payload", "ip", "connection"]:
        values = dict.fromkeys(str(getattr(case, flag)) for case in cases)
        words += [f"--{flag}", ",".join(values)]
    begun = directory / "header.jsonl"
    command = [udpbench, *words, "--output", "-", "--samples", begun]
    sweep = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while sweep.poll() is None and not (begun.exists() and b"\n" in begun.read_bytes()):
        time.sleep(0.01)
    sweep.send_signal(signal.SIGINT)
    sweep.wait()
    line = log.objects(begun.read_text().splitlines()[0])[0]
    begun.unlink()
    line["header"]["schedule"]["settings"]["window_ns"] = WINDOW_NS
    # It has no states that outlast a run, as virtual machines have.
    line["header"]["environment"]["host"]["virtualization"] = None
    return line


def write(path, header, blocks):
    """A log of the speeds of each block's cases."""
    speeds = {case.key: (case, windows) for block in blocks for case, windows in block.items()}
    header["header"]["schedule"]["seed"] = zlib.crc32(path.name.encode())
    lines = [header]
    for number, block in enumerate(header["header"]["plan"]["blocks"]):
        keys = [key(one["case"]) for one in block["cases"] if "run" in one["verdict"]]
        lines.append({"block_begun": {"block": number, "warning": None}})
        rounds = len(speeds[keys[0]][1])
        for n in range(rounds):
            for position, (case, windows) in enumerate(map(speeds.get, keys), start=1):
                at = {"case": case.key, "round": n + 1, "position": position, "opened_unix_ms": 1000 * n}
                sample = {**at, **window(case, round(USUAL_PPS * windows[n] * WINDOW_NS * 1e-9))}
                lines.append({"window": {"sample": sample}})
        lines.append({"block_ended": {"block": number, "by": "rounds"}})
    path.write_text(log.lines(lines))


def key(case):
    return "{sender}:{receiver}/{threads}t/{payload}B/{connection}/{ip}".format(**case)


def window(case, packets):
    """Counts of a window in which all threads together moved so many datagrams, and lost none."""
    pairs = max(1, case.threads // 2)
    packets = packets // pairs
    sides = ["alone"] if case.threads == 1 else ["sender"] * pairs + ["receiver"] * pairs
    moved = {**NOTHING, "sent": pairs * packets, "received": pairs * packets}
    return {
        "window_ns": WINDOW_NS,
        "threads": [thread(side, packets, case.payload) for side in sides],
        "other_cpu_ns": 0,
        "coordinator_cpu_ns": None,
        "accounting": {
            "at_opening": NOTHING,
            "at_closing": moved,
            "at_end": moved,
            **dict.fromkeys(DISCARDS, 0),
            "drops_may_be_aggregates": False,
            "discards_may_be_trains": False,
        },
        "rcvbuf_bytes": 8388608,
        "sndbuf_bytes": 212992,
        "climate": dict.fromkeys(READINGS),
        "idle_times": {"cpus": 0, "states": []},
        "round_trips": None,
        "verified": None,
    }


def thread(side, packets, payload):
    received = 0 if side == "sender" else packets
    return {
        "side": side,
        "cpu": None,
        "sent_packets": 0 if side == "receiver" else packets,
        "refused_packets": 0,
        "received_packets": received,
        "received_bytes": received * payload,
        "would_blocks": 0,
        "errors": 0,
        "cpu_ns": WINDOW_NS // 2,
        "waited_ns": None,
        "taken": None,
        "voluntary_switches": 0,
        "involuntary_switches": 0,
        "pace": None,
        "remark": None,
    }
