# SPDX-License-Identifier: BSD-3-Clause
"""One case of the table of faults: a job whose victim brings a fault upon itself in a phase, and what the others saw."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from job import TRANSPORTS, Job, first_rank_named, left_over, shared_files, verdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "network"))
import testbed  # noqa: E402

# What ends the victim; what takes a resource from it; what happens between ranks.
ENDS, RESOURCES = ("KILL", "TERM", "exit"), ("shm", "files", "memlock", "space")
FAULTS = {
    "KILL": "the process is killed",
    "TERM": "the process is terminated",
    "exit": "the process exits without destroying its communicator",
    "STOP": "the process is stopped, until all others have ended",
    "STOP+CONT": "the process is stopped, and goes on after 1 to 6 s",
    "link": "one link of an emulated torus goes down",
    "shm": "/dev/shm is full",
    "files": "the process can open no more descriptors, or at most three",
    "memlock": "the process may lock no memory",
    "space": "the address space of the process can grow by 4 MiB at most",
}
# Each with the longest time from its begin to the fault, in seconds.
PHASES = {
    "create": 0.12, "setup": 0.01, "greeting": 0.01, "small": 0.2, "large": 0.2, "rooted": 0.2, "nonblocking": 0.2,
    "persistent": 0.2, "between": 0.2, "destroy": 0.002,
}
OVER_NETWORK = ("ofi net", "ofi rxm", "ucx tcp")  # can cross the links of an emulated torus
UNNOTICED = 1.5  # seconds that a job goes on after a fault that nobody need notice
FAULT_WITHIN = 40  # seconds


class Case:
    """What a seed makes of a fault, a phase and a transport. A plan of a Job."""

    timeout, launcher = 3.0, "store"

    def __init__(self, fault, phase, transport, seed):
        chance = random.Random(f"{seed} {fault} {phase} {transport}")
        self.fault, self.phase, self.transport, self.seed = fault, phase, transport, seed
        self.torus, self.ranks = ("2x2x2", 8) if fault != "link" and chance.random() < 0.1 else ("3x3", 9)
        self.victim = chance.randrange(self.ranks)
        self.delay = 0 if fault in RESOURCES and phase == "create" else chance.uniform(0, PHASES[phase])
        self.pause = chance.uniform(1, 6)
        most = {"files": (60, 3), "space": (100 << 10, 4 << 10)}.get(fault, (0, 0))
        self.amount = chance.randint(0, most[0] if phase == "create" else most[1])

    def __str__(self):
        return f"{self.fault}/{self.phase}/{self.transport}"

    def arguments(self):
        return [self.phase, self.fault, str(self.victim), str(round(self.delay * 1e6)), str(self.amount)]


class Links(testbed.Testbed):
    """An emulated torus as a place of a Job."""

    def __init__(self):
        super().__init__(testbed.Torus("3x3"), routed=True)

    def words_of(self, rank):
        return ["ip", "netns", "exec", self.names[rank]]

    def variables_of(self, _rank):
        return {"TREFOIL_STORE": testbed.STORE, "TREFOIL_TOKEN": self.token, "TREFOIL_NICS": self.nics_of_ports()}

    def cut(self, rank):
        """The link of this rank in direction +0."""
        subprocess.run(["ip", "-n", self.names[rank], "link", "set", testbed.nic_of("+0"), "down"], check=True, timeout=20)

    def across(self, rank):
        rows, columns = self.torus.sizes
        return (rank + columns) % (rows * columns)


class CaseJob(Job):
    def __init__(self, case, program, folder, place):
        super().__init__(case, "", program, folder, case.arguments(), place)
        self.place, self.stacks = place, ""

    def run(self):
        """Returns the time of the fault, or None if it did not come, when all have ended or the limit has passed."""
        case, victim = self.plan, self.ranks[self.plan.victim]
        self.until(lambda: victim.line("fault") or not victim.alive(), FAULT_WITHIN)
        line = victim.line("fault")
        if line is None:
            self.until(lambda: not any([rank.alive() for rank in self.ranks]), self.limit)
            return None
        fault_at = last_change = float(line[1])
        if case.fault == "link":
            self.place.cut(case.victim)
            fault_at = last_change = time.monotonic()
        elif case.fault == "STOP+CONT":
            time.sleep(case.pause)
            self.send(victim, signal.SIGCONT)
            last_change = time.monotonic()
        if case.fault not in ENDS + ("STOP",):
            self.until(lambda: not any([rank.alive() for rank in self.ranks]), UNNOTICED)
            with open(self.stop_file, "w", encoding="utf-8"):
                pass
        waited_for = [rank for rank in self.ranks if rank is not victim or case.fault not in ENDS + ("STOP",)]
        self.until(lambda: not any([rank.alive() for rank in waited_for]), last_change + self.limit - time.monotonic())
        hung = [rank for rank in waited_for if rank.alive()]
        if case.fault == "STOP" and not hung:  # goes on when all others have left: it has to end, too
            self.send(victim, signal.SIGCONT)
            self.until(lambda: not victim.alive(), self.limit)
            hung = [victim] if victim.alive() else []
        if hung and shutil.which("gdb"):
            self.stacks = stacks_of(hung[0].pid)
        return fault_at


def stacks_of(pid):
    """Where the threads of a hung process are."""
    command = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all backtrace 25"]
    with contextlib.suppress(subprocess.TimeoutExpired):
        text = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60,
                              stdin=subprocess.DEVNULL).stdout
        return "\n".join(line[:160] for line in text.splitlines() if line.startswith(("#", "Thread")))
    return ""


def in_folder(folder):
    """What ranks have left where they keep temporary files."""
    own = {"stop", "errors"}
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name not in own and not name.startswith("rank"))


def remove(paths):
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def run_case(case, program):
    """The outcome as data. `victim` is judged where it lives on: it may fail in words, too."""
    before = shared_files()
    filled = []
    with tempfile.TemporaryDirectory(prefix="fault-") as folder, \
            (Links() if case.fault == "link" else contextlib.nullcontext()) as place:
        job = CaseJob(case, program, folder, place)
        try:
            fault_at = job.run()
        finally:
            job.clean_up()
            filled = [f"/dev/shm/filled-by-{rank.pid}" for rank in job.ranks]
            remove(filled)
        culprits = {case.victim, place.across(case.victim)} if place else {case.victim}
        verdicts = {number: verdict(rank, culprits, fault_at or 0) for number, rank in enumerate(job.ranks)}
        for number in culprits:  # what it says of itself needs no number
            one = verdicts[number]
            if one["class"] == "other" and first_rank_named(one["text"]) is None:
                one["class"] = "named"
        if case.fault == "shm":  # of the whole host: nobody is the culprit
            for one in verdicts.values():
                one["class"] = "failed" if one["class"] in ("named", "other", "fence") else one["class"]
        left = in_folder(folder) + left_over(before, [rank.pid for rank in job.ranks])
        with open(os.path.join(folder, "errors"), errors="replace", encoding="utf-8") as file:
            errors = file.read()[-4000:]
    # After a broken link there is no victim: both ends survive.
    victim = None if case.fault == "link" else verdicts.pop(case.victim)
    remove(left)
    return {"fault": case.fault, "phase": case.phase, "transport": case.transport, "seed": case.seed, "torus": case.torus,
            "rank": case.victim, "delay": round(case.delay, 4), "struck": fault_at is not None,
            "pause": round(case.pause, 1) if case.fault == "STOP+CONT" else None, "amount": case.amount,
            "survivors": verdicts, "victim": None if case.fault in ENDS else victim, "left": left,
            "stacks": job.stacks, "errors": errors}


def cases(seed, transports, faults):
    """In an order in which what was seen so far is about all faults, phases and transports."""
    found = [Case(fault, phase, transport, seed) for fault in faults for phase in PHASES for transport in transports
             if fault != "link" or transport in OVER_NETWORK]
    random.Random(seed).shuffle(found)
    return found


assert set(OVER_NETWORK) <= set(TRANSPORTS)
