# SPDX-License-Identifier: BSD-3-Clause
"""The torus that namespaces form: ranks, directions, the NIC and the addresses of each direction, and routes."""
import itertools
import math


def opposite(direction):
    return ("-" if direction[0] == "+" else "+") + direction[1:]


def nic_of(direction):
    """"+0" -> "p0"."""
    return ("p" if direction[0] == "+" else "m") + direction[1:]


class Torus:
    """Row-major ranks, as Trefoil counts them. ValueError when the sizes are none."""

    def __init__(self, name):
        self.name = name
        words = name.split("x")
        if not all(word.isascii() and word.isdigit() and 0 < int(word) < 10000 for word in words):
            raise ValueError(f"\"{name}\" is not a torus; give the sizes of its dimensions, such as 4x4 or 9")
        self.sizes = [int(word) for word in words]
        self.ranks = math.prod(self.sizes)
        self.directions = [sign + str(d) for d, size in enumerate(self.sizes) if size > 1 for sign in "+-"]

    def place(self, rank):
        """Coordinates of a rank, the last dimension fastest."""
        place = []
        for size in reversed(self.sizes):
            rank, coordinate = divmod(rank, size)
            place.append(coordinate)
        return place[::-1]

    def rank(self, place):
        rank = 0
        for coordinate, size in zip(place, self.sizes):
            rank = rank * size + coordinate % size
        return rank

    def neighbour(self, rank, direction):
        place = self.place(rank)
        place[int(direction[1:])] += 1 if direction[0] == "+" else -1
        return self.rank(place)

    def next_direction(self, here, rank, last):
        """The first hop from `here` to the rank's NIC that is reached by travelling in direction `last`."""
        final = int(last[1:])
        for dimension, (size, there, now) in enumerate(zip(self.sizes, self.place(rank), self.place(here))):
            ahead = (there - now) % size
            if dimension != final and ahead:
                sign = last[0] if 2 * ahead == size else "+" if 2 * ahead < size else "-"
                return sign + str(dimension)
        return last

    def path(self, here, rank, last):
        """The links (rank, direction) of a message to the rank's NIC that is reached by travelling in `last`."""
        links = []
        while here != rank:
            links.append((here, self.next_direction(here, rank, last)))
            here = self.neighbour(*links[-1])
        return links

    def reaches(self, _here, _rank, _last):
        """Whether a message gets to the rank's NIC that is reached by travelling in `last`."""
        return True

    def flows(self):
        """All (source, target, last direction)."""
        return [(source, target, last) for source, target in itertools.permutations(range(self.ranks), 2)
                for last in self.directions]


class Rewired(Torus):
    """The same nodes and NICs, joined otherwise: `circuits` has, by node and direction +d, the node whose NIC of direction -d
    is at the other end. A NIC without one is dark. Messages go on through the NICs of their direction alone, so a node's NIC
    is reached from the nodes of its own ring, or line. ValueError when the circuits are none."""

    def __init__(self, name, circuits):
        super().__init__(name)
        self.circuits, self.ends = dict(circuits), {}
        for (rank, direction), to in circuits.items():
            if direction[0] != "+" or direction not in self.directions:
                raise ValueError(f"\"{direction}\" is not a direction of a circuit in {name}; it has "
                                 f"{', '.join(d for d in self.directions if d[0] == '+')}")
            if not (0 <= rank < self.ranks and 0 <= to < self.ranks):
                raise ValueError(f"a circuit joins nodes {rank} and {to}; {name} has nodes 0 to {self.ranks - 1}")
            if (to, opposite(direction)) in self.ends:
                raise ValueError(f"two circuits end at {nic_of(opposite(direction))} of node {to}")
            self.ends[rank, direction], self.ends[to, opposite(direction)] = to, rank

    def neighbour(self, rank, direction):
        """None: the NIC is dark."""
        return self.ends.get((rank, direction))

    def next_direction(self, here, rank, last):
        return last

    def reaches(self, here, rank, last):
        for _ in range(self.ranks):
            here = self.neighbour(here, last)
            if here is None or here == rank:
                return here is not None
        return False

    def flows(self):
        return [flow for flow in super().flows() if self.reaches(*flow)]


def circuits_of(torus):
    """All links of a torus, by node and direction +d."""
    return {(rank, direction): torus.neighbour(rank, direction) for rank in range(torus.ranks)
            for direction in torus.directions if direction[0] == "+" and torus.neighbour(rank, direction) is not None}
