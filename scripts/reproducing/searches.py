# SPDX-License-Identifier: BSD-3-Clause
"""Schedules beyond the papers: built here, proved and priced by `trefoil`; and searches that found nothing."""
import functools
import itertools
import random

from . import KI
from .gains import numbers

# One-port exchange on a ring, each block straight to its target.


def exchange_steps(n):
    """On a ring of even size n: for each step the signed distance that a rank sends over, by its number modulo 4 (modulo 2 where
    4 does not divide n). Every step is a permutation. Even distances d cost d/2 in each of two steps: even ranks send one way
    round, odd ones the other way. Odd distances cost (d+1)/2 that way; two of them, one 1 and one 3 more than a multiple of 4,
    share four steps in which all links carry (d1+d2)/4."""
    half, steps = n // 2, []
    odd = list(range(1, half, 2))
    if n % 4 == 0:
        pairs = list(zip((d for d in odd if d % 4 == 1), (d for d in odd if d % 4 == 3)))
        for one, three in pairs:
            pattern = (one, three, -three, -one)
            steps += [{(place + turn) % 4: pattern[place] for place in range(4)} for turn in range(4)]
        odd = [d for d in odd if not any(d in pair for pair in pairs)]
    for distance in (*odd, *range(2, half, 2), half):
        for sign in (1, -1) if distance < half else (1,):
            steps.append({place: sign * (-1) ** place * distance for place in range(4)})
    return steps


def exchange_schedules(n):
    """As an alltoall for `trefoil plan --schedule`."""
    steps = exchange_steps(n)
    for rank in range(n):
        program = []
        for number, step in enumerate(steps):
            to = (rank + step[rank % 4]) % n
            source = next(other for other in {(rank - distance) % n for distance in step.values()}
                          if (other + step[other % 4]) % n == rank)
            program.append({
                "moves": [{"action": "replace", "from": [rank, 1], "to": n + rank}] if number == 0 else [],
                "sends": [{"peer": to, "port": "+0" if step[rank % 4] > 0 else "-0", "extents": [[to, 1]]}],
                "receives": [{"peer": source, "port": "-0" if step[source % 4] > 0 else "+0",
                              "applications": [{"action": "replace", "extents": [[n + source, 1]]}]}]})
        yield {"collective": "alltoall", "torus": str(n), "rank": rank, "parts": [{"vector_blocks": 2 * n, "steps": program}]}


# Allreduce of whole vectors through all ports at once.

JOINED = ("5x5", "25x25", "7x7x7")


def distance_of(vector, size):
    return sum(min(x % size, -x % size) for x in vector)


@functools.cache
def cube_of_seven():
    """Three vectors for each of three steps on 7x7x7, the nearest ones: those of a step have the values 1, 2, 3 of a linear form
    that the steps after it leave at 0."""
    size = 7
    def form(weights):
        return lambda vector: sum(w * x for w, x in zip(weights, vector)) % size
    nonzero = [vector for vector in itertools.product(range(size), repeat=3) if any(vector)]
    left = [vector for vector in nonzero if form((1, 2, 3))(vector) == 0]
    best = None
    for weights in nonzero:
        kernel = [vector for vector in left if form(weights)(vector) == 0]
        if len(kernel) != size - 1:
            continue
        near = functools.partial(distance_of, size=size)
        second = [min((v for v in left if form(weights)(v) == value), key=near) for value in (1, 2, 3)]
        third = [tuple(value * x for x in min(kernel, key=near)) for value in (1, 2, 3)]
        cost = max(map(near, second)) + max(map(near, third)), sum(map(near, second)) + sum(map(near, third))
        if best is None or cost < best[0]:
            best = cost, second, third
    return [[(1, 0, 0), (0, 1, 0), (0, 0, 1)], *best[1:]]


def joined_steps(torus):
    """Of each step the vectors v to whose ends, v and -v further, a rank sends. A node and its 2D neighbours tile the torus, and
    so do the tiles, 2D + 1 of them around each: every rank is reached exactly once."""
    if torus == "7x7x7":
        return cube_of_seven()
    side, steps, scale = int(torus.split("x", maxsplit=1)[0]), [], 1
    while scale < side:
        steps += [[(scale, 0), (0, scale)], [(2 * scale, scale), (-scale, 2 * scale)]]
        scale *= 5
    return steps


def joined_schedules(torus):
    """As an allreduce for `trefoil plan --schedule`."""
    steps, sizes = joined_steps(torus), [int(size) for size in torus.split("x")]
    places = list(itertools.product(*map(range, sizes)))
    ranks = {place: rank for rank, place in enumerate(places)}
    for place in places:
        program = []
        for vectors in steps:
            peers = [ranks[tuple((x + sign * v) % size for x, v, size in zip(place, vector, sizes))]
                     for vector in vectors for sign in (1, -1)]
            program.append({"sends": [{"peer": peer, "extents": [[0, 1]]} for peer in peers],
                            "receives": [{"peer": peer, "applications": [{"action": "reduce", "extents": [[0, 1]]}]} for peer in peers]})
        yield {"collective": "allreduce", "torus": torus, "rank": ranks[place], "parts": [{"vector_blocks": 1, "steps": program}]}


# Swing on HammingMesh: which node of a row has which place.


class Row:
    """A row of boards: what the links of a step carry when rank r of the plain (0) or mirrored (1) part is at place[part][r]."""

    def __init__(self, nodes, side):
        self.nodes, self.side, self.ids = nodes, side, {}
        self.routes = [[self._route(a, b) for b in range(nodes)] for a in range(nodes)]
        self.place = [list(range(nodes)), list(range(nodes))]
        self.partners = [[], []]
        distance = 1
        while 2 ** len(self.partners[0]) < nodes:
            for part, sign in enumerate((1, -1)):
                self.partners[part].append([(r + sign * (distance if r % 2 == 0 else -distance)) % nodes for r in range(nodes)])
            distance = 1 - 2 * distance
        self.steps = len(self.partners[0])
        self.loads = [[0] * len(self.ids) for _ in range(self.steps)]
        for part, step in itertools.product((0, 1), range(self.steps)):
            self._add(part, step, range(nodes), 1)

    def _route(self, a, b):
        """Within a board straight, or by the tree if that is not longer; else by the nearer ends."""
        (board, x), (other, y) = divmod(a, self.side), divmod(b, self.side)
        def end(place):
            return 0 if place < self.side - 1 - place else self.side - 1
        def walk(on, start, stop):
            step = 1 if stop > start else -1
            return [("board", on, min(p, p + step), step) for p in range(start, stop, step)]
        links = walk(board, x, end(x)) + [("out", board, end(x)), ("in", other, end(y))] + walk(other, end(y), y)
        if board == other and abs(x - y) < len(links):
            links = walk(board, x, y)
        return [self.ids.setdefault(link, len(self.ids)) for link in links]

    def _add(self, part, step, ranks, sign):
        place, partners, loads = self.place[part], self.partners[part][step], self.loads[step]
        for rank in ranks:
            for link in self.routes[place[rank]][place[partners[rank]]]:
                loads[link] += sign

    def swap(self, part, a, b):
        for step in range(self.steps):
            partners = self.partners[part][step]
            self._add(part, step, {a, b, partners[a], partners[b]}, -1)
        place = self.place[part]
        place[a], place[b] = place[b], place[a]
        for step in range(self.steps):
            partners = self.partners[part][step]
            self._add(part, step, {a, b, partners[a], partners[b]}, 1)

    def largest(self):
        return [max(loads) for loads in self.loads]

    def load(self):
        """Times D, of two dimensions that take turns: step k of a row is of 1/2 and 1/4 of 4^-k."""
        return sum(0.75 * 4.0**-step * load for step, load in enumerate(self.largest()))


def better_order(nodes=16, side=4, swaps=20000, seed=1):
    """(Load times D of Swing's own order, of the best one that was found) for rows of boards. Swaps of two ranks in the plain or
    the mirrored part, kept where they cost nothing, or little while much is left to do."""
    row, chance = Row(nodes, side), random.Random(seed)
    now = first = best = row.load()
    for turn in range(swaps):
        part, (a, b) = chance.randrange(2), chance.sample(range(nodes), 2)
        row.swap(part, a, b)
        after = row.load()
        if after <= now or chance.random() < 0.3 * (1 - turn / swaps) * 2 ** (-(after - now) / 0.01):
            now = after
            best = min(best, now)
        else:
            row.swap(part, a, b)
    return first, best


def exchange_rows(page):
    for n in (8, 16, 28, 30, 32, 64):
        def cells(n=n):
            tree = page.tool.summary("alltoall", str(n), "gather-scatter-tree:single-port")
            found = page.tool.proved("alltoall", exchange_schedules(n))
            if n % 8 == 0:
                page.equal(f"one-port exchange on {n}", found["block_times"], n * n / 8)
            return [n, f"{n * n / 8:g}", f"{tree['steps']}, {tree['block_times']:.0f}", f"{found['steps']}, {found['block_times']:.0f}"]
        yield cells


def joined_rows(page):
    for torus in JOINED:
        def cells(torus=torus):
            sizes, machine = [32, 2 * KI, 32 * KI], ("--machine", "trivance")
            found = page.tool.proved("allreduce", joined_schedules(torus))
            own = page.tool.times_of("allreduce", joined_schedules(torus), sizes, *machine)
            other = page.tool.times(torus, ["trivance-l"], sizes, *machine)
            before = page.tool.summary("allreduce", torus, "trivance-l")
            return [torus, f"{before['steps']}, {before['sum_hops']}, {before['sum_link_load']:.4g}",
                    f"{found['steps']}, {found['sum_hops']}, {found['sum_link_load']:.4g}",
                    numbers([100 * (other["trivance-l", size] / own[size] - 1) for size in sizes])]
        yield cells


def odd_rows(page):
    for algorithm in ("swing-published", "swing-b", "trivance-b"):
        found = page.tool.summary("allreduce", "129", algorithm)
        yield [f"`{algorithm}`", found["steps"], f"{found['sum_link_load']:.3f}"]


def orders(page):
    page.tool.only_long()
    return better_order()


def write(page):
    page.heading("Better schedules")
    page.say("""Improvements that the papers leave open, and results of searches. `scripts/reproducing/searches.py` makes the schedules; `trefoil` proves
        and prices them as it does its own.""")

    page.heading("One-port exchange at the bisection bound", 3)
    page.say("""On a ring of n, a multiple of 8, one port is enough to reach n²/8 block-times, with n - 1 start-ups and no
        forwarding: no link ever idles. An even distance d takes two steps, in which even ranks send one way round and odd ranks the
        other, so that each link carries d/2. Two odd distances, one 1 and the other 3 more than a multiple of 4, take four steps
        together: ranks 0, 1, 2 and 3 modulo 4 send d1 and d2 one way and d2 and d1 the other. On other even rings what is odd does
        not pair up, and costs up to n/4 more. Steps and block-times, the tree's and ours:""")
    page.table(["n", "bound", "`gather-scatter-tree:single-port`", "straight, in pairs"], exchange_rows(page))
    page.say("""The tree has few start-ups and is for small blocks. The same bound on all ports is that of `orbit`, which pairs each distance
        with its opposite and so needs two ports.""")
    page.command("scripts/papers --pattern exchange:32 > pattern.json; trefoil plan alltoall --schedule pattern.json --summary")

    page.heading("All ports joined", 3)
    page.say("""Trivance joins two arrivals in a step and takes the dimensions in turn: D log3 n steps. A rank that sends its vector
        through all 2D ports and joins 2D arrivals needs log of p to the base 2D + 1, where the torus can be tiled: a node and its
        neighbours tile 5x5, the tiles' centres form a torus that (2,1) and (-1,2) span, and so on. Each rank is reached exactly once,
        which the verifier proves. Steps, hops and load of `trivance-l` and of ours, and our gain in per cent at 32 B, 2 KiB
        and 32 KiB (machine `trivance`):""")
    page.table(["torus", "`trivance-l`", "joined", "gain"], joined_rows(page))
    page.say("""It is for short vectors and for few shapes, so it is not an algorithm of Trefoil, but it runs as a [user
        schedule](own-schedules.md).""")
    page.command("scripts/papers --pattern joined:5x5 > pattern.json; trefoil sim allreduce --schedule pattern.json -a trivance-l "
                 "--machine trivance --sizes 32,2K --model step")

    page.heading("Odd rings", 3)
    page.say("Steps and load on a ring of 129:")
    page.table(["algorithm", "steps", "load"], list(odd_rows(page)))
    page.say("""Whatever a Swing on an odd ring does, the extra rank has to hand over its whole vector, through two links that carry as
        much as all others for the rest. `trivance-b`, whose windows take any size, has less load in fewer steps, so no better Swing
        was searched for.""")
    page.command("trefoil plan allreduce --algorithm trivance-b --torus 129 --summary")

    page.heading("Board-aware orders on HammingMesh", 3)
    page.say("""Swing's order is good already: its first two steps, which carry most, stay on a board of 4 or cross one end of it. From
        the third step on all 4 nodes send two messages off the board, through two links: 4 at a time, in whatever order boards
        come. To keep a partner on board in a later step costs one in an earlier step, which weighs four times as much. Searched:
        rows of 16 on boards of 4, swaps of ranks in the plain and in the mirrored part, kept by simulated annealing: {}.
        So there is no reason to renumber Hx4Mesh.""",
             lambda: "from {:.3f} to {:.3f} load times D in 20,000 swaps".format(*orders(page)))
    page.command("scripts/papers --only searches")
