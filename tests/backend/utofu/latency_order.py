#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Over the emulated uTofu with its latency per message and hop and its rate, made slower by a
factor so that this host's own times do not count, algorithms take their turns as the model says.

Usage: latency_order.py TOOL. Exit code 0: of every two algorithms that the model sees far apart, the
one that it calls faster was faster.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

FACTOR = 2000  # a message takes 2 ms and 0.16 ms for each hop; a port sends 3.15 MB/s
MODEL = "step=2ms,hop=160us,rate=25.2mbit"
FAR_APART = 2.0
ALGORITHMS = ("trivance-l", "swing-l", "trivance-b", "bucket", "ring", "linear")
# The torus, and the machine (x, y, z, a, b, c) whose nodes it is, row by row.
JOBS = (("3x3", "3.3.1.1.1.1"), ("2x3x2", "1.1.1.2.3.2"))
SIZES = ("8", "256K")


def modelled(tool, torus, algorithm, size):
    """Microseconds."""
    command = [tool, "plan", "allreduce", "-t", torus, "-a", algorithm, "--bytes", size, "--summary"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120,
                          env=dict(os.environ, TREFOIL_MODEL=MODEL)).stdout
    return float(re.search(r"modelled time +([\d.]+) us", text).group(1))


def measured(tool, torus, shape, size):
    """Microseconds by algorithm, of processes that are nodes."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [tool, "perf", "allreduce", "--torus", torus, "--backend", "utofu", "-c"]
        command += ["-a", ",".join(ALGORITHMS), "-b", size, "-e", size, "--iters", "3", "-w", "1"]
        command += ["--in-place", "in", "--json-file", file.name]
        # One segment, as in the model.
        env = dict(os.environ, EMULATED_TOFU_LATENCY=str(FACTOR), EMULATED_TOFU_SHAPE=shape,
                   EMULATED_TOFU_HOSTILE="0", TREFOIL_SEGMENT_BYTES="16M")
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stdout[-1000:]} {done.stderr[-1000:]}")
        runs = json.load(file)["runs"]
    if any(run["wrong"] for run in runs):
        sys.exit(f"wrong results on {torus}")
    return {run["algorithm"]: run["time_us"]["min"] for run in runs}


def main():
    tool = sys.argv[1]
    wrong = pairs = 0
    for torus, shape in JOBS:
        for size in SIZES:
            times = measured(tool, torus, shape, size)
            model = {name: modelled(tool, torus, name, size) for name in times}
            for name in sorted(times, key=model.get):
                print(f"{torus} {size:>5} {name:12} {model[name]:12.0f} us modelled "
                      f"{times[name]:12.0f} us measured", flush=True)
            for faster in times:
                for slower in times:
                    if model[slower] > FAR_APART * model[faster]:
                        pairs += 1
                        if times[slower] <= times[faster]:
                            wrong += 1
                            print(f"{torus} {size}: {slower} was not slower than {faster}")
    print(f"{pairs} pairs, {wrong} in the other order")
    sys.exit(1 if wrong or not pairs else 0)


if __name__ == "__main__":
    main()
