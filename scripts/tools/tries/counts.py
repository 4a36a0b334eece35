"""Holds the counts of a row, and of its raw samples, against the truth."""

import re

from tools.tries.faults import (
    ANYWHERE,
    BACKLOG,
    BEHIND,
    KERNEL_OUT,
    NIC_IN,
    NIC_OUT,
    PATH,
    PROTOCOL,
    QDISC,
    REFUSED,
    SOCKET,
)

# Reordered packets may come when their sockets are closed.
LATE = 10
# Frames of a run that did not come to IP, and may have been ARP (docs/WIRE.md).
NOT_OF_IP = 20
# Datagrams of some trains of a run that others' counters may explain.
MOST_IN_TRAINS = 10 * 128


class Counts:
    """Counts of one try: `complaints` says which of them are wrong."""

    def __init__(self, attempt, run, truths):
        self.attempt, self.case, self.run, self.truths = attempt, attempt.case, run, truths
        self.complaints = []
        self.places = {name for name in run.row if re.fullmatch(r"(dropped|lost)\w*_packets", name)}
        self.places -= {"dropped_kernel_packets"}
        self.behind = self.places - {KERNEL_OUT, QDISC, NIC_OUT, PATH, SOCKET}
        if run.has_all_samples:
            self.hold_samples()
        if run.has_all_samples and not run.samples_besides:
            # The row lacks some of the datagrams otherwise.
            self.hold_sums()
            self.hold_places()
        self.hold_one_sent()
        if self.case.workload == "rr":
            self.hold_requests()
        if run.number("failed_calls") and not run.calls_may_fail:
            self.complaints.append(f"failed_calls: {run.number('failed_calls')}, and none had to fail")

    def hold(self, what, said, *true, slack=0):
        """`true`: all numbers that are right."""
        if not any(abs(said - it) <= slack for it in true):
            self.complaints.append(f"{what}: {said}, and {' or '.join(map(str, true))} is true")

    def sum(self, name):
        return sum(getattr(truth, name) for truth in self.truths)

    def hold_samples(self):
        """Each direction by itself, of whole runs."""
        for truth in [] if self.case.is_offloaded else self.truths:
            samples = self.run.samples + self.run.samples_besides
            paths = [path for sample in samples for path in sample["paths"] if path["direction"] == truth.way]
            received = sum(path["received"] + path["unread"] for path in paths)
            late = LATE * bool(truth.wire and truth.wire["reordered"])
            self.hold(f"received {truth.way}", received, truth.received, slack=truth.slack + late)
            dropped = sum(path["dropped_socket"] for path in paths)
            self.hold(f"dropped at the socket {truth.way}", dropped, truth.dropped_socket)

    def hold_sums(self):
        number = self.run.number
        sent, refused, surplus = map(number, ["sent_packets", REFUSED, "unexpected_packets"])
        # A call that is told of an earlier datagram (ECONNREFUSED), or that there is no route, loses its own.
        is_more = self.run.calls_may_fail and sent > self.sum("out")
        self.hold("sent_packets", sent, sent if is_more else self.sum("out"))
        self.hold(REFUSED, refused, sent - self.sum("left"))
        lost = sum(map(number, self.places)) + refused
        ended = number("received_packets") + number("unread_packets") + lost
        self.hold("sum of all places", ended, sent + surplus)
        if sent and not surplus:
            self.hold("loss_pct", number("loss_pct"), round(100 * lost / sent, 4), slack=0.01)

    def hold_places(self):
        losses = [({SOCKET}, self.sum("dropped_socket"))]
        for truth in self.truths:
            losses += self.losses(truth)
        losses = merged(losses)
        slack = self.sum("slack") + LATE * any(truth.wire and truth.wire["reordered"] for truth in self.truths)
        # Counters of an interface have packets of ssh, too.
        slack += sum(
            max(0, truth.counted_before - truth.left + truth.crossed) for truth in self.truths if not truth.is_cut
        )
        if any(BEHIND in fault.places for fault in self.attempt.faults):
            slack += NOT_OF_IP * len(self.run.samples) * len(self.truths)
        if self.case.is_offloaded:
            # A train that is dropped counts as one, and a place may take what another one lost.
            slack = MOST_IN_TRAINS * len(self.run.samples)
        elif not self.sum("copied"):
            # Datagrams that came twice hide lost ones where nothing is numbered.
            for places, count in losses:
                self.hold_place(places, count, slack)
        possible = set().union(*[places for places, count in losses if count])
        for name in sorted(self.places - possible):
            self.hold(name, self.run.number(name), 0, slack=slack)

    def hold_place(self, places, count, slack):
        said = {name: self.run.number(name) for name in sorted(places)}
        if abs(sum(said.values()) - count) > slack:
            shown = {name: value for name, value in said.items() if value} or 0
            self.complaints.append(f"in {' + '.join(said)}: {shown}, and {count} is true")

    def losses(self, truth):
        """Sets of places, and how many datagrams got lost there."""
        faults = [it for it in self.attempt.faults if it.at == truth.sink or ANYWHERE in it.places]
        between = set().union(*[fault.places for fault in faults])
        if truth.qdisc:
            between |= {QDISC}
        if truth.backlog:
            between |= {BACKLOG}
        if truth.is_too_long:
            between |= {KERNEL_OUT, NIC_OUT, BEHIND}
        if ANYWHERE in between or truth.foreign:
            # A counter that others move, too, may explain it; a warning says so.
            between |= self.places - {SOCKET}
        if truth.is_cut and truth.wire:
            between |= {NIC_OUT, PATH}
        if BEHIND in between or truth.is_cut:
            between |= self.behind
        between &= self.places
        if truth.is_cut:
            # Fragments are lost anywhere, and datagrams where they are joined.
            return [(between, truth.left - truth.received - truth.dropped_socket)]
        ended = [(self.behind, truth.came - truth.into), ({PROTOCOL}, truth.closed + truth.errors)]
        if not truth.wire:
            return [*ended, (between, truth.left - truth.came)]
        wire = truth.wire
        if wire["reordered"]:
            ended.append(({PATH, PROTOCOL}, 0))
        if wire["refused"]:
            # An interface is down.
            ended.append(({PATH, NIC_IN}, wire["refused"]))
        ended.append(({PATH}, wire["dropped"] + wire["too_many_held"]))
        return [*ended, (between | {NIC_OUT}, truth.left - wire["seen"]), (between, wire["passed"] - truth.came)]

    def hold_one_sent(self):
        """Rates, losses and CPU time of a row are of the same datagrams sent."""
        at_end = sum(sample["accounting"]["at_end"]["sent"] for sample in self.run.samples)
        self.hold("sent by the accounting at the end", at_end, self.run.number("sent_packets"))

    def hold_requests(self):
        """Each of a window was answered or was not, and none was handed over again and again."""
        number, (requests, answers) = self.run.number, self.truths
        sides = ["client", "sender"]
        threads = [thread for sample in self.run.samples for thread in sample["threads"] if thread["side"] in sides]
        at_once = 32 if self.case.rate else max(32, self.case.outstanding)
        at_the_edges = 2 * at_once * len(threads)
        asked = sum(thread["sent_packets"] for thread in threads)
        answered, unanswered = number("answered_requests"), number("unanswered_requests")
        # The edges of a window are read one after the other, by a program that may have to wait for a CPU.
        held_up = 0.05 * (self.case.rate or 0) * len(self.run.samples)
        self.hold("answered + unanswered requests", answered + unanswered, asked, slack=at_the_edges + held_up)
        self.hold_most("answered_requests", answered, answers.received + answers.slack)
        lost = requests.out - answers.received + requests.copied + answers.copied + answers.slack
        self.hold_most("unanswered_requests", unanswered, lost + number("late_responses") + number(REFUSED))
        runs = len(self.run.samples + self.run.samples_besides)
        seconds = sum(sample["window_ns"] for sample in self.run.samples) / 1e9 + 0.03 * runs
        # A client gives up after 250 ms.
        due = self.case.rate * seconds if self.case.rate else answers.received + at_the_edges * (2 + seconds / 0.25)
        self.hold_most("requests handed over", requests.out, 2 * due + 1000)

    def hold_most(self, what, said, most):
        if said > most:
            self.complaints.append(f"{what}: {said}, and {most:.0f} is the most that can be")


def merged(losses):
    """Merges sets that have a place in common."""
    found = []
    for places, count in losses:
        for other in [it for it in found if it[0] & places]:
            found.remove(other)
            places, count = places | other[0], count + other[1]
        found.append((places, count))
    return found
