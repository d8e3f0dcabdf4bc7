# SPDX-License-Identifier: BSD-3-Clause
"""A torus of scripts/torusnet with distance, frame by frame: what its queues make of a schedule.

The flow model divides a link evenly among messages, at any moment. The emulated links carry whole frames, one after the
other: at each output the inputs of the node and what it sends itself take turns (torus_network/links.py). So of two messages
that share a link one may be through earlier, and goes on while the other still flows; and among messages over several hops
it matters who comes first. Calls follow each other, as they do when they are measured: a rank begins the next one when it has
finished, so an order that has come about may last. TCP's acknowledgements and processors are not in it.
"""
import collections
import heapq
import itertools
import json
import random
import subprocess

from torus_network import links

PAYLOAD = links.MTU - 52  # less IP, TCP and its time stamps
HEADERS = links.FRAME - PAYLOAD
SECONDS = 300


def exported(trefoil, algorithm, torus):
    """Messages of an allreduce, by (rank, part, step): (target, port, share of the vector)."""
    text = subprocess.run([trefoil, "plan", "allreduce", "--algorithm", algorithm, "--torus", torus, "--all-ranks", "--json"],
                          text=True, capture_output=True, check=True, timeout=SECONDS).stdout
    sends, last = collections.defaultdict(list), [0]
    for plan in map(json.loads, text.splitlines()):
        parts = plan["parts"]
        last = [len(part["steps"]) for part in parts]
        for p, part in enumerate(parts):
            for s, step in enumerate(part["steps"]):
                for send in step["sends"]:
                    blocks = sum(count for _, count in send["extents"])
                    sends[plan["rank"], p, s].append((send["peer"], send["port"], blocks / part["vector_blocks"] / len(parts)))
    return sends, last


class Output:
    """The queues behind one link: inputs take turns, byte for byte, in whole frames."""

    def __init__(self):
        self.free_at, self.queues, self.credit, self.turns = 0.0, {}, {}, collections.deque()

    def add(self, source, frame):
        queue = self.queues.setdefault(source, collections.deque())
        if source not in self.turns:
            self.turns.append(source)
            self.credit[source] = links.FRAME
        queue.append(frame)

    def take(self):
        """The next frame, or None."""
        while self.turns:
            source = self.turns[0]
            if not self.queues[source]:
                self.turns.popleft()
            elif self.queues[source][0].bytes > self.credit[source]:
                self.credit[source] += links.FRAME
                self.turns.rotate(-1)
            else:
                frame = self.queues[source].popleft()
                self.credit[source] -= frame.bytes
                return frame
        return None


Frame = collections.namedtuple("Frame", "message bytes path hop")


class Run:
    """Some allreduces; in each of them ranks go on as in the flow model. Steps count on from call to call. Ranks begin the
    first one up to `skew` seconds after each other."""

    def __init__(self, torus, traffic, size, rate, delay, alpha, skew, seed, calls):
        self.torus, self.size, self.rate, self.delay, self.alpha = torus, size, rate / 8, delay, alpha
        (self.sends, self.steps), self.calls = traffic, calls
        self.random = random.Random(seed)
        self.missing = collections.Counter((target, part, step + call * self.steps[part]) for call in range(calls)
                                           for (_, part, step), messages in self.sends.items() for target, _, _ in messages)
        self.unfinished, self.skew, self.ends = collections.Counter(), skew, [0.0] * calls
        self.events, self.number = [], itertools.count()
        self.outputs = collections.defaultdict(Output)
        self.left, self.goal, self.opened = {}, {}, set()

    def seconds(self):
        """Of a call; without the first one if there are others."""
        for rank in range(self.torus.ranks):
            self.at(self.random.uniform(0, self.skew), self.begin, rank, 0)
        while self.events:
            now, _, what, arguments = heapq.heappop(self.events)
            what(now, *arguments)
        return (self.ends[-1] - self.ends[0]) / (self.calls - 1) if self.calls > 1 else self.ends[0]

    def begin(self, now, rank, call):
        self.unfinished[rank] = len(self.steps)
        for part, steps in enumerate(self.steps):
            self.open(now, rank, part, call * steps)

    def at(self, time, what, *arguments):
        heapq.heappush(self.events, (time, next(self.number), what, arguments))

    def open(self, now, rank, part, step):
        steps = self.steps[part]
        call, end = step // steps, (step // steps + 1) * steps
        while step < end:
            self.opened.add((rank, part, step))
            for target, port, share in self.sends[rank, part, step % steps]:
                path = self.torus.path(rank, target, port)
                start = now + self.alpha * self.random.uniform(0.5, 1.5)
                self.at(start, self.post, path, share * self.size, (target, part, step))
            if self.missing[rank, part, step]:
                return
            step += 1
        self.finish(now, rank, call)

    def finish(self, now, rank, call):
        """A part is complete; with the last one the rank's call is."""
        self.unfinished[rank] -= 1
        self.ends[call] = now
        if not self.unfinished[rank] and call + 1 < self.calls:
            self.begin(now, rank, call + 1)

    def post(self, now, path, size, goal):
        message, count = next(self.number), max(1, -(-int(size) // PAYLOAD))
        self.left[message], self.goal[message] = count, goal
        for k in range(count):
            self.head(now, Frame(message, min(PAYLOAD, size - k * PAYLOAD) + HEADERS, path, 0))

    def head(self, now, frame):
        """The first bit of a frame is at a node that sends it on."""
        link = frame.path[frame.hop]
        self.outputs[link].add(frame.path[frame.hop - 1] if frame.hop else "own", frame)
        self.serve(now, link)

    def serve(self, now, link):
        output = self.outputs[link]
        frame = output.take() if output.free_at <= now else None
        if frame is None:
            return
        output.free_at = now + frame.bytes / self.rate
        self.at(output.free_at, self.serve, link)
        if frame.hop + 1 < len(frame.path):
            self.at(now + self.delay, self.head, frame._replace(hop=frame.hop + 1))
        else:
            self.at(output.free_at + self.delay, self.tail, frame.message)

    def tail(self, now, message):
        self.left[message] -= 1
        if self.left[message]:
            return
        rank, part, step = self.goal[message]
        self.missing[rank, part, step] -= 1
        if self.missing[rank, part, step] or (rank, part, step) not in self.opened:
            return
        if (step + 1) % self.steps[part]:
            self.open(now, rank, part, step + 1)
        else:
            self.finish(now, rank, step // self.steps[part])


def spread(torus, traffic, size, rate, delay, alpha, skew, runs=11, calls=6):
    """Sorted seconds per call of some runs, whose start-ups differ by up to half of alpha; rate in bits per second."""
    return sorted(Run(torus, traffic, size, rate, delay, alpha, skew, seed, calls).seconds() for seed in range(runs))
