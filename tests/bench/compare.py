# SPDX-License-Identifier: BSD-3-Clause
"""Runs scripts/compare once: two ranks, one size, all collectives, all libraries that are installed. And refuses bad input."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT, TOOL = pathlib.Path(sys.argv[1]), sys.argv[2]
COLLECTIVES = {"allreduce", "reduce_scatter", "allgather", "bcast", "reduce", "gather", "scatter", "alltoall"}
COMMANDS = {"openmpi": ("mpicc.openmpi", "mpirun.openmpi"), "mpich": ("mpicc.mpich", "mpiexec.hydra")}
TIMINGS = ("loop_us", "with_barriers_us")
SKIPPED = 77


def compare(*arguments):
    return subprocess.run([ROOT / "scripts/compare", *arguments], capture_output=True, text=True, timeout=500)


def refused(why, *arguments):
    done = compare(*arguments, "--trefoil", TOOL)
    assert done.returncode == 2 and why in done.stderr, (arguments, done.returncode, done.stderr)


def check_refusals():
    refused('there is no comparison of "allsum"', "--shm", "-n", "2", "--collective", "allsum")
    refused('"8x" is not a size', "--shm", "-n", "2", "--sizes", "64,8x")
    refused('"1" is not a number of ranks', "--shm", "-n", "2,1")
    refused("--shm needs -n", "--shm")
    refused("-n belongs to --shm", "--net", "3x3", "--rate", "50mbit", "-n", "9")
    refused("--launches must be", "--shm", "-n", "2", "--launches", "0")
    done = compare("--shm", "-n", "2", "--trefoil", "/no/such/tool")
    assert done.returncode == 2 and "is not a program" in done.stderr, done.stderr


def check_run(folder):
    absent = [library for library, commands in COMMANDS.items() if not all(map(shutil.which, commands))]
    without = [word for library in absent for word in ("--without", library)]
    done = compare("--shm", "-n", "2", "--sizes", "1Ki", "--launches", "1", "--collective", "all", "--algorithms", "auto",
                   "--openmpi", "default", "--trefoil", TOOL, "--output", folder, *without)
    assert done.returncode == 0, (done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    facts = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    expected = {"Trefoil: auto", "copy bound"}
    expected |= {name for library, name in (("openmpi", "Open MPI, default"), ("mpich", "MPICH, default"), ("gloo", "Gloo"))
                 if library not in facts["absent"]}
    assert set(facts["collectives"]) == COLLECTIVES, facts["collectives"].keys()
    for collective, found in facts["collectives"].items():
        assert not found["problems"], (collective, found["problems"])
        assert found["auto"]["1024"], (collective, found["auto"])
        for timing in TIMINGS:
            times = found["sizes"][0][timing]
            assert set(times) == expected, (collective, timing, times)
            assert all(len(values) == 1 and values[0] > 0 for values in times.values()), (collective, timing, times)
        assert (folder / f"{collective}-loop-time.svg").exists(), collective
    table = (folder / "table.md").read_text(encoding="utf-8")
    assert table.count("| back to back |") == table.count("| with barriers |") == len(COLLECTIVES), table
    print(f"{len(COLLECTIVES)} collectives, {', '.join(sorted(expected))}; absent: {facts['absent']}")


def main():
    check_refusals()
    if not all(map(shutil.which, ("gnuplot", "cc"))):
        print("skipped: gnuplot or cc is not there")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        check_run(pathlib.Path(folder) / "results")
    return 0


if __name__ == "__main__":
    os.environ.pop("TREFOIL_BACKEND", None)
    sys.exit(main())
