#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what ctest wrote (--output-junit): prints the slowest tests, or lists those above a limit.

usage: times.py [--slowest N] [--above SECONDS] JUNIT...
"""

import argparse
import sys
import xml.etree.ElementTree


def times(paths):
    """(seconds, name) of each test that ran, the slowest first."""
    found = []
    for path in paths:
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            if case.get("status") in ("run", "fail"):
                found.append((float(case.get("time")), case.get("name")))
    return sorted(found, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slowest", type=int, metavar="N", help="print a table of the N slowest tests")
    parser.add_argument("--above", type=float, metavar="SECONDS",
                        help="print the names of the tests that took longer, one a line")
    parser.add_argument("junit", nargs="+", help="files that ctest --output-junit wrote")
    arguments = parser.parse_args()
    found = times(arguments.junit)
    if arguments.slowest is not None:
        total = sum(seconds for seconds, _ in found)
        print(f"{len(found)} tests took {total:.0f} s, one after the other; the slowest:")
        for seconds, name in found[:arguments.slowest]:
            print(f"{seconds:8.1f} s  {name}")
    if arguments.above is not None:
        for seconds, name in found:
            if seconds > arguments.above:
                print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
