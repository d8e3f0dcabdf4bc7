# SPDX-License-Identifier: BSD-3-Clause
"""What three allreduce algorithms send on tori of powers of two, from the papers' definitions and no code of Trefoil's.

Traffic as in timing.py. Each has 2D parts: part p begins with dimension p, part D + p is its mirror image.
"""
import math


def _order(sizes, first):
    """(dimension, its k-th step) of each step: dimensions take turns, those that are finished are left out."""
    done, order = [0] * len(sizes), []
    for step in range(round(math.log2(math.prod(sizes)))):
        j = next(d % len(sizes) for d in range(first + step, first + step + len(sizes))
                 if 2 ** done[d % len(sizes)] < sizes[d % len(sizes)])
        order.append((j, done[j]))
        done[j] += 1
    return order


def _halving(grid, peer_of):
    """Reduce-scatter of halves, quarters, ...; then the same backwards."""
    dimensions, traffic = len(grid.sizes), []
    for mirrored in (False, True):
        for first in range(dimensions):
            steps, share = [], 1 / (2 * dimensions)
            for j, k in _order(grid.sizes, first):
                share /= 2
                step = []
                for rank in range(grid.ranks):
                    place = grid.place(rank)
                    place[j] = peer_of(place[j], grid.sizes[j], k, mirrored)
                    step.append((rank, grid.rank(place), None, share))
                steps.append(step)
            traffic.append(steps + steps[::-1])
    return traffic


def swing_b(grid):
    """The k-th partner is rho(k) = (1 - (-2)^(k+1)) / 3 away: even coordinates forward, odd ones backward."""
    def peer(coordinate, size, k, mirrored):
        rho = (1 - (-2) ** (k + 1)) // 3
        return (coordinate + (rho if (coordinate % 2 == 0) != mirrored else -rho)) % size
    return _halving(grid, peer)


def recursive_doubling_b(grid):
    """The k-th partner differs in bit k; in the mirror image it is as far away on the other side."""
    def peer(coordinate, size, k, mirrored):
        away = (coordinate ^ 1 << k) - coordinate
        return (coordinate - away if mirrored else coordinate + away) % size
    return _halving(grid, peer)


def bucket(grid):
    """Along each ring in turn, size - 1 steps to one neighbour; then the same backwards, messages turned round. Parts change
    dimensions together, so that no two ever share a link: those on shorter rings wait."""
    dimensions, traffic = len(grid.sizes), []
    for sign in (1, -1):
        for first in range(dimensions):
            share, scatter = 1 / (2 * dimensions), []
            for j in [(first + d) % dimensions for d in range(dimensions)]:
                share /= grid.sizes[j]
                for _ in range(grid.sizes[j] - 1):
                    step = []
                    for rank in range(grid.ranks):
                        place = grid.place(rank)
                        place[j] += sign
                        step.append((rank, grid.rank(place), None, share))
                    scatter.append(step)
                scatter += [[] for _ in range(max(grid.sizes) - grid.sizes[j])]
            gather = [[(target, source, port, share) for source, target, port, share in step] for step in scatter[::-1]]
            traffic.append(scatter + gather)
    return traffic


ALGORITHMS = {"swing-b": swing_b, "recursive-doubling-b": recursive_doubling_b, "bucket": bucket}
