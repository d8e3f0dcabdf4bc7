# SPDX-License-Identifier: BSD-3-Clause
"""Sockets and counters inside the namespaces of a network, used from one process: what routes and rates really are."""
import contextlib
import ctypes
import os
import select
import socket
import time

from .geometry import nic_of, opposite

PORT = 29600
CLONE_NEWNET = 0x40000000
SO_RCVBUFFORCE = 33  # Linux; Python has no name for it
SECONDS = 1.0  # for a datagram to arrive
PAYLOAD = 8900
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(namespace):
    """Sockets and files of /proc/net that are opened in here belong to the namespace for ever."""
    with open("/proc/thread-self/ns/net", "rb") as home, open(f"/run/netns/{namespace}", "rb") as there:
        _enter(there)
        try:
            yield
        finally:
            _enter(home)


def _enter(file):
    if LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


def lit(network, rank):
    """The directions in which a rank has a link; all, unless links were moved."""
    return [direction for direction in network.torus.directions if network.torus.neighbour(rank, direction) is not None]


class Probe:
    """A datagram socket at every NIC of every rank, and the counters of all NICs."""

    def __init__(self, network):
        self.network = network
        self.sockets, self._counters = {}, []
        for rank, name in enumerate(network.names):
            with inside(name):
                self._counters.append(open("/proc/thread-self/net/dev", encoding="ascii"))  # closed by close()
                for direction in lit(network, rank):
                    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
                    end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 22)
                    end.bind((self.address(rank, direction), PORT))
                    self.sockets[rank, direction] = end

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in [*self._counters, *self.sockets.values()]:
            file.close()

    def address(self, rank, direction):
        return self.network.address(rank, direction).split("/")[0]

    def sent(self):
        """Packets that have left so far, by (rank, direction)."""
        packets = {}
        for rank, file in enumerate(self._counters):
            file.seek(0)
            fields = {line.split(":")[0].strip(): line.split(":")[1].split() for line in file if ":" in line}
            for direction in lit(self.network, rank):
                packets[rank, direction] = int(fields[nic_of(direction)][9])
        return packets

    def ends(self, source, target, last):
        """The sockets of a flow: where it leaves, and where it arrives."""
        first = self.network.torus.next_direction(source, target, last)
        return (source, first), (target, opposite(last))

    def follow(self, source, target, last):
        """Sends one datagram; returns the links that have carried it, and whether it has arrived."""
        leaves, arrives = self.ends(source, target, last)
        before = self.sent()
        self.sockets[leaves].sendto(b"x", (self.address(*arrives), PORT))
        distance = 1e-9 * self.network.delay * len(self.network.torus.path(source, target, last))
        arrived = bool(select.select([self.sockets[arrives]], [], [], SECONDS + distance)[0])
        if arrived:
            self.sockets[arrives].recv(16)
        after = self.sent()
        return {link: after[link] - before[link] for link in after if after[link] != before[link]}, arrived

    def flood(self, flows, seconds):
        """All flows (source, target, last) send as fast as they can; returns what arrived of each, in bits per second."""
        ends = [self.ends(*flow) for flow in flows]
        targets = [self.address(*arrives) for _, arrives in ends]
        received = dict.fromkeys(ends, 0)
        by_source = {(self.address(*leaves), arrives): (leaves, arrives) for leaves, arrives in ends}
        start = time.monotonic()
        counting = start + seconds / 3  # the queues have filled by then
        while time.monotonic() < start + seconds:
            for (leaves, _), target in zip(ends, targets):
                with contextlib.suppress(BlockingIOError):
                    self.sockets[leaves].sendto(bytes(PAYLOAD), (target, PORT))
            readable, _, _ = select.select([self.sockets[arrives] for _, arrives in ends], [], [], 0.0005)
            for arrives in {end[1] for end in ends}:
                if self.sockets[arrives] in readable:
                    self._drain(arrives, by_source, received, time.monotonic() >= counting)
        self._settle([self.sockets[arrives] for _, arrives in ends])
        return [8 * received[end] / (seconds * 2 / 3) for end in ends]

    def _drain(self, arrives, by_source, received, count):
        with contextlib.suppress(BlockingIOError):
            while True:
                data, sender = self.sockets[arrives].recvfrom(PAYLOAD)
                if count:
                    received[by_source[sender[0], arrives]] += len(data)

    @staticmethod
    def _settle(sockets):
        """Throws away what is still under way, until nothing has come for a while."""
        end = time.monotonic() + 5
        while time.monotonic() < end and select.select(sockets, [], [], 0.1)[0]:
            for one in sockets:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        one.recv(PAYLOAD)


def check_routes(network, flows):
    """Follows one datagram of every flow; yields in words what did not go its way."""
    torus = network.torus
    with Probe(network) as probe:
        for source, target, last in flows:
            links, arrived = probe.follow(source, target, last)
            expected = {link: 1 for link in torus.path(source, target, last)}
            if arrived and links == expected:
                continue
            title = (f"from node {source} to {target} at {probe.address(target, opposite(last))}, arriving in direction "
                     f"{last}")
            if not arrived:
                yield f"{title}: did not arrive; it has passed {_words(links)}, and should have passed {_words(expected)}"
            else:
                yield f"{title}: has passed {_words(links)}, and should have passed {_words(expected)}"


def _words(links):
    return ", ".join(f"node {rank} {direction}" + (f" {count} times" if count != 1 else "")
                     for (rank, direction), count in links.items()) or "no link"
