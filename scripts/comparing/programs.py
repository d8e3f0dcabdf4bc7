# SPDX-License-Identifier: BSD-3-Clause
"""The programs that measure the other libraries: who can take part, and how each is compiled."""
import pathlib
import re
import subprocess

from . import ROOT, places, run_bounded

NEEDS = {"openmpi": "mpicc.openmpi=libopenmpi-dev mpirun.openmpi=openmpi-bin",
         "mpich": "mpicc.mpich=libmpich-dev mpiexec.hydra=mpich",
         "gloo": ""}  # taken where it is there, and never installed: few have a use for it
INCLUDE_FOLDERS = (pathlib.Path("/usr/include"), pathlib.Path("/usr/local/include"))


def needs(without):
    """Text for `require` of scripts/common.sh."""
    return " ".join([text for library, text in NEEDS.items() if text and library not in without] + ["gnuplot=gnuplot-nox"])


def absent(library, without, place):
    """Why a library takes no part in a place; empty when it does."""
    if library in without:
        return "was not wanted"
    if library == "mpich" and place.crowded:
        return "needs a core for each rank: without, each call takes time slices"
    if library == "gloo" and isinstance(place, places.Torus):
        return "knows one address of a rank, and a node of a torus has one for each link"
    if library == "gloo" and not any((folder / "gloo/context.h").exists() for folder in INCLUDE_FOLDERS):
        return "is not installed (apt-get install libgloo-dev)"
    return ""


def compiled(library, folder):
    """Path of the program."""
    program = pathlib.Path(folder) / f"perf.{library}"
    optimized = ["-O2", "-I", str(ROOT), "-o", str(program)]
    command = {"gloo": ["c++", "-std=c++17", *optimized, ROOT / "bench/peers/gloo_perf.cpp", "-lgloo", "-lpthread"],
               "bound": ["cc", "-std=c11", *optimized, "-O3", "-march=native", ROOT / "bench/peers/copy_bound.c"]}.get(
                   library, [f"mpicc.{library}", "-std=c11", *optimized, ROOT / "bench/mpi/mpi_perf.c"])
    if not program.exists():
        subprocess.run(command, check=True, timeout=300)
    return str(program)


def for_place(place, without, folder):
    """{library: program} of those that take part, and {library: why not} of the others."""
    reasons = {library: absent(library, without, place) for library in NEEDS}
    found = {library: compiled(library, folder) for library, reason in reasons.items() if not reason}
    if isinstance(place, places.Memory):
        found["bound"] = compiled("bound", folder)
    return found, {library: reason for library, reason in reasons.items() if reason}


def versions(programs, trefoil):
    commands = {"trefoil": [trefoil, "--version"], "openmpi": ["mpirun.openmpi", "--version"],
                "mpich": ["mpiexec.hydra", "--version"], "gloo": ["dpkg-query", "-W", "-f", "${Version}", "libgloo-dev"]}
    found = {}
    for library in (library for library in ["trefoil", *programs] if library in commands):
        text = run_bounded(commands[library], {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}, 20)[1]
        line = re.search(r"\d+\.\d+\S*", text)
        found[library] = line.group(0) if line else "?"
    return found
