# SPDX-License-Identifier: BSD-3-Clause
"""Checks the bounds of `trefoil plan --bound` and the loads of packed trees and routes, from the definitions and with no code of Trefoil's.

    bounds.py TREFOIL              checks a dozen networks
    bounds.py TREFOIL --table      checks forty, and prints the page of records; takes minutes
"""

import collections
import fractions
import itertools
import json
import subprocess
import sys

Fraction = fractions.Fraction
IN_PIECES = ("allreduce", "bcast", "reduce")
COLLECTIVES = ("allreduce", "reduce_scatter", "allgather", "bcast", "reduce", "scatter", "alltoall")
FEW = ("8", "8:cable=+0@3", "3x3", "3x3:cable=+0@4", "3x3:cable=+0@4=0.5", "3x3:link=+0@4", "4x4:node=5", "3mx4m", "2x4",
       "4x4:node=5=0.5", "2x2x4:twist=0=2+2:twist=1=2+2", "6mx1:cable=+0@2=0.1", "3x3:node=4:cable=+0@0=0.4")
SHARE = Fraction(95, 100)
MOST_FOR_FLOWS = 64  # ranks; more take minutes here


class Network:
    """Ranks and links (from, to, port, rate) of a description, read once more."""

    def __init__(self, text):
        shape, *clauses = text.split(":")
        self.lines = [size.endswith("m") for size in shape.split("x")]
        self.sizes = [int(size.rstrip("m")) for size in shape.split("x")]
        nodes, slow, self.twists = {}, {}, {}
        for clause in clauses:
            kind, what, *rate = clause.split("=")
            if kind == "twist":
                along, shift = rate[0].split("+")
                self.twists[int(what)] = (int(along), int(shift))
                continue
            rate = Fraction(rate[0]) if rate else Fraction(0)
            if kind == "node":
                nodes[int(what)] = rate
                continue
            port, place = what.split("@")
            slow[int(place), port] = rate
            if kind == "cable":
                back = ("-" if port[0] == "+" else "+") + port[1:]
                slow[self.number(self.step(self.at(int(place)), port)), back] = rate
        everybody = list(itertools.product(*map(range, self.sizes)))
        self.places = [place for place in range(len(everybody)) if nodes.get(place, 1) > 0]
        rank_of = {place: rank for rank, place in enumerate(self.places)}
        self.links = []
        for place in self.places:
            for j, size in enumerate(self.sizes):
                for sign in "+-":
                    at = self.at(place)
                    if size == 1 or (self.lines[j] and at[j] == (size - 1 if sign == "+" else 0)):
                        continue
                    there = self.number(self.step(at, sign + str(j)))
                    rate = min(slow.get((place, sign + str(j)), Fraction(1)), nodes.get(place, 1), nodes.get(there, 1))
                    if rate > 0:
                        self.links.append((rank_of[place], rank_of[there], sign + str(j), Fraction(rate)))
        self.ranks = len(self.places)
        self.own_ports = not self.twists and self.ranks == len(everybody)

    def at(self, place):
        coordinates = []
        for size in reversed(self.sizes):
            coordinates.append(place % size)
            place //= size
        return coordinates[::-1]

    def number(self, coordinates):
        place = 0
        for size, one in zip(self.sizes, coordinates):
            place = place * size + one
        return place

    def step(self, coordinates, port):
        j, sign, there = int(port[1:]), 1 if port[0] == "+" else -1, list(coordinates)
        there[j] += sign
        if not 0 <= there[j] < self.sizes[j] and j in self.twists:
            along, shift = self.twists[j]
            there[along] = (there[along] + sign * shift) % self.sizes[along]
        there[j] %= self.sizes[j]
        return there


def most_flow(arcs, source, target):
    """Of whole or fractional capacities, by shortest augmenting ways (Edmonds and Karp)."""
    left = collections.defaultdict(Fraction)
    beside = collections.defaultdict(set)
    for a, b, capacity in arcs:
        left[a, b] += capacity
        beside[a].add(b)
        beside[b].add(a)
    flow = Fraction(0)
    while True:
        before, queue = {source: None}, collections.deque([source])
        while queue and target not in before:
            here = queue.popleft()
            for there in beside[here]:
                if there not in before and left[here, there] > 0:
                    before[there] = here
                    queue.append(there)
        if target not in before:
            return flow
        way, here = [], target
        while before[here] is not None:
            way.append((before[here], here))
            here = before[here]
        least = min(left[arc] for arc in way)
        for a, b in way:
            left[a, b] -= least
            left[b, a] += least
        flow += least


def by_proof(network, collective, bound):
    """The bound that the partition proves, as docs/networks.md has it."""
    part, n = bound["part_of"], network.ranks
    if not part:
        hops = sum(sum(distances(network, r).values()) for r in range(n))
        return Fraction(hops, n) / sum(rate for *_, rate in network.links)
    into = sum(rate for a, b, _, rate in network.links if part[a] != 1 and part[b] == 1)
    out = sum(rate for a, b, _, rate in network.links if part[a] == 1 and part[b] != 1)
    inside = part.count(1)
    if collective in ("bcast", "reduce", "scatter"):
        assert part[bound["root"]] == 0, "the root is in part 1"
    if collective == "allreduce":
        between = sum(rate for a, b, _, rate in network.links if part[a] != part[b])
        return 1 / into if bound["one_way"] else 2 * (len(set(part)) - 1) / between
    return {"bcast": lambda: 1 / into,
            "reduce": lambda: 1 / out,
            "allgather": lambda: Fraction(n - inside, n) / into,
            "reduce_scatter": lambda: Fraction(n - inside, n) / out,
            "scatter": lambda: Fraction(inside, n) / into,
            "alltoall": lambda: Fraction(inside * (n - inside), n) / into}[collective]()


def distances(network, source):
    found, queue = {source: 0}, collections.deque([source])
    while queue:
        here = queue.popleft()
        for a, b, *_ in network.links:
            if a == here and b not in found:
                found[b] = found[a] + 1
                queue.append(b)
    return found


def flows_in(network, collective, time):
    """Whether so much time is enough for the flow that decides; None: flows do not decide."""
    backwards = collective in ("reduce", "reduce_scatter")
    arcs = [(b, a, rate * time) if backwards else (a, b, rate * time) for a, b, _, rate in network.links]
    n = network.ranks
    if collective in ("bcast", "reduce"):
        return all(most_flow(arcs, 0, r) >= 1 for r in range(1, n))
    if collective in ("allgather", "reduce_scatter"):
        sources = [("all", r, Fraction(1, n)) for r in range(n)]
        return all(most_flow(arcs + sources, "all", r) >= 1 for r in range(n))
    if collective == "scatter":
        targets = [(r, "all", Fraction(1, n)) for r in range(1, n)]
        return most_flow(arcs + targets, 0, "all") >= Fraction(n - 1, n)
    return None


def run(trefoil, *arguments):
    return subprocess.run([trefoil, *arguments], check=True, capture_output=True, text=True, timeout=600).stdout


def packed_time(trefoil, text, network, collective):
    """Of the busiest link in the schedules of packed trees or routes, in vectors by its rate."""
    load = collections.defaultdict(Fraction)
    pieces = ("--pieces", "1") if collective in IN_PIECES else ()
    rates = {(a, port): rate for a, _, port, rate in network.links}
    between = {(a, b): port for a, b, port, _ in network.links}
    for line in run(trefoil, "plan", collective, "-a", "packed", "-t", text, *pieces, "--all-ranks", "--json").splitlines():
        schedule = json.loads(line)
        for part in schedule["parts"]:
            for step in part["steps"]:
                for send in step["sends"]:
                    blocks = sum(count for _, count in send["extents"])
                    of_vector = network.ranks if collective == "alltoall" else part["vector_blocks"]
                    share = Fraction(blocks, of_vector * len(schedule["parts"]))
                    port = send["port"] if network.own_ports else between[schedule["rank"], send["peer"]]
                    load[schedule["rank"], port] += share
    return max(load[link] / rates[link] for link in load)


def check(trefoil, text, collective, findings):
    network = Network(text)
    bound = json.loads(run(trefoil, "plan", collective, "-t", text, "--bound", "--json"))
    time = Fraction(bound["numerator"], bound["denominator"])
    where = f"{collective} on {text}"
    if bound["ranks"] != network.ranks:
        findings.append(f"{where}: {bound['ranks']} ranks, not {network.ranks}")
        return time, None
    if by_proof(network, collective, bound) != time:
        findings.append(f"{where}: the proof gives {by_proof(network, collective, bound)}, not {time}")
    if network.ranks <= MOST_FOR_FLOWS and flows_in(network, collective, time) is False:
        findings.append(f"{where}: a flow takes longer than {time}")
    ours = packed_time(trefoil, text, network, collective)
    if not SHARE * ours <= time <= ours:
        findings.append(f"{where}: packed takes {ours} = {float(ours):.4f}, the bound is {time} = {float(time):.4f}")
    return time, ours


def main():
    trefoil = sys.argv[1]
    findings = []
    if "--table" in sys.argv:
        import bounds_table  # the forty networks
        bounds_table.write(trefoil, check, findings)
    else:
        for text in FEW:
            for collective in COLLECTIVES:
                check(trefoil, text, collective, findings)
    for one in findings:
        print(one, file=sys.stderr)
    print(f"bounds: {len(findings)} finding(s)", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
