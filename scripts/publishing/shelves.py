# SPDX-License-Identifier: BSD-3-Clause
"""On which shelf of the site each page stands, and in which order; README.md is the first page."""

SHELVES = {
    "Use": (
        "docs/tutorial.md", "docs/tutorial-cpp.md", "docs/tutorial-fortran.md", "docs/tutorial-python.md", "docs/tutorial-mpi.md",
        "docs/examples.md", "docs/from-mpi.md", "docs/building.md", "docs/platforms.md", "docs/launchers.md",
        "docs/mpi.md",
        "docs/choice.md", "docs/communicators.md", "docs/in-flight.md", "docs/nodes.md", "docs/nics.md", "docs/verbs.md", "docs/fugaku.md",
        "docs/reproducibility.md", "docs/troubleshooting.md", "docs/reliability.md", "docs/log.md", "docs/timeline.md",
        "docs/own-schedules.md", "docs/simulator.md", "docs/traffic.md", "docs/emulated-torus.md", "docs/integrating.md",
        "SECURITY.md",
    ),
    "Reference": ("reference/index.md", "docs/environment.md", "docs/tool.md", "docs/algorithms.md", "docs/glossary.md", "CHANGELOG.md"),
    "Understand": (
        "docs/architecture.md", "docs/runtime.md", "docs/transports.md", "docs/jobs.md", "docs/mpi-layer.md", "docs/decisions.md",
        "docs/schedules.md", "docs/cost-model.md", "docs/alltoall.md", "docs/spanning-trees.md",
        "docs/networks.md", "docs/short-circuiting.md", "docs/weak-order.md", "CONTRIBUTING.md",
    ),
    "Records": (
        "docs/measurements.md", "docs/performance.md", "docs/choice-records.md", "docs/mpi-programs.md", "docs/mpi-records.md",
        "docs/faults.md", "docs/papers.md", "docs/networks-record.md",
    ),
}
FRONT = "README.md"


def is_below_another(page):
    """docs/algorithms/bcast.md goes with docs/algorithms.md, and reference/trefoil_bcast.md with reference/index.md."""
    return page.count("/") > 1


def findings(pages):
    """What is wrong with the table for these pages of the repository."""
    placed = [page for shelf in SHELVES.values() for page in shelf if not page.startswith("reference/")]
    wrong = [f"{page} is on no shelf (scripts/publishing/shelves.py)" for page in pages
             if page not in placed and page != FRONT and not is_below_another(page)]
    wrong += [f"{page} is on a shelf, but is not there (scripts/publishing/shelves.py)" for page in placed if page not in pages]
    return wrong + [f"{page} is on two shelves (scripts/publishing/shelves.py)" for page in sorted(set(placed)) if placed.count(page) > 1]
