# SPDX-License-Identifier: BSD-3-Clause
"""What the machine carries when all nodes send to all neighbours at once, by TCP, as ranks do."""
import contextlib
import multiprocessing
import os
import pathlib
import selectors
import socket
import time

from .distance import Report
from .geometry import opposite
from .probe import PORT, inside

CHUNK = 1 << 18
SECONDS_TO_FILL = 1.0  # until windows and queues are full
LIMIT = 30  # seconds for a process to tell and end


class Carried:
    """Shares of the rate that the flows had, and of the processors' time that nobody wanted meanwhile; what the relay says
    of that time, if there is one."""

    def __init__(self, shares, idle, relay=None):
        self.relay = relay
        self.mean, self.least, self.idle = sum(shares) / len(shares), min(shares), idle


def measure(network, seconds):
    """Carried, over so many seconds. The network has a rate, and nothing else runs in it."""
    with contextlib.ExitStack() as stack:
        ends = _connect(network, stack)
        shares = len(os.sched_getaffinity(0))  # a process cannot move more than its core can
        context = multiprocessing.get_context("fork")  # which inherits sockets
        results = context.Queue()
        workers = [context.Process(target=_move, args=(ends[k::shares], seconds, results)) for k in range(shares)]
        for worker in workers:
            worker.start()
        time.sleep(SECONDS_TO_FILL)
        before, relay_before = _processors(), _relay(network)
        time.sleep(seconds)
        after, relay = _processors(), _relay(network)
        received = [count for _ in workers for count in results.get(timeout=LIMIT)]
        for worker in workers:
            worker.join(LIMIT)
    idle = (after[1] - before[1]) / max(1, after[0] - before[0])
    return Carried([8 * count / network.rate for count in received], idle, relay and relay.since(relay_before))


def _relay(network):
    return Report.read(network.report) if network.delay else None


def _connect(network, stack):
    """(source, sink, share of the whole rate) of a connection from every node to the neighbour in every direction."""
    torus = network.torus
    listeners = []
    for name in network.names:
        with inside(name):
            listeners.append(stack.enter_context(socket.create_server(("", PORT), backlog=64)))
    ends = []
    for rank in range(torus.ranks):
        for direction in torus.directions:
            peer = torus.neighbour(rank, direction)
            if peer in (rank, None):
                continue
            with inside(network.names[rank]):
                source = stack.enter_context(socket.socket())
            source.bind((network.address(rank, direction).split("/")[0], 0))
            source.connect((network.address(peer, opposite(direction)).split("/")[0], PORT))
            ends.append((source, stack.enter_context(listeners[peer].accept()[0]), torus.share(rank, direction)))
    return ends


def _move(ends, seconds, results):
    """Puts the bytes per second that each sink has received, as if its link were whole."""
    received = {sink: 0 for _, sink, _ in ends}
    shares = {sink: share for _, sink, share in ends}
    with selectors.DefaultSelector() as selector:
        for source, sink, _ in ends:
            for end, event in ((source, selectors.EVENT_WRITE), (sink, selectors.EVENT_READ)):
                end.setblocking(False)
                selector.register(end, event)
        _run(selector, received, SECONDS_TO_FILL)
        received = dict.fromkeys(received, 0)
        start = time.monotonic()
        _run(selector, received, seconds)
        taken = time.monotonic() - start
    results.put([count / taken / shares[sink] for sink, count in received.items()])


def _run(selector, received, seconds):
    data, space, end = bytes(CHUNK), bytearray(CHUNK), time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in selector.select(0.01):
            with contextlib.suppress(BlockingIOError):
                if key.fileobj in received:
                    received[key.fileobj] += key.fileobj.recv_into(space)
                else:
                    key.fileobj.send(data)


def _processors():
    """(all, idle) time of all processors so far."""
    times = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return sum(times), times[3] + times[4]
