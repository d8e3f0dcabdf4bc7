# SPDX-License-Identifier: BSD-3-Clause
"""How each library is started, and what one launch of it has measured."""
import collections
import json
import pathlib
import subprocess
import tempfile

from torus_network.network import NICS

from . import places, run_bounded

SECONDS = 600  # of one launch
WARMUP = 2
LARGEST_FOR_LATENCY = 256 << 10  # algorithms that send whole vectors are not tried beyond
LATENCY_ALGORITHMS = ("-l", "-g", "-i", "-small", "linear", "ordered")
TIMINGS = {"loop": "back to back", "with_barriers": "with barriers"}  # by the names in the programs' output
BOUND = "copy bound"
DONE = '{"done": true}'
ALGORITHMS = {
    "allreduce": "auto,linear,trivance-g,trivance-l,trivance-b,swing-l,swing-b,recursive-doubling-i,recursive-doubling-b,"
                 "bine-large,bucket,ring",
    "allgather": "auto,trivance,swing,bine,recursive-doubling,bucket,ring",
    "reduce_scatter": "auto,trivance,swing,bine,recursive-halving,bucket,ring",
    "alltoall": "auto,sdx,sdx:radix-4,direct,gather-scatter-tree,orbit,pairwise,linear,bruck",
    "bcast": "auto,spanning-trees,bine-large,bine-dd,binomial-dd",
    "reduce": "auto,spanning-trees,bine-large,bine-dd,binomial-dd",
    "gather": "auto,linear,spanning-trees,bine-dd,binomial-dd",
    "scatter": "auto,linear,spanning-trees,bine-dd,binomial-dd",
}
# Of Open MPI's coll/tuned, by the numbers that its parameters take.
FORCED = {
    "allreduce": {"ring": 4, "Rabenseifner": 6, "recursive doubling": 3},
    "allgather": {"ring": 4, "Bruck": 2},
    "reduce_scatter": {"ring": 3, "recursive halving": 2},
    "alltoall": {"linear": 1, "pairwise": 2, "Bruck": 3},
    "bcast": {"pipeline": 3, "binomial": 6, "scatter-allgather ring": 9},
    "reduce": {"pipeline": 3, "binomial": 5, "Rabenseifner": 7},
    "gather": {"linear": 1, "binomial": 2, "linear with synchronization": 3},
    "scatter": {"linear": 1, "binomial": 2, "linear nonblocking": 3},
}

HIERARCHICAL = "by node (coll/han)"

# What one launch says of one size: microseconds by timing, wrong elements, and what auto took (of Trefoil).
Row = collections.namedtuple("Row", "name count times wrong used", defaults=[None])


class Failed(RuntimeError):
    """Why a launch has measured nothing."""


def suits(algorithm, size, collective="allreduce"):
    return collective == "alltoall" or size <= LARGEST_FOR_LATENCY or not algorithm.endswith(LATENCY_ALGORITHMS)


class Trefoil:
    """All algorithms, in one launch; `threads` for the ports, 0: the calling thread drives all, None: as the library does
    by itself."""

    def __init__(self, place, trefoil, algorithms, threads, environment, folder):
        self.place, self.trefoil, self.algorithms = place, trefoil, algorithms
        self.name = "Trefoil" + {None: "", 0: ", one thread"}.get(threads, ", a thread per port")
        self.environment = {**({} if threads is None else {"TREFOIL_PORT_THREADS": str(threads)}), **environment}
        self.json = pathlib.Path(folder) / "trefoil.json"

    def command(self, collective, calls, counts, algorithms):
        job = ["--net", self.place.name] if isinstance(self.place, places.Torus) else ["-n", str(self.place.ranks)]
        job += ["--per-node", str(self.place.per_node)] if isinstance(self.place, places.Torus) and self.place.per_node > 1 else []
        return [self.trefoil, "run", *job, self.trefoil, "perf", collective, "--algorithm", ",".join(algorithms), "-c", "1",
                "--in-place", "in" if collective == "bcast" else "out", "--iters", str(calls), "-w", str(WARMUP),
                "--barriers", "--counts", ",".join(map(str, counts)), "--json-file", str(self.json)]

    def launch(self, collective, calls, counts, sizes, group):
        """Yields rows."""
        algorithms = [name for name in self.algorithms if all(suits(name, size, collective) for size in sizes)]
        self.json.unlink(missing_ok=True)
        command = self.command(collective, calls, counts, algorithms)
        code, output, errors = run_bounded(group.command(command), self.environment, SECONDS)
        if code not in (0, 1) or not self.json.exists():  # 1: wrong results, which are told below
            raise Failed(f"ended with {code}: {(errors or output).strip()[-600:]}")
        for run in json.loads(self.json.read_text(encoding="utf-8"))["runs"]:
            yield Row(f"{self.name}: {run['asked']}", run["count"], {timing: run["time_us"][timing] for timing in TIMINGS},
                      run["wrong"], run["used"])


class Program:
    """A program that prints what bench/peers/peer.h does."""

    def __init__(self, place, name, program):
        self.place, self.name, self.program = place, name, program
        self.environment = {}

    def arguments(self, collective, calls, counts):
        return [collective, str(calls), str(WARMUP), *map(str, counts)]

    def launch(self, collective, calls, counts, _sizes, group):
        """Yields rows."""
        command = self.command(collective) + [self.program, *self.arguments(collective, calls, counts)]
        code, output, errors = run_bounded(group.command(command), self.environment, SECONDS, last_line=DONE)
        rows = [json.loads(line) for line in output.splitlines() if line.startswith('{"count"')]
        if code not in (0, 1) or len(rows) != len(counts):
            raise Failed(f"ended with {code}: {(errors or output).strip()[-600:]}")
        self.note(output)
        for row in rows:
            yield Row(self.name, row["count"], {timing: row.get(timing, row["loop"]) for timing in TIMINGS}, row["wrong"])


    def note(self, output):
        """What else it has printed."""


class CopyBound(Program):
    """bench/peers/copy_bound.c: no contestant, and the same however calls are timed."""

    def __init__(self, place, program):
        super().__init__(place, BOUND, program)
        self.round_trips = []

    def note(self, output):
        """Nanoseconds of a flag from core to core and back."""
        self.round_trips += [json.loads(line)["round_trip_ns"] for line in output.splitlines() if line.startswith('{"round_trip_ns"')]

    def arguments(self, collective, _calls, counts):
        return [collective, str(self.place.ranks), *map(str, counts)]

    def command(self, _collective):
        return []


class Gloo(Program):
    """bench/peers/gloo_perf.cpp, over the loopback interface."""

    def __init__(self, place, program, trefoil, folder):
        super().__init__(place, "Gloo", program)
        self.trefoil, self.folder = trefoil, folder

    def command(self, _collective):
        self.environment = {"GLOO_STORE": tempfile.mkdtemp(prefix="gloo-", dir=self.folder)}
        return [self.trefoil, "run", "-n", str(self.place.ranks), "--no-label"]


class MpiLibrary(Program):
    """bench/mpi/mpi_perf.c, compiled by the library's mpicc."""

    def inside(self, words):
        """A launcher starts in the first node, where the other nodes' names mean something."""
        return [str(places.TORUSNET), "exec", "--name", self.place.name, str(self.place.first_node), *words]


class OpenMpi(MpiLibrary):
    """Its default, or one of coll/tuned's algorithms."""

    def __init__(self, place, program, forced=None):
        super().__init__(place, f"Open MPI, {forced or 'default'}", program)
        self.forced = forced
        self.environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def command(self, collective):
        words = ["mpirun.openmpi", "-np", str(self.place.ranks), "--mca", "pml", "ob1"]
        if self.forced == HIERARCHICAL:
            words += ["--mca", "coll_han_priority", "100"]
        elif self.forced:
            words += ["--mca", "coll_tuned_use_dynamic_rules", "1",
                      "--mca", f"coll_tuned_{collective}_algorithm", str(FORCED[collective][self.forced])]
        if isinstance(self.place, places.Memory):
            crowded = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
            return words + ["--mca", "btl", "self,vader"] + (crowded if self.place.crowded else [])
        transports = "self,vader,tcp" if self.place.per_node > 1 else "self,tcp"
        # Daemons that open no sessions of their own: see cpu_group.py, for where there are no control groups.
        return self.inside(words + [
            "--leave-session-attached", "--host", self.place.hosts, "--bind-to", "none", "--mca", "btl", transports,
            "--mca", "btl_tcp_if_include", NICS, "--mca", "oob_tcp_if_include", "meet", "--mca", "plm_rsh_agent", str(self.place.agent),
            "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "mpi_yield_when_idle", "1"])


class OpenMpiWithTrefoil(OpenMpi):
    """Its default with Trefoil's component: the same program, whose calls Trefoil runs. Ranks get what `trefoil run --net`
    gives its own."""

    def __init__(self, place, program, component, trefoil):
        super().__init__(place, program)
        self.name, self.component = "Trefoil, under Open MPI", component
        self.settings = {"TREFOIL_BACKEND": "memory", "TREFOIL_MPI_EARLY": "0", "TREFOIL_MPI_TUNE": "off"}  # all calls are Trefoil's
        if isinstance(place, places.Torus):
            given = subprocess.run([trefoil, "run", "--net", place.name, "--no-label", "env"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
            of_network = tuple(f"TREFOIL_{name}=" for name in ("BACKEND", "MODEL", "NICS", "SEGMENT_BYTES", "TORUS"))
            self.settings |= dict(line.split("=", 1) for line in given.splitlines() if line.startswith(of_network))
        self.environment.update(self.settings)

    def command(self, collective):
        words = super().command(collective) + [word for name in self.settings for word in ("-x", name)]
        words += ["env", f"OMPI_MCA_mca_base_component_path={self.component.parent}:SYSTEM_DEFAULT"]
        if isinstance(self.place, places.Memory):
            return words
        # The nodes' names are made up: ranks that took them for hosts would not know that they share cores.
        return words + ["unshare", "--uts", "sh", "-c", 'hostname emulated && exec "$@"', "sh"]


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
    """All that take part, in the order in which they take turns, and the bound last where it has to be measured."""
    environment = {"TREFOIL_BACKEND": "memory"} if isinstance(place, places.Memory) else {}
    names = (options.algorithms or ALGORITHMS[collective]).split(",")
    if not options.algorithms and not place.one_size:
        names = [name for name in names if name != "orbit"]  # it needs dimensions of one size
    threads = (None,) if options.algorithms == "auto" else (0, place.directions)
    found = [Trefoil(place, trefoil, names, number, environment, folder) for number in threads]
    if "openmpi" in programs:
        settings = [] if options.openmpi == "default" else [*FORCED[collective]]
        settings += [HIERARCHICAL] if options.per_node > 1 else []
        found += [OpenMpi(place, programs["openmpi"], forced) for forced in [None, *settings]]
        found += [OpenMpiWithTrefoil(place, programs["openmpi"], options.component, trefoil)] if options.component else []
    if "mpich" in programs:
        found.append(Mpich(place, programs["mpich"]))
    if "gloo" in programs:
        found.append(Gloo(place, programs["gloo"], trefoil, folder))
    if "bound" in programs:
        found.append(CopyBound(place, programs["bound"]))
    return found
