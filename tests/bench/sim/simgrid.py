#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the flow model with SimGrid (`trefoil sim --engine simgrid`), which shares nothing with it but the messages and
their ways: times must agree within 1 %. Usage: simgrid.py TOOL [--long | --missing]"""
import argparse
import json
import os
import subprocess
import sys

LIMIT = 0.01
SECONDS = 900
ALLREDUCE = ["allreduce", "-a", "swing-b,trivance-b,bucket,recursive-doubling-b,swing-l,trivance-l"]
QUICK = [
    [*ALLREDUCE, "-t", "8,9,3x3,4x4", "--sizes", "32,32K,128M"],
    [*ALLREDUCE, "-t", "9,2x4", "--sizes", "32,1M", "--lockstep"],
    ["allreduce", "-t", "2x3", "--sizes", "64K"],
    ["allreduce", "-a", "swing-b,bucket,trivance-l", "-t", "6,3x4", "--sizes", "64K", "--network", "mesh"],
    ["allreduce", "-a", "swing-b,bruck-l", "-t", "3x4", "--sizes", "64K", "--network", "hyperx"],
    ["allreduce", "-a", "swing-b,bucket", "-t", "4x4", "--sizes", "64K", "--down", "+0@5"],
    ["alltoall", "-t", "5,2x3", "--sizes", "64K"],
    ["bcast", "-t", "2x3", "--sizes", "64K"],
    ["barrier", "-t", "5", "--sizes", "0"],
]
SIZES = ",".join(str(32 * 4**k) for k in range(12))
LONG = [[*ALLREDUCE, "-t", "8,9,3x3,4x4,4x8,8x8,3x3x3", "--sizes", SIZES, "--machine", machine, *sync]
        for machine in ("trivance", "swing") for sync in ([], ["--lockstep"])]
REFUSED = [
    ({}, ["-t", "4", "--model", "step"], "--model flow"),
    ({}, ["-t", "100x100", "--memory", "100M"], "GiB"),
    ({"TREFOIL_SIMGRID": "/no/such"}, ["-t", "4"], "/no/such"),
    ({"TREFOIL_SIMGRID": "/bin/false"}, ["-t", "4"], "failed"),
]


def run(words, **environment):
    return subprocess.run(words, text=True, capture_output=True, timeout=SECONDS, check=False, env={**os.environ, **environment})


def runs(tool, words, engine):
    done = run([tool, "sim", *words, "--engine", engine, "--json"])
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} by {engine}: {done.stderr}")
    return json.loads(done.stdout)["runs"]


def compare(tool, words):
    """Yields (difference, what) of each time."""
    for ours, theirs in zip(runs(tool, words, "own"), runs(tool, words, "simgrid"), strict=True):
        yield (abs(theirs["seconds"] - ours["seconds"]) / ours["seconds"],
               f"{ours['collective']} by {ours['algorithm']} on {ours['torus']}, {ours['bytes']} bytes, {' '.join(words)}: "
               f"{ours['seconds']:.9g} s, by SimGrid {theirs['seconds']:.9g} s")


def check_missing(tool):
    done = run([tool, "sim", "allreduce", "-a", "bucket", "-t", "4", "--engine", "simgrid"])
    print(done.stderr, end="")
    reasons = ("libsimgrid-dev", "TREFOIL_WITH_SIMGRID=OFF", "sanitizers")
    return 0 if done.returncode != 0 and any(reason in done.stderr for reason in reasons) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--long", action="store_true", help="all shapes and sizes, both papers' machines")
    parser.add_argument("--missing", action="store_true", help="the build has no SimGrid: the message says what to install")
    arguments = parser.parse_args()
    if arguments.missing:
        return check_missing(arguments.tool)
    wrong, compared = [], []
    for words in LONG if arguments.long else QUICK:
        for difference, what in compare(arguments.tool, words):
            compared.append(difference)
            if not difference <= LIMIT:
                wrong.append(what)
    for environment, words, text in REFUSED:
        done = run([arguments.tool, "sim", "allreduce", "-a", "bucket", "--engine", "simgrid", *words], **environment)
        if done.returncode in (0, 1) or text not in done.stderr:
            wrong.append(f"{' '.join(words)} {environment}: {done.returncode} {done.stderr}")
    for text in wrong:
        print(f"WRONG {text}")
    print(f"{len(compared)} times compared, {len(wrong)} wrong; the largest difference is {max(compared):.1e}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
