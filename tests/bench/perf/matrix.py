#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every algorithm of a collective on real endpoints over a matrix of tori, backends, types and counts.

Usage: matrix.py TREFOIL [--collective NAME|all] [--quick] [--transport WORD] [--torus NAME ...]. Each run is one
`trefoil perf COLLECTIVE -c`, from the first, the middle and the last rank as the root where there is one; its JSON is
read, so that a run that measured less than asked for fails too. Ends with one line of totals per collective and one of
all; exit code 1 if anything is wrong.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

TORI = ["2", "5", "7", "8", "9", "12", "16", "3x3", "4x4", "2x3", "3x5", "2x2x2", "2x3x2"]
QUICK_TORI = ["5", "2x3"]
# Name: what it adds to the command, and to the environment.
TRANSPORTS = {
    "memory, processes": (["--backend", "memory"], {}),
    "memory, threads": (["--backend", "memory", "--launch", "threads"], {}),
    "ofi net": (["--backend", "ofi", "--provider", "net"], {}),
    "ofi tcp;ofi_rxm": (["--backend", "ofi", "--provider", "tcp;ofi_rxm"], {}),
    "ofi shm": (["--backend", "ofi", "--provider", "shm"], {}),
    "ucx posix": (["--backend", "ucx"], {"UCX_TLS": "posix"}),
    "ucx sysv": (["--backend", "ucx"], {"UCX_TLS": "sysv"}),
    "ucx tcp": (["--backend", "ucx"], {"UCX_TLS": "tcp"}),
}
TYPES = ["float", "double", "int32", "bfloat16"]
COUNTS = ["0", "1", "7", "1000"]
LARGEST_COUNT, LARGEST_BLOCK = "1Mi", "64Ki"
LARGEST_EXCHANGED, LARGEST_OF_FEW, FEW = "16Ki", "128Ki", 5  # alltoall: a mebibyte of double among few ranks
# Those with data to check; the barrier has none.
COLLECTIVES = ["allreduce", "reduce_scatter", "allgather", "bcast", "reduce", "gather", "scatter", "alltoall", "alltoallv"]
WITH_BLOCKS = ["reduce_scatter", "allgather", "gather", "scatter"]  # counts are those of a rank's block
ROOTED = ["bcast", "reduce", "gather", "scatter"]
LIMIT_SECONDS = 1800


def ranks_of(torus):
    return math.prod(int(size) for size in torus.split("x"))


def roots_of(torus):
    """The roots that --root all stands for."""
    return {0, ranks_of(torus) // 2, ranks_of(torus) - 1}


def largest_of(collective, torus):
    if collective.startswith("alltoall"):
        return LARGEST_OF_FEW if ranks_of(torus) <= FEW else LARGEST_EXCHANGED
    return LARGEST_BLOCK if collective in WITH_BLOCKS else LARGEST_COUNT


def types_of(collective):
    return ["int8", *TYPES[1:]] if collective.startswith("alltoall") else TYPES


def command_of(collective):
    return ["alltoall", "--uneven", "1"] if collective == "alltoallv" else [collective]


def run(tool, collective, torus, transport, quick):
    """The rows of one run: (measurements, wrong)."""
    counts = COUNTS + ([] if quick else [largest_of(collective, torus)])
    types = types_of(collective)
    rooted = collective in ROOTED
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        arguments, variables = TRANSPORTS[transport]
        command = [tool, "perf", *command_of(collective), "--torus", torus, *arguments, "--algorithm", "all", "-c",
                   *(["--root", "all"] if rooted else []), "-d", ",".join(types), "--counts", ",".join(counts),
                   "--iters", "1", "-w", "0", "--json-file", out.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False,
                              env={**os.environ, **variables})
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        report = json.load(open(out.name, encoding="utf-8"))
    names = {row["algorithm"] for row in report["runs"]}
    placements = 1 if collective == "bcast" else 2
    expected = len(names) * len(types) * len(counts) * placements * (len(roots_of(torus)) if rooted else 1)
    least = 2 if collective == "alltoallv" else 5  # few algorithms take blocks of any sizes
    if len(names) < least or len(report["runs"]) != expected:
        raise RuntimeError(f"{collective} on {torus} over {transport}: {len(report['runs'])} measurements instead of {expected}")
    return len(report["runs"]), sum(row["wrong"] for row in report["runs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--collective", default="allreduce", choices=[*COLLECTIVES, "all"], help="default: allreduce")
    parser.add_argument("--quick", action="store_true", help="two small tori, no large counts")
    parser.add_argument("--transport", default="", help="only transports whose name contains this")
    parser.add_argument("--torus", action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    tori = options.torus or (QUICK_TORI if options.quick else TORI)
    transports = [name for name in TRANSPORTS if options.transport in name]
    if not transports:  # a backend that the table has nothing to say about
        TRANSPORTS[options.transport] = (["--backend", options.transport], {})
        transports = [options.transport]
    collectives = COLLECTIVES if options.collective == "all" else [options.collective]
    totals = []
    for collective in collectives:
        measurements = wrong = failures = 0
        for transport in transports:
            for torus in tori:
                start = time.monotonic()
                try:
                    rows, bad = run(options.tool, collective, torus, transport, options.quick)
                    text = f"{rows} measurements, {bad} wrong"
                    measurements += rows
                    wrong += bad
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    failures += 1
                    text = f"FAILED: {error}"
                print(f"{collective:14} {transport:20} {torus:6} {text}, {time.monotonic() - start:.1f} s", flush=True)
        totals.append((collective, measurements, wrong, failures))
    totals.append(("all", *(sum(column) for column in list(zip(*totals))[1:])))
    for collective, measurements, wrong, failures in totals:
        print(f"{collective}: {measurements} measurements, {wrong} wrong, {failures} runs failed")
    return 1 if wrong or failures or not all(measurements for _, measurements, _, _ in totals) else 0


if __name__ == "__main__":
    sys.exit(main())
