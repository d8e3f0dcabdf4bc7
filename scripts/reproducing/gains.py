# SPDX-License-Identifier: BSD-3-Clause
"""How much faster one family of algorithms is than others, over sizes."""
from . import KI, size_text


class Gains:
    """`times`: {family: {size: seconds}}. A gain is (other - own) / own, in per cent."""

    def __init__(self, times, own):
        self.own = times[own]
        self.others = {name: values for name, values in times.items() if name != own}
        self.sizes = sorted(self.own)

    def over(self, other, size):
        return 100 * (self.others[other][size] / self.own[size] - 1)

    def least(self, size, among=None):
        return min(self.over(other, size) for other in among or self.others)

    def least_of(self, first, last, among=None):
        return [self.least(size, among) for size in self.sizes if first <= size <= last]

    def ends(self, among=None):
        """The last size up to which nobody else is faster, and the next one: where it is equal lies between."""
        for before, size in zip([None, *self.sizes], self.sizes):
            if size >= 32 * KI and self.least(size, among) <= 0:
                return before, size
        return self.sizes[-1], None

    def ends_text(self, among=None):
        before, size = self.ends(among)
        if size is None:
            return "never"
        if before is None:
            return f"below {size_text(size)}"
        first, last = size_text(before), size_text(size)
        unit = last.split()[1]
        return f"{first.removesuffix(' ' + unit)} to {last}"

    def line(self, other):
        return [(size, self.over(other, size)) for size in self.sizes]

    def least_line(self):
        return [(size, self.least(size)) for size in self.sizes]


def range_text(values):
    """"8.3 to 15.6", or the one value."""
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


def numbers(values):
    return ", ".join(f"{value:.1f}" for value in values)
