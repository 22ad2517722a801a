# SPDX-License-Identifier: BSD-3-Clause
"""One figure from several rounds, its noise, and whether it is worse than another."""
import math
import statistics
from typing import NamedTuple

class Figure(NamedTuple):
    ratio: float  # value / reference
    noise: float  # a share: 0.05 is 5 %
    value: float  # in the row's unit


def fast_end(values, low_is_good):
    """The best round: whatever disturbs a machine makes a bench slower, never faster."""
    return min(values) if low_is_good else max(values)


def ratio_of(pairs, low_is_good, reference_low_is_good):
    """Of the fast ends. pairs: (value, reference) of each round; a reference of None is 1, for figures that need none."""
    value = fast_end([value for value, _ in pairs], low_is_good)
    if pairs[0][1] is None:
        return value
    return value / fast_end([reference for _, reference in pairs], reference_low_is_good)


def ratio_within_rounds(pairs):
    """The median of the rounds' own ratios: for what is fast or slow by where the machine's CPUs are, value and reference alike."""
    return statistics.median(value / reference for value, reference in pairs)


def figure(pairs, low_is_good, reference_low_is_good, least_noise, within_rounds=False):
    """The noise is the most by which the ratio moves when a round is left out, or when only half of the rounds count."""
    def ratio(some):
        return ratio_within_rounds(some) if within_rounds else ratio_of(some, low_is_good, reference_low_is_good)

    whole = ratio(pairs)
    parts = [pairs[:i] + pairs[i + 1:] for i in range(len(pairs))] + [pairs[::2], pairs[1::2]]
    moves = [abs(math.log(ratio(part) / whole)) for part in parts if part]
    values = [value for value, _ in pairs]
    return Figure(whole, max([least_noise, *moves]), statistics.median(values) if within_rounds else fast_end(values, low_is_good))


def together(figures):
    """One figure of several runs on one commit: the median, and a noise that covers how far they lie apart."""
    middle = statistics.median(one.ratio for one in figures)
    apart = max(abs(math.log(one.ratio / middle)) for one in figures)
    return Figure(middle, max([2 * apart, *(one.noise for one in figures)]), statistics.median(one.value for one in figures))


def worse_by(now, before, low_is_good):
    """1.10: a tenth worse; below 1: better."""
    return now.ratio / before.ratio if low_is_good else before.ratio / now.ratio


def verdict(now, before, low_is_good):
    """'worse', 'better' or 'level'; level within the noise of both."""
    change = math.log(worse_by(now, before, low_is_good))
    margin = math.log1p(math.hypot(now.noise, before.noise))
    if change > margin:
        return "worse"
    return "better" if change < -margin else "level"
