#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proves, between network namespaces, that patterns and the default choose real NICs, and that bad choices end everywhere.

Usage: nics.py NETWORK_RANK [--only WORD]. Needs root. Every namespace has a NIC per direction (p0, m0), which reaches one
neighbour only, and `meet`, which reaches everybody. Exit code 1 if anything is wrong, 77 if this machine cannot make
namespaces.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testbed  # noqa: E402

RANKS = 3
BACKENDS = {
    "ofi net": {"TREFOIL_BACKEND": "ofi", "TREFOIL_PROVIDER": "net"},
    "ucx tcp": {"TREFOIL_BACKEND": "ucx", "UCX_TLS": "tcp"},
}
ELEMENTS, CALLS = 30000, 4
LEAST_BYTES = 4 * ELEMENTS * CALLS
SECONDS = 60

# TREFOIL_NICS of the ranks; the NICs that must carry the data.
GOOD = [
    ("pattern", ["m?et"] * RANKS, {"meet"}),
    ("default without others", ["^?0"] * RANKS, {"meet"}),
    ("address pattern", ["10.98.*"] * RANKS, {"meet"}),
    ("names differ", ["meet", "10.98.0.2", "me*"], {"meet"}),
    ("directions", ["+0=p*,-0=10.77.?.2"] * RANKS, {"p0", "m0"}),
]
# TREFOIL_NICS of the ranks; exit codes are not 0, and every rank says all these words.
BAD = [
    ("different numbers", ["+0=p0,-0=m0", "meet", "+0=p0,-0=m0"],
     ["different numbers of NICs", "rank 1 (", ") 1: meet", "ranks 0, 2 (", ") 2: p0, m0", "TREFOIL_NICS"]),
    ("unknown on one rank", ["meet", "meet", "meat"], ['no NIC "meat"', "there is meet", "p0 (10.77."]),
    ("pattern without match on one rank", ["meet", "mlx5_*", "meet"], ['no NIC matches the pattern "mlx5_*"']),
    ("down on one rank", ["spare", "meet", "meet"], ["spare is down"]),
    ("nothing left", ["^*"] * RANKS, ["no NIC leads to other hosts"]),
]


def check_good(bed, title, variables, nics, carriers):
    results = bed.run([bed.program, str(ELEMENTS), str(CALLS)], variables, SECONDS,
                      {rank: {"TREFOIL_NICS": text} for rank, text in enumerate(nics)})
    for rank, (code, output, errors) in enumerate(results):
        if code != 0:
            yield f"{title}: rank {rank} ended with {code}: {errors.strip()[-1000:]}"
            continue
        sent = json.loads(output)["sent"]
        for nic in carriers:
            if sent[nic] < LEAST_BYTES / 4:
                yield f"{title}: rank {rank} has sent {sent[nic]} bytes only through {nic}: {sent}"
        for nic in {"p0", "m0", "lo"} - carriers:
            if sent[nic] > LEAST_BYTES / 4:
                yield f"{title}: rank {rank} has sent {sent[nic]} bytes through {nic}: {sent}"


def check_bad(bed, title, variables, nics, words):
    results = bed.run([bed.program, str(ELEMENTS), str(CALLS)], variables, SECONDS,
                      {rank: {"TREFOIL_NICS": text} for rank, text in enumerate(nics)})
    for rank, (code, _, errors) in enumerate(results):
        missing = [word for word in words if word not in errors]
        if code in (0, None) or missing:
            yield f"{title}: rank {rank} ended with {code} and does not say {missing}: {errors.strip()[-1000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rank")
    parser.add_argument("--only", default="", help="part of a run's title")
    options = parser.parse_args()
    if testbed.skips():
        return testbed.SKIPPED
    wrong = []
    with testbed.Testbed(testbed.Torus(str(RANKS))) as bed:
        bed.program = options.rank
        testbed.network.run("ip", "-n", bed.names[0], "link", "add", "spare", "type", "veth", "peer", "name", "other")
        for backend, variables in BACKENDS.items():
            if options.only not in backend:
                continue
            variables = {**variables, "TREFOIL_ALGORITHM": "ring", "TREFOIL_TIMEOUT": "30"}
            for check, cases in ((check_good, GOOD), (check_bad, BAD)):
                for name, nics, expected in cases:
                    found = list(check(bed, f"{backend}, {name}", variables, nics, expected))
                    print(f"{backend}, {name}: {'WRONG' if found else 'good'}", flush=True)
                    wrong += found
    return testbed.verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
