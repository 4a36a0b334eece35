"""Medians and rates, and what chance leaves of them."""

import functools
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


class Middle(NamedTuple):
    """The Hodges-Lehmann estimate of some values, and the interval of the signed-rank test."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        means = sorted((a + b) / 2 for n, a in enumerate(values) for b in values[n:])
        beyond = signed_rank_beyond(len(values))
        return cls(statistics.median(means), means[beyond], means[-1 - beyond])


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
    """The probability that it happens no more than `count` times."""
    exactly = (math.comb(of_all, n) * rate**n * (1 - rate) ** (of_all - n) for n in range(count + 1))
    return sum(exactly)


def bisect(is_below):
    """The place between 0 and 1 where `is_below` ceases to hold."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


@functools.cache
def signed_rank_beyond(n):
    """The number of means of two of n values that lie beyond each end of the interval; 0 below 6 values
    (Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, section 3.3)."""
    # Counts which of the 2^n signs give each sum of ranks.
    ways = [1]
    for rank in range(1, n + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    most = (1 - CONFIDENCE) / 2 * 2**n
    beyond, below = 0, ways[0]
    while below <= most:
        beyond += 1
        below += ways[beyond]
    return max(beyond - 1, 0)


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
