#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that scripts/torusnet makes the torus that it promises, sees when it is not one, and leaves nothing behind.

Usage: torusnet.py TORUS ... Needs root. Exit code 1 if anything is wrong, 77 if this machine cannot make such networks.
"""
import os
import re
import signal
import sys

from command import SECONDS, interrupted_up, torusnet
from torus_network import network, probe, state  # noqa: E402
from torus_network.geometry import Torus, nic_of, opposite  # noqa: E402

SKIPPED = 77
RATE, RATE_TEXT = 20e6, "20mbit"
FLOOD_SECONDS = 1.2
NAME = f"test{os.getpid()}"


def left_behind():
    return [name for name in network.namespaces() if name.startswith(f"{network.PREFIX}{NAME}")] + \
        [name for name in state.names() if name.startswith(NAME)]


def line_of_nodes(torus, count):
    """Nodes along the last dimension, and the direction in which they follow each other."""
    direction = torus.directions[-2]
    nodes = [0]
    while len(nodes) < count:
        nodes.append(torus.neighbour(nodes[-1], direction))
    return nodes, direction


def check_shares(net):
    """The nodes of a line all send to its end: each output is halved between what passes and what the node sends."""
    count = min(4, net.torus.sizes[-1])
    nodes, direction = line_of_nodes(net.torus, count)
    with probe.Probe(net) as ends:
        shares = [rate / RATE for rate in ends.flood([(node, nodes[-1], direction) for node in nodes[:-1]], FLOOD_SECONDS)]
    expected = [0.5 ** min(count - 2, count - 1 - place) for place in range(count - 1)]
    print(f"{net.torus.name}: shares of the last link {[f'{share:.3f}' for share in shares]}, expected {expected}")
    for share, due in zip(shares, expected):
        if not 0.8 * due <= share <= 1.1 * due:
            yield f"{net.torus.name}: shares {shares}, expected {expected}"


def check_load(net, name):
    """All links carry the rate and no more; whether processors stay idle meanwhile is the machine's affair."""
    code, output = torusnet("load", "--name", name, "--seconds", "1")
    print(output, end="", flush=True)
    shares = [float(word) / 100 for word in re.findall(r"([\d.]+)%", output)]
    if code not in (0, 1) or len(shares) != 2 + 1 or not 0.5 <= shares[1] <= shares[0] <= 1.02:
        yield f"load {net.torus.name}: {code} {output}"


def check_wrong_route(name, net):
    """A route the other way round the ring, or by another dimension, arrives all the same; `check` must see it."""
    (source, target), direction = line_of_nodes(net.torus, 2)
    first = opposite(direction)
    gateway = net.address(net.torus.neighbour(source, first), direction).split("/")[0]
    address = net.address(target, opposite(direction)).split("/")[0]
    route = ["ip", "-n", net.names[source], "route", "replace", f"{address}/32", "via", gateway, "dev", nic_of(first), "onlink"]
    network.run(*route)
    code, output = torusnet("check", "--name", name)
    if code != 1 or f"from node {source} to {target} at {address}" not in output:
        yield f"{net.torus.name}: check does not see a wrong route: {code} {output}"


def check_circuits(name, net):
    """Circuits that are none are refused in words, and no link moves."""
    ranks = net.torus.ranks
    for words, text in (
            (["0-0:1"], "is not a circuit"), (["0+0"], "is not a circuit"), (["torus", "0+0:1"], "is not a circuit"),
            (["0+0:1", "0+0:2"], "two circuits begin at node 0 in direction +0"), (["0+0:1", "2+0:1"], "two circuits end at m0 of node 1"),
            (["0+7:1"], "\"+7\" is not a direction"), ([f"0+0:{ranks}"], f"has nodes 0 to {ranks - 1}")):
        code, output = torusnet("rewire", "--name", name, *words)
        if code != 1 or text not in output:
            yield f"rewire {' '.join(words)}: {code} {output}"
    if state.read(name)[1].get("circuits") is not None:
        yield f"{net.torus.name}: a refused circuit is written down"
    code, output = torusnet("rewire", "--name", name, "torus")
    if code != 0 or not output.startswith("0 links"):
        yield f"{net.torus.name}: after refused circuits: {code} {output}"


def check_torus(torus, name):
    wrong = []
    code, output = torusnet("up", torus, "--rate", RATE_TEXT, "--name", name)
    if code != 0:
        return [f"up {torus}: {code} {output}"]
    net, _ = state.read(name)
    code, output = torusnet("check", "--name", name)
    print(output, end="", flush=True)
    if code != 0 or f"{len(net.torus.flows())} flows" not in output:
        wrong.append(f"check {torus}: {code} {output}")
    wrong += check_circuits(name, net)
    wrong += check_load(net, name)
    wrong += check_shares(net)
    wrong += check_wrong_route(name, net)
    code, output = torusnet("exec", "--name", name, str(net.torus.ranks - 1), "hostname")
    if output != f"{state.host_name(name, net.torus.ranks - 1)}\n":
        wrong.append(f"exec {torus}: {code} {output}")
    return wrong


def check_interrupted(name):
    """Wherever a signal meets `up`, nothing is left."""
    for delay in (0, 0.02, 0.05, 0.08, 0.1, 0.12, 0.15, 0.3):
        code, errors = interrupted_up(["4x4"], name, delay, signal.SIGINT)
        if code != 0 and "interrupted by SIGINT" not in errors:
            yield f"interrupted after {delay} s: {code} {errors}"
        if [left for left in left_behind() if left.startswith((name, network.PREFIX + name))]:
            yield f"interrupted after {delay} s: {left_behind()} left"


def check_refused(name):
    """What is wrong is said, with what to do."""
    for words, code, text in (
            (["up", "3y3", "--name", name], 1, "is not a torus"), (["up", "300", "--name", name], 1, "from 2 to 250"),
            (["up", "3x3", "--rate", "fast"], 2, "50mbit"), (["up", "3x3", "--name", "A b"], 1, "small letter"),
            (["check", "--name", "nobody"], 1, "scripts/torusnet up"), (["load", "--name", "nobody"], 1, "scripts/torusnet up"), (["exec", "--name", "nobody", "0", "true"], 1, "up 3x3")):
        result, output = torusnet(*words)
        if result != code or text not in output:
            yield f"{' '.join(words)}: {result} {output}"


def main():
    reason = network.impossible(limited=True)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    wrong, names = [], [f"{NAME}i"]
    try:
        for number, torus in enumerate(sys.argv[1:]):
            names.append(f"{NAME}n{number}")
            wrong += check_torus(torus, names[-1])  # all stay up: they must not meet
        wrong += check_interrupted(names[0])
        wrong += check_refused(f"{NAME}r")
    finally:
        for name in names:
            torusnet("down", "--force", "--name", name)
        wrong += [f"{name} is left" for name in left_behind()]
    for text in wrong:
        print(f"WRONG {text}")
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
