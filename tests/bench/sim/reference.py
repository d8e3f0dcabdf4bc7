#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares `trefoil sim` with timing.py, an independent statement of both models, over the schedules that `trefoil plan`
exports, and those with what the papers define (definitions.py). Times must agree within 1e-6 (step) and 1e-3 (flow)."""
import argparse
import collections
import json
import subprocess
import sys

import definitions
import timing

ALGORITHMS = "swing-b trivance-b bucket recursive-doubling-b swing-l trivance-l".split()
SHAPES = "8 9 3x3 4x4 4x8 8x8 3x3x3".split()
QUICK_SHAPES = "8 9 3x3 4x4".split()
SIZES = [32 * 4**k for k in range(12)]
QUICK_SIZES = [32, 32 << 10, 128 << 20]
MACHINES = {"trivance": (100e9, 1.8e-6, 0.2e-6), "swing": (50e9, 0.5e-6, 0.4e-6)}  # rate, alpha, tau
LIMITS = {"step": 1e-6, "flow": 1e-3}
SECONDS = 600


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout


def exported(tool, algorithm, shape):
    """The traffic of an exported schedule."""
    plans = [json.loads(line) for line in
             run(tool, "plan", "allreduce", "--algorithm", algorithm, "--torus", shape, "--all-ranks", "--json").splitlines()]
    parts = plans[0]["parts"]
    traffic = [[[] for _ in part["steps"]] for part in parts]
    for plan in plans:
        for p, part in enumerate(plan["parts"]):
            for s, step in enumerate(part["steps"]):
                for send in step["sends"]:
                    blocks = sum(count for _, count in send["extents"])
                    traffic[p][s].append((plan["rank"], send["peer"], send["port"] if plan["steered"] else None,
                                          blocks / part["vector_blocks"] / len(parts)))
    return traffic


def without_order(traffic):
    """Parts and messages in no order, shares rounded: for comparisons."""
    return collections.Counter(tuple(tuple(sorted((a, b, str(c), round(d, 12)) for a, b, c, d in step)) for step in part)
                               for part in traffic)


def simulated(tool, algorithm, shape, sizes, machine, model, sync):
    """Seconds by size."""
    words = ["--lockstep"] if sync else []
    told = json.loads(run(tool, "sim", "allreduce", "--algorithm", algorithm, "--torus", shape, "--machine", machine, "--model",
                          model, "--sizes", ",".join(map(str, sizes)), "--json", *words))
    return {one["bytes"]: one["seconds"] for one in told["runs"]}


def compare(tool, algorithm, shape, sizes):
    """Yields (model, error, what) of each time that both tell."""
    grid, traffic = timing.Grid(shape), exported(tool, algorithm, shape)
    if algorithm in definitions.ALGORITHMS and all(size & (size - 1) == 0 for size in grid.sizes):
        same = without_order(traffic) == without_order(definitions.ALGORITHMS[algorithm](grid))
        yield "plan", 0 if same else 1, f"{algorithm} on {shape}: the plan against the paper's definition"
    for machine, costs in MACHINES.items():
        for model, sync in (("step", False), ("flow", False), ("flow", True)):
            told = simulated(tool, algorithm, shape, sizes, machine, model, sync)
            for size in sizes:
                due = (timing.step_seconds(grid, traffic, size, *costs) if model == "step" else
                       timing.flow_seconds(grid, traffic, size, *costs, sync))
                yield (model, abs(told[size] / due - 1),
                       f"{algorithm} on {shape}, {size} bytes, {machine}, {model}{' --lockstep' * sync}: {told[size]:.9g} s "
                       f"instead of {due:.9g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--long", action="store_true", help="all shapes and sizes")
    parser.add_argument("--shapes", help="only these, a comma list")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help="only these, a comma list")
    arguments = parser.parse_args()
    shapes = arguments.shapes.split(",") if arguments.shapes else SHAPES if arguments.long else QUICK_SHAPES
    worst, count, wrong = collections.Counter(), 0, 0
    for shape in shapes:
        for algorithm in arguments.algorithms.split(","):
            for model, error, what in compare(arguments.tool, algorithm, shape, SIZES if arguments.long else QUICK_SIZES):
                count += 1
                worst[model] = max(worst[model], error)
                if not error <= LIMITS.get(model, 0):
                    wrong += 1
                    print(f"WRONG {what}")
    print(f"{count} compared, {wrong} wrong; largest differences: " +
          ", ".join(f"{model} {error:.1e}" for model, error in worst.items()))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
