"""Holds the status and the warnings of a row against what was done."""

import re

from tools.tries.counts import NOT_OF_IP

# Warnings of a machine that others use. None says where datagrams are.
NOISE = (
    "lost CPU time|other programs use|disturbed windows|other threads of the program|share \\d+ CPU|"
    "could not be pinned|traffic takes|clock|throttl|queues were filling|"
    "(senders|receivers) (sent|received) nothing"
)
CALLS = "calls? failed"
REFUSED = f"{CALLS}|refused at the sender"
# Copies that hide what got lost.
SURPLUS = "unexpected_packets|[1-9]\\d* came twice|copies or fragments|closed ports counted"


def complaints(attempt, run, truths):
    """Which are missing, and which are not true."""
    # Nobody can tell the longest datagram where nothing comes through.
    faults = [it for it in attempt.faults if it.stops_all] or attempt.faults
    yield from [f"nothing says before the start: {it.says}" for it in faults if not re.search(it.says, run.said)]
    if run.is_measured:
        yield from of_status(run, truths)
        yield from of_warnings(attempt, run, truths)
    elif run.row["status"] != "skipped":
        has_to_fail = any(fault.stops_all for fault in attempt.faults)
        # Neither the other host nor anybody's signal ended it.
        if not has_to_fail or run.row["status"] != "failed" or re.search("gone|signal|starved", run.row["reason"]):
            yield f"{run.row['status']}, exit code {run.code}: {run.row['reason']} / {run.said}"


def of_status(run, truths):
    status, reason = run.row["status"], run.row["reason"]
    nothing_came = any(truth.received <= truth.slack for truth in truths)
    is_right = status == "ok" or (nothing_came and re.search("nothing (was|sent)", reason))
    if not is_right or (status == "ok" and run.code != 0):
        yield f"{status}, exit code {run.code}: {reason or run.said}"


def of_warnings(attempt, run, truths):
    warnings = [it for it in run.row["warnings"].split("; ") if it]
    needed = list(needs(attempt, run, truths))
    allowed = [NOISE, *needed, *[it for fault in attempt.faults for it in [fault.needs, fault.allows] if it]]
    if run.calls_may_fail:
        allowed.append(REFUSED)
    if any(truth.closed or truth.foreign for truth in truths):
        allowed.append("closed ports counted")
    # Counters have others' datagrams, copies and fragments besides the missing ones.
    if any(it.foreign or it.counted_before > it.left - it.crossed or it.copied or it.is_cut for it in truths):
        allowed.append("more was dropped at")
    if attempt.link.rules:
        # The test wire is a process that may have to wait for a CPU, and then holds what it has for long.
        allowed += ["datagrams verified", "left unread"]
    if any(truth.copied for truth in truths):
        allowed.append(SURPLUS)
    paths = [path for sample in run.samples for path in sample["paths"]]
    allowed.append(r"in a window: of \d+ datagrams")
    if all(any(it["received"] for it in paths if it["direction"] == truth.way) for truth in truths):
        allowed.append("nothing was received in a window: it was too short")
    for what in needed:
        if not any(re.search(what, warning) for warning in warnings):
            yield f"no warning: {what}"
    for warning in warnings:
        if not any(re.search(what, warning) for what in allowed) and not is_behind(warning, run, truths):
            yield f"false warning: {warning}"


def needs(attempt, run, truths):
    """A regular expression for each warning that has to be there."""
    # A TAP device that is set down keeps its carrier: only who sends there is told.
    faults = [it for it in attempt.faults if it.moments is None or not attempt.link.rules]
    yield from [fault.needs for fault in faults if fault.needs and was_there(fault, run)]
    if sum(truth.out - truth.left for truth in truths) > 50:
        yield REFUSED
    if any(truth.is_cut for truth in truths):
        yield "in fragments"
    if any(truth.is_too_long for truth in truths):
        yield "MTUs differ"
    # Interfaces show, too, that more came out of a path than went in.
    # Copies of fragments are one datagram again where they are joined.
    whole = [truth for truth in truths if truth.wire and not truth.is_cut and not attempt.case.is_offloaded]
    made = [it.copied - it.wire["dropped"] - it.wire["seen"] / 200 - NOT_OF_IP * len(run.samples) for it in whole]
    if run.number("unexpected_packets") or any(it > 0 for it in made):
        yield SURPLUS


def was_there(fault, run):
    """Tells whether it was there while a window was open."""
    samples = run.samples + run.samples_besides
    windows = [(it["opened_unix_ms"], it["opened_unix_ms"] + it["window_ns"] / 1e6) for it in samples]
    moments = fault.moments
    return moments is None or any(
        begun < closed and opened < over for opened, closed in windows for begun, over in moments
    )


def is_behind(warning, run, truths):
    """Tells whether a warning of a rate that was not reached agrees with the kernel's counts."""
    said = re.search(r"of (\d+) (datagrams|requests) per second (\d+) were", warning)
    if not said or not run.has_all_samples:
        return bool(said)
    asked, count = int(said[1]), int(said[3])
    samples = run.samples + run.samples_besides
    seconds = sum(it["window_ns"] / 1e9 + run.warmup_s for it in samples)
    requests, answers = truths[0], truths[-1]
    # A bucket's burst is mostly in the warm-up.
    at_once = 20 * len(samples)
    if said[2] == "datagrams":
        sent = sum(truth.out for truth in truths)
        return abs(count * seconds - sent) <= sent / 4 + at_once and count < asked
    # A route that is gone refuses what no hook has seen.
    unseen = max(0, run.number("sent_packets") - sum(truth.out for truth in truths))
    lost = unseen + sum(truth.lost_before_the_socket for truth in truths)
    unanswered, lost = 1 - count / asked, lost / max(requests.out + unseen, 1)
    is_the_loss = lost > unanswered - 0.04 if "lost on the way" in warning else lost < unanswered
    # Queued requests are answered when the window is over.
    return count * seconds <= 1.25 * max(answers.received, 0) + at_once and is_the_loss
