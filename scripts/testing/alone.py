#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command alone and says how long it took; ends with 1 where that is more than a limit and nothing else ran.

usage: alone.py --limit SECONDS -- COMMAND...
"""

import argparse
import os
import resource
import subprocess
import sys
import time

# Of the time of all cores; more than that, used by others, makes the machine busy.
BUSY = 0.15


def used_by_all():
    """Processor seconds that the machine has spent on anything."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    began, before = time.monotonic(), used_by_all()
    subprocess.run(arguments.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    took = time.monotonic() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    others = used_by_all() - before - children.ru_utime - children.ru_stime
    print(f"{took:.1f} s", end="")
    if took <= arguments.limit:
        print()
        return 0
    share = others / (took * os.cpu_count())
    if share > BUSY:
        print(f", but others used {100 * share:.0f} % of the cores, so nothing follows")
        return 0
    print()
    return 1


if __name__ == "__main__":
    sys.exit(main())
