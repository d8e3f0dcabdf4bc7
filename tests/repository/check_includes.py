# SPDX-License-Identifier: BSD-3-Clause
"""Checks the arrows of docs/architecture.md: which room may include which."""

import re
import sys

import sources

# A name that ends in "/" is a room; another one is a single header.
ALLOWED = {
    "include": ("trefoil/",),
    "topo": ("topo/",),
    "algorithms": ("algorithms/", "topo/torus.hpp", "topo/error.hpp"),
    "backend": ("backend/", "topo/"),
    "threads": ("threads/", "backend/ports/port_group.hpp", "topo/"),
    "comm": tuple(room + "/" for room in sources.ROOMS) + ("trefoil/",),
    "bench": tuple(room + "/" for room in sources.ROOMS) + ("trefoil/", "include/trefoil/", "bench/"),
    "mpi": ("mpi/", "trefoil/"),
    "examples": ("trefoil/",),
}

# Schedules are data: who builds them starts no thread and reads no clock (a lock around a memo is no harm). Only backend/
# knows a network library.
FORBIDDEN_SYSTEM = {"algorithms": ("chrono", "ctime", "future", "pthread.h", "thread", "time.h")}
NETWORK = re.compile(r"(rdma|ucp|uct|infiniband)/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def violation(room, bracket, header):
    """Why `room` may not include `header`; empty when it may."""
    first = header.split("/")[0]
    of_this_project = bracket == '"' or first == "trefoil" or first in ALLOWED
    if of_this_project:
        if header.startswith(".") or "/" not in header:
            return "is not written from the root of the project"
        if not any(header.startswith(name) for name in ALLOWED[room]):
            return f"is not among what {room}/ may know: {', '.join(ALLOWED[room])}"
    elif header in FORBIDDEN_SYSTEM.get(room, ()):
        return f"has no place in {room}/: it starts no threads and reads no clocks"
    elif header == "mpi.h" and (room not in ("mpi", "bench", "tests", "examples")):
        return "is MPI's: only mpi/ and programs know it"
    elif NETWORK.match(header) and room != "backend":
        return "is a network library's: only backend/ knows those"
    return ""


def findings(root):
    found = []
    for path in sources.code(root):
        room = path.parts[0]
        if room not in ALLOWED:
            continue
        text = (sources.pathlib.Path(root) / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            reason = violation(room, *match.groups()) if match else ""
            if reason:
                found.append(f"{path}:{number}: {match.group(2)} {reason}")
    return found


if __name__ == "__main__":
    sys.exit(sources.report(findings(sys.argv[1]), "include arrows"))
