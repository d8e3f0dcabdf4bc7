#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves that the bytes of each direction leave by that direction's own NIC, and that a wrong wire is found.

Usage: rails.py TREFOIL NETWORK_RANK [--torus 3x3] [--algorithm NAME] [--only WORD] [--routed | --wrong-wire | --net]. Needs root.
Ranks run in network namespaces (testbed.py), with TREFOIL_NICS naming one NIC per direction; with --net they are started by
`trefoil run --net` in a network of scripts/torusnet with limited rates, which routes too. A checked allreduce runs over
each backend; what each interface has sent is compared with what the schedule sends through that port and, where ranks
forward, with what others send through this rank. Exit code 1 if anything is wrong, 77 if this machine cannot make namespaces.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testbed  # noqa: E402

ELEMENT_BYTES = 4
CALLS = 8
# Headers and acknowledgements: at most a twentieth, and a little for connections and the first and last call.
MOST_OVERHEAD = 1.05
MOST_EXTRA_BYTES = 64 << 10
TIMEOUT = 10  # seconds: how long ranks with a wrong wire may wait for one another
REFUSED = 3  # how network_rank ends when a call fails
BACKENDS = {
    "ofi net": {"TREFOIL_BACKEND": "ofi", "TREFOIL_PROVIDER": "net"},
    "ofi tcp;ofi_rxm": {"TREFOIL_BACKEND": "ofi", "TREFOIL_PROVIDER": "tcp;ofi_rxm"},
    "ucx tcp": {"TREFOIL_BACKEND": "ucx", "UCX_TLS": "tcp"},
}


def planned_bytes(bed, options, vector_bytes):
    """What one call sends over each link (rank, direction), by the schedules of all ranks."""
    sent = {(rank, direction): 0 for rank in range(bed.torus.ranks) for direction in bed.torus.directions}
    for rank in range(bed.torus.ranks):
        command = [options.tool, "plan", "allreduce", "--algorithm", options.algorithm, "--torus", bed.torus.name,
                   "--rank", str(rank), "--json"]
        plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
        for part in plan["parts"]:
            block = vector_bytes / len(plan["parts"]) / part["vector_blocks"]
            for send in (send for step in part["steps"] for send in step["sends"]):
                links = bed.torus.path(rank, send["peer"], send["port"])
                if len(links) > 1 and not bed.routed:
                    raise RuntimeError(f"{options.algorithm} sends to others than neighbours on {bed.torus.name}")
                for link in links:
                    sent[link] += block * sum(count for _, count in send["extents"])
    return sent


def judge(bed, planned, results):
    """Prints a row per NIC; returns what is wrong, in words."""
    wrong = []
    print("rank  direction  NIC   expected bytes       tx_bytes   ratio")
    for rank, (code, output, errors) in enumerate(results):
        if code != 0:
            wrong.append(f"rank {rank} ended with {code}: {errors.strip()[-2000:]}")
            continue
        report = json.loads(output)
        for direction in bed.torus.directions:
            nic = testbed.nic_of(direction)
            expected, sent = CALLS * planned[rank, direction], report["sent"][nic]
            good = expected > 0 and expected <= sent <= MOST_OVERHEAD * expected + MOST_EXTRA_BYTES
            print(f"{rank:4}  {direction:9}  {nic:4} {expected:15.0f} {sent:14}  {sent / max(expected, 1):6.4f}"
                  f"{'' if good else '  WRONG'}")
            if not good:
                wrong.append(f"rank {rank} direction {direction}: {sent} bytes left by {nic}, expected {expected:.0f}")
        if report["sent"]["meet"] + report["sent"]["lo"] > MOST_EXTRA_BYTES:
            wrong.append(f"rank {rank}: data left by meet or lo: {report['sent']}")
    return wrong


def check_counters(bed, options):
    """One run per backend and way to share threads."""
    elements = bed.torus.ranks * len(bed.torus.directions) * 16384
    planned = planned_bytes(bed, options, ELEMENT_BYTES * elements)
    wrong = []
    for name, variables in BACKENDS.items():
        for threads in (0, len(bed.torus.directions)):
            title = f"{name}, port threads {threads}"
            if options.only not in title:
                continue
            print(f"\n{title}: {CALLS} allreduces of {ELEMENT_BYTES * elements} bytes by {options.algorithm} "
                  f"on {bed.torus.name}{', routed' if bed.routed else ''}", flush=True)
            results = bed.run([options.rank, str(elements), str(CALLS)],
                              {**variables, "TREFOIL_ALGORITHM": options.algorithm, "TREFOIL_PORT_THREADS": str(threads),
                               "TREFOIL_PIN": "none", "TREFOIL_TIMEOUT": "60"}, seconds=120)
            found = judge(bed, planned, results)
            wrong += [f"{title}: {text}" for text in found]
    return wrong


def check_wrong_wire(bed, options):
    """Two NICs of one rank change places: every rank must end with an error, and those at the wires name both ends."""
    culprit = bed.torus.ranks // 2
    swapped = bed.torus.directions[:2]
    nics = {direction: testbed.nic_of(other) for direction, other in zip(swapped, reversed(swapped))}
    wrong = []
    for name, variables in BACKENDS.items():
        for threads in (0, len(bed.torus.directions)):
            title = f"{name}, port threads {threads}, two NICs of rank {culprit} exchanged"
            if options.only not in title:
                continue
            start = time.monotonic()
            results = bed.run([options.rank, "1", "1"],
                              {**variables, "TREFOIL_ALGORITHM": options.algorithm, "TREFOIL_PORT_THREADS": str(threads),
                               "TREFOIL_PIN": "none", "TREFOIL_TIMEOUT": str(TIMEOUT)}, seconds=4 * TIMEOUT,
                              own={culprit: {"TREFOIL_NICS": bed.nics_of_ports(swapped)}}, host="node")
            print(f"\n{title}: {time.monotonic() - start:.1f} s")
            print(f"  rank {culprit}: {results[culprit][2].strip()}", flush=True)
            for rank, (code, output, errors) in enumerate(results):
                if code != REFUSED:
                    wrong.append(f"{title}: rank {rank} ended with {code}: {output}{errors[:2000]}")
            for direction, nic in nics.items():
                peer = bed.torus.neighbour(culprit, direction)
                ends = {culprit: end_text(culprit, direction, nic), peer: end_text(peer, testbed.opposite(direction))}
                for rank in ends:
                    missing = [end for end in ends.values() if not re.search(end, results[rank][2])]
                    if missing:
                        wrong.append(f"{title}: rank {rank} does not say {missing}: {results[rank][2][:2000]}")
    return wrong


def end_text(rank, direction, nic=None):
    """How a message names one end of a wire, as a pattern."""
    return (rf"direction {re.escape(direction)} of rank {rank} \(host node{rank}, NIC "
            rf"[^()]*\(?{nic or testbed.nic_of(direction)}\b")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("rank")
    parser.add_argument("--torus", default="3x3")
    parser.add_argument("--algorithm", default="bucket")
    parser.add_argument("--routed", action="store_true", help="ranks forward: algorithms may send over several hops")
    parser.add_argument("--net", action="store_true", help="ranks started by trefoil run --net")
    parser.add_argument("--wrong-wire", action="store_true", help="exchange two NICs of a rank; all must say so")
    parser.add_argument("--only", default="", help="part of a run's title")
    options = parser.parse_args()
    if testbed.skips():
        return testbed.SKIPPED
    torus = testbed.Torus(options.torus)
    with testbed.LaunchedBed(torus, options.tool) if options.net else testbed.Testbed(torus, options.routed) as bed:
        wrong = (check_wrong_wire if options.wrong_wire else check_counters)(bed, options)
    return testbed.verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
