"""Medians and rates, and what chance leaves of them."""

import math
import statistics
from typing import NamedTuple

CONFIDENCE = 0.95


class Median(NamedTuple):
    """The median of some values, and the interval that encloses the true one."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        values = sorted(values)
        rank, _ = interval_rank(len(values))
        return cls(statistics.median(values), values[rank - 1], values[-rank])


class Rate(NamedTuple):
    """How often something happened, and the interval that encloses how often it does."""

    count: int
    of_all: int
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, count, of_all):
        """The exact interval of Clopper & Pearson, Biometrika 26 (1934) 404-413."""
        tail = (1 - CONFIDENCE) / 2
        low = bisect(lambda rate: at_most(count - 1, of_all, rate) > 1 - tail) if count > 0 else 0
        high = bisect(lambda rate: at_most(count, of_all, rate) > tail) if count < of_all else 1
        return cls(count, of_all, count / of_all, low, high)


def at_most(count, of_all, rate):
    """How probably it happens no more than `count` times."""
    exactly = (math.comb(of_all, n) * rate**n * (1 - rate) ** (of_all - n) for n in range(count + 1))
    return sum(exactly)


def bisect(is_below):
    """Where, between 0 and 1, `is_below` ceases to hold."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def interval_rank(n):
    """The rank k whose k-th lowest and k-th highest of n values enclose the median, and how surely.

    Fewer than k of n values lie below the median with the binomial's probability, whatever their
    distribution (Hogg, Tanis & Zimmerman, Probability and Statistical Inference, section 7.5). It is the
    largest rank that is sure enough, or 1 where none is: below 6 values.
    """

    def coverage(rank):
        return 1 - 2 * sum(math.comb(n, below) for below in range(rank)) / 2**n

    sure = [rank for rank in range(1, n // 2 + 1) if coverage(rank) >= CONFIDENCE]
    rank = max(sure, default=1)
    return rank, max(coverage(rank), 0)
