#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Large vectors in bounded memory: every collective on four ranks, checked, and the peak of what a rank has resident
beyond its vectors.

Usage: bounded_memory.py TREFOIL [--bytes N] [--collective NAME ...]. Prints a line per collective; exit code 1 if an element
is wrong or a rank needed more than LIMIT_MIB beside its vectors.
"""
import argparse
import os
import re
import subprocess
import sys
import time

RANKS, TORUS = 4, "2x2"
# What perf allocates at a root, in vectors: a send and a receive buffer, of which one may be a block.
VECTORS = {"allreduce": 2, "reduce_scatter": 1 + 1 / RANKS, "allgather": 1 + 1 / RANKS, "bcast": 1, "reduce": 2,
           "gather": 1 + 1 / RANKS, "scatter": 1 + 1 / RANKS}
LIMIT_MIB = 64  # landing memory of a few peers, 4 MiB each, and the program itself
LIMIT_SECONDS = 900


def children(parent):
    """Processes that `parent` has started."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) == parent:
            yield int(name)


def peak_kib(pid):
    """The most that the process has had resident so far."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            found = re.search(r"VmHWM:\s+(\d+)", status.read())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def run(tool, collective, size):
    """(peak in MiB of any rank, elements wrong or None, seconds)"""
    command = [tool, "perf", collective, "--torus", TORUS, "--backend", "memory", "-b", str(size), "-e", str(size),
               "--iters", "1", "-w", "0", "-c", "--in-place", "in" if collective == "bcast" else "out"]
    start = time.monotonic()
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as perf:
        while perf.poll() is None:
            if time.monotonic() - start > LIMIT_SECONDS:
                perf.terminate()
                break
            peak = max([peak, *map(peak_kib, children(perf.pid))])
            time.sleep(0.1)
        out = perf.stdout.read()
    found = re.search(r"^1 measurements, (\d+) wrong$", out, re.MULTILINE)
    if found is None:
        print(out)
    return peak / 1024, int(found[1]) if found else None, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of the whole vector; default: 1 GiB")
    parser.add_argument("--collective", action="append", choices=[*VECTORS], help="only this one; may be repeated")
    options = parser.parse_args()
    failures = 0
    for collective in options.collective or VECTORS:
        peak, wrong, seconds = run(options.tool, collective, options.bytes)
        beyond = peak - VECTORS[collective] * options.bytes / 2**20
        good = wrong == 0 and beyond <= LIMIT_MIB
        failures += not good
        print(f"{collective:14} peak {peak:7.0f} MiB, {beyond:6.1f} MiB beyond its vectors, {wrong} wrong, "
              f"{seconds:.0f} s{'' if good else '  FAILED'}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
