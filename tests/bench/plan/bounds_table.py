# SPDX-License-Identifier: BSD-3-Clause
"""The record of forty networks (docs/networks-record.md), for bounds.py --table."""

import json
import subprocess

import bounds

NETWORKS = (
    ("whole tori", ("8", "9", "3x3", "4x4", "5x5", "6x6", "8x8", "3x3x3", "4x4x4")),
    ("whole rectangles", ("2x4", "3x4", "4x8", "2x3x4")),
    ("meshes", ("8m", "3mx4m", "4mx4m", "4mx4", "8mx8m", "3mx3mx3m")),
    ("twisted", ("2x4:twist=0=1+2", "4x8:twist=0=1+4", "4x4x8:twist=0=2+4:twist=1=2+4")),
    ("a missing node", ("3x3:node=4", "4x4:node=5", "8x8:node=9", "3x3x3:node=13")),
    ("three missing nodes", ("4x4:node=1:node=6:node=11", "8x8:node=0:node=9:node=18")),
    ("a missing block of 2x2", ("4x4:node=5:node=6:node=9:node=10", "8x8:node=9:node=10:node=17:node=18")),
    ("a cable down", ("8:cable=+0@3", "3x3:cable=+0@4", "4x4:cable=+0@5", "8x8:cable=+0@9", "3x3x3:cable=+0@13")),
    ("a cable at half rate", ("3x3:cable=+0@4=0.5", "4x4:cable=+0@5=0.5")),
    ("a node at half rate", ("3x3:node=4=0.5", "4x4:node=5=0.5", "4x4x4:node=21=0.5")),
)
# Those of the five papers and what they compare with; for long vectors.
PAPERS = {
    "allreduce": "swing-b,trivance-b,bucket,ring,hamiltonian,recursive-doubling-b,bine-small,bruck-b",
    "reduce_scatter": "swing,trivance,bucket,ring,hamiltonian,recursive-halving,direct",
    "allgather": "swing,trivance,bucket,ring,hamiltonian,recursive-doubling,sparbit,bruck,direct",
    "bcast": "bine-large,bine-dd,binomial-dd,spanning-trees:pieces-512",
    "reduce": "bine-large,bine-dd,binomial-dd,spanning-trees:pieces-512",
    "scatter": "bine-dd,binomial-dd,linear,spanning-trees",
    "alltoall": "direct,linear,pairwise,bruck,bine",
}
# Without start-up times and hops, as bounds of throughput are.
LONG = ("--rate", "8Gbit", "--alpha", "0s", "--hop", "0s", "--sizes", "1G", "--complete-sends", "--json")


def best_of_papers(trefoil, text, collective):
    try:
        found = subprocess.run([trefoil, "sim", collective, "-a", PAPERS[collective], "-t", text, *LONG],
                               check=True, capture_output=True, text=True, timeout=120).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return max(json.loads(found)["runs"], key=lambda one: one["of_bound"])


def cell(trefoil, text, collective, check, findings):
    time, ours = check(trefoil, text, collective, findings)
    best = best_of_papers(trefoil, text, collective)
    papers = "-" if best is None else f"{100 * best['of_bound']:.0f}"
    packed = "-" if ours is None else f"{float(100 * time / ours):.0f}"
    return f"{float(time):.3f}: {papers} **{packed}**"


def write(trefoil, check, findings):
    """One row for each network, as they come."""
    print("| Network | " + " | ".join(bounds.COLLECTIVES) + " |")
    print("| --- |" + " --- |" * len(bounds.COLLECTIVES))
    for kind, networks in NETWORKS:
        print(f"| *{kind}* |" + " |" * len(bounds.COLLECTIVES))
        for text in networks:
            cells = [cell(trefoil, text, collective, check, findings) for collective in bounds.COLLECTIVES]
            print(f"| `{text}` | " + " | ".join(cells) + " |", flush=True)
