# SPDX-License-Identifier: BSD-3-Clause
"""One case of the table of faults under MPI: the victim strikes in MPI_Init or MPI_Finalize, below the preloaded layer."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from fault_case import CaseJob, FAULTS, RESOURCES, in_folder, remove, stacks_of
from job import left_over, shared_files, variables_of, verdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
import run as mpirun  # noqa: E402

# Each with the longest time from its begin to the fault, in seconds.
PHASES = {"MPI_Init": 0.4, "MPI_Finalize": 0.05}
# By the names that tests/mpi/run.py has. These options make the launcher leave the others alone when a process dies.
MPIS = {"openmpi": ["--enable-recovery"], "mpich": ["-disable-auto-cleanup"]}
# What leaves no files when a rank ends without the communicator's end, as one does whose call has failed.
BACKENDS = ("memory", "ofi net", "ucx tcp")
# What a stack says of a rank that MPI's own beginning or end holds. The layer's functions have the same names.
IN_MPI = re.compile(r"\b(P?MPI_|ompi_mpi_)([Ii]nit|[Ff]inalize)\b.* from \S*/libmpi(ch)?\.so")
OF_MPI = ("ompi.", "pmix", "prte", "hydra", "mpich_")  # begins of names of its own files


class MpiCase:
    """What a seed makes of a fault, a phase and an MPI. A plan of a Job."""

    timeout, launcher, torus, ranks, dead_before = 3.0, "mpi", "2x2", 4, None

    def __init__(self, fault, phase, mpi, seed, backends):
        chance = random.Random(f"{seed} {fault} {phase} {mpi}")
        self.fault, self.phase, self.transport, self.seed = fault, phase, mpi, seed
        self.backend = chance.choice(backends)
        self.victim = chance.randrange(self.ranks)
        self.delay = chance.uniform(0, PHASES[phase])
        self.pause = chance.uniform(1, 6)
        self.amount = chance.randint(0, {"files": 3, "space": 4 << 10}.get(fault, 0))

    def __str__(self):
        return f"{self.fault}/{self.phase}/{self.transport}"

    def arguments(self):
        return [self.phase, self.fault, str(self.victim), str(round(self.delay * 1e6)), str(self.amount)]


class MpiJob(CaseJob):
    """Its ranks are children of an mpirun's."""

    def start(self, command, environment, tool, place):
        case, mpi = self.plan, self.plan.transport
        program, _, *arguments = command  # no seed
        script = 'exec "$@" > "$OUTPUTS/rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
        variables = variables_of(case, case.backend) | {"OUTPUTS": self.folder, "LD_PRELOAD": place}
        self.launcher = subprocess.Popen(
            [mpirun.launcher(mpi), "-n", str(case.ranks), *MPIS[mpi], *mpirun.CROWDED[mpi], "env",
             *(f"{name}={value}" for name, value in variables.items()), "sh", "-c", script, "sh", program, *arguments],
            env=environment | mpirun.ALLOWED, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors,
            start_new_session=True)

    def anybody_alive(self):
        started = self.launcher.poll() is None
        return any([rank.alive() and (started or rank.pid is not None) for rank in self.ranks])

    def clean_up(self):
        self.launcher_left = self.until(lambda: self.launcher.poll() is not None, 0 if self.hung else 5)
        super().clean_up()


def judge(rank, case, fault_at, hung_in):
    """As verdict(); what MPI or its launcher does is told from what Trefoil does."""
    one = verdict(rank, {case.victim}, fault_at)
    ended_by = rank.line("signal")
    if one["class"] == "crash" and (ended_by is None or int(ended_by[2]) == 15):
        one |= {"class": "ended", "seconds": round(rank.ended_at - fault_at, 2)}  # by the launcher
    elif one["class"] == "crash":
        one["text"] = f"signal {ended_by[2]}"
    elif case.fault == "shm" and one["class"] in ("named", "other", "fence"):
        one["class"] = "failed"  # of the whole host: nobody is the culprit
    elif one["class"] == "hang" and IN_MPI.search(hung_in.get(rank, "")):
        one["class"] = "below"
    return one


def run_mpi_case(case, programs):
    """The outcome as data, as run_case. `programs`: by MPI, the ranks' program and the layer."""
    files_before = shared_files()
    program, layer = programs[case.transport]
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        job = MpiJob(case, program, folder, layer)
        hung_in = {}
        try:
            fault_at = job.run()
            hung_in = {rank: stacks_of(rank.pid) for rank in job.hung if rank.pid}
        finally:
            job.clean_up()
            remove([f"/dev/shm/filled-by-{rank.pid}" for rank in job.ranks])
        verdicts = {number: judge(rank, case, fault_at or 0, hung_in) for number, rank in enumerate(job.ranks)}
        own = verdicts[case.victim]
        if own["class"] == "other" and not any(word in own["text"] for word in ("rank ", "Rank ")):
            own["class"] = "named"
        left = in_folder(folder) + left_over(files_before, [rank.pid for rank in job.ranks if rank.pid])
        left = [path for path in left if not os.path.basename(path).startswith(OF_MPI)]
        with open(os.path.join(folder, "errors"), errors="replace", encoding="utf-8") as file:
            errors = file.read()[-4000:]
    victim = verdicts.pop(case.victim)
    if case.fault in ("KILL", "TERM", "exit") or victim["class"] == "hang" and job.ranks[case.victim] not in job.hung:
        victim = None  # it is dead, or was still stopped when others had hung for long enough
    remove(left)
    ours = [text for rank, text in hung_in.items() if judge(rank, case, 0, hung_in)["class"] == "hang"]
    return {"fault": case.fault, "phase": case.phase, "transport": case.transport, "seed": case.seed, "torus": case.torus,
            "backend": case.backend, "rank": case.victim, "delay": round(case.delay, 4), "struck": fault_at is not None,
            "pause": round(case.pause, 1) if case.fault == "STOP+CONT" else None, "amount": case.amount,
            "survivors": verdicts, "victim": victim, "left": left,
            "stacks": (ours + list(hung_in.values()) + [""])[0], "errors": errors, "launcher left": job.launcher_left}


def mpi_cases(seed, programs, transports, faults):
    backends = [name for name in BACKENDS if name in transports]
    found = [MpiCase(fault, phase, mpi, seed, backends) for fault in faults if fault != "link" for phase in PHASES
             for mpi in programs if shutil.which(mpirun_name(mpi))]
    random.Random(seed).shuffle(found)
    return found


def mpirun_name(mpi):
    return {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra"}[mpi]


assert set(RESOURCES) <= set(FAULTS)
