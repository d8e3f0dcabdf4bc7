# SPDX-License-Identifier: BSD-3-Clause
"""A torus as the tests of exported schedules see it, without Trefoil: ranks and coordinates, row by row."""

import math


class Torus:
    def __init__(self, name):
        self.sizes = [int(size) for size in name.split("x")]
        self.ranks = math.prod(self.sizes)

    def coordinates(self, rank):
        result = []
        for size in reversed(self.sizes):
            result.insert(0, rank % size)
            rank //= size
        return result

    def rank(self, coordinates):
        """Coordinates may lie outside: they go around."""
        rank = 0
        for size, coordinate in zip(self.sizes, coordinates):
            rank = rank * size + coordinate % size
        return rank
