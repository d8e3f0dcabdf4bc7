# SPDX-License-Identifier: BSD-3-Clause
"""What is written down about each network that is up, so that other commands find it and can remove it.

One JSON file per network. It is there before the first namespace is made and until the last one is gone, so that even a
killed `up` can be taken down. `trefoil run --net` (bench/run/torus_net.cpp) reads it too.
"""
import json
import os
import pathlib
import re
import time

from .geometry import Rewired, circuits_of, torus_named
from .network import Network, NetworkError

FOLDER = pathlib.Path("/run/trefoil-torusnet")
DEFAULT_NAME = "torusnet"


def check_name(name):
    # Shorter than what a message can bear, and never a number: tests name their namespaces after processes.
    if not re.fullmatch(r"[a-z][a-z0-9]{0,19}", name):
        raise NetworkError(f"\"{name}\" is not a name for a network; take a small letter, then at most 19 small letters and digits")
    return name


def path_of(name):
    return FOLDER / f"{check_name(name)}.json"


def hosts_file(name):
    return FOLDER / f"{check_name(name)}.hosts"


def report_socket(name):
    return FOLDER / f"{check_name(name)}.relay"


def host_name(name, rank):
    return f"{name}-{rank}"


def write(network, rate_text, delay_text=""):
    """Claims the network's name; NetworkError when it is taken."""
    FOLDER.mkdir(exist_ok=True)
    places = [rank for rank in range(network.torus.ranks) if network.torus.is_there(rank)]
    text = json.dumps({
        "name": network.name, "torus": network.torus.name, "rate": rate_text, "bits_per_second": network.rate,
        "delay": delay_text, "delay_ns": network.delay,
        "since": int(time.time()), "namespaces": [network.names[rank] for rank in places],
        "nics": ",".join(f"{direction}={nic}" for direction, nic in zip(network.torus.directions, network.nics)),
        "meeting_addresses": [network.meeting_address(rank) for rank in places],
    }, indent=1)
    try:
        with open(path_of(network.name), "x", encoding="utf-8") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise NetworkError(f"there is a network \"{network.name}\" already; see scripts/torusnet status, take it down with "
                           f"scripts/torusnet down --name {network.name}, or choose another --name") from None
    hosts_file(network.name).write_text("127.0.0.1 localhost\n" + "".join(
        f"{network.meeting_address(rank)} {host_name(network.name, rank)}\n" for rank in places),
        encoding="utf-8")


def read(name):
    """(Network, everything written down). NetworkError when there is no such network."""
    try:
        state = json.loads(path_of(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        others = ", ".join(names())
        raise NetworkError(f"there is no network \"{name}\"" + (f", but {others}" if others else "") +
                           "; bring it up with scripts/torusnet up 3x3" +
                           (f" --name {name}" if name != DEFAULT_NAME else "")) from None
    except ValueError as error:
        raise NetworkError(f"{path_of(name)} cannot be read ({error}); remove it, and the namespaces "
                           f"\"ip netns list\" shows as trefoil-{name}-...") from error
    torus = torus_named(state["torus"])
    if state.get("circuits") is not None:
        torus = Rewired(state["torus"], {(rank, direction): to for rank, direction, to in state["circuits"]})
    return Network(torus, name, rate=state["bits_per_second"], delay=state.get("delay_ns", 0),
                   report=report_socket(name)), state


def write_circuits(net):
    """How its links stand now; nothing where they are those of the torus."""
    state = json.loads(path_of(net.name).read_text(encoding="utf-8"))
    circuits = circuits_of(net.torus)
    state["circuits"] = None if circuits == circuits_of(torus_named(net.torus.name)) else [
        [rank, direction, to] for (rank, direction), to in circuits.items()]
    new = path_of(net.name).with_suffix(".new")
    new.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    new.replace(path_of(net.name))


def forget(name):
    for path in (report_socket(name), hosts_file(name), path_of(name)):
        path.unlink(missing_ok=True)


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))
