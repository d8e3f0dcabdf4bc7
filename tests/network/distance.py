#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that `scripts/torusnet up --delay` gives every link its distance, in order and without loss, and that the relay that
does it ends with the network.

Usage: distance.py RELAY [SIZES ...]. Needs root. Exit code 1 if anything is wrong, 77 if this machine cannot do it.
"""
import os
import pathlib
import signal
import sys
import time

from command import SECONDS, interrupted_up, torusnet
from torus_network import distance, network, probe, state  # noqa: E402
from torus_network.geometry import Torus, opposite  # noqa: E402

SKIPPED = 77
NAME = f"far{os.getpid()}"
RATE, DELAY = "20mbit", "2ms"
HOP = 2e-3
ROUNDS = 21
TRIES = 20  # of a measurement that other programs may have disturbed
LATE = 20e-3  # seconds a hop may take beyond its delay: machines that do other things as well delay it, too
BURST, PAYLOAD = 40, 1000  # datagrams that must stay in order


def one_way(ends, source, target, last):
    """Half of a round trip, seconds: the least of some."""
    (leaves, arrives), (back, home) = ends.ends(source, target, last), ends.ends(target, source, opposite(last))
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for one, other in ((leaves, arrives), (back, home)):
            ends.sockets[one].setblocking(True)
            ends.sockets[other].settimeout(SECONDS)
            ends.sockets[one].sendto(b"x", (ends.address(*other), probe.PORT))
            ends.sockets[other].recv(16)
        times.append((time.perf_counter() - start) / 2)
    return min(times)


def least(measure, enough):
    """The least of some measurements. What the machine does besides only adds to a time, so one that is short enough ends them."""
    best = float("inf")
    for _ in range(TRIES):
        best = min(best, measure())
        if best <= enough:
            break
    return best


def check_hops(net):
    """A message over n links takes n delays, and not ten times that."""
    last = net.torus.directions[-2]
    node, times = 0, []
    with probe.Probe(net) as ends:
        for hops in (1, 2):
            node = net.torus.neighbour(node, last)
            # Beyond the delays: the frame's own time on the last link, the kernel, and what else the machine does.
            times.append(least(lambda: one_way(ends, 0, node, last), hops * (HOP + LATE)))
            if not hops * HOP <= times[-1] <= hops * (HOP + LATE):
                yield f"{net.torus.name}: {hops} hops of {DELAY} take {times[-1] * 1e3:.2f} ms"
    print(f"{net.torus.name}: {times[0] * 1e3:.3f} ms over one hop of {DELAY}, {times[1] * 1e3:.3f} ms over two")


def burst(ends, target, last):
    """Many datagrams at once: the seconds they take, and their numbers in the order in which they come."""
    leaves, arrives = ends.ends(0, target, last)
    ends.sockets[arrives].settimeout(SECONDS)
    start = time.perf_counter()
    for number in range(BURST):
        ends.sockets[leaves].sendto(number.to_bytes(2, "big") + bytes(PAYLOAD - 2), (ends.address(*arrives), probe.PORT))
    ends.sockets[arrives].setblocking(True)
    numbers = [int.from_bytes(ends.sockets[arrives].recv(PAYLOAD)[:2], "big") for _ in range(BURST)]
    return time.perf_counter() - start, numbers


def check_order(net):
    """Many datagrams at once: at the rate, in order, none lost."""
    last = net.torus.directions[-2]
    target = net.torus.neighbour(net.torus.neighbour(0, last), last)
    due = 2 * HOP + BURST * (PAYLOAD + 42) * 8 / net.rate
    wrong = []

    def seconds_of_burst():
        seconds, numbers = burst(ends, target, last)
        if numbers != list(range(BURST)):
            wrong.append(f"{net.torus.name}: out of order: {numbers}")
        if seconds < 0.99 * due:
            wrong.append(f"{net.torus.name}: {BURST} frames took {seconds:.5f} s, less than {due:.5f} s")
        return seconds

    with probe.Probe(net) as ends:
        seconds = least(seconds_of_burst, due + 5 * LATE)
    print(f"{net.torus.name}: {BURST} frames in {seconds * 1e3:.2f} ms, {due * 1e3:.2f} ms by rate and distance")
    yield from wrong
    if seconds > due + 5 * LATE:
        yield f"{net.torus.name}: {BURST} frames took {seconds:.5f} s, not {due:.5f} s"


def relays(net):
    return network.processes([net.relay])


def check_torus(torus, name):
    code, output = torusnet("up", torus, "--rate", RATE, "--delay", DELAY, "--name", name)
    if code != 0:
        yield f"up {torus}: {code} {output}"
        return
    net, _ = state.read(name)
    code, output = torusnet("check", "--name", name)
    print(output, end="")
    if code != 0:
        yield f"check {torus}: {code} {output}"
    yield from check_hops(net)
    yield from check_order(net)
    code, output = torusnet("status")
    print(output, end="")
    if " 0 lost; half of them less than " not in output:
        yield f"status: {code} {output}"
    yield from check_end(net)


def check_end(net):
    """Without its relay the network says so; `down` leaves neither of them."""
    if len(relays(net)) != 1:
        yield f"{relays(net)} relays run"
    for process in relays(net):
        os.kill(process, signal.SIGKILL)
    end = time.monotonic() + SECONDS
    while relays(net) and time.monotonic() < end:
        time.sleep(0.01)
    code, output = torusnet("status")
    if "does not answer" not in output:
        yield f"status without a relay: {code} {output}"
    yield from down(net)
    code, output = torusnet("up", "2x3", "--delay", DELAY, "--name", net.name)
    if code != 0 or len(relays(state.read(net.name)[0])) != 1:
        yield f"up again: {code} {output}"
    yield from down(net)


def down(net):
    code, output = torusnet("down", "--name", net.name)
    if code != 0 or relays(net) or state.report_socket(net.name).exists():
        yield f"down: {code} {output} {relays(net)}"


def check_removed(name):
    """A relay whose network was removed by other means ends by itself."""
    code, output = torusnet("up", "2", "--delay", DELAY, "--name", name)
    if code != 0:
        yield f"up 2: {code} {output}"
        return
    net, _ = state.read(name)
    process = relays(net)[0]
    network.remove_namespaces([*net.spaces()])
    end = time.monotonic() + 10
    while pathlib.Path(f"/proc/{process}/exe").is_file() and time.monotonic() < end:
        time.sleep(0.05)
    if pathlib.Path(f"/proc/{process}/exe").is_file():
        yield f"the relay {process} of a removed network still runs"
        os.kill(process, signal.SIGKILL)
    torusnet("down", "--name", name)


def check_interrupted(name):
    """Wherever a signal meets `up`, neither namespaces nor a relay are left."""
    net = network.Network(Torus("3x3"), name, delay=1)
    for delay in (0, 0.1, 0.15, 0.2, 0.25, 0.3):
        interrupted_up(["3x3", "--delay", DELAY], name, delay, signal.SIGTERM)
        left = [space for space in network.namespaces() if space in net.spaces()] + relays_of(name)
        if left or state.report_socket(name).exists():
            yield f"interrupted after {delay} s: {left} left"


def relays_of(name):
    """Processes that were told this network's socket."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(state.report_socket(name)).encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            pass  # has ended
    return found


def check_refused(name):
    for words, code, text, relay in (
            (["up", "3x3", "--delay=-1us"], 2, "is not a delay", None), (["up", "3x3", "--delay", "5"], 2, "such as 100us", None),
            (["up", "3x3", "--delay", "2s"], 2, "to 100ms", None),
            (["up", "3x3", "--delay", DELAY], 1, "trefoil_relay", "/no/relay"),
            (["up", "3x3", "--delay", DELAY], 1, "did not start", "/bin/false")):
        before = os.environ["TREFOIL_RELAY"]
        os.environ["TREFOIL_RELAY"] = relay or before
        result, output = torusnet(*words, *(["--name", name]))
        os.environ["TREFOIL_RELAY"] = before
        if result != code or text not in output:
            yield f"{' '.join(words)}: {result} {output}"


def main():
    reason = network.impossible(limited=True)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    os.environ["TREFOIL_RELAY"] = sys.argv[1]
    wrong, names = [], [f"{NAME}r", f"{NAME}g", f"{NAME}i"]
    try:
        for number, torus in enumerate(sys.argv[2:]):
            names.append(f"{NAME}n{number}")
            wrong += check_torus(torus, names[-1])
        wrong += check_removed(names[1])
        wrong += check_interrupted(names[2])
        wrong += check_refused(names[0])
    except distance.RelayError as error:
        wrong.append(str(error))
    finally:
        for name in names:
            torusnet("down", "--force", "--name", name)
        wrong += [f"{name} is left" for name in network.namespaces() if NAME in name]
        wrong += [f"{name} is left" for name in state.names() if NAME in name]
    for text in wrong:
        print(f"WRONG {text}")
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
