#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An allreduce by halving and doubling on an emulated ring whose links are moved between its steps.

Usage: rewire.py TREFOIL NETWORK_REWIRE_RANK [--rate 50mbit] [--elements N] [--calls N]. Needs root. Schedules whose steps name
circuits come from `trefoil plan --circuits own`; rank 0's function runs scripts/torusnet rewire. Results must be right, and the
links must carry each message once where they carried it over several hops; times are printed beside each other. Then `check`
must find the torus as it was, and a function that fails must end the job in words. Exit code 77: this machine cannot."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import command  # noqa: E402
from torus_network import network  # noqa: E402

RING = 8
SKIPPED = 77
# Vectors over all links together: partners 1, 2, 4 further with a half, a quarter, an eighth, there and back, per rank.
HOPS_STATIC, HOPS_WIRED = 2 * (1 / 2 + 2 / 4 + 4 / 8), 2 * (1 / 2 + 1 / 4 + 1 / 8)

failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def carried(net):
    """Bytes that the NICs of all nodes have sent so far, wherever they are."""
    total = 0
    for name in net.names:
        for link in json.loads(network.run("ip", "-n", name, "-s", "-j", "link")):
            if link["ifname"] in net.nics:
                total += link["stats64"]["tx"]["bytes"]
    return total


def run(options, net, schedule, *words):
    """(exit code, rank 0's object or None, errors, bytes over all links per call)"""
    before = carried(net)
    done = subprocess.run([options.tool, "run", "--net", net.name, "--time-limit", "200", options.rank, schedule,
                           str(options.elements), str(options.calls), *words], text=True, capture_output=True,
                          env={**os.environ, "TREFOIL_BACKEND": options.backend, "TREFOIL_TIMEOUT": "60", "UCX_TLS": "tcp"}, check=False, timeout=260)
    lines = [json.loads(line.split("] ", 1)[1]) for line in done.stdout.splitlines() if line.startswith("[") and "{" in line]
    ranks = {line["rank"]: line for line in lines}
    expect(done.returncode != 0 or len(ranks) == RING, f"{len(ranks)} ranks told something: {done.stdout}")
    expect(all(line["wrong"] == 0 for line in lines), f"wrong results: {lines}")
    return done.returncode, ranks.get(0), done.stderr, (carried(net) - before) / (options.calls + 1)


def schedules(options, folder):
    """Files of the same algorithm without circuits, and with each step's own."""
    plan = [options.tool, "plan", "allreduce", "--algorithm", "recursive-doubling-b", "--torus", str(RING), "--all-ranks", "--json"]
    files = []
    for name, more in (("static", ()), ("wired", ("--circuits", "own"))):
        text = subprocess.run([*plan, *more], text=True, capture_output=True, check=True, timeout=60).stdout
        files.append(folder / f"{name}.json")
        files[-1].write_text(text, encoding="utf-8")
    return files


def compare(options, net, folder):
    static, wired = schedules(options, folder)
    move = (str(command.SCRIPTS / "torusnet"), "rewire", "--name", net.name)
    code, stays, errors, over_links = run(options, net, static)
    expect(code == 0, f"static: exit code {code}: {errors}")
    code, moves, errors, over_circuits = run(options, net, wired, *move)
    expect(code == 0, f"with links moved: exit code {code}: {errors}")
    if failures:
        return
    size = 4 * options.elements
    print(f"{size} bytes, {options.rate}, {options.backend}: static {stays['seconds']:.3f} s; with links moved "
          f"{moves['seconds']:.3f} s, {moves['changing']:.3f} s of it in {moves['changes']:.0f} changes; all links carried "
          f"{over_links / size / RING:.3f} vectors a rank ({HOPS_STATIC} planned), then {over_circuits / size / RING:.3f} ({HOPS_WIRED})")
    expect(moves["changes"] == 4, f"{moves['changes']} changes, not 4: two further, four further, and back")
    for told, planned in ((over_links, HOPS_STATIC), (over_circuits, HOPS_WIRED)):
        expect(0.98 <= told / size / RING / planned <= 1.12, f"{told} bytes a call over all links, not {planned} vectors a rank")
    code, told = command.torusnet("check", "--name", net.name)
    expect(code == 0, f"the torus is not back: {told}")
    code, _, errors, _ = run(options, net, wired, "/bin/false")
    expect(code == 3 and "trefoil_comm_set_rewire returned 1" in errors and "rank 0" in errors,
           f"a function that fails: exit code {code}: {errors}")
    code, _, errors, _ = run(options, net, wired)
    expect(code == 3 and "nobody makes them here" in errors, f"without a function: exit code {code}: {errors}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("rank")
    parser.add_argument("--rate", default="50mbit")
    parser.add_argument("--elements", type=int, default=256 << 10)
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--backend", default="ofi")
    options = parser.parse_args()
    reason = network.impossible(limited=True)
    if reason:
        print(reason)
        return SKIPPED
    name = f"rewire{os.getpid()}"
    code, told = command.torusnet("up", str(RING), "--rate", options.rate, "--name", name)
    if code != 0:
        print(told)
        return 1
    try:
        with tempfile.TemporaryDirectory(prefix="trefoil-rewire-") as folder:
            compare(options, command.state.read(name)[0], pathlib.Path(folder))
    finally:
        command.torusnet("down", "--force", "--name", name)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
