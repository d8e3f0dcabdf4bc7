#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All collectives by all algorithms that suit each torus, over the emulated uTofu, checked.

Usage: collectives.py TOOL TORUS... . Everything else comes from the environment. Exit code 0: all
results were right.
"""

import re
import subprocess
import sys

COLLECTIVES = (
    "allreduce reduce_scatter allgather bcast reduce gather scatter alltoall scan exscan "
    "neighbor_allgather neighbor_alltoall"
).split()
SECONDS = 300


def measure(tool, torus, collective):
    """How many measurements were right, and what is wrong if any is."""
    command = [tool, "perf", collective, "--torus", torus, "--backend", "utofu", "-c", "-a", "all"]
    command += ["-b", "8", "-e", "256K", "-f", "4096", "--iters", "2", "-w", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    found = re.search(r"(\d+) measurements, (\d+) wrong", done.stdout)
    if done.returncode != 0 or found is None or found.group(2) != "0":
        return 0, (done.stdout[-1000:] + done.stderr[-1000:])
    return int(found.group(1)), ""


def main():
    tool, *shapes = sys.argv[1:]
    for torus in shapes:
        total = 0
        for collective in COLLECTIVES:
            right, wrong = measure(tool, torus, collective)
            if wrong:
                sys.exit(f"{collective} on {torus}: {wrong}")
            total += right
        print(f"{torus}: {total} measurements, all right", flush=True)


if __name__ == "__main__":
    main()
