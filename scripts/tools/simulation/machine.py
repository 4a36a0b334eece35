"""A machine that measures as ours does: the speed of each window of a sweep, made by dice.

Every deviation is that of a natural logarithm: 0.01 is 1 %. The defaults of `Noise` were chosen so that ratios in
simulated sweeps scatter as in ten sweeps in a row on a virtual machine (results/archive/2026-11-23-x86-vm): within
a sweep by 3.1 % with one thread and 8.4 % with several, and from sweep to sweep, estimated over 15 rounds, by 0.6
and 2.4 %.
"""

import math
from typing import NamedTuple

ENGINES = ["std", "nix", "mio-level", "mio-exhaustive", "tokio", "socket2"]
CONNECTIONS = ["connected", "unconnected"]
# The engines of a sweep of few.
FEW = {2: ["std", "mio-level"], 3: ["std", "mio-level", "mio-exhaustive"], len(ENGINES): ENGINES}


class Noise(NamedTuple):
    """The noise of a machine. Pairs are for one thread, and for several, which share CPUs."""

    # Drift of the machine from run to run; it meets all cases, and nearly cancels between engines.
    drift: float = 0.035
    # The part of a change of the machine's speed that an engine shows more or less than others, by thread count.
    uneven: float = 0.06
    # A neighbour comes or goes: how often before a window, and by how much it changes the speed.
    switches: float = 0.02
    switch: float = 0.10
    # Scatter of each window.
    window: tuple = (0.013, 0.052)
    # The share of windows and of runs of a case that are far off, and how many times as far.
    wild: float = 0.03
    wilder: float = 6.0
    # Scatter of each case from run to run, which its rounds do not show.
    between_runs: tuple = (0.002, 0.005)
    # Distance of two levels, on one of which each case is in each run.
    levels: float = 0.0


# Kinds of noise: the machine of `Noise`, and machines that are worse in one respect.
KINDS = {
    "usual": Noise(),
    "runs differ by 3 %": Noise(between_runs=(0.03, 0.03)),
    "heavy tails": Noise(wild=0.1),
    "runs differ, heavy tails": Noise(between_runs=(0.03, 0.03), wild=0.03, wilder=3.0),
    "restless neighbour": Noise(switches=0.1, switch=0.2),
    "long neighbour": Noise(switches=0.004, switch=0.3),
    "drift of 15 %": Noise(drift=0.15),
    "two levels": Noise(levels=0.08),
}


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
        return (self.engine, self.connection) == ("std", "connected")


def default(engines):
    """The blocks of the default sweep on two CPUs: of six engines, 12 cases in 2 blocks."""
    for payload in [26, 1460]:
        yield [Case(engine, 2, payload, "v4", "connected") for engine in engines]


def full(engines, thread_counts=(1, 2)):
    """The blocks of the full sweep on two CPUs: of six engines, 132 cases in 12 blocks."""
    for threads in thread_counts:
        # With one thread it starves, and is skipped.
        able = [engine for engine in engines if threads > 1 or engine != "mio-exhaustive"]
        for payload in [26, 300, 1460]:
            for ip in ["v4", "v6"]:
                yield [Case(engine, threads, payload, ip, conn) for engine in able for conn in CONNECTIONS]


def full_on_four(engines):
    """The blocks of the full sweep on four CPUs: of six engines, 204 cases in 18 blocks."""
    return full(engines, (1, 2, 4))


SHAPES = {"default": default, "full": full, "full on four CPUs": full_on_four}


class Machine:
    """Sweeps that are compared share what is settled when it is made."""

    def __init__(self, dice, noise, shape, engines):
        self.dice = dice
        self.noise = noise
        self.blocks = list(SHAPES[shape](FEW[engines]))
        threads = {case.threads for cases in self.blocks for case in cases}
        self.shown = {(engine, count): dice.gauss(0, noise.uneven) for engine in ENGINES for count in threads}

    def sweep(self, rounds, speed_of):
        """The speeds of all windows of each case, as ratios to what is usual, by block: round by round through them."""
        level = self.dice.gauss(0, self.noise.drift)
        means = {case: math.log(speed_of(case)) + self.of_run(case) for cases in self.blocks for case in cases}
        speeds = [{case: [] for case in cases} for cases in self.blocks]
        neighbour = 0.0
        for _ in range(rounds):
            # Each round has an order of its own, of blocks and in each of them.
            for block in self.dice.sample(speeds, len(speeds)):
                for case in self.dice.sample(list(block), len(block)):
                    if self.dice.random() < self.noise.switches:
                        neighbour = self.dice.gauss(0, self.noise.switch)
                    machine = (level + neighbour) * (1 + self.shown[case.engine, case.threads])
                    block[case].append(math.exp(means[case] + machine + self.of_window(case)))
        return speeds

    def of_run(self, case):
        level = self.noise.levels if self.dice.random() < 0.5 else 0.0
        return level + self.dice.gauss(0, of(case, self.noise.between_runs)) * self.tail()

    def of_window(self, case):
        return self.dice.gauss(0, of(case, self.noise.window)) * self.tail()

    def tail(self):
        return self.noise.wilder if self.dice.random() < self.noise.wild else 1


def of(case, deviations):
    alone, several = deviations
    return alone if case.threads == 1 else several
