# SPDX-License-Identifier: BSD-3-Clause
"""Where a comparison runs: a network of scripts/torusnet made for it alone, or the shared memory of this machine."""
import json
import math
import os
import pathlib
import signal
import subprocess
import time

from torus_network import geometry, links, state
from torus_network.network import processes

from . import ROOT

TORUSNET = ROOT / "scripts/torusnet"
PAYLOAD_OF_FRAME = (links.MTU - 52) / links.FRAME  # less IP, TCP and its time stamps


class Torus:
    """Use it in a `with`, which takes the network down."""

    def __init__(self, torus, rate, folder, trefoil, per_node=1):
        self.per_node, self.trefoil, self.bounds, self.is_whole = per_node, trefoil, {}, True
        self.name = f"compare{os.getpid()}"
        self.torus_name, self.rate_text = torus, rate
        self.rate = links.parse_rate(rate) / 8 * PAYLOAD_OF_FRAME  # bytes/s of data at best
        self.agent = pathlib.Path(folder) / "agent"
        self.title = f"{torus} torus{f' of nodes of {per_node} ranks' if per_node > 1 else ''}, {rate} per link and direction"

    def __enter__(self):
        subprocess.run([TORUSNET, "up", self.torus_name, "--rate", self.rate_text, "--name", self.name], check=True)
        subprocess.run([TORUSNET, "check", "--name", self.name], check=True)
        self.load = subprocess.run([TORUSNET, "load", "--name", self.name], check=False, text=True,
                                   stdout=subprocess.PIPE).stdout.strip()
        print(self.load, flush=True)
        self.network, _ = state.read(self.name)
        nodes = [node for node in range(self.network.torus.ranks) if self.network.torus.is_there(node)]
        self.first_node, self.ranks = nodes[0], len(nodes) * self.per_node
        self.directions = len(self.network.torus.directions)
        self.is_whole = type(self.network.torus) is geometry.Torus
        self.one_size = self.is_whole and len(set(self.network.torus.sizes)) == 1
        self.crowded = self.ranks > len(os.sched_getaffinity(0))
        slots = f":{self.per_node}" if self.per_node > 1 else ""
        self.hosts = ",".join(state.host_name(self.name, node) + slots for node in nodes)
        self.nics = ",".join(self.network.nics)
        self.agent.write_text(f'#!/bin/sh\nexec "{TORUSNET}" exec --name {self.name} --shell "$@"\n', encoding="utf-8")
        self.agent.chmod(0o755)
        return self

    def __exit__(self, *_):
        subprocess.run([TORUSNET, "down", "--force", "--name", self.name], check=False)

    def clean(self):
        """Ends what a run has left: all in this network is ours."""
        end = time.monotonic() + 5
        while (left := processes(self.network.names)) and time.monotonic() < end:
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # has ended
            time.sleep(0.02)

    def bound(self, collective, size):
        """Seconds below which no algorithm can be: of a torus what every node, or the root's, must send through all its ports; in an
        alltoall what must cross the links of a dimension, on shortest ways."""
        if not self.is_whole:
            if collective not in self.bounds:
                words = [self.trefoil, "plan", collective, "--torus", self.torus_name, "--bound", "--json"]
                self.bounds[collective] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)["vectors"]
            return self.bounds[collective] * size / self.rate
        if collective == "alltoall":  # offsets along a ring of n add up to n^2 / 4 hops, or (n^2 - 1) / 4; half each way
            most = max((n * n - n % 2) / (8 * n) for n in self.network.torus.sizes)
            return most * size * self.per_node / self.rate
        nodes = self.ranks // self.per_node
        share = (nodes - 1) / nodes
        amount = {"allreduce": 2 * share, "allgather": share, "reduce_scatter": share, "gather": share,
                  "scatter": share}.get(collective, 1)
        return amount * size / (self.directions * self.rate)

    def calls(self, collective, size):
        return round_calls(1.0 / (4 * self.bound(collective, size) + 2e-4), 3, 5000)


class Memory:
    """The machine's own memory."""

    load = ""  # no links that processors could be too slow for

    def __init__(self, ranks):
        self.ranks = ranks
        prime = all(ranks % factor for factor in range(2, ranks))
        self.directions = 2 if prime else 4  # Trefoil's choice: a ring, or the most square torus
        self.one_size = prime or math.isqrt(ranks) ** 2 == ranks
        self.title = f"shared memory, {ranks} ranks on {len(os.sched_getaffinity(0))} cores"
        self.crowded = ranks > len(os.sched_getaffinity(0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def clean(self):
        pass

    def bound(self, _collective, _size):
        return None

    def calls(self, _collective, size):
        if self.crowded:  # each rank has its turn in a barrier, which lasts long beside a few small calls
            return round_calls(0.5 / (self.ranks * (1.2e-5 + size / 1e9)), 5, 5000)
        return round_calls(0.5 / (self.ranks * (2e-6 + size / 2e9)), 5, 5000)


def round_calls(calls, least, most):
    """Few different numbers, so that many sizes share a launch."""
    steps = [step for step in (3, 5, 10, 20, 50, 200, 1000, 5000) if least <= step <= min(most, calls)]
    return steps[-1] if steps else least
