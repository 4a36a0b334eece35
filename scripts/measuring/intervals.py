"""Medians and what their noise leaves of them."""

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
