# SPDX-License-Identifier: BSD-3-Clause
"""What a few launches tell of a median, without a guess at how they are distributed."""
import math
import statistics

CONFIDENCE = 0.95


def coverage(count, k):
    """How likely the k-th smallest and the k-th largest of `count` values have the true median between them."""
    return 1 - 2 * sum(math.comb(count, i) for i in range(k)) / 2**count


def median_interval(values):
    """(median, low, high, how likely the true median is within). The narrowest pair of values that is likely enough;
    the smallest and the largest where no pair is: of fewer than six."""
    ordered = sorted(values)
    k = 1
    while coverage(len(ordered), k + 1) >= CONFIDENCE:
        k += 1
    return statistics.median(ordered), ordered[k - 1], ordered[-k], coverage(len(ordered), k)


def heading(count):
    """Of a column of such intervals."""
    likely = median_interval(range(count))[3]
    return f"[{100 * likely:.0f} % interval]" if likely else "(one launch)"
