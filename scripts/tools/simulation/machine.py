"""A machine that measures as ours does: the speed of each window of a sweep, made by dice.

Every deviation is that of a natural logarithm: 0.01 is 1 %. The defaults of `Noise` were chosen so that ratios in
simulated sweeps scatter as in ten sweeps in a row on a virtual machine (results/2026-11-23-x86-vm): within a sweep by
3.1 % with one thread and 8.4 % with several, and from sweep to sweep, estimated over 15 rounds, by 0.6 and 2.4 %.
"""

import math
from typing import NamedTuple

# A sweep of 96 cases, and the one case that all others of a block are compared with.
ENGINES = ["std", "mio-level", "mio-exhaustive"]
THREADS = [1, 2, 4]
PAYLOADS = [26, 300, 1460]
IPS = ["v4", "v6"]
CONNECTIONS = ["connected", "unconnected"]
REFERENCE = ("std", "connected")


class Noise(NamedTuple):
    """The noise of a machine. Pairs are for one thread, and for several, which share CPUs."""

    # Drift of the machine from run to run; it meets all cases, and nearly cancels in their ratios.
    drift: float = 0.035
    # The part of a change of the machine's speed that a ratio shows, by engine and thread count.
    left_over: float = 0.06
    # A neighbour comes or goes: how often before a window, and by how much it changes the speed.
    switches: float = 0.02
    switch: float = 0.10
    # Scatter of each window.
    window: tuple = (0.013, 0.052)
    # The share of windows that are far off, and how many times as far.
    wild: float = 0.03
    wilder: float = 6.0
    # Scatter of each case from run to run, which its rounds do not show.
    between_runs: tuple = (0.002, 0.005)
    # The engine with the most noise, and how many times that of the others.
    noisy: str = "mio-exhaustive"
    noisier: float = 1.0


class Case(NamedTuple):
    """One combination, as a key names it."""

    engine: str
    threads: int
    payload: int
    ip: str
    connection: str

    @property
    def key(self):
        return f"{self.engine}:{self.engine}/{self.threads}t/{self.payload}B/{self.connection}/{self.ip}"

    @property
    def is_reference(self):
        return (self.engine, self.connection) == REFERENCE


def blocks():
    """The cases of each block of that sweep: 96 in 18 blocks."""
    for threads in THREADS:
        # With one thread it starves, and is skipped.
        engines = [engine for engine in ENGINES if threads > 1 or engine != "mio-exhaustive"]
        for payload in PAYLOADS:
            for ip in IPS:
                yield [Case(engine, threads, payload, ip, conn) for engine in engines for conn in CONNECTIONS]


class Machine:
    """Two sweeps are compared: what they share of it is settled when it is made."""

    def __init__(self, dice, noise):
        self.dice = dice
        self.noise = noise
        self.shown = {(engine, threads): dice.gauss(0, noise.left_over) for engine in ENGINES for threads in THREADS}

    def sweep(self, rounds, speed_of):
        """The speeds of all windows of each case, as ratios to what is usual, by block: round by round through them."""
        all_blocks = list(blocks())
        level = self.dice.gauss(0, self.noise.drift)
        means = {case: math.log(speed_of(case)) + self.of_run(case) for cases in all_blocks for case in cases}
        speeds = [{case: [] for case in cases} for cases in all_blocks]
        neighbour = 0.0
        for _ in range(rounds):
            # Each round has an order of its own, of blocks and in each of them.
            for block in self.dice.sample(speeds, len(speeds)):
                for case in self.dice.sample(list(block), len(block)):
                    if self.dice.random() < self.noise.switches:
                        neighbour = self.dice.gauss(0, self.noise.switch)
                    shown = 0 if case.is_reference else self.shown[case.engine, case.threads]
                    machine = (level + neighbour) * (1 + shown)
                    block[case].append(math.exp(means[case] + machine + self.of_window(case)))
        return speeds

    def of_run(self, case):
        return self.dice.gauss(0, self.of(case, self.noise.between_runs)) * self.tail()

    def of_window(self, case):
        return self.dice.gauss(0, self.of(case, self.noise.window)) * self.tail()

    def of(self, case, deviations):
        alone, several = deviations
        times = self.noise.noisier if case.engine == self.noise.noisy else 1
        return times * (alone if case.threads == 1 else several)

    def tail(self):
        return self.noise.wilder if self.dice.random() < self.noise.wild else 1
