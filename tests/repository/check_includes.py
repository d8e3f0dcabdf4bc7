# SPDX-License-Identifier: BSD-3-Clause
"""Checks the arrows of docs/architecture.md: which room may include which, and that no files include each other."""

import pathlib
import re
import sys

import sources

LIBRARY = tuple(room + "/" for room in sources.ROOMS)
SCHEDULES = ("algorithms/schedule/", "topo/torus.hpp", "topo/fabric.hpp", "topo/symmetry.hpp", "topo/error.hpp", "topo/words.hpp")
CALLS = (
    "algorithms/schedule/",
    "algorithms/analysis/",
    "algorithms/json/",
    "algorithms/registry/",
    "backend/ports/",
    "threads/",
    "topo/",
)

# What the files of each folder may include beside their neighbours; a folder with a row of its own is a room, and what
# stands in no row is a finding. A name that ends in "/" is a room with all its sub-rooms, another one a single header.
KNOWS = {
    "include/trefoil": ("trefoil/",),
    "topo": (),
    "topo/log": ("topo/",),
    # Schedules are data: algorithms know the torus and nothing else of the world.
    "algorithms/schedule": ("topo/torus.hpp", "topo/error.hpp", "topo/words.hpp"),
    "algorithms/analysis": SCHEDULES,
    "algorithms/rings": SCHEDULES,
    "algorithms/bandwidth": SCHEDULES + ("algorithms/rings/",),
    "algorithms/latency": SCHEDULES + ("algorithms/rings/",),
    "algorithms/trivance": SCHEDULES + ("algorithms/rings/", "algorithms/bandwidth/"),
    "algorithms/trees": SCHEDULES + ("algorithms/rings/", "algorithms/bandwidth/"),
    "algorithms/alltoall": SCHEDULES + ("algorithms/rings/", "algorithms/latency/dissemination.hpp"),
    "algorithms/single_copy": SCHEDULES,
    "algorithms/scans": SCHEDULES,
    "algorithms/neighbours": SCHEDULES,
    "algorithms/packing": SCHEDULES,
    "algorithms/search": SCHEDULES,
    "algorithms/simulation": SCHEDULES,
    "algorithms/rewiring": SCHEDULES,
    "algorithms/formats": SCHEDULES,
    "algorithms/json": SCHEDULES + ("algorithms/analysis/", "topo/json_reason.hpp"),
    "algorithms/registry": SCHEDULES
    + (
        "algorithms/analysis/",
        "algorithms/bandwidth/",
        "algorithms/latency/",
        "algorithms/trivance/",
        "algorithms/trees/",
        "algorithms/alltoall/",
        "algorithms/single_copy/",
        "algorithms/scans/",
        "algorithms/neighbours/",
        "algorithms/packing/",
        "algorithms/search/",
    ),
    # A transport knows the contract (ports) and its own library; the registry alone knows all transports.
    "backend/system": ("topo/",),
    "backend/ports": ("topo/",),
    "backend/bootstrap": ("backend/system/", "topo/"),
    "backend/memory": ("backend/ports/", "backend/system/", "topo/"),
    "backend/ofi": ("backend/ports/", "backend/system/", "topo/"),
    "backend/ucx": ("backend/ports/", "backend/system/", "topo/"),
    "backend/utofu": ("backend/ports/", "backend/system/", "topo/"),
    "backend/faults": ("backend/ports/", "topo/"),
    "backend/registrations": ("backend/ports/", "topo/"),
    "backend/registry": ("backend/", "topo/"),
    "threads/kernels": ("topo/",),
    "threads/workers": ("topo/",),
    "threads/timeline": ("topo/",),
    "threads/connections": ("threads/kernels/checksum.hpp", "backend/ports/port_group.hpp", "topo/"),
    "threads/executor": (
        "threads/connections/",
        "threads/kernels/",
        "threads/workers/",
        "threads/timeline/",
        "backend/ports/port_group.hpp",
        "backend/ports/powers.hpp",
        "backend/ports/read_guard.hpp",
        "topo/",
    ),
    # comm/ brings the rooms together, and never knows one transport or one algorithm.
    "comm/setup": CALLS + ("backend/bootstrap/", "backend/faults/", "backend/registry/", "backend/system/secrets.hpp"),
    "comm/plan": CALLS + ("comm/setup/",),
    # Where the ranks of a new communicator are follows from the torus alone.
    "comm/derived": ("algorithms/schedule/schedule.hpp", "comm/setup/torus_map.hpp", "comm/plan/hash.hpp", "topo/torus.hpp", "topo/error.hpp", "topo/decimals.hpp"),
    # What a rank is doing, for who asks.
    "comm/status": ("backend/bootstrap/store_socket.hpp", "threads/executor/call_report.hpp", "topo/"),
    "comm/communicator": CALLS + ("comm/derived/", "comm/plan/", "comm/setup/", "comm/status/", "backend/bootstrap/", "backend/faults/", "backend/registrations/", "backend/registry/", "backend/system/kernel_copies.hpp"),
    "comm/api": ("comm/", "threads/kernels/", "threads/workers/biased_flag.hpp", "topo/", "trefoil/"),
    "bindings/fortran": ("trefoil/",),
    "mpi": ("trefoil/", "topo/sizes.hpp"),
    "mpi/preload": ("mpi/allgather.hpp", "mpi/api.hpp", "mpi/dispatch.hpp", "mpi/layer.hpp", "mpi/next.hpp", "mpi/presence.hpp", "mpi/settings.hpp", "mpi/shadow_communicator.hpp", "mpi/types.hpp", "mpi/words.hpp"),
    "mpi/component": ("mpi/", "topo/no_signals.hpp"),
    "bench/common": LIBRARY,
    "bench/run": LIBRARY + ("bench/common/",),
    "bench/plan": LIBRARY
    + ("bench/common/", "bench/player/", "bench/sim/rewiring_options.hpp", "bench/sim/units.hpp"),
    "bench/player": LIBRARY + ("bench/common/",),
    "bench/traffic": LIBRARY + ("bench/common/",),
    "bench/explain": LIBRARY + ("bench/common/",),
    "bench/sim": LIBRARY + ("bench/common/", "bench/player/"),
    "bench/info": LIBRARY + ("bench/common/", "bench/plan/text.hpp", "include/trefoil/"),
    "bench/perf": LIBRARY + ("bench/common/", "bench/run/", "include/trefoil/"),
    "bench/put": LIBRARY + ("bench/common/", "bench/perf/", "include/trefoil/"),
    "bench/tune": LIBRARY + ("bench/common/", "bench/perf/", "bench/run/", "include/trefoil/"),
    "bench/manual": ("bench/common/command.hpp", "bench/common/help.hpp", "topo/error.hpp"),
    "bench/relay": ("topo/error.hpp",),
    "bench/simgrid": (),
    "bench/micro": LIBRARY + ("include/trefoil/", "trefoil/"),
    "bench/peers": (),
    "bench/mpi": ("trefoil/", "bench/peers/"),
    "bench": ("bench/common/", "bench/explain/", "bench/manual/", "bench/perf/", "bench/put/", "bench/sim/", "bench/traffic/", "bench/tune/", "topo/error.hpp", "include/trefoil/"),
    "examples": ("trefoil/",),
}
TOP = {room.split("/")[0] for room in KNOWS}

# Who builds schedules starts no thread and reads no clock (a lock around a memo is no harm).
FORBIDDEN_SYSTEM = {"algorithms": ("chrono", "ctime", "future", "pthread.h", "thread", "time.h")}
# Headers of the libraries that one room alone knows, and that room.
OF_ONE_ROOM = {
    "rdma/": ("backend/ofi",),
    "ucp/": ("backend/ucx",),
    "uct/": ("backend/ucx",),
    "ucs/": ("backend/ucx",),
    "utofu.h": ("backend/utofu",),
    "infiniband/": (),
    "pmix": ("backend/bootstrap",),
    "simgrid/": ("bench/simgrid",),
    "gloo/": ("bench/peers",),
    "ompi/": ("mpi/component",),
    "opal/": ("mpi/component",),
    "mpi.h": ("mpi", "bench/mpi", "examples"),
}

# Where also a source must not lean on who leans on its header: both are one unit there. Elsewhere headers alone count.
UNITS = ("topo", "algorithms")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def knows(room, header):
    neighbour = header.rsplit("/", 1)[0] == room
    return neighbour or any(header == name or (name[-1] == "/" and header.startswith(name)) for name in KNOWS[room])


def violation(room, bracket, header):
    """Why `room` may not include `header`; empty when it may."""
    first = header.split("/")[0]
    if bracket == '"' or first == "trefoil" or first in TOP:
        if header.startswith(".") or "/" not in header:
            return "is not written from the root of the project"
        if not knows(room, header):
            return f"is not among what {room}/ may know: {', '.join(KNOWS[room]) or 'itself'}"
    elif header in FORBIDDEN_SYSTEM.get(room.split("/")[0], ()):
        return f"has no place in {room}/: it starts no threads and reads no clocks"
    for name, owners in OF_ONE_ROOM.items():
        if bracket == "<" and header.startswith(name) and room not in owners:
            return f"is for {', '.join(owners) or 'nobody'} alone to include"
    return ""


def cycle(graph):
    """Some nodes of `graph` (node -> nodes) that lead back to the first, which stands last again; empty: none."""
    done = set()

    def search(node, path):
        if node in path:
            return path[path.index(node) :] + [node]
        if node in done:
            return []
        for other in sorted(graph.get(node, ())):
            found = search(other, path + [node])
            if found:
                return found
        done.add(node)
        return []

    for node in sorted(graph):
        found = search(node, [])
        if found:
            return found
    return []


def table_findings(table):
    """What is wrong with a table like KNOWS: rooms that may include each other, directly or in a circle."""
    folders = {room: "trefoil/" if room == "include/trefoil" else room + "/" for room in table}
    graph = {
        room: {
            other
            for other in table
            for name in names
            if other != room and (folders[other].startswith(name) or name.rsplit("/", 1)[0] == other)
        }
        for room, names in table.items()
    }
    circle = cycle(graph)
    return ["the table of arrows has a cycle: " + " -> ".join(circle)] if circle else []


def page_findings(table, page):
    """Rooms that the map in docs/architecture.md does not name, and rooms there that do not exist."""
    named = set(re.findall(r"^\| `([a-z_/]+)` \|", page, re.MULTILINE))
    found = [f"docs/architecture.md: the map of rooms does not name {room}" for room in sorted(set(table) - named)]
    return found + [f"docs/architecture.md: there is no room {room}" for room in sorted(named - set(table))]


def unit(header):
    return header.rsplit(".", 1)[0] if header.split("/")[0] in UNITS else header


def findings(root):
    found = table_findings(KNOWS)
    includes = {}
    for path in sources.code(root):
        if path.parts[0] not in TOP:
            continue
        room = path.parent.as_posix()
        if room not in KNOWS:
            found.append(f"{path}: {room}/ has no row in the table of tests/repository/check_includes.py")
            continue
        included = includes.setdefault(unit(path.as_posix()), set())
        text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            reason = violation(room, *match.groups())
            if reason:
                found.append(f"{path}:{number}: {match.group(2)} {reason}")
            included.add(unit(match.group(2)))
    circle = cycle({file: others - {file} for file, others in includes.items()})
    if circle:
        found.append("files include each other: " + " -> ".join(circle))
    return found


if __name__ == "__main__":
    architecture = (pathlib.Path(sys.argv[1]) / "docs/architecture.md").read_text(encoding="utf-8")
    sys.exit(sources.report(findings(sys.argv[1]) + page_findings(KNOWS, architecture), "include arrows"))
