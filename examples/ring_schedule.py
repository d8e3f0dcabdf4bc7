#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a schedule of its own: an allreduce along a ring of all ranks, in whatever order. To run it:

    python3 ring_schedule.py 3x3 > ring.json
    trefoil perf allreduce --schedule ring.json -c
"""
import json
import math
import sys


def ring_schedule(torus, order):
    """One object for each rank. `order` lists the ranks in the order in which the ring visits them.

    The vector is one part of as many blocks as there are ranks. In the first round of steps, block
    b goes once around the ring and gathers everybody's contribution on its way; in the second round
    the sums go around. Ports are left out: messages then take the shortest way.
    """
    ranks = len(order)
    schedules = []
    for place, rank in enumerate(order):
        after, before = order[(place + 1) % ranks], order[place - 1]
        steps = []
        for step in range(2 * (ranks - 1)):
            sent = [[(place - step) % ranks, 1]]  # first block, number of blocks
            received = [[(place - step - 1) % ranks, 1]]
            action = "reduce" if step < ranks - 1 else "replace"
            steps.append({
                "sends": [{"peer": after, "extents": sent}],
                "receives": [{
                    "peer": before,
                    "applications": [{"action": action, "extents": received}],
                }],
            })
        schedules.append({
            "collective": "allreduce",
            "torus": torus,
            "rank": rank,
            "parts": [{"vector_blocks": ranks, "steps": steps}],
        })
    return schedules


if __name__ == "__main__":
    torus = sys.argv[1] if len(sys.argv) > 1 else "3x3"
    number = math.prod(int(size) for size in torus.split("x"))
    print(json.dumps(ring_schedule(torus, list(range(number)))))
