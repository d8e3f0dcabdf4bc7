#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the schedules that `trefoil plan --json` exports, without Trefoil: from the data alone every
collective must come out, and the figures of `--summary --json` must follow from their definitions."""

import argparse
import collections
import fractions
import itertools
import json
import random
import subprocess
import sys
import time

from torus import Torus

COLLECTIVES = "allreduce reduce_scatter allgather bcast reduce gather scatter alltoall barrier".split()
WITH_BLOCKS = {"reduce_scatter", "allgather", "gather", "scatter"}
ROOTED = {"bcast", "reduce", "gather", "scatter"}
SMALL = "2x3".split()
LARGE = [str(n) for n in range(1, 65)] + (
    "1x1 1x3 3x1 2x2 2x3 3x3 2x4 3x4 4x4 3x5 5x5 2x6 8x2 2x2x2 3x3x3 2x3x4 3x9 4x8 6x6 8x8 9x9 4x4x4"
).split()


class RoutedTorus(Torus):
    def route(self, source, target, steered=None):
        """(link, share) of the minimal route, dimension by dimension; and its length. Where both ways are equally
        long half goes each way, or all by the port `steered`, if it is of that dimension."""
        here, goal = self.coordinates(source), self.coordinates(target)
        links, hops = [], 0
        for j, size in enumerate(self.sizes):
            ahead = (goal[j] - here[j]) % size
            ways = []
            if ahead and 2 * ahead <= size:
                ways.append(1)
            if ahead and 2 * ahead >= size:
                ways.append(-1)
            if len(ways) == 2 and steered is not None and int(steered[1:]) == j:
                ways = [1 if steered[0] == "+" else -1]
            hops += min(ahead, size - ahead)
            for sign in ways:
                at = list(here)
                for _ in range(ahead if sign > 0 else size - ahead):
                    links.append(((self.rank(at), j, sign), fractions.Fraction(1, len(ways))))
                    at[j] += sign
            here[j] = goal[j]
        return links, hops


def places(extents):
    return [b for first, count in extents for b in range(first, first + count)]


class Run:
    """All ranks' schedules of one algorithm, step by step."""

    def __init__(self, torus, plans):
        self.torus, self.plans = torus, plans
        self.collective, self.root = plans[0]["collective"], plans[0]["root"]
        self.exchange, self.steered = self.collective == "alltoall", plans[0]["steered"]
        self.parts = len(plans[0]["parts"])
        self.loads = collections.defaultdict(lambda: collections.defaultdict(fractions.Fraction))
        self.hops = collections.defaultdict(int)
        self.sent = [fractions.Fraction(0)] * torus.ranks
        self.ports = collections.Counter()
        self.extents = 0
        self.largest, self.sent_in_step = collections.defaultdict(fractions.Fraction), collections.Counter()
        self.held = [fractions.Fraction(torus.ranks - 1)] * torus.ranks  # in blocks, all parts together
        self.peak = max(self.held)
        self.acknowledged = []
        self.pulled = [fractions.Fraction(0)] * torus.ranks
        self.holds = collections.Counter()  # by (step, rank): what is received less what is sent

    def owner(self, part, block):
        return self.plans[0]["parts"][part]["owners"][block]

    def begins(self, rank, part, block):
        if self.collective in ("allgather", "gather"):
            return self.owner(part, block) == rank
        if self.exchange:
            return block < self.torus.ranks
        return rank == self.root if self.collective in ("bcast", "scatter") else True

    def synchronises(self):
        """A rank that has its result has heard from all; senders of other calls wait for acknowledgements."""
        return self.collective not in ROOTED

    def senders(self):
        for plan in self.plans:
            yield {(m["peer"], m["port"]) for part in plan["parts"] for step in part["steps"] for m in step["receives"]}

    def begun(self, rank, part, blocks):
        """What the rank begins with, by block."""
        return {b: collections.Counter([(rank, b) if self.exchange else rank])
                for b in range(blocks) if self.begins(rank, part, b)}

    def expected(self, rank, part, block):
        """What block must hold in the end; None: anything."""
        everybody = collections.Counter(range(self.torus.ranks))
        if self.exchange:
            source = block - self.torus.ranks
            return None if source < 0 else collections.Counter([(source, rank)])
        if self.collective in ("allreduce", "reduce_scatter", "reduce"):
            ends = {"allreduce": True, "reduce": rank == self.root}.get(self.collective)
            if ends is None:
                ends = self.owner(part, block) == rank
            return everybody if ends else None
        if self.collective == "bcast":
            return collections.Counter([self.root])
        if self.collective == "scatter":
            return collections.Counter([self.root]) if self.owner(part, block) == rank else None
        if self.collective == "barrier" or (self.collective == "gather" and rank != self.root):
            return None
        return collections.Counter([self.owner(part, block)])

    def check(self):
        for plan, senders in zip(self.plans, self.senders()):
            told = {(to["peer"], to["port"]) for to in plan["acknowledges"]}
            assert told == (set() if self.synchronises() else senders), f"rank {plan['rank']} acknowledges {told}"
            self.acknowledged.append(len(told))
        for part in range(self.parts):
            self.check_part(part)

    def check_part(self, part):
        mine = [plan["parts"][part] for plan in self.plans]
        blocks = mine[0]["vector_blocks"]
        buffers = []
        self.opened = set()
        for rank in range(self.torus.ranks):
            buffers.append({} if mine[rank].get("input_apart") else self.begun(rank, part, blocks))
        for step in range(len(mine[0]["steps"])):
            self.step(part, step, [plan["steps"][step] for plan in mine], buffers, blocks)
        for rank, block in itertools.product(range(self.torus.ranks), range(blocks)):
            wanted = self.expected(rank, part, block)
            assert wanted is None or buffers[rank].get(block) == wanted, (
                f"part {part}: block {block} of rank {rank} holds {buffers[rank].get(block)}")

    def of_vector(self, blocks):
        """How many blocks a rank's vector has: an alltoall's come once as what is sent, and once as what is received."""
        return blocks // 2 if self.exchange else blocks

    @staticmethod
    def put(buffer, targets, values, action):
        for target, value in zip(targets, values, strict=True):
            buffer[target] = value if action == "replace" else buffer[target] + value

    def move(self, part, step, now, buffers, blocks):
        """Pulls see what the peers had before the step: nobody may write it at the same time."""
        pulls = any("peer" in move for mine in now for move in mine["moves"])
        before = [dict(buffer) for buffer in buffers] if pulls else buffers
        for rank, mine in enumerate(now):
            for move in mine["moves"]:
                source = move.get("peer", rank)
                held = buffers[rank] if source == rank else before[source]
                if move.get("initial"):
                    held = self.begun(source, part, blocks)
                values = [held[b] for b in places([move["from"]])]
                self.put(buffers[rank], range(move["to"], move["to"] + len(values)), values, move["action"])
                if source != rank:
                    assert (source, rank) in self.opened, f"step {step}: rank {rank} pulls from {source}, which is shut"
                    self.pulled[rank] += fractions.Fraction(len(values), self.of_vector(blocks) * self.parts)

    def step(self, part, step, now, buffers, blocks):
        self.move(part, step, now, buffers, blocks)
        in_flight = collections.defaultdict(list)
        for rank, mine in enumerate(now):
            for send in mine["sends"]:
                values = [buffers[rank][b] for b in places(send["extents"])]
                in_flight[rank, send["peer"], send["port"]].append(values)
                self.count(step, rank, send, fractions.Fraction(len(values), self.of_vector(blocks) * self.parts))
        for rank, mine in enumerate(now):
            for receive in mine["receives"]:
                port = receive["port"]
                opposite = ("-" if port[0] == "+" else "+") + port[1:]
                values = in_flight[receive["peer"], rank, opposite].pop(0)
                if receive.get("opens"):
                    self.opened.add((receive["peer"], rank))
                self.holds[step, rank] += fractions.Fraction(len(values), self.parts)
                for application in receive["applications"]:
                    self.put(buffers[rank], places(application["extents"]), values, application["action"])
        assert not any(in_flight.values()), f"part {part}, step {step}: a message that nobody receives"

    def count(self, step, rank, send, share):
        links, hops = self.torus.route(rank, send["peer"], send["port"] if self.steered else None)
        self.largest[step] = max(self.largest[step], share)
        self.sent_in_step[step, rank] += share
        self.holds[step, rank] -= share * self.torus.ranks
        for link, part in links:
            self.loads[step][link] += part * share
        self.hops[step] = max(self.hops[step], hops)
        self.sent[rank] += share
        self.ports[step, rank, send["port"]] += 1
        self.extents = max(self.extents, len(send["extents"]))

    def figures(self):
        steps = sorted(self.hops)
        loads = [max(self.loads[s].values()) for s in steps]
        hops = [self.hops[s] for s in steps]
        of_blocks = {}
        if self.exchange:
            for step in range(len(self.plans[0]["parts"][0]["steps"])):
                self.held = [held + self.holds[step, rank] for rank, held in enumerate(self.held)]
                self.peak = max(self.peak, *self.held)
            most = [max(self.sent_in_step[s, r] for r in range(self.torus.ranks)) for s in steps]
            messages = collections.Counter()
            for (_, rank, _), count in self.ports.items():
                messages[rank] += count
            of_blocks = {"block_times": sum(loads) * self.torus.ranks, "rank_block_times": sum(most) * self.torus.ranks,
                         "msg_block_times": sum(self.largest.values()) * self.torus.ranks,
                         "peak_blocks_held": self.peak, "messages_per_rank": max(messages.values(), default=0)}
        return {**of_blocks, "ranks": self.torus.ranks, "parts": self.parts, "steps": len(steps),
                "bytes_sent_max": max(self.sent), "bytes_sent_min": min(self.sent),
                "bytes_sent_total": sum(self.sent), "step_max_link_load": loads, "step_max_hops": hops,
                "sum_link_load": sum(loads), "sum_hops": sum(hops),
                "max_sends_per_port_per_step": max(self.ports.values(), default=0),
                "max_extents_per_message": self.extents, "pulled_max": max(self.pulled),
                "pulled_mean": sum(self.pulled) / self.torus.ranks,
                "acknowledgements_max": max(self.acknowledged),
                "acknowledgements_mean": fractions.Fraction(sum(self.acknowledged), self.torus.ranks)}


def check(tool, collective, algorithm, shape, options):
    command = [tool, "plan", collective, "--algorithm", algorithm, "--torus", shape, "--json", *options]
    exported = subprocess.run([*command, "--all-ranks"], capture_output=True, text=True, timeout=300)
    if exported.returncode == 2:
        return 0  # refused
    run = Run(RoutedTorus(shape), [json.loads(line) for line in exported.stdout.splitlines()])
    run.check()
    summary = json.loads(subprocess.run([*command, "--summary", "--no-verify"], capture_output=True, text=True,
                                        check=True, timeout=300).stdout)
    for key, wanted in run.figures().items():
        told = summary[key] if isinstance(summary[key], list) else [summary[key]]
        exact = wanted if isinstance(wanted, list) else [wanted]
        alike = len(told) == len(exact) and all(abs(t - e) <= 1e-9 for t, e in zip(told, exact))
        assert alike, f"{key} is {told}, by definition {[float(e) for e in exact]}"
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--long", action="store_true", help="for each algorithm some rings to 64 and larger tori, drawn, with all options")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of what is drawn (default: from the clock; it is printed)")
    parser.add_argument("--only", default="", help="a collective")
    arguments = parser.parse_args()
    checked = failed = 0
    drawn = random.Random(arguments.seed)
    if arguments.long:
        print(f"seed {arguments.seed}", flush=True)
    for collective in COLLECTIVES:
        if arguments.only not in ("", collective):
            continue
        listing = subprocess.run([arguments.tool, "plan", collective, "--list"], capture_output=True, text=True,
                                 check=True, timeout=60).stdout
        names = [line.split()[0] for line in listing.splitlines() if line and line[0] != " "]
        pairs = [(name, shape) for name in names for shape in (drawn.sample(LARGE, 5) if arguments.long else SMALL)]
        for number, (algorithm, shape) in enumerate(pairs):
            last = str(RoutedTorus(shape).ranks - 1)
            sets = [[], ["--single-port"]] + ([["--root", last]] if collective in ROOTED else [])
            for options in sets if arguments.long else [sets[number % len(sets)]]:
                try:
                    checked += check(arguments.tool, collective, algorithm, shape, options)
                except Exception as error:  # the next ones are of interest, too
                    failed += 1
                    print(f"{collective} {algorithm} on {shape} {' '.join(options)}: {type(error).__name__}: {error}")
    print(f"{checked} plans checked, {failed} wrong")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
