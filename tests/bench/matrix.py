#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every allreduce algorithm on real endpoints over a matrix of tori, backends, types and counts.

Usage: matrix.py TREFOIL [--quick]. Each run is one `trefoil perf allreduce -c`; its JSON is read, so that a run
that measured less than asked for fails too. Ends with one line of totals; exit code 1 if anything is wrong.
"""
import json
import subprocess
import sys
import tempfile
import time

TORI = ["2", "5", "8", "9", "3x3", "4x4", "2x3", "3x5", "2x2x2"]
TRANSPORTS = {
    "memory, processes": ["--backend", "memory"],
    "memory, threads": ["--backend", "memory", "--launch", "threads"],
    "ofi net": ["--backend", "ofi", "--provider", "net"],
    "ofi tcp;ofi_rxm": ["--backend", "ofi", "--provider", "tcp;ofi_rxm"],
    "ofi shm": ["--backend", "ofi", "--provider", "shm"],
}
TYPES = ["float", "double", "int32", "bfloat16"]
COUNTS = ["0", "1", "7", "1000", "1Mi"]
LIMIT_SECONDS = 600


def run(tool, torus, transport):
    """The rows of one run: (measurements, wrong)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [tool, "perf", "allreduce", "--torus", torus, *TRANSPORTS[transport], "--algorithm", "all", "-c",
                   "-d", ",".join(TYPES), "--counts", ",".join(COUNTS), "-n", "1", "-w", "0", "--json", out.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        report = json.load(open(out.name, encoding="utf-8"))
    names = {row["algorithm"] for row in report["runs"]}
    expected = len(names) * len(TYPES) * len(COUNTS) * 2
    if len(names) < 5 or len(report["runs"]) != expected:
        raise RuntimeError(f"{torus} over {transport}: {len(report['runs'])} measurements instead of {expected}")
    return len(report["runs"]), sum(row["wrong"] for row in report["runs"])


def main():
    tool = sys.argv[1]
    tori = ["5", "2x3"] if "--quick" in sys.argv else TORI
    measurements = wrong = failures = 0
    for transport in TRANSPORTS:
        for torus in tori:
            start = time.monotonic()
            try:
                rows, bad = run(tool, torus, transport)
                text = f"{rows} measurements, {bad} wrong"
                measurements += rows
                wrong += bad
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                failures += 1
                text = f"FAILED: {error}"
            print(f"{transport:20} {torus:6} {text}, {time.monotonic() - start:.1f} s", flush=True)
    print(f"{measurements} measurements, {wrong} wrong, {failures} runs failed")
    return 1 if wrong or failures or not measurements else 0


if __name__ == "__main__":
    sys.exit(main())
