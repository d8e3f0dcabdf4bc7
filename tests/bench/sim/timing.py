# SPDX-License-Identifier: BSD-3-Clause
"""Both timing models, written from their definitions alone: slow, plain, and without a line of Trefoil's simulator.

Traffic is a list of parts; a part is a list of steps; a step is a list of (source, target, port, share), where `share` is a
fraction of the vector and `port` is None unless the schedule steers its messages. Times are seconds, sizes bytes, rates bytes
per second of one direction of a link.
"""
import collections
import heapq
import itertools
import math

TOGETHER = 1e-11  # events no further apart than this, relative to the time, are one event


class Grid:
    """A torus: ranks row by row, a directed link each way between neighbours, two of each in a dimension of size 2."""

    def __init__(self, name):
        self.sizes = [int(size) for size in name.split("x")]
        self.ranks = math.prod(self.sizes)

    def place(self, rank):
        place = []
        for size in reversed(self.sizes):
            place.insert(0, rank % size)
            rank //= size
        return place

    def rank(self, place):
        rank = 0
        for size, coordinate in zip(self.sizes, place):
            rank = rank * size + coordinate % size
        return rank

    def ways(self, source, target, port=None):
        """Lists of links: by dimension, the first one first, the shorter way round. Two equally long ways both count,
        unless `port` names the one to take."""
        choices, here, goal = [], self.place(source), self.place(target)
        for j, size in enumerate(self.sizes):
            ahead = (goal[j] - here[j]) % size
            behind = (size - ahead) % size
            signs = [sign for sign, length in ((1, ahead), (-1, behind)) if length and length <= min(ahead, behind)]
            if len(signs) == 2 and port is not None and int(port[1:]) == j:
                signs = [1 if port[0] == "+" else -1]
            runs = []
            for sign in signs:
                at, run = list(here), []
                for _ in range(min(ahead, behind)):
                    run.append((self.rank(at), j, sign))
                    at[j] += sign
                runs.append(run)
            if runs:
                choices.append(runs)
            here[j] = goal[j]
        return [list(itertools.chain(*way)) for way in itertools.product(*choices)]


def step_seconds(grid, traffic, size, rate, alpha, tau):
    """A barrier after every step: the longest way, then the fullest link, of each step in which anybody sends."""
    seconds = 0
    for step in range(max(len(part) for part in traffic)):
        loads, hops, anybody = collections.Counter(), 0, False
        for part in traffic:
            for source, target, port, share in part[step] if step < len(part) else []:
                anybody = True
                ways = grid.ways(source, target, port)
                hops = max(hops, len(ways[0]))
                for way in ways:
                    for link in way:
                        loads[link] += share * size / len(ways)
        if anybody:
            seconds += alpha + tau * hops + max(loads.values()) / rate
    return seconds


def fair_rates(flows, rate):
    """Max-min fair rates of flows (lists of links): the fullest link divides what it has left among those without a rate."""
    on_link, left, rates = collections.defaultdict(set), {}, {}
    for flow, links in flows.items():
        for link in links:
            on_link[link].add(flow)
            left[link] = rate
    while len(rates) < len(flows):
        level = min(left[link] / len(waiting) for link, waiting in on_link.items() if waiting)
        full = [link for link, waiting in on_link.items() if waiting and left[link] / len(waiting) <= level * (1 + 1e-12)]
        for flow in set().union(*(on_link[link] for link in full)):
            rates[flow] = level
            for link in flows[flow]:
                on_link[link].discard(flow)
                left[link] -= level
    return rates


class FlowRun:
    """Event by event; see flow_seconds."""

    def __init__(self, grid, traffic, size, rate, alpha, tau, sync):
        self.grid, self.traffic, self.size, self.rate, self.alpha, self.tau = grid, traffic, size, rate, alpha, tau
        self.sync = sync
        self.sends = collections.defaultdict(list)
        self.missing = collections.Counter()  # receives, by (rank, part, step)
        for p, part in enumerate(traffic):
            for s, step in enumerate(part):
                for source, target, port, share in step:
                    self.sends[source, p, s].append((target, port, share))
                    self.missing[target, p, s] += 1
        self.now, self.last = 0.0, 0.0
        self.opened = set()
        self.starts, self.number = [], itertools.count()
        self.flows, self.left, self.message = {}, {}, {}
        self.ways_left = {}

    def seconds(self):
        for rank in range(self.grid.ranks):
            if self.sync:
                self.open_all(rank, 0)
            else:
                for part in range(len(self.traffic)):
                    self.open(rank, part, 0)
        rates = {}
        while self.starts or self.flows:
            due = min([self.now + self.left[f] / rates[f] for f in self.flows] + [start[0] for start in self.starts[:1]])
            for flow in self.flows:
                self.left[flow] -= (due - self.now) * rates[flow]
            self.now = due
            slack = due * TOGETHER
            for flow in [f for f in self.flows if self.left[f] <= slack * rates[f]]:
                self.end(flow)
            while self.starts and self.starts[0][0] <= due + slack:
                self.start(*heapq.heappop(self.starts)[2:])
            rates = fair_rates(self.flows, self.rate)
        assert not +self.missing, "somebody waits for ever"
        return self.last

    def open(self, rank, part, step):
        """A step opens: all its messages are posted. Without receives it is complete at once."""
        while step < len(self.traffic[part]):
            self.post(rank, part, step)
            if self.missing[rank, part, step]:
                return
            step += 1

    def open_all(self, rank, step):
        while step < max(len(part) for part in self.traffic):
            for part in range(len(self.traffic)):
                self.post(rank, part, step)
            if any(self.missing[rank, part, step] for part in range(len(self.traffic))):
                return
            step += 1

    def post(self, rank, part, step):
        self.last = max(self.last, self.now)
        self.opened.add((rank, part, step))
        for target, port, share in self.sends[rank, part, step]:
            ways = self.grid.ways(rank, target, port)
            begins = self.now + self.alpha + self.tau * len(ways[0])
            heapq.heappush(self.starts, (begins, next(self.number), ways, share * self.size, (target, part, step)))

    def start(self, ways, size, goal):
        message = next(self.number)
        self.ways_left[message] = len(ways)
        for way in ways:
            flow = next(self.number)
            self.flows[flow], self.left[flow], self.message[flow] = way, size / len(ways), (message, goal)
            if size == 0:
                self.end(flow)

    def end(self, flow):
        del self.flows[flow], self.left[flow]
        message, (rank, part, step) = self.message.pop(flow)
        self.ways_left[message] -= 1
        if self.ways_left[message]:
            return
        self.last = self.now
        self.missing[rank, part, step] -= 1
        if self.missing[rank, part, step] == 0 and (rank, part, step) in self.opened:
            if not self.sync:
                self.open(rank, part, step + 1)
            elif not any(self.missing[rank, p, step] for p in range(len(self.traffic))):
                self.open_all(rank, step + 1)


def flow_seconds(grid, traffic, size, rate, alpha, tau, sync=False):
    """A rank opens step 0 of all parts at 0 and step s+1 of a part when its receives of step s have arrived. A message
    flows alpha + hops * tau after its step has opened; its ways share links max-min fairly with all others, and rates
    change when any way begins or ends. It has arrived when its last way is empty. With `sync` a rank opens step s+1 of all
    parts together."""
    return FlowRun(grid, traffic, size, rate, alpha, tau, sync).seconds()
