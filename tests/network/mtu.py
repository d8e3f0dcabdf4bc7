#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts with an MTU of 9000, and 1500 on the way between them: frames are lost for their length, without a word.

Usage: mtu.py NETWORK_RANK [--only WORD]. Needs root. Creating a communicator must say what is wrong, on both ranks; and must
work where all have the same MTU. The ranks meet by another way. Exit code 1 if anything is wrong, 77 if this machine cannot
make namespaces.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import testbed  # noqa: E402

BACKENDS = {
    "ofi net": {"TREFOIL_BACKEND": "ofi", "TREFOIL_PROVIDER": "net"},
    "ucx tcp": {"TREFOIL_BACKEND": "ucx", "UCX_TLS": "tcp"},
}
WORDS = ["small messages arrive, but none of 12288 bytes from", "MTU"]
LARGE, SMALL = 9000, 1500
SECONDS = 60


def join(bed):
    """Joins the ranks' hosts by NICs `far`, with a switch between them: the hub, which forwards frames by their addresses."""
    ip = lambda *words: testbed.network.run("ip", *words)  # noqa: E731
    hub = bed.hub
    ip("netns", "exec", hub, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    for rank, name in enumerate(bed.names):
        other = 1 - rank
        ip("-n", name, "link", "add", "far", "type", "veth", "peer", "name", f"way{rank}", "netns", hub)
        ip("-n", name, "address", "add", f"10.99.{rank}.1/24", "dev", "far")
        # One packet per frame, as a wire has it: else packets of 64 KiB pass whatever the MTU is.
        ip("-n", name, "link", "set", "far", "mtu", str(LARGE), "gso_max_segs", "1", "up")
        ip("-n", hub, "address", "add", f"10.99.{rank}.2/24", "dev", f"way{rank}")
        ip("-n", hub, "link", "set", f"way{rank}", "gso_max_segs", "1", "up")
        ip("-n", name, "route", "add", f"10.99.{other}.0/24", "via", f"10.99.{rank}.2")


def check(bed, title, variables, mtu):
    for rank in range(len(bed.names)):
        testbed.network.run("ip", "-n", bed.hub, "link", "set", f"way{rank}", "mtu", str(mtu))
    results = bed.run([bed.program, "100000", "2"], {**variables, "TREFOIL_NICS": "far"}, SECONDS, host="node",
                      own={rank: {"TREFOIL_NICS": "far"} for rank in range(len(bed.names))})
    for rank, (code, _, errors) in enumerate(results):
        missing = [word for word in WORDS if word not in errors]
        if mtu == LARGE and code != 0:
            yield f"{title}: rank {rank} ended with {code}: {errors.strip()[-1000:]}"
        if mtu == SMALL and (code != 3 or missing):
            yield f"{title}: rank {rank} ended with {code} and does not say {missing}: {errors.strip()[-1000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rank")
    parser.add_argument("--only", default="", help="part of a run's title")
    options = parser.parse_args()
    if testbed.skips():
        return testbed.SKIPPED
    wrong = []
    with testbed.Testbed(testbed.Torus("2")) as bed:
        bed.program = options.rank
        join(bed)
        for backend, variables in BACKENDS.items():
            if options.only not in backend:
                continue
            # A creation tries the ways for half of that.
            variables = {**variables, "TREFOIL_TIMEOUT": "10"}
            for mtu in (LARGE, SMALL):
                title = f"{backend}, MTU {mtu} between"
                found = list(check(bed, title, variables, mtu))
                print(f"{title}: {'WRONG' if found else 'good'}", flush=True)
                wrong += found
    return testbed.verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
