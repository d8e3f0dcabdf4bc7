# SPDX-License-Identifier: BSD-3-Clause
"""How each library is started, and what one launch of it has measured."""
import json
import pathlib

from . import places, run_bounded

SECONDS = 600  # of one launch
WARMUP = 2
LARGEST_FOR_LATENCY = 256 << 10  # algorithms that send whole vectors are not tried beyond
LATENCY_ALGORITHMS = ("-l", "-g", "-i", "-small", "linear", "ordered")
DONE = '{"done": true}'
ALGORITHMS = {
    "allreduce": "auto,linear,trivance-g,trivance-l,trivance-b,swing-l,swing-b,recursive-doubling-i,recursive-doubling-b,"
                 "bine-large,bucket,ring",
    "allgather": "auto,trivance,swing,bine,recursive-doubling,bucket,ring",
    "reduce_scatter": "auto,trivance,swing,bine,recursive-halving,bucket,ring",
    "alltoall": "auto,sdx,sdx:radix-4,direct,gather-scatter-tree,orbit,pairwise,linear,bruck",
    "bcast": "auto,spanning-trees,bine-large,bine-dd,binomial-dd",
    "reduce": "auto,spanning-trees,bine-large,bine-dd,binomial-dd",
}
# Of Open MPI's coll/tuned, by the numbers that its parameters take.
FORCED = {
    "allreduce": {"ring": 4, "Rabenseifner": 6, "recursive doubling": 3},
    "allgather": {"ring": 4, "Bruck": 2},
    "reduce_scatter": {"ring": 3, "recursive halving": 2},
    "alltoall": {"linear": 1, "pairwise": 2, "Bruck": 3},
    "bcast": {"pipeline": 3, "binomial": 6, "scatter-allgather ring": 9},
    "reduce": {"pipeline": 3, "binomial": 5, "Rabenseifner": 7},
}


class Failed(RuntimeError):
    """Why a launch has measured nothing."""


def suits(algorithm, size, collective="allreduce"):
    return collective == "alltoall" or size <= LARGEST_FOR_LATENCY or not algorithm.endswith(LATENCY_ALGORITHMS)


class Trefoil:
    """All algorithms, in one launch; `threads` for the ports, 0: the calling thread drives all."""

    def __init__(self, place, trefoil, algorithms, threads, environment, folder):
        self.place, self.trefoil, self.algorithms = place, trefoil, algorithms
        self.name = "Trefoil, " + ("one thread" if threads == 0 else "a thread per port")
        self.environment = {"TREFOIL_PORT_THREADS": str(threads), **environment}
        self.json = pathlib.Path(folder) / "trefoil.json"

    def command(self, collective, calls, counts, algorithms):
        job = ["--net", self.place.name] if isinstance(self.place, places.Torus) else ["-n", str(self.place.ranks)]
        return [self.trefoil, "run", *job, self.trefoil, "perf", collective, "--algorithm", ",".join(algorithms), "-c", "1",
                "--in-place", "in" if collective == "bcast" else "out", "-n", str(calls), "-w", str(WARMUP),
                "--counts", ",".join(map(str, counts)), "--json", str(self.json)]

    def launch(self, collective, calls, counts, sizes, group):
        """Yields (name, count, microseconds, wrong)."""
        algorithms = [name for name in self.algorithms if all(suits(name, size, collective) for size in sizes)]
        self.json.unlink(missing_ok=True)
        command = self.command(collective, calls, counts, algorithms)
        code, output, errors = run_bounded(group.command(command), self.environment, SECONDS)
        if code not in (0, 1) or not self.json.exists():  # 1: wrong results, which are told below
            raise Failed(f"ended with {code}: {(errors or output).strip()[-600:]}")
        for run in json.loads(self.json.read_text(encoding="utf-8"))["runs"]:
            yield f"{self.name}: {run['asked']}", run["count"], run["time_us"]["p50"], run["wrong"]


class MpiLibrary:
    """bench/mpi/mpi_perf.c, compiled by the library's mpicc."""

    def __init__(self, place, name, program):
        self.place, self.name, self.program = place, name, program
        self.environment = {}

    def launch(self, collective, calls, counts, _sizes, group):
        command = self.command(collective) + [self.program, collective, str(calls), str(WARMUP), *map(str, counts)]
        code, output, errors = run_bounded(group.command(command), self.environment, SECONDS, last_line=DONE)
        rows = [json.loads(line) for line in output.splitlines() if line.startswith('{"count"')]
        if code not in (0, 1) or len(rows) != len(counts):
            raise Failed(f"ended with {code}: {(errors or output).strip()[-600:]}")
        for row in rows:
            yield self.name, row["count"], row["p50"], row["wrong"]

    def inside(self, words):
        """A launcher starts in the first node, where the other nodes' names mean something."""
        return [str(places.TORUSNET), "exec", "--name", self.place.name, "0", *words]


class OpenMpi(MpiLibrary):
    """Its default, or one of coll/tuned's algorithms."""

    def __init__(self, place, program, forced=None):
        super().__init__(place, f"Open MPI, {forced or 'default'}", program)
        self.forced = forced
        self.environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def command(self, collective):
        words = ["mpirun.openmpi", "-np", str(self.place.ranks), "--mca", "pml", "ob1"]
        if self.forced:
            words += ["--mca", "coll_tuned_use_dynamic_rules", "1",
                      "--mca", f"coll_tuned_{collective}_algorithm", str(FORCED[collective][self.forced])]
        if isinstance(self.place, places.Memory):
            crowded = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
            return words + ["--mca", "btl", "self,vader"] + (crowded if self.place.crowded else [])
        # Daemons that open no sessions of their own: see cpu_group.py, for where there are no control groups.
        return self.inside(words + [
            "--leave-session-attached", "--host", self.place.hosts, "--bind-to", "none", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include",
            self.place.nics, "--mca", "oob_tcp_if_include", "meet", "--mca", "plm_rsh_agent", str(self.place.agent),
            "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "mpi_yield_when_idle", "1"])


class Mpich(MpiLibrary):
    """Its default. It may hang in MPI_Finalize, which run_bounded ends."""

    def __init__(self, place, program):
        super().__init__(place, "MPICH, default", program)
        if isinstance(place, places.Torus):
            self.environment = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": place.nics}

    def command(self, _collective):
        words = ["mpiexec.hydra", "-n", str(self.place.ranks)]
        if isinstance(self.place, places.Memory):
            return words
        return self.inside(words + ["-launcher", "rsh", "-launcher-exec", str(self.place.agent), "-iface", "meet",
                                    "-hosts", self.place.hosts])


def of(place, collective, options, trefoil, programs, folder):
    """All that take part, in the order in which they take turns."""
    environment = {"TREFOIL_BACKEND": "memory"} if isinstance(place, places.Memory) else {}
    names = (options.algorithms or ALGORITHMS[collective]).split(",")
    if not options.algorithms and not place.one_size:
        names = [name for name in names if name != "orbit"]  # it needs dimensions of one size
    found = [Trefoil(place, trefoil, names, threads, environment, folder) for threads in (0, place.directions)]
    if "openmpi" in programs:
        found += [OpenMpi(place, programs["openmpi"], forced) for forced in [None, *FORCED[collective]]]
    if "mpich" in programs:
        found.append(Mpich(place, programs["mpich"]))
    return found
