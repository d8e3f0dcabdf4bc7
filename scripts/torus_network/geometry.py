# SPDX-License-Identifier: BSD-3-Clause
"""The torus that namespaces form: ranks, directions, the NIC and the addresses of each direction, and routes."""
import itertools
import math
import re


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

    def is_there(self, _rank):
        """Whether a rank runs at that place."""
        return True

    def share(self, _rank, _direction):
        """The share of a whole link's rate at which the one that leaves there works."""
        return 1.0

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


class Damaged(Torus):
    """What machines hand out, in the words of Trefoil (docs/networks.md): "3x3:cable=+0@4", "4x4:node=5", "4mx4:link=-1@2=0.5",
    "2x4:twist=0=1+2". Messages go as in the torus where that way works, else over the fewest links; the last one of them is the
    link that leads to the NIC whose address they bear, if there is such a way. ValueError when the text is none."""

    def __init__(self, text):
        sizes, *clauses = text.split(":")
        super().__init__(sizes.replace("m", ""))
        self.name, self.twists, self.rates, self.next = text, {}, {}, {}
        self.lines = [size.endswith("m") for size in sizes.split("x")]
        for clause in clauses:
            self._read(clause)

    def _read(self, clause):
        kind, _, what = clause.partition("=")
        if match := kind == "twist" and re.fullmatch(r"(\d+)=(\d+)\+(\d+)", what):
            self.twists[int(match[1])] = int(match[2]), int(match[3])
            return
        match = re.fullmatch(r"(?:([+-]\d+)@)?(\d+)(?:=(\d*\.?\d+))?", what)
        rate, node = float(match[3] or 0) if match else 2, int(match[2]) if match else self.ranks
        links = self.directions if match and match[1] is None else [match[1]] if match else []
        if rate > 1 or node >= self.ranks or kind not in ("node", "cable", "link") or (kind == "node") != (match[1] is None) \
                or any(self._beyond(node, direction) is None for direction in links if kind != "node"):
            raise ValueError(f"\"{clause}\" in \"{self.name}\" is not node=5, cable=+0@4 or link=+0@4, with a rate from 0 to 1 "
                             f"behind it or none, nor twist=0=2+4; {self.sizes} has nodes 0 to {self.ranks - 1}")
        for direction in links:
            there = self._beyond(node, direction)
            if there is not None:
                self._slow(node, direction, rate)
                if kind != "link":
                    self._slow(there, opposite(direction), rate)

    def _slow(self, rank, direction, rate):
        self.rates[rank, direction] = min(rate, self.rates.get((rank, direction), 1.0))

    def _beyond(self, rank, direction):
        """The node at the other end of a link, whatever its state; None: the row ends there."""
        if direction not in self.directions:
            return None
        dimension, step = int(direction[1:]), 1 if direction[0] == "+" else -1
        place = self.place(rank)
        closes = not 0 <= place[dimension] + step < self.sizes[dimension]
        if closes and self.lines[dimension]:
            return None
        place[dimension] += step
        if closes and dimension in self.twists:
            along, shift = self.twists[dimension]
            place[along] += step * shift
        return self.rank(place)

    def is_there(self, rank):
        return any(self.share(rank, direction) > 0 for direction in self.directions)

    def share(self, rank, direction):
        return self.rates.get((rank, direction), 1.0)

    def neighbour(self, rank, direction):
        there = self._beyond(rank, direction)
        return there if self.share(rank, direction) > 0 else None

    def _works(self, here, rank, last):
        """The way that a message has in a torus."""
        if self.twists:
            return False
        for _ in range(self.ranks):
            if here == rank:
                return True
            here = self.neighbour(here, super().next_direction(here, rank, last))
            if here is None:
                return False
        return False

    def _fewest(self, rank, last):
        """By node, the first link of the shortest way to that NIC. Ways through the node itself are none."""
        if (rank, last) not in self.next:
            first, queue = {}, []
            for here in range(self.ranks):
                if self.neighbour(here, last) == rank and here != rank:
                    first[here] = last
                    queue.append(here)
            for there in queue:
                for here in range(self.ranks):
                    for direction in self.directions:
                        if here != rank and here not in first and self.neighbour(here, direction) == there:
                            first[here] = direction
                            queue.append(here)
            self.next[rank, last] = first
        return self.next[rank, last]

    def next_direction(self, here, rank, last):
        return super().next_direction(here, rank, last) if self._works(here, rank, last) else self._fewest(rank, last)[here]

    def reaches(self, here, rank, last):
        """That NIC has a link, and there is a way to it."""
        return self.neighbour(rank, opposite(last)) is not None and (self._works(here, rank, last) or here in self._fewest(rank, last))

    def flows(self):
        return [flow for flow in super().flows() if self.reaches(*flow)]


def torus_named(text):
    """A torus, whole or not. ValueError when the text is none."""
    return Damaged(text) if ":" in text or "m" in text else Torus(text)


def circuits_of(torus):
    """All links of a torus, by node and direction +d."""
    return {(rank, direction): torus.neighbour(rank, direction) for rank in range(torus.ranks)
            for direction in torus.directions if direction[0] == "+" and torus.neighbour(rank, direction) is not None}
